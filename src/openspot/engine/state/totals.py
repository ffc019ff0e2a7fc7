"""Counts of orders and trades since the journal began. Part of the state machine."""

import msgspec


class TradeTally(msgspec.Struct, array_like=True):
    """The trades of one symbol: how many, Σ quantity and Σ price × quantity, in its scaled units."""

    trades: int = 0
    quantity: int = 0
    notional: int = 0


class _Snapshot(msgspec.Struct, frozen=True):
    placed: int
    rejected: int
    cancelled: int
    # As text, because the sums exceed 64 bits, the limit of msgpack's integers.
    tallies: dict[int, list[str]]


class Totals:
    """The state machine updates these counts from the events."""

    def __init__(self) -> None:
        self.placed = 0
        """Orders that the core accepted."""
        self.rejected = 0
        self.cancelled = 0
        """Orders that ended before they were filled, for any reason."""
        self.tallies: dict[int, TradeTally] = {}
        """By symbol number."""

    def new_tally(self, symbol: int) -> TradeTally:
        """Add an empty tally for a symbol and return it."""
        tally = self.tallies[symbol] = TradeTally()
        return tally

    def snapshot(self) -> bytes:
        """The counts as bytes: equal counts give equal bytes."""
        tallies = {
            symbol: [str(value) for value in msgspec.structs.astuple(tally)]
            for symbol, tally in sorted(self.tallies.items())
        }
        return msgspec.msgpack.encode(_Snapshot(self.placed, self.rejected, self.cancelled, tallies))

    def restore(self, snapshot: bytes) -> None:
        """Replace the counts. Raises ValueError unless `snapshot` is complete."""
        try:
            content = msgspec.msgpack.decode(snapshot, type=_Snapshot)
        except msgspec.MsgspecError as error:
            raise ValueError(f"not a snapshot of the totals: {error}") from error
        self.placed, self.rejected, self.cancelled = content.placed, content.rejected, content.cancelled
        self.tallies = {symbol: TradeTally(*map(int, sums)) for symbol, sums in content.tallies.items()}
