"""Which subject feeds which channel."""

import pytest

from openspot.ws_edge.channels import is_market_channel, market_channel, order_event


@pytest.mark.parametrize("channel", ["ticker:BTC-USD", "orderbook:ETH-BTC", "trades:SOL-USDT"])
def test_the_three_market_channels_can_be_subscribed(channel: str) -> None:
    assert is_market_channel(channel)


@pytest.mark.parametrize(
    "channel",
    [
        "",
        "ticker",
        "ticker:",
        "ticker:btc-usd",
        "ticker:BTCUSD",
        "ticker:BTC-USD ",
        "ticker:BTC-USD\n",
        "trade:BTC-USD",
        "candles:BTC-USD",
        "ticker:*",
        "ticker:>",
        "orders",
        "balances",
        "Ticker:BTC-USD",
        "ticker:BTC-USD:1",
    ],
)
def test_nothing_else_is_a_market_channel(channel: str) -> None:
    assert not is_market_channel(channel)


@pytest.mark.parametrize(
    ("subject", "channel"),
    [
        ("marketdata.ticker.BTC-USD", "ticker:BTC-USD"),
        ("marketdata.orderbook.BTC-USD", "orderbook:BTC-USD"),
        ("marketdata.trade.BTC-USD", "trades:BTC-USD"),
        ("marketdata.candles.BTC-USD", None),
        ("marketdata.ticker", None),
    ],
)
def test_a_market_subject_feeds_its_channel(subject: str, channel: str | None) -> None:
    assert market_channel(subject) == channel


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
