"""What custody was told of each withdrawal request: decided once, however often the request is delivered.

The bus delivers a request at least once. Without a record, one that was refused for lack of funds would be judged again
when it comes again, and could then be reserved after custody was told that it failed. The record is a bucket of the
bus; its entries live as long as custody's events.
"""

import msgspec

from openspot.contracts.streams import CUSTODY
from openspot.kit.bus import Bus, KeyValueError, WrongRevisionError

BUCKET = "router-withdrawals"


class DecisionsUnavailableError(Exception):
    """The record cannot be read or written now."""


class Decision(msgspec.Struct, frozen=True):
    """What was decided: refused for the reason `refusal`, or reserved if that is None."""

    refusal: str | None


class WithdrawalDecisions:
    """The record. Every method raises DecisionsUnavailableError."""

    def __init__(self, bus: Bus) -> None:
        self._bucket = bus.key_value(BUCKET, Decision, CUSTODY.age_s_max)

    async def earlier(self, withdrawal_id: str) -> Decision | None:
        """What was decided before, or None."""
        try:
            entry = await self._bucket.get(_key(withdrawal_id))
        except KeyValueError as error:
            raise DecisionsUnavailableError(str(error)) from error
        return None if entry is None else entry.value

    async def decide(self, withdrawal_id: str, decision: Decision) -> Decision:
        """Record a decision. Returns the one that counts: this one, or another router's that came first."""
        try:
            await self._bucket.create(_key(withdrawal_id), decision)
        except WrongRevisionError:
            return await self.earlier(withdrawal_id) or decision
        except KeyValueError as error:
            raise DecisionsUnavailableError(str(error)) from error
        return decision


def _key(withdrawal_id: str) -> str:
    # A key takes fewer characters than an id.
    return withdrawal_id.encode().hex()
