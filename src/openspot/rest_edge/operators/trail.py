"""The trail of operators: who did what to whom, why, from where, and what it was before and after.

An entry is written in the transaction of the change that it tells of, so that neither exists without the other. Each
holds the hash of the entry before it (`kit/hash_chain.py`), and the database refuses to change or remove one. Ids stand
for people. The address that an operator called from is personal data: it is in a table beside the chain, which holds
its salted hash, and can be erased without breaking the chain.
"""

import hashlib
import json
import os
import re
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from starlette.requests import HTTPConnection

from openspot.http.context import context_of, operator
from openspot.kit.clock import ms_from_datetime, utc_now
from openspot.kit.database import Connection
from openspot.kit.hash_chain import FIRST_HASH, entry_hash, is_next

REASON_LENGTH_MIN = 3
REASON_LENGTH_MAX = 500
VALUES_LENGTH_MAX = 16_384
"""The longest JSON of what a subject was before, or is after."""
_NAME = re.compile(r"(user|engine|shell):[^\x00-\x1f]{1,128}|service")
_WORD = re.compile(r"[a-z][a-z0-9_.]{0,63}")
_SUBJECT_ID_LENGTH_MAX = 128
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('openspot-operator-trail', 0))"
_FIELDS = (
    "operator", "action", "subject_kind", "subject_id", "reason", "before", "after", "request_id", "origin_hash",
    "at_ms",
)  # fmt: skip
_COLUMNS = ", ".join(_FIELDS)
ENTRIES = """
    SELECT entry_number, previous_hash, hash, operator_actions.operator AS operator, action, subject_kind, subject_id,
        reason, before, after, request_id, origin_hash, at_ms, salt, address
    FROM operator_actions LEFT JOIN operator_action_origins USING (entry_number)
"""
"""The columns of `Entry`."""


@dataclass(frozen=True, slots=True)
class OperatorAction:
    """What an operator did.

    `operator` is the name of an operator (`http/operators.py`), `shell:<account>` for a command, or
    `service` for a service of the platform that named nobody. `action` is a word
    such as `roles.grant`, `subject_kind` one such as `user`. `before` and `after` are the fields that changed, with
    None for what there is not. No field may hold personal data: ids stand for people.

    Raises ValueError for a field that is empty, too long, or of another form.
    """

    operator: str
    action: str
    subject_kind: str
    subject_id: str
    reason: str
    before: Mapping[str, str | None] = field(default_factory=dict)
    after: Mapping[str, str | None] = field(default_factory=dict)
    request_id: str = ""
    address: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.operator):
            raise ValueError(f"operator: {self.operator!r} is no name of an operator")
        for name in ("action", "subject_kind"):
            if not _WORD.fullmatch(getattr(self, name)):
                raise ValueError(f"{name}: must be a word of small letters, digits, _ and .")
        if not 0 < len(self.subject_id) <= _SUBJECT_ID_LENGTH_MAX:
            raise ValueError(f"subject_id: must have 1 to {_SUBJECT_ID_LENGTH_MAX} characters")
        if not REASON_LENGTH_MIN <= len(self.reason) <= REASON_LENGTH_MAX:
            raise ValueError(f"reason: must have {REASON_LENGTH_MIN} to {REASON_LENGTH_MAX} characters")
        for name, values in (("before", self.before), ("after", self.after)):
            if len(_json(values)) > VALUES_LENGTH_MAX:
                raise ValueError(f"{name}: is longer than {VALUES_LENGTH_MAX} characters")


class Entry(NamedTuple):
    """An entry as it is stored. `before` and `after` are JSON; `at_ms` is in milliseconds since 1970.

    `address` is None if it was erased.
    """

    entry_number: int
    previous_hash: str
    hash: str
    operator: str
    action: str
    subject_kind: str
    subject_id: str
    reason: str
    before: str
    after: str
    request_id: str
    origin_hash: str
    at_ms: int
    salt: str | None
    address: str | None


def action_of(
    request: HTTPConnection,
    action: str,
    subject: tuple[str, str],
    reason: str,
    before: Mapping[str, str | None],
    after: Mapping[str, str | None],
) -> OperatorAction:
    """The action of the operator who sent `request`. `subject` is its kind and its id."""
    context = context_of(request)
    return OperatorAction(
        operator(request).name, action, *subject, reason, before, after, context.request_id, context.address
    )


async def record_action(connection: Connection, action: OperatorAction) -> int:
    """Add an entry, in the caller's transaction, and return its number.

    From here to the end of the transaction nobody else adds one: call it last, after every lock of a row is taken.
    """
    assert connection.is_in_transaction(), "the entry and the change are one"
    await connection.execute(_LOCK)
    newest = await connection.fetchrow(
        "SELECT entry_number, hash, at_ms FROM operator_actions ORDER BY entry_number DESC LIMIT 1"
    )
    number, previous, before_ms = (1, FIRST_HASH, 0) if newest is None else (newest[0] + 1, newest[1], newest[2])
    salt = os.urandom(16).hex()
    content: dict[str, str | int | None] = {
        "operator": action.operator,
        "action": action.action,
        "subject_kind": action.subject_kind,
        "subject_id": action.subject_id,
        "reason": action.reason,
        "before": _json(action.before),
        "after": _json(action.after),
        "request_id": action.request_id,
        "origin_hash": origin_hash(salt, action.address),
        # Times never fall, also where the clocks of two edges differ: so a period is a range of numbers.
        "at_ms": max(ms_from_datetime(utc_now()), before_ms),
    }
    await connection.execute(
        f"INSERT INTO operator_actions (entry_number, previous_hash, hash, {_COLUMNS})"  # noqa: S608
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        number,
        previous,
        entry_hash(previous, content),
        *content.values(),
    )
    await connection.execute(
        "INSERT INTO operator_action_origins (entry_number, operator, salt, address) VALUES ($1, $2, $3, $4)",
        number,
        action.operator,
        salt,
        action.address,
    )
    return int(number)


async def entries(connection: Connection) -> AsyncIterator[Entry]:
    """Every entry, oldest first, as they are read. Needs a transaction."""
    async for row in connection.cursor(f"{ENTRIES} ORDER BY entry_number"):
        yield Entry(**dict(row))


def fault_of(entry: Entry, number: int, previous: str) -> str:
    """What is wrong with an entry that should have that number and follow that hash; empty if nothing is."""
    if entry.entry_number != number:
        return f"entry {number} is missing"
    content = {name: getattr(entry, name) for name in _FIELDS}
    if not is_next(previous, entry.previous_hash, entry.hash, content):
        return f"entry {number} is changed, or the one before it was exchanged"
    if entry.salt is not None and entry.origin_hash != origin_hash(entry.salt, entry.address or ""):
        return f"the address of entry {number} is changed"
    return ""


def origin_hash(salt: str, address: str) -> str:
    """What the chain holds of an address: SHA-256, in hex, of a random salt and the address."""
    return hashlib.sha256(f"{salt} {address}".encode()).hexdigest()


def roles_text(roles: Collection[str]) -> str | None:
    """Roles as entries have them: by name, with commas; None without any."""
    return ",".join(sorted(roles)) or None


def _json(values: Mapping[str, str | None]) -> str:
    return json.dumps(dict(sorted(values.items())), ensure_ascii=False, separators=(",", ":"))
