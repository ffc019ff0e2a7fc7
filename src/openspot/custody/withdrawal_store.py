"""The tables of withdrawals: rows, approvals, signatures, quota sums and the audit chain.

Every function takes the connection of a transaction that its caller has opened. Locks are taken in this order: user,
wallet, row, audit chain.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from openspot.coin_networks import pauses
from openspot.coin_networks.pauses import Direction, Pause
from openspot.contracts.messages import WithdrawalRecord
from openspot.custody.deciding import Decider
from openspot.custody.wallet_policy import POLICY_VERSION, QUOTA_WINDOW, Wallet
from openspot.custody.withdrawal_states import SETTLED_FUNDS, UNSENT, Funds, Status
from openspot.http.operator_store import accounts_of_owner
from openspot.kit.clock import iso_from_ms
from openspot.kit.database import Connection, Pool, text_of
from openspot.kit.hash_chain import FIRST_HASH, entry_hash

_COLUMNS = """
    withdrawal_id, user_id, client_withdrawal_id, asset, network, amount, fee, net_amount, address, tag, wallet, price,
    value_cents, approvals_needed, status, funds, reason, digest, tx_hash, height, confirmations,
    required_confirmations, created_at, updated_at
"""
_GET = f"SELECT {_COLUMNS} FROM custody_withdrawals WHERE withdrawal_id = $1"  # noqa: S608
_LOCK = f"{_GET} FOR UPDATE"
_LOCK_IF_FREE = f"{_GET} FOR UPDATE SKIP LOCKED"
_BY_CLIENT_ID = f"""
    SELECT {_COLUMNS} FROM custody_withdrawals WHERE user_id = $1 AND client_withdrawal_id = $2
"""  # noqa: S608
_INSERT = """
    INSERT INTO custody_withdrawals (withdrawal_id, user_id, client_withdrawal_id, asset, network, amount, fee,
        net_amount, address, tag, wallet, price, value_cents, approvals_needed, status, funds, required_confirmations,
        created_at, updated_at, reason)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'pending_approval', 'new', $15, $16, $16, $17)
"""
_UNSENT = [status.value for status in UNSENT]
_SUM_OF_WALLET = """
    SELECT coalesce(sum(value_cents), 0)::bigint FROM custody_withdrawals
    WHERE wallet = $1 AND created_at > $2 AND NOT (status = ANY ($3::text[]))
"""
_SUM_OF_USER = """
    SELECT coalesce(sum(value_cents), 0)::bigint FROM custody_withdrawals
    WHERE user_id = $1 AND created_at > $2 AND NOT (status = ANY ($3::text[]))
"""
_SUM_OF_USER_IN_WALLET = f"{_SUM_OF_USER.rstrip()} AND wallet = $4"
# Constants in the text, so that PostgreSQL uses the partial index.
_IS_OPEN = f"funds NOT IN ({', '.join(repr(funds.value) for funds in SETTLED_FUNDS)})"
_OPEN = f"""
    SELECT withdrawal_id FROM custody_withdrawals WHERE {_IS_OPEN} AND withdrawal_id > $1
    ORDER BY withdrawal_id LIMIT $2
"""  # noqa: S608
_LIST_OPEN = f"""
    SELECT {_COLUMNS} FROM custody_withdrawals WHERE {_IS_OPEN} ORDER BY created_at, withdrawal_id LIMIT $1
"""  # noqa: S608
_WAITING_FOR_PRICE = f"""
    SELECT withdrawal_id, asset FROM custody_withdrawals
    WHERE {_IS_OPEN} AND status = 'pending_approval' AND approvals_needed > 0 AND wallet = $1 AND value_cents < $2
        AND withdrawal_id > $3
    ORDER BY withdrawal_id LIMIT $4
"""  # noqa: S608
_AUDIT_COLUMNS = """
    withdrawal_id, actor, decision, detail, policy_version, price, value_cents, sum_before_cents, at_ms
