"""Turns a venue's events into orders and cancels, and finds who sends them and what funds they need. Pure rules.

`created` becomes an order at that price and volume; price 0 or 999999999 makes it a market order. `deleted` with volume
left becomes its cancel. `changed`, and `deleted` without volume, are the venue's own fills and send nothing, because
our engine makes its own fills. The same user sends an order and its cancel.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from zlib import crc32

from openspot.domain.money import EXACT
from openspot.replay.source import BookEvent

MARKET_PRICES = frozenset({Decimal(0), Decimal(999_999_999)})
"""Prices that venues write for market orders."""

HEADROOM = Decimal("1.1")
"""Factor on the funds that the orders need, for fees and for the slippage of market orders."""


@dataclass(frozen=True, slots=True)
class PlaceCommand:
    """An order to place; `price` is None for a market order."""

    venue_id: str
    side: str
    price: Decimal | None
    quantity: Decimal


@dataclass(frozen=True, slots=True)
class CancelCommand:
    """An order to cancel, if it was placed in this replay."""

    venue_id: str


Command = PlaceCommand | CancelCommand


def command_of(event: BookEvent) -> Command | None:
    """The command for `event`, or None if nothing is to be sent."""
    if event.volume == 0:
        return None
    if event.action == "created":
        price = None if event.price in MARKET_PRICES else event.price
        return PlaceCommand(event.venue_id, event.side, price, event.volume)
    if event.action == "deleted":
        return CancelCommand(event.venue_id)
    return None


def lane_of(venue_id: str, lanes: int) -> int:
    """The lane, and so the user, of an order. It is the same in every run."""
    return crc32(venue_id.encode()) % lanes


@dataclass(slots=True)
class NeededFunds:
    """The funds that one user needs for all orders, in whole units, rounded up."""

    base: Decimal = Decimal(0)
    quote: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class ReplayPlan:
    """A summary of the whole flow, made before it begins. `last_timestamp` is in milliseconds since 1970."""

    events: int
    orders: int
    funds: tuple[NeededFunds, ...]
    last_timestamp: int


def make_plan(events: Iterable[BookEvent], lanes: int) -> ReplayPlan:
    """Count the events, and sum up for each user what all orders together could need."""
    base = [Decimal(0)] * lanes
    quote = [Decimal(0)] * lanes
    market_buys = [Decimal(0)] * lanes
    price_max = Decimal(0)
    count, orders, newest = 0, 0, 0
    for event in events:
        count += 1
        newest = max(newest, event.timestamp)
        command = command_of(event)
        if not isinstance(command, PlaceCommand):
            continue
        orders += 1
        lane = lane_of(command.venue_id, lanes)
        if command.price is not None:
            price_max = max(price_max, command.price)
        if command.side == "sell":
            base[lane] = EXACT.add(base[lane], command.quantity)
        elif command.price is None:
            market_buys[lane] = EXACT.add(market_buys[lane], command.quantity)
        else:
            quote[lane] = EXACT.add(quote[lane], EXACT.multiply(command.price, command.quantity))
    # A market buy pays at most the highest price of the flow, apart from slippage, which HEADROOM covers.
    funds = tuple(
        NeededFunds(
            _whole(base[lane]),
            _whole(EXACT.add(quote[lane], EXACT.multiply(price_max, market_buys[lane]))),
        )
        for lane in range(lanes)
    )
    return ReplayPlan(count, orders, funds, newest)


def _whole(amount: Decimal) -> Decimal:
    needed = EXACT.multiply(amount, HEADROOM)
    return needed.to_integral_value(ROUND_CEILING)
