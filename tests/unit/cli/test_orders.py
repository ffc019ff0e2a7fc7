"""`openspot orders` against an exchange that refuses or does not answer: what is sent, said and returned."""

import asyncio
import json
from typing import Any

import pytest
from typer.testing import CliRunner

from openspot.cli import app
from tests.support.fake_rest_edge import CUT, FakeRestEdge, running_fake

KEY = {"OPENSPOT_API_KEY": "k1", "OPENSPOT_API_SECRET": "hidden"}


async def outcome_of(fake: FakeRestEdge, *arguments: str) -> tuple[int, str]:
    """Exit code and output of a command, in one line."""
    environment = KEY | {"OPENSPOT_API_URL": fake.url.removesuffix("/api/v1")}
    result = await asyncio.to_thread(CliRunner().invoke, app, ["orders", *arguments], env=environment)
    return result.exit_code, " ".join(result.output.split())


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (("amend", "A1", "--price", "5"), 405, "METHOD_NOT_ALLOWED"),
        (("timer",), 404, "ORDER_NOT_FOUND"),
        (("timer", "60"), 405, "METHOD_NOT_ALLOWED"),
        (("cancel-list", "L1"), 405, "METHOD_NOT_ALLOWED"),
        (("lists",), 404, "ORDER_NOT_FOUND"),
        (("triggers", "A1"), 404, "ORDER_NOT_FOUND"),
        (("amend-batch", "A1 --price 5"), 405, "METHOD_NOT_ALLOWED"),
    ],
)
async def test_an_exchange_without_the_complete_rules_is_named_as_the_reason(
    arguments: tuple[str, ...], status: int, code: str
) -> None:
    async with running_fake() as fake:
        fake.refuse(status, code)
        exit_code, printed = await outcome_of(fake, *arguments)
    assert exit_code == 1
    assert f"{status} {code}: no: the exchange does not run with OPENSPOT_RULES=complete" in printed


async def test_an_unknown_outcome_has_its_own_exit_code_and_says_how_to_find_out() -> None:
    async with running_fake() as fake:
        fake.refuse(504, "ORDER_STATUS_UNKNOWN", "nobody knows yet what became of the order")
        for _ in range(3):
            fake.refuse(504, "ORDER_STATUS_UNKNOWN", "nobody knows yet what became of the order")
        exit_code, printed = await outcome_of(fake, "place", "BTC-USD", "buy", "1", "--idempotency-key", "mine")
        assert (exit_code, "repeat the command with --idempotency-key mine" in printed) == (3, True)
        fake.answers.append(CUT)
        exit_code, printed = await outcome_of(fake, "amend", "A1", "--price", "5")
        assert (exit_code, "repeat the command, which changes nothing more" in printed) == (3, True)


async def test_a_busy_exchange_has_done_nothing() -> None:
    async with running_fake() as fake:
        for _ in range(4):
            fake.refuse(503, "SERVICE_UNAVAILABLE", "the order was not sent")
        exit_code, printed = await outcome_of(fake, "place", "BTC-USD", "buy", "1")
    assert (exit_code, "nobody knows" in printed, "the order was not sent" in printed) == (1, False, True)


async def test_what_an_order_asks_for_is_sent_as_it_is_written() -> None:
    async with running_fake() as fake:
        fake.refuse(400, "ORDER_REJECTED")
        arguments = (
            "place", "btc-usd", "buy", "0.10", "--type", "Trailing-Stop-Limit", "--price", "64000.50",
            "--trailing-bps", "250", "--trigger-by", "mark", "--self-trade-prevention", "cancel-both",
            "--max-slippage-bps", "12.5", "--client-order-id", "mine",
        )  # fmt: skip
        assert (await outcome_of(fake, *arguments))[0] == 1
        [asked] = fake.asked
    assert (asked.method, asked.path) == ("POST", "/api/v1/orders")
    body: dict[str, Any] = {
        "symbol": "BTC-USD", "side": "buy", "type": "trailing_stop_limit", "quantity": "0.10", "price": "64000.50",
        "trailingBps": 250, "triggerBy": "mark", "selfTradePrevention": "cancel_both", "maxSlippageBps": "12.5",
        "clientOrderId": "mine",
    }  # fmt: skip
    assert asked.body == body


