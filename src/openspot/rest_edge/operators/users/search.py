"""Finds users by whatever an operator has: a part of a name, an address, the id of an order.

Each way of finding reads an index and returns a bounded number of users, so that a search costs the same on a small and
on a large exchange: primary keys for ids, `users_by_email` and `users_by_name` for what a text begins with,
`…_by_address` for addresses, `orders_by_client_id`. Nothing searches within a text. What a margin account did leads to
its user. An account of the house leads nowhere: it is nobody's.
"""

from datetime import datetime
from typing import Any, NamedTuple

from openspot.domain.accounts import USER_OF_ACCOUNT_SQL
from openspot.domain.ids import HOUSE_PREFIX
from openspot.kit.database import Pool
from openspot.rest_edge.operators.spans import Span

FOUND_MAX = 20
_EACH_MAX = FOUND_MAX + 1
"""One more than is shown, which says that there are more."""
_WITHDRAWALS_MAX = 1000
"""So many withdrawals to an address are looked at, because a user sends to the same one again and again."""
_ENGINE_NUMBER_MAX = 2**63 - 1
PREFIX_LENGTH_MIN = 3
"""A shorter text would find everybody."""

# Each step finds the next user in the index: whoever gives an id to a thousand orders hides nobody who has it, too.
_OWNERS = f"""
    WITH RECURSIVE owners AS (
        (SELECT user_id, 1 AS place FROM orders WHERE client_order_id = $1 ORDER BY user_id LIMIT 1)
        UNION ALL
        (SELECT following.user_id, place + 1 FROM owners CROSS JOIN LATERAL (
            SELECT user_id FROM orders WHERE client_order_id = $1 AND user_id > owners.user_id
            ORDER BY user_id LIMIT 1
        ) AS following WHERE place < {_EACH_MAX})
    )
    SELECT user_id FROM owners
"""  # noqa: S608 (made of constants only)
# `~>=~` and `~<~` compare bytes, as the indexes of `text_pattern_ops` do: what begins with $2 lies between $2 and $3.
_SEARCH = f"""
    (SELECT user_id, 'id' AS found_by FROM users WHERE user_id = $1 LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT user_id, 'id' FROM deleted_users WHERE user_id = $1 LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT user_id, 'email' FROM users WHERE $4 AND email ~>=~ $2 AND email ~<~ $3 ORDER BY email LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT user_id, 'name' FROM users
        WHERE $4 AND display_name IS NOT NULL AND lower(display_name) ~>=~ $6 AND lower(display_name) ~<~ $7
        LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT user_id, 'deposit address' FROM custody_addresses WHERE address = ANY ($5::text[]) LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT user_id, 'saved address' FROM withdrawal_addresses WHERE address = ANY ($5::text[]) LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT DISTINCT user_id, 'withdrawal address' FROM (
        SELECT user_id FROM custody_withdrawals WHERE address = ANY ($5::text[]) LIMIT {_WITHDRAWALS_MAX}
    ) AS sent LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT user_id, 'deposit' FROM custody_deposits WHERE tx_hash = ANY ($5::text[]) LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT user_id, 'withdrawal' FROM custody_withdrawals WHERE withdrawal_id = $1 LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT user_id, 'withdrawal' FROM custody_withdrawals WHERE tx_hash = ANY ($5::text[]) LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT user_id, 'order' FROM orders WHERE order_id = $1 LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT user_id, 'engine order' FROM orders WHERE engine_order_id = $8::bigint LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT user_id, 'client order id' FROM ({_OWNERS}) AS owners LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT side.user_id, 'trade' FROM trades CROSS JOIN LATERAL (VALUES (buyer_id), (seller_id)) AS side (user_id)
        WHERE trade_id = $1 LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT user_id, 'ledger entry' FROM ledger_entries WHERE transaction_id = $1 LIMIT {_EACH_MAX})
    UNION ALL
    (SELECT user_id, 'payment' FROM payments WHERE payment_id = $1 LIMIT {_EACH_MAX})
"""  # noqa: S608
# Accounts are counted, not users: of more accounts than are looked at, the users of the others are not known.
FOUND = f"""
    WITH found AS (
        SELECT {USER_OF_ACCOUNT_SQL} AS user_id, user_id AS account, found_by FROM ({_SEARCH}) AS searched
        WHERE NOT starts_with(user_id, '{HOUSE_PREFIX}')
    )
    SELECT user_id, email, display_name, created_at, string_agg(DISTINCT found_by, ', ') AS found_by,
        (SELECT max(hits) FROM (
            SELECT count(DISTINCT account) AS hits FROM found GROUP BY found_by
        ) AS ways) AS hits_max,
        coalesce((
            SELECT array_agg(kind ORDER BY kind) FROM user_locks WHERE user_locks.user_id = found.user_id
        ), '{{}}') AS locks
    FROM found LEFT JOIN users USING (user_id)
    GROUP BY user_id, email, display_name, created_at ORDER BY created_at DESC NULLS LAST, user_id LIMIT {FOUND_MAX + 1}
"""  # noqa: S608
_NEWEST = """
    SELECT user_id, email, display_name, created_at, '' AS found_by,
        coalesce((SELECT array_agg(kind ORDER BY kind) FROM user_locks WHERE user_locks.user_id = users.user_id), '{}')
            AS locks
    FROM users
    WHERE (created_at, user_id) < (coalesce($1::timestamptz, 'infinity'), coalesce($2::text, ''))
        AND created_at >= coalesce($4::timestamptz, '-infinity') AND created_at < coalesce($5::timestamptz, 'infinity')
    ORDER BY created_at DESC, user_id DESC LIMIT $3
"""