"""
_DECIDER_COLUMNS = "operator, reason, before, after, request_id"
"""Null in entries that no operator made. Hashes leave nulls out, so those of earlier releases hold."""
_AUDIT_LOCK = "openspot-custody-audit"


@dataclass(slots=True, kw_only=True)
class Withdrawal:
    """A row of `custody_withdrawals`."""

    withdrawal_id: str
    user_id: str
    client_withdrawal_id: str | None
    asset: str
    network: str
    amount: Decimal
    fee: Decimal
    net_amount: Decimal
    address: str
    tag: str | None
    wallet: Wallet
    price: Decimal
    value_cents: int
    approvals_needed: int
    status: Status
    funds: Funds
    reason: str | None
    digest: str | None
    tx_hash: str | None
    height: int | None
    confirmations: int
    required_confirmations: int
    created_at: datetime
    updated_at: datetime

    def record(self) -> WithdrawalRecord:
        """The withdrawal as clients see it."""
        return WithdrawalRecord(
            id=self.withdrawal_id,
            client_withdrawal_id=self.client_withdrawal_id,
            asset=self.asset,
            network=self.network,
            amount=text_of(self.amount),
            fee=text_of(self.fee),
            net_amount=text_of(self.net_amount),
            address=self.address,
            tag=self.tag,
            status=self.status.value,
            reason=self.reason,
            tx_hash=self.tx_hash,
            confirmations=self.confirmations,
            required_confirmations=self.required_confirmations,
            wallet=self.wallet.value,
            created_at=_iso(self.created_at),
            updated_at=_iso(self.updated_at),
        )


CUSTODY_ACTOR = "custody"
"""Decides in the name of no person."""


@dataclass(frozen=True, slots=True)
class WithdrawalDecision:
    """A decision on a withdrawal: what was decided, by whom, and why.

    `by` is the operator who made it, None if none did. `before` and `after` are what the operators' trail has of it.
    """

    actor: str
    decision: str
    detail: str | None = None
    by: Decider | None = None
    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)

    def of_operator(self) -> dict[str, str]:
        """The columns of the operator's decision; none if no operator made it."""
        if self.by is None:
            return {}
        return {
            "operator": self.by.operator,
            "reason": self.by.reason,
            "before": _json(self.before),
            "after": _json(self.after),
            "request_id": self.by.request_id,
        }


class OperatorDecision(NamedTuple):
    """What an operator decided on a withdrawal, and why."""

    operator: str
    decision: str
    reason: str
    at_ms: int


def withdrawal_of(row: Any) -> Withdrawal:
    """The withdrawal in a row of the table."""
    fields = dict(row)
    fields |= {
        "wallet": Wallet(fields["wallet"]),
        "status": Status(fields["status"]),
        "funds": Funds(fields["funds"]),
    }
    return Withdrawal(**fields)


def _iso(time: datetime) -> str:
    return iso_from_ms(int(time.timestamp() * 1000))


def _json(values: Mapping[str, str]) -> str:
    return msgspec.json.encode(dict(sorted(values.items()))).decode()


@asynccontextmanager
async def transaction(pool: Pool) -> AsyncIterator[Connection]:
    """A connection inside a transaction."""
    async with pool.acquire() as connection, connection.transaction():
        yield connection


async def lock_named(connection: Connection, name: str) -> None:
    """Wait for the lock of that name, and hold it until the transaction ends."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", name)


async def is_locked_by_operator(connection: Connection, user_id: str) -> bool:
    """Whether an operator forbids the user's withdrawals."""
    query = "SELECT EXISTS (SELECT FROM user_locks WHERE user_id = $1 AND kind = 'withdrawals')"
    return bool(await connection.fetchval(query, user_id))


async def accounts_of(connection: Connection, operator: str) -> frozenset[str]:
    """The accounts of the person behind an operator's name, in small letters, and the name itself without `user:`.

    The name is an id of a user, who is the participant of the engine with the same id, or a mail address. Accounts that
    `openspot owners` linked are one person's.
    """
    name = operator.removeprefix("user:")
    user_id: str | None = await connection.fetchval("SELECT user_id FROM users WHERE email = $1", name)
    return await accounts_of_owner(connection, user_id or name) | {name}


async def pause_of(connection: Connection, asset: str, network: str) -> Pause | None:
    """The operators' pause that concerns withdrawals of a coin over a network, None if there is none."""
    return await pauses.pause_of(connection, asset, network, Direction.WITHDRAWALS)


async def get(connection: Connection, withdrawal_id: str) -> Withdrawal | None:
    """The withdrawal with that id."""
    row = await connection.fetchrow(_GET, withdrawal_id)
    return None if row is None else withdrawal_of(row)


async def lock(connection: Connection, withdrawal_id: str, *, skip_locked: bool = False) -> Withdrawal | None:
    """The withdrawal, locked. None if it does not exist or, with `skip_locked`, if another transaction holds it."""
    row = await connection.fetchrow(_LOCK_IF_FREE if skip_locked else _LOCK, withdrawal_id)
    return None if row is None else withdrawal_of(row)


async def by_client_id(connection: Connection, user_id: str, client_withdrawal_id: str) -> Withdrawal | None:
    """The user's withdrawal with this client id."""
    row = await connection.fetchrow(_BY_CLIENT_ID, user_id, client_withdrawal_id)
    return None if row is None else withdrawal_of(row)


async def insert(connection: Connection, new: Withdrawal) -> None:
    """Add a withdrawal that waits for funds and approvals."""
    await connection.execute(
        _INSERT, new.withdrawal_id, new.user_id, new.client_withdrawal_id, new.asset, new.network, new.amount, new.fee,
        new.net_amount, new.address, new.tag, new.wallet.value, new.price, new.value_cents, new.approvals_needed,
        new.required_confirmations, new.created_at, new.reason,
    )  # fmt: skip


