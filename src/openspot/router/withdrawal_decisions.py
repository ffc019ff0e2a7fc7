"""What custody was told of each withdrawal request: decided once, whoever is handed the request again.

The bus hands a request over at least once. Without a record, one that was refused for lack of funds would be looked
at anew when it comes again, and could then be reserved after custody was told that it failed. The record is a
key-value bucket of the bus; its entries live as long as custody's events.
"""

from typing import Any

import msgspec
import nats.errors
import nats.js.errors

from openspot.contracts.streams import CUSTODY
from openspot.kit.bus import Bus

BUCKET = "router-withdrawals"


class DecisionsUnavailableError(Exception):
    """The record cannot be read or written now."""


class Decision(msgspec.Struct, frozen=True):
    """What was decided: refused for `refusal`, or reserved where that is None."""

    refusal: str | None


_decode = msgspec.json.Decoder(Decision).decode


class WithdrawalDecisions:
    """The record. Every method raises DecisionsUnavailableError."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._bucket: Any = None

    async def earlier(self, withdrawal_id: str) -> Decision | None:
        """What was decided before, or None."""
        try:
            entry = await (await self._opened()).get(_key(withdrawal_id))
        except nats.js.errors.KeyNotFoundError:
            return None
        except (nats.errors.Error, nats.js.errors.Error, TimeoutError, OSError) as error:
            raise DecisionsUnavailableError(repr(error)) from error
        return _decode(entry.value)

    async def decide(self, withdrawal_id: str, decision: Decision) -> Decision:
        """Record a decision; answers the one that stands: this one, or another router's that came first."""
        try:
            await (await self._opened()).create(_key(withdrawal_id), msgspec.json.encode(decision))
        except nats.js.errors.KeyWrongLastSequenceError:
            return await self.earlier(withdrawal_id) or decision
        except (nats.errors.Error, nats.js.errors.Error, TimeoutError, OSError) as error:
            raise DecisionsUnavailableError(repr(error)) from error
        return decision

    async def _opened(self) -> Any:
        if self._bucket is None:
            self._bucket = await self._bus.key_value(BUCKET, CUSTODY.age_s_max)
        return self._bucket


def _key(withdrawal_id: str) -> str:
    # A key takes fewer characters than an id.
    return withdrawal_id.encode().hex()