@pytest.mark.parametrize(
    ("which", "path"), [(("A1",), "/api/v1/orders/A1"), (("--client-order-id", "m"), "/api/v1/orders/client/m")]
)
async def test_an_amendment_sends_the_trigger_alone(which: tuple[str, ...], path: str) -> None:
    async with running_fake() as fake:
        fake.refuse(409, "NO_TRIGGER_TO_AMEND")
        assert (await outcome_of(fake, "amend", *which, "--stop-price", "61000.50"))[0] == 1
        [asked] = fake.asked
    assert (asked.method, asked.path, asked.body) == ("PATCH", path, {"stopPrice": "61000.50"})


async def test_the_orders_of_a_list_are_written_as_for_place() -> None:
    async with running_fake() as fake:
        fake.refuse(400, "LIST_EXIT_WOULD_FILL")
        entry = "btc-usd buy 0.10 --price 65000 --post-only"
        stop = "BTC-USD sell 0.10 --type stop-market --stop-price 64000 --trigger-by mark"
        arguments = ("place-list", "OTO", entry, stop, "--client-list-id", "mine")
        assert (await outcome_of(fake, *arguments))[0] == 1
        [asked] = fake.asked
    assert (asked.method, asked.path) == ("POST", "/api/v1/orders/lists")
    assert asked.body == {
        "type": "oto", "clientListId": "mine", "orders": [
            {
                "symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "0.10", "price": "65000",
                "postOnly": True,
            },
            {
                "symbol": "BTC-USD", "side": "sell", "type": "stop_market", "quantity": "0.10", "stopPrice": "64000",
                "triggerBy": "mark",
            },
        ],
    }  # fmt: skip


ORDER = {
    "orderId": "A1", "clientOrderId": None, "userId": "u", "symbol": "BTC-USD", "side": "buy", "type": "limit",
    "timeInForce": "gtc", "marginMode": None, "price": "5", "quantity": "1", "filledQuantity": "0",
    "remainingQuantity": "1", "averagePrice": None, "fee": "0", "feeCurrency": "USD", "status": "open",
    "rejectReason": None, "createdAt": "2026-01-02T03:04:05Z", "updatedAt": "2026-01-02T03:04:05Z",
}  # fmt: skip
PLACED = {"status": 201, "order": ORDER, "error": None}


def refused(status: int, code: str) -> dict[str, Any]:
    return {"status": status, "order": None, "error": {"message": ["no", "never"], "code": code, "details": None}}