class FoundUser(NamedTuple):
    """A user in a list. `email` is None if the account is deleted. `found_by` says what of the user was looked for."""

    user_id: str
    email: str | None
    display_name: str | None
    created_at: datetime | None
    found_by: str
    locks: tuple[str, ...]


def prefix_bounds(text: str) -> tuple[str, str]:
    """The least text that begins with `text`, and the least that comes after all of those."""
    last = text[-1:]
    # The code points of surrogates are not characters: UTF-8 has no bytes for them.
    following = "\ue000" if last == "\ud7ff" else chr(ord(last) + 1) if last and last != "\U0010ffff" else "\U0010ffff"
    return text, text[:-1] + following


def spellings(text: str) -> list[str]:
    """How an address or transaction may be stored that was typed as `text`."""
    return sorted({text, text.lower(), f"0x{text.lower()}"})


def engine_number(text: str) -> int | None:
    """The engine's number of an order that `text` is; None if it is none."""
    number = int(text) if text.isascii() and text.isdecimal() else 0
    return number if 0 < number <= _ENGINE_NUMBER_MAX else None


async def search(pool: Pool, text: str) -> tuple[list[FoundUser], bool]:
    """At most FOUND_MAX users whom `text` points at, and whether these are all of them."""
    # Small letters of names are those that the database makes for its index, whatever its locale.
    name = await pool.fetchval("SELECT lower($1)", text)
    bounds = prefix_bounds(text.lower())
    rows = await pool.fetch(
        FOUND, text, *bounds, len(text) >= PREFIX_LENGTH_MIN, spellings(text), *prefix_bounds(name), engine_number(text)
    )
    is_complete = len(rows) <= FOUND_MAX and all(row["hits_max"] <= FOUND_MAX for row in rows)
    return [_found(row) for row in rows[:FOUND_MAX]], is_complete


async def newest(
    pool: Pool,
    limit: int,
    after: tuple[datetime, str] | None,
    span: Span,
) -> list[FoundUser]:
    """Users, the newest first, behind the position `after`, who registered in `span`."""
    rows = await pool.fetch(_NEWEST, *(after or (None, None)), limit, *span)
    return [_found(row) for row in rows]


def _found(row: Any) -> FoundUser:
    fields = {name: row[name] for name in FoundUser._fields}
    return FoundUser(**fields | {"locks": tuple(row["locks"])})
