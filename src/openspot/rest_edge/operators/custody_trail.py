"""Takes over into the trail what operators decided on withdrawals, from custody's own chain.

Custody writes a decision and its entry in one transaction, and numbers entries in the order of their commits. The entry
in the trail and the number up to which custody's chain has been followed are written in one transaction, too, under a
lock of that number. So a decision has exactly one entry, whatever is killed between the two, and however many edges
follow (docs/adr/0127-custodys-decisions-are-in-the-trail.md).
"""

from typing import Any

import msgspec

from openspot.contracts.engine_actions import SERVICE
from openspot.kit.clock import iso_from_ms, ms_from_datetime, utc_now
from openspot.kit.database import Connection, Pool
from openspot.kit.log import get_logger
from openspot.rest_edge.operators.trail import REASON_LENGTH_MAX, REASON_LENGTH_MIN, OperatorAction, record_action

log = get_logger("operators")

FOLLOW_INTERVAL_S = 2.0
LATE_MS = 10_000
PAGE = 100
"""Decisions that one transaction takes over: meanwhile nobody else adds to the trail."""
_CHAIN = "custody_audit"
_UNFOLLOWED = """
    SELECT EXISTS (
        SELECT FROM custody_audit WHERE operator IS NOT NULL
            AND entry_number > coalesce((SELECT through FROM custody_trail_position), 0)
    )
"""
_DECISIONS = """
    SELECT entry_number, operator, decision, withdrawal_id, reason, before, after, request_id, at_ms,
        coalesce(address, '') AS address
    FROM custody_audit LEFT JOIN custody_audit_origins USING (entry_number)
    WHERE operator IS NOT NULL AND entry_number > $1 ORDER BY entry_number LIMIT $2
"""


class CustodyTrail:
    """Follows custody's chain."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def follow(self) -> None:
        """Write an entry for every decision that has none. Raises what the database raises."""
        while await self._pool.fetchval(_UNFOLLOWED):
            async with self._pool.acquire() as connection, connection.transaction():
                await _follow_page(connection)


async def _follow_page(connection: Connection) -> None:
    await connection.execute("INSERT INTO custody_trail_position VALUES ($1, 0) ON CONFLICT DO NOTHING", _CHAIN)
    through = await connection.fetchval("SELECT through FROM custody_trail_position FOR UPDATE")
    decisions = await connection.fetch(_DECISIONS, through, PAGE)
    for decision in decisions:
        await record_action(connection, entry_of(dict(decision)))
        through = decision["entry_number"]
    await connection.execute("UPDATE custody_trail_position SET through = $1", through)


def entry_of(decision: dict[str, Any]) -> OperatorAction:
    """The entry of a decision, a row of custody's chain; it says when that was made if it comes late.

    A decision that the trail cannot take as it is gets an entry that says so: one must not keep out all that follow.
    """
    place = f"custody:{decision['entry_number']}"
    try:
        return _entry(place, decision)
    except (ValueError, msgspec.MsgspecError) as error:
        log.error("a decision at custody has no whole entry", entry=decision["entry_number"], error=str(error))
        reason = f"custody's chain has it; the trail cannot take it: {error}"[:REASON_LENGTH_MAX]
        return OperatorAction(SERVICE, "withdrawal.unreadable", "decision", place, reason, request_id=place)


def _entry(place: str, decision: dict[str, Any]) -> OperatorAction:
    reason: str = decision["reason"]
    before, after = (msgspec.json.decode(decision[name], type=dict[str, str]) for name in ("before", "after"))
    # Who checks both chains finds the entry of one in the other.
    after["custodyEntry"] = str(decision["entry_number"])
    if ms_from_datetime(utc_now()) - decision["at_ms"] > LATE_MS:
        after["doneAt"] = iso_from_ms(decision["at_ms"])
    return OperatorAction(
        operator=decision["operator"],
        action=f"withdrawal.{decision['decision']}",
        subject_kind="withdrawal",
        subject_id=decision["withdrawal_id"],
        reason=reason if len(reason) >= REASON_LENGTH_MIN else f"reason: {reason}",
        before=before,
        after=after,
        request_id=decision["request_id"] or place,
        address=decision["address"],
    )
