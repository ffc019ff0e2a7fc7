"""The ways in which a venue misbehaves. Faults are drawn from a seeded generator, so a run can be repeated."""

import random
from dataclasses import dataclass

GARBAGE = (b'{"e":"trade","E":', b"\xff\xfe not JSON", b"[]", b'{"e":"trade"}', b"{}", b'{"u":1,"s":"BTCUSDT","b":1}')
UNKNOWN_MARKET = (
    b'{"u":1,"s":"ZZZQQQ","b":"1.00000000","B":"1.00000000","a":"2.00000000","A":"1.00000000"}',
    b'{"e":"trade","E":1,"s":"ZZZQQQ","t":1,"p":"1.00000000","q":"1.00000000","T":1,"m":true,"M":true}',
)


@dataclass(frozen=True, slots=True)
class Faults:
    """The faults of each connection. Rates are shares of its messages, from 0 to 1."""

    gap_rate: float = 0.0
    """The share of messages that are not sent."""
    duplicate_rate: float = 0.0
    """The share of messages that are sent twice."""
    garbage_rate: float = 0.0
    """The share of messages before which a frame of garbage is sent."""
    unknown_market_rate: float = 0.0
    """The share of messages before which a message of a market without subscribers is sent."""
    disconnect_after: int = 0
    """After this many messages the connection is cut, without a close frame; 0 means never."""
    pause_s: float = 0.0
    """Pause before each message."""
    is_silent: bool = False
    """Connections stay open, but nothing is ever sent: no message, no reply, no pong, no close frame."""


class FaultInjector:
    """Applies the faults of one connection."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311  (faults, not secrets)

    def frames(self, faults: Faults, frame: bytes) -> list[bytes]:
        """The frames that are sent in place of a message."""
        if faults == _NO_FAULTS:
            return [frame]
        frames = []
        if self._happens(faults.garbage_rate):
            frames.append(self._chance.choice(GARBAGE))
        if self._happens(faults.unknown_market_rate):
            frames.append(self._chance.choice(UNKNOWN_MARKET))
        if not self._happens(faults.gap_rate):
            frames += [frame] * (2 if self._happens(faults.duplicate_rate) else 1)
        return frames

    def _happens(self, rate: float) -> bool:
        return rate > 0 and self._chance.random() < rate


_NO_FAULTS = Faults()
