"""The phase of a market in its ticker, with what an auction would trade."""

from msgspec import UNSET

from openspot.contracts.engine_events import AcceptedEvent, PhaseEvent
from openspot.contracts.messages import TickerEvent
from openspot.market_data.book import BookBase
from openspot.market_data.day import RollingDay
from openspot.market_data.markets import MarketHistory, Markets, phase_of

SYMBOL = "BTC-USD"
NOW_MS = 1_700_000_000_000


def phase(seq: int, name: str, ends_at: int = 0, reference: str = "0") -> PhaseEvent:
    return PhaseEvent(seq, NOW_MS, SYMBOL, name, ends_at, "0.5", reference, "", "", "")


def accepted(seq: int, side: str, price: str, quantity: str) -> AcceptedEvent:
    return AcceptedEvent(seq, NOW_MS, SYMBOL, str(seq), "", "alice", side, "GTC", price, quantity, "")


def begun() -> Markets:
    markets = Markets(10)
    markets.begin({SYMBOL: MarketHistory(RollingDay(), 0)})
    markets.set_base(SYMBOL, BookBase(1, NOW_MS, [("99", "1")], [("110", "1")]))
    return markets


def ticker(markets: Markets) -> TickerEvent:
    market = markets.get(SYMBOL)
    assert market is not None
    return market.ticker(NOW_MS)


def test_a_market_in_continuous_trading_has_the_ticker_of_before() -> None:
    plain = ticker(begun())
    assert (plain.phase, plain.phase_ends_at, plain.indicative_price, plain.indicative_quantity) == (UNSET,) * 4


def test_an_auction_shows_what_it_would_trade_and_holds_the_book_back_while_it_is_crossed() -> None:
    markets = begun()
    markets.apply(phase(2, "auction", NOW_MS + 5_000))
    shown = ticker(markets)
    assert (shown.phase, shown.phase_ends_at, shown.indicative_price) == ("auction", NOW_MS + 5_000, None)
    markets.apply(accepted(3, "buy", "112", "0.4"))
    markets.apply(accepted(4, "sell", "101", "3"))
    shown = ticker(markets)
    assert (shown.indicative_price, shown.indicative_quantity) == ("105", "0.4")
    assert (shown.bid_price, shown.ask_price) == (None, None)
    markets.apply(phase(5, "halted"))
    assert (ticker(markets).phase, ticker(markets).phase_ends_at) == ("halted", None)
    assert ticker(markets).indicative_price is UNSET


def test_an_auction_that_the_engine_began_says_why_and_the_next_phase_does_not() -> None:
    markets = begun()
    markets.apply(PhaseEvent(2, NOW_MS, SYMBOL, "auction", NOW_MS + 1, "0.5", "0", "", "", "", "volatility"))
    assert ticker(markets).phase_cause == "volatility"
    markets.apply(phase(3, "auction", NOW_MS + 9))
    assert ticker(markets).phase_cause is UNSET
    markets.set_phase(SYMBOL, phase_of("auction", 0, "0.5", "0", "volatility-extension"))
    assert ticker(markets).phase_cause == "volatility-extension"


def test_the_reference_price_decides_between_equal_prices() -> None:
    markets = begun()
    markets.apply(phase(2, "auction", reference="105.5"))
    markets.apply(accepted(3, "buy", "109", "1"))
    markets.apply(accepted(4, "sell", "101", "1"))
    assert ticker(markets).indicative_price == "105.5"


def test_a_change_of_the_phase_alone_is_published() -> None:
    markets = begun()
    market = markets.get(SYMBOL)
    assert market is not None
    before = market.changed_ticker(NOW_MS)
    assert before is not None
    assert market.changed_ticker(NOW_MS) is None
    markets.apply(phase(2, "halted"))
    halted = market.changed_ticker(NOW_MS)
    assert halted is not None
    assert (halted.phase, halted.seq) == ("halted", 2)
    markets.apply(phase(3, "continuous"))
    resumed = market.changed_ticker(NOW_MS)
    assert resumed is not None
    assert resumed.phase is UNSET


def test_the_engine_says_the_phase_when_market_data_begins() -> None:
    markets = begun()
    markets.set_phase(SYMBOL, phase_of("post-only", 0, "0.5", "0"))
    assert ticker(markets).phase == "post-only"
