"""`openspot orders` against a running exchange: every command, its output and its exit code."""

import json
import logging
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from typer.testing import CliRunner

from openspot.cli import app
from openspot.deposit.deposit import deposit
from tests.integration.whole_edge.conftest import FUNDS, WholeEdge
from tests.support.rest_client import RestClient


class Trader:
    """A user with funds and a key, at the command line."""

    def __init__(self, url: str, key_file: Path) -> None:
        self.url = url
        self.key_file = key_file

    def __call__(self, *arguments: str, code: int = 0, **variables: str | None) -> str:
        """Run the command, and return what it printed. Fails unless it ends with `code`."""
        environment = {"OPENSPOT_API_URL": self.url, "OPENSPOT_API_KEY_FILE": str(self.key_file)} | variables
        outcome = CliRunner().invoke(app, ["orders", *arguments], env=environment)
        assert outcome.exit_code == code, outcome.output
        return outcome.output

    def order(self, *arguments: str) -> Any:
        """The one order that a command prints as JSON."""
        [line] = self(*arguments, "--json").splitlines()
        return json.loads(line)


@pytest.fixture(autouse=True)
def quiet_services() -> None:
    """The services of this process log to the output that the commands print to."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


@pytest.fixture
def trader(whole_edge: WholeEdge, tmp_path: Path) -> Iterator[Trader]:
    settings = whole_edge.background.settings

    async def keyed() -> Any:
        client = RestClient(settings)
        try:
            email = f"{secrets.token_hex(6)}@command.example"
            registered = await client("POST", "/auth/register", {"email": email, "password": "a long pass phrase"})
            user_id = registered.body["userId"]
            for asset, amount in FUNDS.items():
                await deposit(settings, user_id, asset, amount, f"{user_id}-{asset}")
            client.as_user(user_id)
            body = {"name": "command", "scopes": ["read", "trade", "cancel"]}
            return (await client("POST", "/api-keys", body)).body
        finally:
            await client.close()

    # As the guide of API keys keeps the reply.
    key_file = tmp_path / "key.json"
    key_file.touch(0o600)
    key_file.write_text(json.dumps(whole_edge.background.run(keyed())), "utf-8")
    yield Trader(whole_edge.url, key_file)


def test_an_order_is_placed_shown_amended_and_cancelled(trader: Trader) -> None:
    placed = trader.order("place", "sol-usd", "buy", "2", "--price", "180", "--client-order-id", "mine")
    order_id = placed["orderId"]
    assert (placed["symbol"], placed["type"], placed["status"], placed["price"]) == ("SOL-USD", "limit", "open", "180")
    line = f"{order_id}  SOL-USD  buy  limit  2  at 180  open  [mine]\n"
    assert trader("list") == trader("show", order_id) == trader("show", "--client-order-id", "mine") == line
    assert trader.order("amend", order_id, "--price", "181")["price"] == "181"
    assert trader.order("amend", "--client-order-id", "mine", "--quantity", "1")["quantity"] == "1"
    assert trader("cancel", order_id) == f"{order_id}  cancelled\n"
    assert trader("cancel", order_id, code=1) == f"{order_id}  not cancelled: the order is cancelled\n"
    assert trader("cancel", "--client-order-id", "mine", code=1) == "no order was open\n"
    assert trader("list") == ""
    assert trader.order("list", "--status", "all", "--symbol", "sol-usd")["status"] == "cancelled"
    assert trader("list", "--status", "all", "--side", "sell") == ""


def test_every_type_of_order_can_be_placed(trader: Trader) -> None:
    # A price for the trailing stop to follow.
    trader("place", "SOL-USD", "sell", "1", "--price", "200")
    bought = trader.order("place", "SOL-USD", "buy", "1", "--price", "200", "--self-trade-prevention", "none")
    assert (bought["status"], bought["selfTradePrevention"], len(bought["fills"])) == ("filled", "none", 1)
    shown = trader("show", bought["orderId"], "--trades").splitlines()
    assert (len(shown), "1 at 200" in shown[1], shown[1].endswith("taker")) == (2, True, True)
    sell = ("place", "SOL-USD", "sell", "0.5")
    for arguments, kind in (
        (("--type", "stop-market", "--stop-price", "190"), "stop_market"),
        (("--type", "stop-limit", "--stop-price", "190", "--price", "189"), "stop_limit"),
        (("--type", "take-profit-market", "--stop-price", "210", "--trigger-by", "mark"), "take_profit_market"),
        (("--type", "TAKE_PROFIT_LIMIT", "--stop-price", "210", "--price", "209"), "take_profit_limit"),
        (("--type", "trailing-stop-market", "--trailing-bps", "250"), "trailing_stop_market"),
        (("--type", "trailing-stop-limit", "--trailing-amount", "5", "--price", "190"), "trailing_stop_limit"),
    ):
        order = trader.order(*sell, *arguments)
        assert (order["type"], order["status"], order["triggerStatus"]) == (kind, "open", "waiting")
    post_only = trader.order("place", "SOL-USD", "buy", "0.5", "--price", "180", "--post-only", "--good-for", "2h")
    assert (post_only["postOnly"], post_only["timeInForce"], "expiresAt" in post_only) == (True, "gtd", True)
    dated = trader.order(
        "place", "SOL-USD", "buy", "0.5", "--price", "180", "--post-only", "--slide",
        "--expires-at", "2090-01-02T03:04:05+01:00",
    )  # fmt: skip
    assert dated["expiresAt"] == "2090-01-02T02:04:05Z"
    ioc = trader.order("place", "SOL-USD", "buy", "0.5", "--price", "180", "--time-in-force", "ioc")
    assert ioc["status"] == "cancelled"
    trader("place", "SOL-USD", "sell", "1", "--price", "200")
    spent = trader.order("place", "SOL-USD", "buy", "--quote-quantity", "100", "--max-slippage-bps", "100",
                         "--self-trade-prevention", "none")  # fmt: skip
    assert (spent["type"], spent["filledQuantity"]) == ("market", "0.5")
    assert len(trader("list", "--json").splitlines()) == 9
    assert len(trader("cancel-all", "--side", "buy").splitlines()) == 2
    assert len(json.loads(trader("cancel-all", "--symbol", "sol-usd", "--json"))["cancelled"]) == 7
    assert trader("cancel-all") == "no order was open\n"


def test_batches_are_placed_and_amended_and_a_trailing_stop_says_what_fires_it(trader: Trader) -> None:
    buy = "SOL-USD buy 1 --price 180 --client-order-id {}"
    printed = trader("place-batch", buy.format("a"), buy.format("b"), buy.format("a"), code=1).splitlines()
    assert [line.split("  ")[-1] for line in printed[:2]] == ["[a]", "[b]"]
    assert printed[2].startswith("refused  409 DUPLICATE_CLIENT_ORDER_ID") and "(SOL-USD buy 1" in printed[2]
    first, second = (line.split("  ")[0] for line in printed[:2])
    printed = trader("amend-batch", f"{first} --price 181", f"{second} --quantity 2 --price 182")
    assert [line.split("  ")[4:6] for line in printed.splitlines()] == [["1", "at 181"], ["2", "at 182"]]
    assert "404 ORDER_NOT_FOUND" in trader("amend-batch", f"{first} --price 181", "nobody --price 181", code=1)
    trader("cancel-all")

    # A price for the trailing stop to follow.
    trader("place", "SOL-USD", "sell", "1", "--price", "200")
    trader("place", "SOL-USD", "buy", "1", "--price", "200", "--self-trade-prevention", "none")
    trailing = trader.order("place", "SOL-USD", "sell", "1", "--type", "trailing-stop-market", "--trailing-amount", "5")
    assert trader("triggers", trailing["orderId"], first).startswith(f"{trailing['orderId']}  fires at 195  limit 1")
    pair = ("SOL-USD sell 1 --price 210", "SOL-USD sell 1 --type stop-market --stop-price 190")
    placed = json.loads(trader("place-list", "oco", *pair, "--json"))
    shown = trader("show-list", placed["listId"])
    assert shown.splitlines()[0].startswith(f"{placed['listId']}  SOL-USD  oco  ") and len(shown.splitlines()) == 3
    assert "404 ORDER_LIST_NOT_FOUND" in trader("show-list", "nobody", code=1)
    trader("cancel-all")


def test_the_same_idempotency_key_places_one_order(trader: Trader) -> None:
    once = ("place", "SOL-USD", "buy", "1", "--price", "180", "--idempotency-key", secrets.token_hex(8))
    assert trader.order(*once)["orderId"] == trader.order(*once)["orderId"]
    assert trader("list").count("SOL-USD") == 1


def test_the_timer_is_set_shown_and_ended(trader: Trader) -> None:
    assert trader("timer") == "no timer runs\n"
    assert trader("timer", "3600").startswith("all open orders are cancelled at 2")
    assert json.loads(trader("timer", "--json"))["timeoutSeconds"] == 3600
    assert trader("timer", "0") == "no timer runs\n"


WRONG = [
    (("place", "SOL-USD", "buy", "1", "--price", "0.001"), 1, "400 ORDER_REJECTED: notional"),
    (("place", "SOL-USD", "buy", "much", "--price", "5"), 1, "400 VALIDATION_FAILED: quantity"),
    (("place", "SOL-USD", "hold", "1"), 1, "side"),
    (("place", "NO-USD", "buy", "1", "--price", "5"), 1, "NO-USD"),
    (("place", "SOL-USD", "buy", "1", "--type", "iceberg"), 1, "type"),
    (("place", "SOL-USD", "buy", "1", "--slide"), 2, "--post-only"),
    (("place", "SOL-USD", "buy", "1", "--good-for", "soon"), 2, "--good-for"),
    (("place", "SOL-USD", "buy", "1", "--good-for", "1h", "--expires-at", "2090-01-01T00:00:00Z"), 2, "not both"),
    (("place", "SOL-USD", "buy", "1", "--price", "5", "--expires-at", "2090-01-01"), 2, "needs a zone"),
    (("place", "SOL-USD", "buy", "1", "--price", "5", "--expires-at", "later"), 2, "ISO 8601"),
    (("show", "no-such-order"), 1, "404 ORDER_NOT_FOUND"),
    (("show",), 2, "--client-order-id"),
    (("amend", "no-such-order", "--price", "5"), 1, "404"),
    (("amend", "no-such-order"), 2, "--price"),
    (("amend", "a", "--client-order-id", "b", "--price", "5"), 2, "one of the two"),
    (("cancel",), 2, "order ids"),
    (("cancel", "no-such-order"), 1, "no-such-order  not cancelled: order not found"),
    (("list", "--status", "lost"), 1, "status must be one of"),
    (("list", "--limit", "0"), 2, "limit"),
    (("timer", "3"), 1, "timeoutSeconds"),
    (("list", "--url", "localhost"), 2, "--url"),
    (("list", "--key-file", "/nowhere/key.json"), 2, "No such file"),
]
"""A command line, its exit code, and a part of what it prints."""


def test_what_is_wrong_is_said_with_the_reason(trader: Trader) -> None:
    for arguments, code, says in WRONG:
        assert says in trader(*arguments, code=code), arguments


def test_a_key_of_nobody_is_refused(trader: Trader) -> None:
    for command in (("list",), ("cancel-all",)):
        printed = trader(*command, code=1, OPENSPOT_API_KEY="nobody", OPENSPOT_API_SECRET="hidden")
        assert "401" in printed and "hidden" not in printed
    assert "no API key" in trader("list", code=2, OPENSPOT_API_KEY_FILE=None)


def test_without_an_answer_the_outcome_is_unknown_and_can_be_found_out(trader: Trader) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        # Nobody listens there.
        trader.url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        printed = " ".join(trader("place", "SOL-USD", "buy", "1", "--price", "5", code=3).split())
        assert "nobody knows" not in trader("list", code=3)
    assert "nobody knows whether it was done: repeat the command with --idempotency-key" in printed