async def save(connection: Connection, changed: Withdrawal, now: datetime) -> None:
    """Write the fields that can change. The transaction has locked the row."""
    changed.updated_at = now
    await connection.execute(
        """
        UPDATE custody_withdrawals SET status = $2, funds = $3, reason = $4, digest = $5, tx_hash = $6, height = $7,
            confirmations = $8, approvals_needed = $9, updated_at = $10
        WHERE withdrawal_id = $1
        """,
        changed.withdrawal_id, changed.status.value, changed.funds.value, changed.reason, changed.digest,
        changed.tx_hash, changed.height, changed.confirmations, changed.approvals_needed, now,
    )  # fmt: skip


async def sum_of_wallet(connection: Connection, wallet: Wallet, now: datetime) -> int:
    """The sum (US cents) of the wallet's withdrawals within the quota's window. Unsent ones do not count."""
    return int(await connection.fetchval(_SUM_OF_WALLET, wallet.value, now - QUOTA_WINDOW, _UNSENT))


async def large_withdrawals(pool: Pool, since: datetime, value_cents: int, limit: int) -> list[tuple[str, int]]:
    """Id and worth, in US cents, of the newest withdrawals since then that are worth at least `value_cents`."""
    rows = await pool.fetch(
        "SELECT withdrawal_id, value_cents FROM custody_withdrawals WHERE created_at > $1 AND value_cents >= $2"
        " ORDER BY created_at DESC, withdrawal_id DESC LIMIT $3",
        since,
        value_cents,
        limit,
    )
    return [(row["withdrawal_id"], row["value_cents"]) for row in rows]


async def sum_of_user(connection: Connection, user_id: str, now: datetime) -> int:
    """The same sum over a user's withdrawals."""
    return int(await connection.fetchval(_SUM_OF_USER, user_id, now - QUOTA_WINDOW, _UNSENT))


async def sum_of_user_in_wallet(connection: Connection, user_id: str, wallet: Wallet, now: datetime) -> int:
    """The same sum over a user's withdrawals from one wallet."""
    window = now - QUOTA_WINDOW
    return int(await connection.fetchval(_SUM_OF_USER_IN_WALLET, user_id, window, _UNSENT, wallet.value))


async def open_ids(pool: Pool, after: str, limit: int) -> list[str]:
    """A page of ids of withdrawals that are not settled: the first `limit` ids above `after`."""
    return [row[0] for row in await pool.fetch(_OPEN, after, limit)]


async def waiting_for_price(
    pool: Pool, wallet: Wallet, value_below: int, after: str, limit: int
) -> list[tuple[str, str]]:
    """A page of ids above `after`, with their assets: withdrawals that a wallet approves by itself at a sure price."""
    rows = await pool.fetch(_WAITING_FOR_PRICE, wallet.value, value_below, after, limit)
    return [(row["withdrawal_id"], row["asset"]) for row in rows]


async def list_open(pool: Pool, limit: int) -> list[Withdrawal]:
    """The withdrawals that are not settled, the oldest first."""
    return [withdrawal_of(row) for row in await pool.fetch(_LIST_OPEN, limit)]


# Approvals and signatures


async def approvers(connection: Connection, withdrawal_id: str) -> list[str]:
    """Who has approved, in order of time."""
    query = "SELECT approver FROM custody_approvals WHERE withdrawal_id = $1 ORDER BY created_at, approver"
    return [row[0] for row in await connection.fetch(query, withdrawal_id)]


async def approvers_of_all(pool: Pool, withdrawal_ids: Sequence[str]) -> dict[str, list[str]]:
    """Who has approved each of these withdrawals, in order of time. Withdrawals without approvals are left out."""
    query = """
        SELECT withdrawal_id, array_agg(approver ORDER BY created_at, approver) FROM custody_approvals
        WHERE withdrawal_id = ANY ($1::text[]) GROUP BY withdrawal_id
    """
    return {row[0]: list(row[1]) for row in await pool.fetch(query, withdrawal_ids)}


async def assignees_of_all(pool: Pool, withdrawal_ids: Sequence[str]) -> dict[str, str]:
    """Who is asked to decide on each of these withdrawals. Those that nobody has are left out."""
    query = "SELECT withdrawal_id, assignee FROM withdrawal_assignments WHERE withdrawal_id = ANY ($1::text[])"
    return {row[0]: row[1] for row in await pool.fetch(query, withdrawal_ids)}


