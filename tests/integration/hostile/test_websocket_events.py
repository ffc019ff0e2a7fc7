"""The WebSocket edge hears events that it must not forward: its clients notice nothing, and hear the next good one."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from openspot.ws_edge.metrics import BUS_GAPS
from tests.integration.hostile.payloads import (
    LONG,
    RAW_NUMBERS,
    UNREADABLE,
    WRONG_FOR_NUMBER,
    WRONG_FOR_TEXT,
    Path,
    paths,
    value_at,
    with_raw,
    with_value,
    without,
)
from tests.integration.hostile.target import Target, malformed
from tests.support.waiting import eventually
from tests.support.websocket_edge import ask, nothing_but_a_pong, open_as, receive

pytestmark = pytest.mark.asyncio(loop_scope="module")

COUNTS = (-1, 2**53, 10**4000)


@dataclass(frozen=True)
class Pushed:
    """An event that is forwarded: the pattern that the edge listens to, and the n-th good payload.

    `optional` are fields that may be missing; `unsound` are values that no client is to see, by field.
    """

    subject: str
    pattern: str
    good: Callable[[int], dict[str, Any]]
    unsound: dict[Path, tuple[Any, ...]]
    optional: frozenset[str] = frozenset()


def order_event(number: int) -> dict[str, Any]:
    order = {"orderId": f"order-{number}", "userId": "alice"}
    return {"sequence": number, "timestamp": 1_700_000_000_000, "order": order}


def balance_event(number: int) -> dict[str, Any]:
    return {"userId": "alice", "asset": "USD", "timestamp": 1_700_000_000_000, "version": number}


def market_event(number: int) -> dict[str, Any]:
    return {"symbol": "BTC-USD", "seq": number, "timestamp": 1_700_000_000_000}


def notification_event(number: int) -> dict[str, Any]:
    return {"id": f"notification-{number}", "createdAt": 1_700_000_000_000}


ORDER_UNSOUND = {("sequence",): COUNTS, ("timestamp",): COUNTS, ("order", "orderId"): ("x" * 65, LONG)}
FOREIGN = ("bob", "", "alice.bob", ">", "alice\x00", LONG)

PUSHED = (
    Pushed("orders.created.alice", "orders.*.>", order_event, ORDER_UNSOUND | {("order", "userId"): FOREIGN}),
    Pushed("orders.created", "orders.created", order_event, ORDER_UNSOUND),
    Pushed(
        "balances.updated.alice",
        "balances.updated.*",
        balance_event,
        {
            ("userId",): FOREIGN,
            ("asset",): ("x" * 65, LONG),
            ("timestamp",): COUNTS,
            ("version",): COUNTS,
        },
        frozenset({"version"}),
    ),
    Pushed(
        "marketdata.ticker.BTC-USD",
        "marketdata.ticker.*",
        market_event,
        {("symbol",): ("ETH-USD", "", "btc-usd", ">", LONG), ("seq",): COUNTS, ("timestamp",): COUNTS},
        frozenset({"timestamp"}),
    ),
    Pushed(
        "notifications.user.alice",
        "notifications.user.*",
        notification_event,
        {("id",): ("x" * 201, LONG), ("createdAt",): COUNTS},
    ),
)
EVERY_PUSH = pytest.mark.parametrize("pushed", PUSHED, ids=lambda pushed: pushed.subject)
_numbers = iter(range(1, 10_000))


async def assert_dropped(attacked: Target, pushed: Pushed, messages: list[Any]) -> None:
    """Every one is counted, a client of alice notices none of them, and hears the next good one."""
    gaps = BUS_GAPS._value.get()
    async with open_as(attacked.settings, "alice") as client:
        await ask(client, action="subscribe", channel="ticker:BTC-USD")
        for message in messages:
            counted = malformed(pushed.pattern)
            await attacked.raw.publish(
                pushed.subject, message if isinstance(message, bytes) else json.dumps(message).encode()
            )
            # The stream repeats what is said of a user in the bare form: that may still come from an earlier test.
            await eventually(lambda counted=counted: malformed(pushed.pattern) > counted)
        await nothing_but_a_pong(client)
        number = next(_numbers)
        good = pushed.good(number)
        await attacked.raw.publish(pushed.subject, json.dumps(good).encode())
        push = await receive(client)
        assert push["data"] == good.get("order", good)
    assert BUS_GAPS._value.get() == gaps


async def test_every_subject_that_the_edge_listens_to_is_attacked_here(attacked: Target) -> None:
    heard = {name.partition(" ")[2] for name in attacked.handlers if name.startswith(("subscribe ", "listen "))}
    others = {
        "marketdata.trade.*",  # read by the same function as the ticker
        "marketdata.aggtrade.*",  # … and so is this one
        "marketdata.orderbook.*",  # in ws_edge/test_order_books
        "marketdata.candle.*",  # in ws_edge/test_fan_out
        "marketdata.fairprice.*",  # custody's; in unit/market_data_client
        "trades.executed",  # the router's; in test_contradictions
    }
    assert heard == {pushed.pattern for pushed in PUSHED} | others
    watched = {name for name in attacked.handlers if name.startswith("watch ")}
    assert watched == {"watch sessions-revoked", "watch api-keys-changed"}


@EVERY_PUSH
async def test_bytes_that_are_no_event_are_counted_and_not_forwarded(attacked: Target, pushed: Pushed) -> None:
    await assert_dropped(attacked, pushed, list(UNREADABLE.values()))


@EVERY_PUSH
async def test_an_event_with_a_field_missing_or_of_another_type_is_not_forwarded(
    attacked: Target, pushed: Pushed
) -> None:
    good = pushed.good(next(_numbers))
    messages: list[Any] = []
    for path in paths(good):
        is_object = isinstance(value_at(good, path), dict)
        wrong = WRONG_FOR_TEXT if isinstance(value_at(good, path), str) else WRONG_FOR_NUMBER
        messages += [with_value(good, path, value) for value in (("", 1, [], True) if is_object else wrong)]
        messages += [with_raw(good, path, text) for text in RAW_NUMBERS]
        if path[-1] not in pushed.optional:
            messages += [without(good, path), with_value(good, path, None)]
    await assert_dropped(attacked, pushed, messages)


@EVERY_PUSH
async def test_an_event_with_a_hostile_value_is_not_forwarded(attacked: Target, pushed: Pushed) -> None:
    good = pushed.good(next(_numbers))
    messages = [with_value(good, path, value) for path, values in pushed.unsound.items() for value in values]
    await assert_dropped(attacked, pushed, messages)


@pytest.mark.parametrize(
    "subject",
    [
        "orders.created.alice.more",
        "orders.created.>.alice",
        "orders.unheard-of.alice",
        "balances.updated.ALICE",
        "balances.updated.alice\u200b",
        "marketdata.ticker.btc-usd",
    ],
)
async def test_a_subject_beside_those_of_a_client_reaches_nobody(attacked: Target, subject: str) -> None:
    async with open_as(attacked.settings, "alice") as client:
        await ask(client, action="subscribe", channel="ticker:BTC-USD")
        for make in (order_event, balance_event, market_event):
            await attacked.raw.publish(subject, json.dumps(make(next(_numbers))).encode())
        good = order_event(next(_numbers))
        await attacked.raw.publish("orders.created.alice", json.dumps(good).encode())
        assert (await receive(client))["data"] == good["order"]
        await nothing_but_a_pong(client)


@pytest.mark.parametrize("name", UNREADABLE)
async def test_word_of_an_ended_session_is_its_subject_whatever_the_payload(attacked: Target, name: str) -> None:
    number = next(_numbers)
    async with (
        open_as(attacked.settings, "alice", session_id=f"ended-{number}") as ended,
        open_as(attacked.settings, "alice", session_id=f"other-{number}") as other,
    ):
        await attacked.raw.publish(f"$KV.sessions-revoked.ended-{number}", UNREADABLE[name])
        await ended.wait_closed()
        await nothing_but_a_pong(other)


async def test_every_service_is_as_ready_as_before(attacked: Target) -> None:
    await attacked.are_ready()
