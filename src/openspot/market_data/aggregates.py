"""Aggregate trades: what one order took at one price at one time, as one trade. Rules without IO.

Two trades of a market belong together if one follows the other there, and taker, side, price and time are the same. An
order that takes a level from many makers so becomes one entry.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from openspot.contracts.messages import AggregateTrade, AggregateTradeEvent
from openspot.domain.money import amount_to_text


@dataclass(frozen=True, slots=True)
class Fill:
    """A trade, with its taker. `price` and `quantity` are amounts of 18 places, `timestamp_ms` is since 1970.

    `taker` names the order that took; None if that is not known any more.
    """

    trade_id: str
    sequence: int
    price: int
    quantity: int
    side: str
    timestamp_ms: int
    taker: str | None


@dataclass(slots=True)
class Run:
    """Trades that belong together, from the oldest to the newest so far."""

    first: Fill
    last: Fill
    quantity: int
    trades: int
    previous: int = 0
    """The sequence of the market's trade before the first one; 0 if none is known."""

    def admits(self, fill: Fill) -> bool:
        """Whether a neighbour belongs to these trades: the market's next trade, or the one before the first.

        The taker of a run that was read without it is that of the event right behind it: an order that begins to trade
        has an event of its own before its first trade.
        """
        known = self.last
        if (fill.price, fill.side, fill.timestamp_ms) != (known.price, known.side, known.timestamp_ms):
            return False
        if known.taker is None:
            return fill.sequence == known.sequence + 1
        return fill.taker == known.taker

    def add_younger(self, fill: Fill) -> None:
        """Add the market's next trade."""
        self.last = fill
        self._count(fill)

    def add_older(self, fill: Fill) -> None:
        """Add the market's trade before the first."""
        self.first = fill
        self._count(fill)

    def _count(self, fill: Fill) -> None:
        self.quantity += fill.quantity
        self.trades += 1

    def aggregate(self, symbol: str) -> AggregateTrade:
        """The trades as one."""
        first, last = self.first, self.last
        return AggregateTrade(
            first_trade_id=first.trade_id,
            last_trade_id=last.trade_id,
            symbol=symbol,
            price=amount_to_text(last.price),
            quantity=amount_to_text(self.quantity),
            side=last.side,
            trades=self.trades,
            timestamp=last.timestamp_ms,
            first_sequence=first.sequence,
            last_sequence=last.sequence,
        )

    def event(self, symbol: str) -> AggregateTradeEvent:
        """The trades as one, as they are published."""
        one = self.aggregate(symbol)
        return AggregateTradeEvent(
            **{name: getattr(one, name) for name in AggregateTrade.__struct_fields__},
            seq=one.last_sequence,
            prev_seq=self.previous,
        )


def run_of(fill: Fill, previous: int = 0) -> Run:
    """A run that begins with this trade; `previous` is the sequence of the market's trade before it."""
    return Run(first=fill, last=fill, quantity=fill.quantity, trades=1, previous=previous)


class Gathering:
    """Gathers neighbouring trades into runs, in either order of time. `is_rising`: each trade is younger than the last.

    `complete` are the runs that no further trade can belong to, in the order of the trades.
    """

    def __init__(self, *, is_rising: bool) -> None:
        self._is_rising = is_rising
        self._open: Run | None = None
        self.complete: list[Run] = []

    def add(self, fills: Iterable[Fill]) -> None:
        """Add the next trades."""
        for fill in fills:
            if self._open is None or not self._open.admits(fill):
                self.end()
                self._open = run_of(fill)
            elif self._is_rising:
                self._open.add_younger(fill)
            else:
                self._open.add_older(fill)

    def end(self) -> None:
        """No further trade comes: the last run is complete, too."""
        if self._open is not None:
            self.complete.append(self._open)
            self._open = None
