"""When a ticker is published: if it says something new."""

from openspot.contracts.engine_events import AcceptedEvent
from openspot.market_data.book import BookBase
from openspot.market_data.day import DAY_MINUTES, MINUTE_MS, RollingDay
from openspot.market_data.markets import MarketHistory, Markets
from tests.unit.market_data.test_day import BEGIN, day_of

DAY_MS = DAY_MINUTES * MINUTE_MS


def markets(day: RollingDay) -> Markets:
    made = Markets(10)
    made.begin({"BTC-USD": MarketHistory(day, 7)})
    made.set_base("BTC-USD", BookBase(10, 0, [("99", "1")], []))
    return made


def order(seq: int, price: str) -> AcceptedEvent:
    return AcceptedEvent(seq, seq, "BTC-USD", str(seq), "", "alice", "buy", "GTC", price, "1", "")


def test_a_ticker_is_published_once_and_then_when_it_says_something_new() -> None:
    made = markets(RollingDay())
    market = made.get("BTC-USD")
    assert market is not None
    first = market.changed_ticker(BEGIN)
    assert first is not None
    assert (first.seq, first.bid_price, first.timestamp) == (10, "99", BEGIN)
    assert market.changed_ticker(BEGIN + 1) is None
    # An order below the best bid is no news.
    made.apply(order(11, "98"))
    assert market.changed_ticker(BEGIN + 2) is None
    made.apply(order(12, "99.5"))
    second = market.changed_ticker(BEGIN + 3)
    assert second is not None
    assert (second.seq, second.bid_price, second.bid_quantity) == (12, "99.5", "1")
    assert (second.ask_price, second.ask_quantity) == (None, None)
    # Another order at the best bid is news: more stands there.
    made.apply(order(13, "99.5"))
    third = market.changed_ticker(BEGIN + 4)
    assert third is not None
    assert (third.bid_price, third.bid_quantity) == ("99.5", "2")


def test_trades_that_leave_the_window_are_news_even_if_somebody_asked_before() -> None:
    made = markets(day_of((0, "5", "1")))
    market = made.get("BTC-USD")
    assert market is not None
    first = market.changed_ticker(BEGIN)
    assert first is not None
    assert first.volume == "1"
    assert market.changed_ticker(BEGIN + DAY_MS) is None
    after = BEGIN + DAY_MS + MINUTE_MS
    assert market.ticker(after).volume == "0"
    published = market.changed_ticker(after)
    assert published is not None
    assert (published.volume, published.last_price, published.open_price) == ("0", "5", None)


def test_the_day_of_the_rows_and_the_trades_since_are_one() -> None:
    market = markets(day_of((0, "5", "1"))).get("BTC-USD")
    assert market is not None
    assert market.last_trade == 7
    assert market.ticker(BEGIN).last_price == "5"
