"""What the edge sends fits the AsyncAPI document (tools/websocket_document.py), on every channel."""

import sys
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from openspot.contracts.messages import CandleEvent, OrderEvent
from openspot.kit.bus import Bus, encode
from openspot.kit.settings import Settings
from openspot.ws_edge import connection
from openspot.ws_edge.schemas import Action, ErrorCode
from tests.support.book_provider import BookProvider
from tests.support.websocket_edge import Publish, ask, open_as, open_client, receive, running_edge, token

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
import websocket_document as tool

MESSAGES = tool.messages()
AGGREGATE = tool.DATA["aggTrades"]


@cache
def schema_of(name: str) -> Any:
    """The validator of one message."""
    return jsonschema_rs.validator_for(
        {"$ref": f"#/components/messages/{name}/payload", "components": tool.document()["components"]}
    )


def fits(message: dict[str, Any], name: str) -> bool:
    """Whether a message is the one of this name, and no other push."""
    schema_of(name).validate(message)
    others = [other for other in MESSAGES if other.endswith("Push") and other != name]
    return not any(schema_of(other).is_valid(message) for other in others)


@pytest.mark.parametrize("name", MESSAGES)
def test_every_message_has_an_example_that_fits_it_and_no_other(name: str) -> None:
    [example] = MESSAGES[name]["examples"]
    assert fits(example["payload"], name)


def test_the_document_has_every_action_error_code_close_code_and_channel() -> None:
    made = tool.document()
    actions = {message["payload"]["properties"]["action"]["const"] for message in MESSAGES.values() if "action" in
               message["payload"].get("properties", {})}  # fmt: skip
    assert actions == set(Action)
    assert set(made["components"]["schemas"]["ErrorCode"]["enum"]) == set(ErrorCode)
    codes = {value for name, value in vars(connection).items() if name.isupper() and value in range(1000, 5000)}
    assert {str(code) for code in codes} <= made["x-close-codes"].keys()
    assert {channel["address"] for channel in made["channels"].values()} == {
        "/", "ticker:{symbol}", "orderbook:{symbol}", "trades:{symbol}", "candles:{symbol}:{interval}", "bbo:{symbol}",
        "agg-trades:{symbol}", "orders", "balances", "notifications",
    }  # fmt: skip


def test_a_push_with_another_property_or_without_one_does_not_fit() -> None:
    push = tool.push_example("ticker")
    for wrong in (push | {"more": 1}, push | {"seq": "1"}, {key: push[key] for key in push if key != "ts"}):
        assert not schema_of("tickerPush").is_valid(wrong)


async def test_what_a_market_channel_sends_fits_the_document(
    edge: Settings, publish: Publish, provider: BookProvider
) -> None:
    payloads = {
        "ticker": ("marketdata.ticker.BTC-USD", tool.DATA["ticker"]),
        "trades": ("marketdata.trade.BTC-USD", tool.DATA["trades"]),
        "candles": (
            "marketdata.candle.BTC-USD",
            CandleEvent(seq=7341, **msgspec.structs.asdict(tool.DATA["candles"])),
        ),
    }
    async with open_client(edge) as client:
        for name, (subject, payload) in payloads.items():
            channel = tool.CHANNELS[name][0].format(symbol="BTC-USD", interval="1m")
            assert fits(await ask(client, action="subscribe", channel=channel, id="a"), "subscribed")
            await publish(subject, encode(payload))
            push = await receive(client)
            assert push["channel"] == channel
            assert fits(push, f"{name}Push")
            assert fits(await ask(client, action="unsubscribe", channel=channel), "unsubscribed")
        for channel in ("orderbook:BTC-USD", "orderbook:BTC-USD?depth=5"):
            assert fits(await ask(client, action="subscribe", channel=channel), "subscribed")
            snapshot = await receive(client)
            assert (snapshot["channel"], snapshot["type"]) == (channel, "snapshot")
            assert fits(snapshot, "orderbookPush")
        await provider.publish(provider.change(1000, "3"))
        for _ in range(2):
            update = await receive(client)
            assert update["type"] == "update"
            assert fits(update, "orderbookPush")


async def test_what_the_channels_of_the_complete_rules_send_fits_the_document(
    settings: Settings, bus: Bus, provider: BookProvider
) -> None:
    async with running_edge(settings.model_copy(update={"rules": "complete"})) as edge, open_client(edge) as client:
        assert fits(await ask(client, action="subscribe", channel="agg-trades:BTC-USD"), "subscribed")
        # Another market's, and one that a later message replaces: both of those come, in order.
        await bus.announce("marketdata.aggtrade.ETH-USD", msgspec.structs.replace(AGGREGATE, symbol="ETH-USD"))
        for trades in (4, 5):
            await bus.announce("marketdata.aggtrade.BTC-USD", msgspec.structs.replace(AGGREGATE, trades=trades))
        for trades in (4, 5):
            push = await receive(client)
            assert fits(push, "aggTradesPush")
            assert (push["channel"], push["type"], push["seq"]) == ("agg-trades:BTC-USD", "update", 7341)
            assert push["data"] == msgspec.to_builtins(msgspec.structs.replace(AGGREGATE, trades=trades))
        assert fits(await ask(client, action="subscribe", channel="bbo:BTC-USD"), "subscribed")
        assert fits(await receive(client), "bboPush")


async def test_what_a_user_and_a_caller_in_error_get_fits_the_document(edge: Settings, publish: Publish) -> None:
    order = tool.DATA["orders"]
    assert isinstance(order, tool.OrderRecord)
    async with open_client(edge) as client:
        assert fits(await ask(client, action="authenticate", token=token(edge, tool.USER)), "authenticated")
    async with open_as(edge, tool.USER) as client:
        assert fits(await ask(client, action="ping", id=7), "pong")
        assert fits(await ask(client, action="subscribe", channel="nonsense", id=8), "error")
        assert fits(await ask(client, action="dance"), "error")
        for subject, event in (("orders.created", "created"), ("orders.rejected", "rejected")):
            await publish(f"{subject}.{tool.USER}", encode(OrderEvent(event, 7341, tool.TIME_MS, order)))
            assert fits(await receive(client), "ordersPush")
        await publish(f"balances.updated.{tool.USER}", encode(tool.DATA["balances"]))
        assert fits(await receive(client), "balancesPush")
        await publish(f"notifications.user.{tool.USER}", encode(tool.DATA["notifications"]))
        assert fits(await receive(client), "notificationsPush")
