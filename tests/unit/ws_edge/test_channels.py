"""Which subject feeds which channel."""

import pytest

from openspot.domain.candles import Interval
from openspot.ws_edge.channels import (
    DEPTHS,
    Channel,
    Kind,
    UnknownChannelError,
    market_channel,
    market_subject,
    order_event,
)


@pytest.mark.parametrize(
    "channel",
    [
        Channel("ticker:BTC-USD", Kind.TICKER, "BTC-USD"),
        Channel("orderbook:ETH-BTC", Kind.ORDERBOOK, "ETH-BTC"),
        Channel("trades:SOL-USDT", Kind.TRADES, "SOL-USDT"),
        Channel("orderbook:ETH-BTC?depth=20", Kind.ORDERBOOK, "ETH-BTC", depth=20),
        Channel("candles:ETH-BTC:15m", Kind.CANDLES, "ETH-BTC", interval=Interval.M15),
        Channel("bbo:ETH-BTC", Kind.BBO, "ETH-BTC", depth=1),
        Channel("agg-trades:ETH-BTC", Kind.AGGREGATE_TRADES, "ETH-BTC"),
    ],
)
def test_a_market_channel_is_read_from_its_name(channel: Channel) -> None:
    assert market_channel(channel.name) == channel


def test_every_depth_and_every_interval_has_a_channel() -> None:
    assert [market_channel(f"orderbook:BTC-USD?depth={depth}").depth for depth in DEPTHS] == list(DEPTHS)
    assert [market_channel(f"candles:BTC-USD:{interval}").interval for interval in Interval] == list(Interval)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "channel must be ticker:<SYMBOL>"),
        ("ticker", "channel must be"),
        ("ticker:", "channel must be"),
        ("ticker:btc-usd", "channel must be"),
        ("ticker:BTCUSD", "channel must be"),
        ("ticker:BTC-USD ", "channel must be"),
        ("ticker:BTC-USD\n", "channel must be"),
        ("trade:BTC-USD", "channel must be"),
        ("ticker:*", "channel must be"),
        ("ticker:>", "channel must be"),
        ("orders", "channel must be"),
        ("balances", "channel must be"),
        ("Ticker:BTC-USD", "channel must be"),
        ("ticker:BTC-USD:1", "channel must be"),
        ("ticker:BTC-USD?depth=10", "channel must be"),
        ("orderbook:btc?depth=10", "channel must be"),
        ("orderbook:BTC-USD?depth=0", "depth must be one of 1, 5, 10"),
        ("orderbook:BTC-USD?depth=7", "depth must be one of"),
        ("orderbook:BTC-USD?depth=010", "depth must be one of"),
        ("orderbook:BTC-USD?depth=\u0661", "depth must be one of"),
        ("orderbook:BTC-USD?depth=10&x=1", "depth must be one of"),
        ("orderbook:BTC-USD?", "depth must be one of"),
        ("orderbook:BTC-USD?x?depth=10", "depth must be one of"),
        ("candles:BTC-USD", "the interval of candles must be one of 1m, 5m"),
        ("candles:BTC-USD:2m", "the interval of candles must be one of"),
        ("candles:btc:1m", "channel must be"),
        ("bbo:btc", "or bbo:<SYMBOL>"),
        ("bbo:BTC-USD?depth=1", "or bbo:<SYMBOL>"),
        ("candles:BTC-USD:1m:1m", "the interval of candles must be one of"),
    ],
)
def test_any_other_name_is_refused_with_the_reason(name: str, words: str) -> None:
    with pytest.raises(UnknownChannelError, match=words):
        market_channel(name)


@pytest.mark.parametrize(
    ("subject", "found"),
    [
        ("marketdata.ticker.BTC-USD", ("ticker", "BTC-USD")),
        ("marketdata.orderbook.BTC-USD", ("orderbook", "BTC-USD")),
        ("marketdata.trade.BTC-USD", ("trades", "BTC-USD")),
        ("marketdata.candle.BTC-USD", ("candles", "BTC-USD")),
        ("marketdata.candles.get", None),
        ("marketdata.ticker", None),
    ],
)
def test_a_market_subject_feeds_its_kind_of_channel(subject: str, found: tuple[str, str] | None) -> None:
    assert market_subject(subject) == found


@pytest.mark.parametrize(
    ("subject", "event"),
    [
        ("orders.created", ("order.created", None)),
        ("orders.created.u1", ("order.created", "u1")),
        ("orders.updated.u1", ("order.updated", "u1")),
        ("orders.cancelled.u1", ("order.cancelled", "u1")),
        ("orders.filled.u1", ("order.filled", "u1")),
        ("orders.rejected.house:fees", ("order.rejected", "house:fees")),
        ("orders.submit", None),
        ("orders.submit.u1", None),
        ("orders.liquidation.u1", None),
    ],
)
def test_an_order_subject_names_the_event_and_the_user(subject: str, event: tuple[str, str | None] | None) -> None:
    assert order_event(subject) == event