async def signers_of_all(pool: Pool, withdrawal_ids: Sequence[str]) -> dict[str, list[str]]:
    """Who has signed each of these withdrawals, by name. Withdrawals without signatures are left out."""
    query = """
        SELECT withdrawal_id, array_agg(signer ORDER BY signer) FROM custody_signatures
        WHERE withdrawal_id = ANY ($1::text[]) GROUP BY withdrawal_id
    """
    return {row[0]: list(row[1]) for row in await pool.fetch(query, withdrawal_ids)}


async def add_approval(connection: Connection, withdrawal_id: str, approver: str, now: datetime) -> bool:
    """Record an approval. False if that person has approved already."""
    query = "INSERT INTO custody_approvals VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING approver"
    return await connection.fetchval(query, withdrawal_id, approver, now) is not None


async def signatures(connection: Connection, withdrawal_id: str) -> dict[str, str]:
    """The signatures by signer."""
    query = "SELECT signer, signature FROM custody_signatures WHERE withdrawal_id = $1"
    return {row[0]: row[1] for row in await connection.fetch(query, withdrawal_id)}


async def add_signature(connection: Connection, withdrawal_id: str, signer: str, signature: str, now: datetime) -> bool:
    """Record a signature. False if that signer has signed already."""
    query = "INSERT INTO custody_signatures VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING signer"
    return await connection.fetchval(query, withdrawal_id, signer, signature, now) is not None


# Audit


async def audit(
    connection: Connection, about: Withdrawal, decision: WithdrawalDecision, now: datetime, sum_before: int
) -> None:
    """Append an entry to the audit chain. `sum_before` is the wallet's sum without this withdrawal (US cents)."""
    await lock_named(connection, _AUDIT_LOCK)
    newest = await connection.fetchrow(
        "SELECT entry_number, hash FROM custody_audit ORDER BY entry_number DESC LIMIT 1"
    )
    number, previous = (newest["entry_number"], newest["hash"]) if newest is not None else (0, FIRST_HASH)
    content: dict[str, str | int | None] = {
        "withdrawal_id": about.withdrawal_id,
        "actor": decision.actor,
        "decision": decision.decision,
        "detail": decision.detail,
        "policy_version": POLICY_VERSION,
        "price": text_of(about.price),
        "value_cents": about.value_cents,
        "sum_before_cents": sum_before,
        "at_ms": int(now.timestamp() * 1000),
    }
    of_operator = decision.of_operator()
    values = (*content.values(), *(of_operator.values() or [None] * 5))
    query = f"""
        INSERT INTO custody_audit (entry_number, previous_hash, hash, {_AUDIT_COLUMNS}, {_DECIDER_COLUMNS})
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
    """  # noqa: S608
    await connection.execute(query, number + 1, previous, entry_hash(previous, content | of_operator), *values)
    if decision.by is not None and decision.by.address:
        await connection.execute(
            "INSERT INTO custody_audit_origins (entry_number, address) VALUES ($1, $2)", number + 1, decision.by.address
        )


async def audit_entries(connection: Connection) -> AsyncIterator[tuple[str, str, dict[str, str | int | None]]]:
    """Previous hash, hash and content of every audit entry, oldest first. Needs a transaction."""
    query = f"""
        SELECT previous_hash, hash, {_AUDIT_COLUMNS}, {_DECIDER_COLUMNS} FROM custody_audit ORDER BY entry_number
    """  # noqa: S608
    later = _DECIDER_COLUMNS.split(", ")
    async for row in connection.cursor(query):
        fields = dict(row)
        previous, own = fields.pop("previous_hash"), fields.pop("hash")
        yield previous, own, {name: value for name, value in fields.items() if value is not None or name not in later}


async def operator_decisions_of_all(pool: Pool, withdrawal_ids: Sequence[str]) -> dict[str, list[OperatorDecision]]:
    """What operators decided on each of these withdrawals, oldest first. Those without a decision are left out."""
    rows = await pool.fetch(
        "SELECT withdrawal_id, operator, decision, reason, at_ms FROM custody_audit"
        " WHERE withdrawal_id = ANY ($1::text[]) AND operator IS NOT NULL ORDER BY entry_number",
        withdrawal_ids,
    )
    found: dict[str, list[OperatorDecision]] = {}
    for row in rows:
        decision = OperatorDecision(row["operator"], row["decision"], row["reason"], row["at_ms"])
        found.setdefault(row["withdrawal_id"], []).append(decision)
    return found


async def forget_origins(pool: Pool, before: datetime) -> None:
    """Delete the addresses that the operators' trail has, and those of decisions made earlier than `before`."""
    await pool.execute(
        "DELETE FROM custody_audit_origins AS origin USING custody_audit AS entry"
        " WHERE entry.entry_number = origin.entry_number AND (entry.at_ms < $1"
        " OR entry.entry_number <= (SELECT through FROM custody_trail_position))",
        int(before.timestamp() * 1000),
    )
