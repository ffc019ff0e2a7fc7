"""The bounded queue between the venue and the bus."""

import asyncio

import pytest

from openspot.contracts.messages import VenueBookTicker, VenueTrade
from openspot.venue.metrics import DropReason, TickKind
from openspot.venue.outbox import TickOutbox
from tests.support.waiting import stretched

Drops = list[tuple[TickKind, DropReason]]


def quote(number: int, symbol: str = "A-B") -> VenueBookTicker:
    return VenueBookTicker("v", symbol, str(number), "1", "2", "1", number)


def trade(number: int, symbol: str = "A-B") -> VenueTrade:
    return VenueTrade("v", symbol, "1", "1", str(number), number, True)


@pytest.fixture
def drops() -> Drops:
    return []


@pytest.fixture
def outbox(drops: Drops) -> TickOutbox:
    return TickOutbox(3, lambda kind, reason: drops.append((kind, reason)))


def numbers(outbox: TickOutbox, ticks_max: int = 100) -> list[int]:
    return [tick.message.timestamp for tick in outbox.take(ticks_max)]


def test_ticks_leave_in_the_order_in_which_they_came(outbox: TickOutbox, drops: Drops) -> None:
    outbox.put_quote(quote(1), None)
    outbox.put_trade(trade(2))
    outbox.put_quote(quote(3), 3)
    assert [(tick.kind, tick.message, tick.venue_ms) for tick in outbox.take(100)] == [
        (TickKind.BOOK_TICKER, quote(1), None),
        (TickKind.TRADE, trade(2), 2),
        (TickKind.BOOK_TICKER, quote(3), 3),
    ]
    assert drops == []
    assert len(outbox) == 0


def test_no_more_are_taken_than_asked_for(outbox: TickOutbox) -> None:
    for number in (1, 2, 3):
        outbox.put_trade(trade(number))
    assert numbers(outbox, 2) == [1, 2]
    assert numbers(outbox, 2) == [3]
    assert numbers(outbox, 2) == []


def test_a_full_queue_drops_new_trades(outbox: TickOutbox, drops: Drops) -> None:
    for number in range(1, 6):
        outbox.put_trade(trade(number))
    assert numbers(outbox) == [1, 2, 3]
    assert drops == [(TickKind.TRADE, DropReason.QUEUE_FULL)] * 2


def test_in_a_full_queue_a_quote_replaces_the_newest_waiting_one_of_its_symbol(
    outbox: TickOutbox, drops: Drops
) -> None:
    outbox.put_quote(quote(1), None)
    outbox.put_quote(quote(2), None)
    outbox.put_quote(quote(3, "C-D"), None)
    for number in (4, 5):
        outbox.put_quote(quote(number), number)
    assert [(tick.message, tick.venue_ms) for tick in outbox.take(100)] == [
        (quote(1), None),
        (quote(5), 5),
        (quote(3, "C-D"), None),
    ]
    assert drops == [(TickKind.BOOK_TICKER, DropReason.REPLACED)] * 2


def test_beyond_the_bound_one_quote_of_each_symbol_still_finds_room(outbox: TickOutbox) -> None:
    for number in (1, 2, 3):
        outbox.put_trade(trade(number))
    for number in range(4, 40):
        outbox.put_quote(quote(number, f"S{number % 4}-X"), None)
    assert len(outbox) == 3 + 4
    assert numbers(outbox) == [1, 2, 3, 36, 37, 38, 39]


def test_a_quote_that_was_taken_is_no_longer_replaced(outbox: TickOutbox) -> None:
    outbox.put_quote(quote(1), None)
    taken = outbox.take(1)
    for number in (2, 3, 4):
        outbox.put_trade(trade(number))
    outbox.put_quote(quote(5), None)
    assert taken[0].message == quote(1)
    assert numbers(outbox) == [2, 3, 4, 5]


async def test_waiting_ends_with_the_first_tick_and_begins_again_when_all_are_taken(outbox: TickOutbox) -> None:
    waiting = asyncio.ensure_future(outbox.wait())
    await asyncio.sleep(0)
    assert not waiting.done()
    outbox.put_trade(trade(1))
    await asyncio.wait_for(waiting, stretched(30))
    await asyncio.wait_for(outbox.wait(), stretched(30))
    outbox.take(1)
    again = asyncio.ensure_future(outbox.wait())
    await asyncio.sleep(0)
    assert not again.done()
    again.cancel()
