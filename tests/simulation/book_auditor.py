"""Judges the books of market data: they follow the engine's stream, and must have the queues of the rules."""

from collections.abc import Sequence

from openspot.contracts.engine_events import EngineEvent
from openspot.domain.order_book import BookContradictionError
from openspot.market_data.book import BookBase, BookEvent, PublishedBook
from tests.simulation.history import ONE, Market
from tests.simulation.rules.queues import QueueRule


def book_findings(events: Sequence[EngineEvent], queues: QueueRule, markets: dict[int, Market]) -> list[str]:
    """What is wrong with the books that market data makes of all events, compared with the last depth of the rules."""
    books = {market.symbol: PublishedBook(market.symbol, BookBase(0, 0, (), ()), 0) for market in markets.values()}
    findings = []
    for event in events:
        if isinstance(event, BookEvent):
            try:
                books[event.symbol].apply(event)
            except BookContradictionError as error:
                findings.append(f"book of market data of {event.symbol}: {error} in event {event.seq}")
    for number, market in markets.items():
        book = books[market.symbol]
        for name, side, levels in zip(("bids", "asks"), (book.bids, book.asks), queues.depth(number), strict=True):
            shown = [_scaled(market, price, quantity) for price, quantity in side.priced_levels()]
            real = [(level.price, level.quantity) for level in levels]
            if shown != real:
                findings.append(f"{name} of market data of {market.symbol} are {shown}, and {real} is right")
    return findings


def _scaled(market: Market, price: int, quantity: int) -> tuple[int, int]:
    """A level of amounts at 18 places in the units of its market."""
    return price // (ONE // market.price_scale), quantity // (ONE // market.quantity_scale)
