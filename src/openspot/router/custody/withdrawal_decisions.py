"""The decision on each withdrawal request. It is made once, even if the bus delivers the request again.

Without a record, the router could refuse a request for lack of funds, and then reserve the funds at the second
delivery, although custody was told that the request had failed. The record is a key-value bucket on the bus. Its
entries live as long as custody's events.
"""

import msgspec

from openspot.contracts.streams import CUSTODY
from openspot.kit.bus import Bus, KeyValueError, WrongRevisionError

BUCKET = "router-withdrawals"


class DecisionsUnavailableError(Exception):
    """The record cannot be read or written now."""


class Decision(msgspec.Struct, frozen=True):
    """A decision: refused for the reason `refusal`, or reserved if that is None."""

    refusal: str | None


class WithdrawalDecisions:
    """The record. Every method raises DecisionsUnavailableError if the bus fails."""

    def __init__(self, bus: Bus) -> None:
        self._bucket = bus.key_value(BUCKET, Decision, CUSTODY.age_s_max)

    async def earlier(self, withdrawal_id: str) -> Decision | None:
        """The decision that was made before, or None."""
        try:
            entry = await self._bucket.get(_key(withdrawal_id))
        except KeyValueError as error:
            raise DecisionsUnavailableError(str(error)) from error
        return None if entry is None else entry.value

    async def decide(self, withdrawal_id: str, decision: Decision) -> Decision:
        """Record a decision, unless another router has recorded one. Returns the decision that holds."""
        try:
            await self._bucket.create(_key(withdrawal_id), decision)
        except WrongRevisionError:
            return await self.earlier(withdrawal_id) or decision
        except KeyValueError as error:
            raise DecisionsUnavailableError(str(error)) from error
        return decision


def _key(withdrawal_id: str) -> str:
    # Hexadecimal, because an id may have characters that a key of the bus must not have.
    return withdrawal_id.encode().hex()
