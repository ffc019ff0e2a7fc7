"""The edge and its order lists, with a router of this process that replies what it is told to."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.kit.settings import Settings
from tests.support.fake_router import FakeRouter
from tests.support.rest_client import Reply, RestClient, running_edge

ENTRY = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.5", "price": "100"}
STOP = {"symbol": "BTC-USD", "side": "sell", "type": "stop_market", "quantity": "0.5", "stopPrice": "95"}
OTO = {"type": "oto", "orders": [ENTRY, STOP]}


@pytest.fixture
async def edge(settings: Settings) -> AsyncIterator[RestClient]:
    """An edge of this test alone with the complete rules, asked as the user `u1`."""
    changes = {"rules": "complete", "throttle_enabled": False, "request_timeout_s": 0.5}
    async with running_edge(settings.model_copy(update=changes)) as client:
        client.as_user("u1")
        yield client


async def place(edge: RestClient, **changes: Any) -> Reply:
    return await edge("POST", "/orders/lists", OTO | changes)


async def test_the_router_gets_the_list_with_ids_that_follow_from_the_request(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    placed = await place(edge, clientListId="mine")
    assert placed.status == 201, placed.body
    (sent,) = router.lists
    assert (sent.user_id, sent.type, sent.client_list_id, sent.list_id) == (
        "u1", "oto", "mine", placed.body["listId"],
    )  # fmt: skip
    assert [(order.side, order.type, order.time_in_force) for order in sent.orders] == [
        ("buy", "limit", "gtc"), ("sell", "stop_market", "gtc"),
    ]  # fmt: skip
    assert sent.deadline is not None
    # The row is not written: the router is asked, and nothing is sent again.
    again = await place(edge, clientListId="mine")
    assert (again.status, again.body["listId"]) == (201, placed.body["listId"])
    other = await place(edge, clientListId="mine", orders=[ENTRY | {"price": "99"}, STOP])
    assert (other.status, other.code) == (409, "DUPLICATE_CLIENT_LIST_ID")
    assert len(router.lists) == 1
    assert (await place(edge)).body["listId"] != (await place(edge)).body["listId"]


async def test_what_nobody_answered_is_looked_up_and_placed_once(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    key = {"Idempotency-Key": "once"}
    router.silent = True
    lost = await edge("POST", "/orders/lists", OTO, headers=key)
    assert (lost.status, lost.code) == (504, "ORDER_STATUS_UNKNOWN")
    (sent,) = router.lists
    assert lost.body["details"] == {"listId": sent.list_id}
    router.silent = False
    placed = await edge("POST", "/orders/lists", OTO, headers=key)
    assert (placed.status, placed.body["listId"]) == (201, sent.list_id), "it had not arrived, so it is sent again"
    assert [request.orders for request in router.lists] == [sent.orders, sent.orders]
    replayed = await edge("POST", "/orders/lists", OTO, headers=key)
    assert (replayed.body, len(router.lists)) == (placed.body, 2)


PLACING: tuple[tuple[Refusal, int, str], ...] = (
    (Refusal(RefusalCode.VALIDATION, "orders.1.side must be sell"), 400, "VALIDATION_FAILED"),
    (Refusal(RefusalCode.DUPLICATE_LIST_ID, "taken"), 409, "DUPLICATE_CLIENT_LIST_ID"),
    (Refusal(RefusalCode.DUPLICATE_CLIENT_ORDER_ID, "taken"), 409, "DUPLICATE_CLIENT_ORDER_ID"),
    (Refusal(RefusalCode.DUPLICATE_ORDER_ID, "used"), 504, "ORDER_STATUS_UNKNOWN"),
    (Refusal(RefusalCode.STATUS_UNKNOWN, "who knows"), 504, "ORDER_STATUS_UNKNOWN"),
    (Refusal(RefusalCode.FAILED, "broken"), 504, "ORDER_STATUS_UNKNOWN"),
    (Refusal(RefusalCode.BUSY, "busy"), 503, "SERVICE_UNAVAILABLE"),
    (Refusal(RefusalCode.TOO_LATE, "late"), 503, "SERVICE_UNAVAILABLE"),
    (Refusal(RefusalCode.UNAVAILABLE, "no engine"), 503, "SERVICE_UNAVAILABLE"),
)


async def test_each_refusal_of_the_router_has_its_status(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    for refusal, status, code in PLACING:
        router.refusal = refusal
        refused = await place(edge)
        assert (refused.status, refused.code) == (status, code), refused.body


CANCELLING: tuple[tuple[Refusal, int, str], ...] = (
    (Refusal(RefusalCode.NOT_FOUND, "list not found"), 404, "ORDER_LIST_NOT_FOUND"),
    (Refusal(RefusalCode.ALREADY_ENDED, "ended"), 409, "ORDER_LIST_NOT_OPEN"),
    (Refusal(RefusalCode.ENGINE, "PHASE_HALTED"), 409, "PHASE_HALTED"),
    (Refusal(RefusalCode.STATUS_UNKNOWN, "who knows"), 504, "ORDER_STATUS_UNKNOWN"),
    (Refusal(RefusalCode.UNAVAILABLE, "no engine"), 503, "SERVICE_UNAVAILABLE"),
)


async def test_each_refusal_of_a_cancel_has_its_status(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    for refusal, status, code in CANCELLING:
        router.cancel_refusal = refusal
        refused = await edge("DELETE", "/orders/lists/7mWpLQxT28sVbnC4")
        assert (refused.status, refused.code) == (status, code), refused.body


async def test_without_a_router_nothing_was_done(edge: RestClient, pool: asyncpg.Pool) -> None:
    assert (await place(edge)).status == 503
    assert (await edge("DELETE", "/orders/lists/7mWpLQxT28sVbnC4")).status == 503


NO_LISTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"orders": [ENTRY]}, "orders must have at least 2 entries"),
    ({"orders": [ENTRY] * 4}, "orders must have at most 3 entries"),
    ({"orders": [ENTRY, STOP | {"price": "5"}]}, "price must not be given for a stop_market order"),
    ({"orders": [ENTRY, STOP | {"colour": "red"}]}, "property orders.1.colour should not exist"),
    ({"orders": [ENTRY, STOP | {"triggerBy": "moon"}]}, "orders.1.triggerBy must be one of 'last' or 'mark'"),
    (
        {"orders": [ENTRY | {"timeInForce": "gtd"}, STOP]},
        "orders.0.expiresAt is required for timeInForce gtd",
    ),
    ({"clientListId": "x" * 65}, "clientListId must be at most 64 characters long"),
)


async def test_a_body_that_is_no_list_never_reaches_the_router(
    edge: RestClient, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    for changes, message in NO_LISTS:
        refused = await place(edge, **changes)
        assert (refused.status, refused.code) == (400, "VALIDATION_FAILED")
        assert message in refused.message
    assert router.lists == []


async def test_the_specifications_rules_have_no_lists(
    settings: Settings, router: FakeRouter, pool: asyncpg.Pool
) -> None:
    async with running_edge(settings) as plain:
        plain.as_user("u1")
        assert (await place(plain)).status in (404, 405)
        assert (await plain("GET", "/orders/lists")).status == 404
        order = ENTRY | {"type": "iceberg", "timeInForce": "day"}
        for path, body in (("/orders", order), ("/orders/batch", {"orders": [order]})):
            reply = await plain("POST", path, body)
            told = reply.message if reply.status == 400 else reply.body[0]["error"]["message"]
            assert told == [
                "type must be one of 'limit', 'market', 'stop_limit' or 'stop_market'",
                "timeInForce must be one of 'gtc', 'ioc' or 'fok'",
            ]
    assert router.lists == []
