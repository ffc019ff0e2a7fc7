"""What the engine has done since its journal began: orders and trades, counted. Part of the state machine."""

import msgspec

Tally = list[int]
"""[trades, Σ quantity, Σ price × quantity] of one symbol, in its scaled units."""


class _Snapshot(msgspec.Struct, frozen=True):
    placed: int
    rejected: int
    cancelled: int
    # Sums leave the range of msgpack's integers.
    tallies: dict[int, list[str]]


class Totals:
    """Counted by the state machine while it follows the events."""

    def __init__(self) -> None:
        self.placed = 0
        """Orders that passed every check."""
        self.rejected = 0
        self.cancelled = 0
        """Orders that left before they were filled, for whatever reason."""
        self.tallies: dict[int, Tally] = {}
        """By number of the symbol."""

    def new_tally(self, symbol: int) -> Tally:
        """The tally of a symbol that has none yet."""
        tally = self.tallies[symbol] = [0, 0, 0]
        return tally

    def snapshot(self) -> bytes:
        """The counts as bytes: equal counts, equal bytes."""
        tallies = {symbol: [str(value) for value in tally] for symbol, tally in sorted(self.tallies.items())}
        return msgspec.msgpack.encode(_Snapshot(self.placed, self.rejected, self.cancelled, tallies))

    def restore(self, snapshot: bytes) -> None:
        """Replace the counts. Raises ValueError on anything but a whole snapshot."""
        try:
            content = msgspec.msgpack.decode(snapshot, type=_Snapshot)
        except msgspec.MsgspecError as error:
            raise ValueError(f"not a snapshot of the totals: {error}") from error
        self.placed, self.rejected, self.cancelled = content.placed, content.rejected, content.cancelled
        self.tallies = {symbol: [int(text) for text in tally] for symbol, tally in content.tallies.items()}