@pytest.mark.parametrize(
    ("second", "code"), [(PLACED, 0), (refused(400, "RISK_NSF"), 1), (refused(504, "ORDER_STATUS_UNKNOWN"), 3)]
)
async def test_a_batch_is_one_request_and_says_what_became_of_each_order(second: dict[str, Any], code: int) -> None:
    batches = (
        (("place-batch", "BTC-USD buy 1 --price 5", "BTC-USD sell 2 --price 6"), "POST", [
            {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1", "price": "5"},
            {"symbol": "BTC-USD", "side": "sell", "type": "limit", "quantity": "2", "price": "6"},
        ]),
        (("amend-batch", "A1 --price 5", "A2 --quantity 2 --stop-price 6"), "PATCH", [
            {"orderId": "A1", "price": "5"}, {"orderId": "A2", "quantity": "2", "stopPrice": "6"},
        ]),
    )  # fmt: skip
    async with running_fake() as fake:
        for arguments, method, orders in batches:
            fake.answer(200, [PLACED, second])
            exit_code, printed = await outcome_of(fake, *arguments)
            asked = fake.asked.pop()
            assert (asked.method, asked.path, asked.body) == (method, "/api/v1/orders/batch", {"orders": orders})
            assert (exit_code, printed.startswith("A1 BTC-USD buy limit 1 at 5 open")) == (code, True), printed
            says = f"refused {second['status']} "
            assert (says in printed, f"no; never ({arguments[2]})" in printed) == (code != 0, code != 0)
            fake.answer(200, [PLACED, second])
            _, printed = await outcome_of(fake, *arguments, "--json")
            assert '"orderId":"A1"' in printed and f'"status":{second["status"]}' in printed


async def test_a_batch_of_which_nobody_knows_anything_can_be_repeated() -> None:
    async with running_fake() as fake:
        for _ in range(4):
            fake.refuse(504, "ORDER_STATUS_UNKNOWN")
        exit_code, printed = await outcome_of(
            fake, "place-batch", "BTC-USD buy 1 --price 5", "--idempotency-key", "mine"
        )
    assert (exit_code, "repeat the command with --idempotency-key mine" in printed) == (3, True)


@pytest.mark.parametrize(
    ("amendment", "reason"),
    [
        ("A1", "give --price, --quantity, --stop-price or several of them"),
        ("", "begins with its id"),
        ("A1 --client-order-id m --price 5", "begins with its id"),
        ("A1 --prize 5", "is not written as for `openspot orders amend`: No such option: --prize"),
        ("A1 --price 5 --json", "has an option of the command"),
    ],
)
async def test_an_amendment_that_is_written_wrong_sends_nothing(amendment: str, reason: str) -> None:
    async with running_fake() as fake:
        exit_code, printed = await outcome_of(fake, "amend-batch", "A0 --price 4", amendment)
        assert fake.asked == []
    assert (exit_code, reason in printed) == (2, True), printed


async def test_what_fires_orders_now_can_be_asked_for() -> None:
    async with running_fake() as fake:
        fake.answer(200, [{"orderId": "A1", "triggerPrice": "190.5", "limitPrice": "189"}])
        assert await outcome_of(fake, "triggers", "A1", "A2") == (0, "A1 fires at 190.5 limit 189")
        [asked] = fake.asked
    assert (asked.path, asked.query) == ("/api/v1/orders/triggers", {"orderIds": "A1,A2"})


async def test_a_replacement_sends_the_order_and_says_whether_the_first_must_end() -> None:
    async with running_fake() as fake:
        fake.refuse(409, "REPLACEMENT_REJECTED")
        order = "BTC-USD sell 1 --price 65000 --display-quantity 0.1"
        assert (await outcome_of(fake, "replace", "A1", order, "--allow-failure"))[0] == 1
        [asked] = fake.asked
    assert (asked.method, asked.path) == ("POST", "/api/v1/orders/A1/replace")
    assert asked.body == {
        "symbol": "BTC-USD", "side": "sell", "type": "limit", "quantity": "1", "price": "65000",
        "displayQuantity": "0.1", "mode": "allow_failure",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ("BTC-USD", "is not written as for `openspot orders place`: Missing argument 'side'"),
        ("BTC-USD buy 1 --prize 5", "No such option: --prize"),
        ("BTC-USD buy '1", "No closing quotation"),
        ("BTC-USD buy 1 --trailing-bps far", "valid integer"),
        ("BTC-USD buy 1 --slide", "--slide goes with --post-only"),
        ("BTC-USD buy 1 --good-for 2x", "--good-for must be a number and s, m, h or d"),
        ("BTC-USD buy 1 --url http://127.0.0.1:3001", "has an option of the command: write it behind the orders"),
    ],
)
async def test_an_order_that_is_written_wrong_sends_nothing(order: str, reason: str) -> None:
    async with running_fake() as fake:
        exit_code, printed = await outcome_of(fake, "place-list", "oco", order)
        assert fake.asked == []
    assert (exit_code, reason in printed) == (2, True), printed


async def test_no_output_and_no_argument_has_the_secret() -> None:
    async with running_fake() as fake:
        fake.refuse(401, "INVALID_CREDENTIAL", "the API key or its signature is not valid")
        exit_code, printed = await outcome_of(fake, "list")
        assert (exit_code, "hidden" in printed, "hidden" in json.dumps([each.query for each in fake.asked])) == (
            1,
            False,
            False,
        )
    helped = CliRunner().invoke(app, ["orders", "place", "--help"], env=KEY | {"COLUMNS": "200"}).output
    assert "hidden" not in helped and "--secret" not in helped
