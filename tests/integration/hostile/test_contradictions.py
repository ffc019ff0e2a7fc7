"""Events that are well formed and cannot be true: they are refused or set aside with a reason, the books stay right."""

import itertools
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import OrderRequest, SubmitOrder, TradeFee, TradeFees, WithdrawalOutcome
from openspot.kit.bus import encode
from openspot.ledger.metrics import TRADES
from openspot.router.metrics import CUSTODY_EVENTS
from tests.integration.hostile.payloads import HOSTILE_AMOUNTS, HOSTILE_ASSETS, HOSTILE_IDS, LONG
from tests.integration.hostile.target import Target, malformed
from tests.support.ledger import assert_books_are_right, trade
from tests.support.router_client import listening
from tests.support.waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")

HUGE = 10**400
_serial = itertools.count(1)
ODD_TRADE_IDS = ("", " ", "a b", "a\\b", "a\x00b", "é", "x" * 201, LONG)


def fees(**changes: Any) -> TradeFees:
    """The fees of `trade()`, with changes to the buyer's."""
    buyer = {"user_id": "ann", "amount": "0.5", "asset": "USD"} | changes
    return TradeFees(TradeFee(**buyer), TradeFee("bob", "0.3", "USD"))


def as_message(number: int, **changes: Any) -> bytes:
    return encode(trade(number, **changes))


def settled(outcome: str) -> float:
    return float(TRADES.labels(outcome)._value.get())


async def settle(attacked: Target, *messages: bytes) -> None:
    for message in messages:
        await attacked.publish(subjects.TRADES_EXECUTED, message)
    await eventually(lambda: attacked.has_taken_all(subjects.TRADES_EXECUTED), 20)


async def reasons(attacked: Target) -> list[str]:
    rows = await attacked.pool.fetch("SELECT reason FROM ledger_rejected_trades ORDER BY rejected_at, reason")
    return [row["reason"] for row in rows]


@dataclass(frozen=True)
class Contradiction:
    """Trades that cannot be, and how the reason of their rejection begins."""

    name: str
    reason: str
    changes: tuple[dict[str, Any], ...]


def of_field(field: str, values: tuple[Any, ...]) -> tuple[dict[str, Any], ...]:
    return tuple({field: value} for value in values)


CONTRADICTIONS = (
    Contradiction("no quantity", "qty must be positive", of_field("qty", ("0", "-1", "-0.0", "0e5"))),
    Contradiction("no price", "price must be positive", of_field("price", ("0", "-100", "-0"))),
    Contradiction("quantity is no number", "qty ", of_field("qty", HOSTILE_AMOUNTS)),
    Contradiction("price is no number", "price ", of_field("price", HOSTILE_AMOUNTS)),
    Contradiction(
        "fee is no number", "fees.buyer.amount ", tuple({"fees": fees(amount=text)} for text in HOSTILE_AMOUNTS)
    ),
    Contradiction("notional has 20 places", "price × qty", ({"price": "0.0000000001", "qty": "0.0000000001"},)),
    Contradiction("notional too large", "price × qty is too large", ({"price": "1e10", "qty": "1e10"},)),
    Contradiction("buyer is nobody", "buyerId ", of_field("buyer_id", HOSTILE_IDS)),
    Contradiction("seller is nobody", "sellerId ", of_field("seller_id", HOSTILE_IDS)),
    Contradiction("base is no asset", "baseAsset ", of_field("base_asset", HOSTILE_ASSETS)),
    Contradiction("quote is no asset", "quoteAsset ", of_field("quote_asset", HOSTILE_ASSETS)),
    Contradiction("base is quote", "baseAsset and quoteAsset are the same", ({"base_asset": "USD"},)),
    Contradiction(
        "fee in no asset", "fees.buyer.currency ", tuple({"fees": fees(asset=text)} for text in HOSTILE_ASSETS)
    ),
    Contradiction("another pays the fee", "fees.buyer.userId ", ({"fees": fees(user_id="eve")},)),
    Contradiction("trade has no id", "id must be", of_field("id", ODD_TRADE_IDS)),
    Contradiction("no such sequence", "sequence must be", of_field("sequence", (-1, 2**63, HUGE, -HUGE))),
)


@pytest.mark.parametrize("case", CONTRADICTIONS, ids=lambda case: case.name)
async def test_a_trade_that_cannot_be_is_kept_with_its_reason_and_the_others_are_settled(
    attacked: Target, case: Contradiction
) -> None:
    number = 1000 + 10 * CONTRADICTIONS.index(case)
    before, known, rejected = await attacked.state(), await reasons(attacked), settled("rejected")
    await settle(attacked, *(as_message(number, **changes) for changes in case.changes))
    assert settled("rejected") == rejected + len(case.changes)
    new = (await reasons(attacked))[len(known) :]
    assert len(new) == len({as_message(number, **changes) for changes in case.changes})
    assert all(reason.startswith(case.reason) for reason in new), new
    assert await attacked.state() == before
    # Between two that are rejected stands one that is settled.
    bad = as_message(number, **case.changes[0])
    await settle(attacked, bad, as_message(number + 1), bad)
    assert await attacked.pool.fetchval(
        "SELECT count(*) = 8 FROM ledger_entries WHERE reference_id = $1", f"epoch-{number + 1}"
    )
    await assert_books_are_right(attacked.pool)


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        # The ledger holds no orders: what the engine traded is settled.
        (2001, {"taker_order_id": "unknown", "maker_order_id": "unknown"}),
        (2002, {"taker_order_id": LONG}),
        (2003, {"fees": fees(amount="1000000")}),
        (2004, {"fees": fees(amount="-1000000")}),
        (2005, {"buyer": "zoe", "seller": "zoe"}),
        (2006, {"buyer": "house:fees", "seller": "house:external"}),
        (2007, {"symbol": "BTC-USD", "taker_side": "neither", "timestamp": -HUGE}),
    ],
    ids=("orders unknown", "order without end", "fee beyond the notional", "rebate beyond the notional", "self trade",
         "the house trades", "no side, no time"),
)  # fmt: skip
async def test_an_odd_trade_is_settled_as_the_engine_said_it(
    attacked: Target, number: int, changes: dict[str, Any]
) -> None:
    counted = settled("settled")
    await settle(attacked, as_message(number, **changes))
    assert settled("settled") == counted + 1
    await assert_books_are_right(attacked.pool)


async def test_another_trade_under_the_same_id_changes_nothing(attacked: Target) -> None:
    await settle(attacked, as_message(3000))
    before, repeated = await attacked.state(), settled("already_settled")
    others = ({"price": "1"}, {"qty": "77"}, {"buyer": "eve"}, {"symbol": "ETH-BTC"}, {"buyer_fee": "9"})
    await settle(attacked, *(as_message(3000, **changes) for changes in others))
    # Those that came in one batch are one repeat.
    assert settled("already_settled") > repeated
    assert await attacked.state() == before


async def test_trades_that_would_lead_a_balance_out_of_its_column_are_kept_aside(attacked: Target) -> None:
    rejected = settled("rejected")
    await settle(
        attacked,
        *(as_message(4000 + n, buyer="max", seller="min", price="9000000000", qty="1000000000") for n in range(14)),
    )
    assert 0 < settled("rejected") - rejected < 14
    assert (await reasons(attacked))[-1].startswith("cannot be written: ")
    await assert_books_are_right(attacked.pool)
    counted = settled("settled")
    await settle(attacked, as_message(4100))
    assert settled("settled") == counted + 1


async def refusal_of_eve(attacked: Target, **fields: str | None) -> str:
    """Why an order of a user without funds is refused."""
    order = OrderRequest(order_id=f"eve-{next(_serial)}", side="buy", quantity="1", **fields)
    answer = await attacked.ask(subjects.ORDERS_SUBMIT, msgspec.to_builtins(SubmitOrder("eve", order)))
    return str(answer["error"])


@pytest.mark.parametrize(
    "price",
    [
        "",
        "abc",
        "NaN",
        "sNaN",
        "Infinity",
        "-Infinity",
        "-100",
        "0",
        "1e999999",
        pytest.param(LONG, id="long"),
        "9" * 60,
    ],
)
async def test_a_trade_without_a_price_is_counted_and_orders_are_checked_as_before(
    attacked: Target, price: str
) -> None:
    counted = malformed(subjects.TRADES_EXECUTED)
    await settle(attacked, as_message(5000, symbol="SOL-USD", price=price, timestamp=2**62))
    await eventually(lambda: malformed(subjects.TRADES_EXECUTED) == counted + 1)
    limit = await refusal_of_eve(attacked, symbol="SOL-USD", type="limit", price="100")
    assert limit == "insufficient USD balance: the order needs 100, 0 is available"
    market = await refusal_of_eve(attacked, symbol="SOL-USD", type="market")
    assert market == "no recent trade price for SOL-USD: a market order needs one"


async def test_a_trade_of_a_symbol_that_no_market_has_leaves_no_price(attacked: Target) -> None:
    await settle(
        attacked, as_message(5100, symbol="DOGE-USD", base_asset="DOGE"), as_message(5101, symbol="X" * 100_000)
    )
    assert await refusal_of_eve(attacked, symbol="DOGE-USD", type="market") == "Market DOGE-USD not found"
    await assert_books_are_right(attacked.pool)


async def test_a_price_of_a_time_to_come_gives_way_to_the_next_trade(attacked: Target) -> None:
    async def deviates() -> bool:
        refusal = await refusal_of_eve(attacked, symbol="ETH-USD", type="limit", price="100")
        return "deviates from the last trade price 7 " in refusal

    await settle(attacked, as_message(6000, symbol="ETH-USD", price="7", timestamp=HUGE))
    await eventually(deviates)
    # A true trade: its time is that of the engine.
    await attacked.engine.fund("alice", ETH="10")
    await attacked.engine.place("sell", "100", "1", "alice", symbol="ETH-USD")
    await attacked.engine.place("buy", "100", "1", "bob", symbol="ETH-USD")
    await attacked.at_rest()

    async def is_forgotten() -> bool:
        return not await deviates()

    await eventually(is_forgotten)


# Custody


def custody(kind: str, outcome: str) -> float:
    return float(CUSTODY_EVENTS.labels(kind, outcome)._value.get())


async def money(attacked: Target, user_id: str = "alice") -> dict[str, tuple[Decimal, Decimal]]:
    """(total, reserved) in the engine by currency."""
    balances = await attacked.engine.balances(user_id)
    return {name: (Decimal(balance.total), Decimal(balance.reserved)) for name, balance in balances.items()}


async def send(attacked: Target, subject: str, kind: str, outcome: str, payload: dict[str, Any]) -> None:
    """Publish an event of custody, and wait until it has that outcome and will not come again."""
    counted = custody(kind, outcome)
    await attacked.publish(subject, payload)
    await eventually(lambda: custody(kind, outcome) == counted + 1)
    await eventually(lambda: attacked.has_taken_all(subject))


def withdrawal(withdrawal_id: str, **changes: str) -> dict[str, Any]:
    return {"withdrawalId": withdrawal_id, "userId": "alice", "asset": "USD", "amount": "10"} | changes


@pytest.mark.spec("A1.5-08")
@pytest.mark.parametrize("changes", [{"amount": "2"}, {"userId": "bob"}, {"asset": "BTC"}, {"userId": "nobody-yet"}])
async def test_another_deposit_under_the_same_hash_credits_nobody(attacked: Target, changes: dict[str, str]) -> None:
    deposit = {"txHash": "0xsame", "userId": "alice", "asset": "USD", "amount": "1"}
    await send(attacked, subjects.CUSTODY_DEPOSIT_CONFIRMED, "deposit", "done", deposit)
    engine, ledger = [await money(attacked), await money(attacked, "bob")], await attacked.state()
    await send(attacked, subjects.CUSTODY_DEPOSIT_CONFIRMED, "deposit", "failed", deposit | changes)
    assert [await money(attacked), await money(attacked, "bob")] == engine
    assert await attacked.state() == ledger | {"engine": (await attacked.state())["engine"]}
    assert not await attacked.engine.balances("nobody-yet")


async def test_another_withdrawal_under_the_same_id_holds_nothing_and_is_not_answered(attacked: Target) -> None:
    subject = subjects.CUSTODY_WITHDRAWAL_REQUESTED
    await send(attacked, subject, "reserve", "done", withdrawal("w-same"))
    before = await money(attacked)
    async with listening(attacked.settings.nats_url, "custody.withdrawal.>") as heard:
        for changes in ({"amount": "11"}, {"userId": "bob"}, {"asset": "BTC"}):
            await send(attacked, subject, "reserve", "failed", withdrawal("w-same", **changes))
        # A hash of a deposit is no id of a withdrawal either.
        await send(attacked, subject, "reserve", "failed", withdrawal("first-alice-USD"))
    assert await money(attacked) == before
    assert {name for name, *_ in heard.messages} == {subject}


async def test_a_withdrawal_has_one_end(attacked: Target) -> None:
    asked, completed, failed = (
        subjects.CUSTODY_WITHDRAWAL_REQUESTED,
        subjects.CUSTODY_WITHDRAWAL_COMPLETED,
        subjects.CUSTODY_WITHDRAWAL_FAILED,
    )
    total, reserved = (await money(attacked))["USD"]
    for name in ("w-sent", "w-given-up"):
        await send(attacked, asked, "reserve", "done", withdrawal(name))
    assert (await money(attacked))["USD"] == (total, reserved + 20)
    await send(attacked, completed, "complete", "done", withdrawal("w-sent"))
    await send(attacked, failed, "release", "done", withdrawal("w-given-up"))
    after = await money(attacked)
    assert after["USD"] == (total - 10, reserved)
    await attacked.at_rest()
    books = await attacked.state()
    await send(attacked, completed, "complete", "failed", withdrawal("w-given-up"))
    await send(attacked, failed, "release", "failed", withdrawal("w-sent"))
    await send(attacked, asked, "reserve", "failed", withdrawal("w-given-up"))
    # That one was reserved once, and was sent: the repeat of its request is answered as the request was.
    await send(attacked, asked, "reserve", "done", withdrawal("w-sent"))
    assert await money(attacked) == after
    assert await attacked.state() == books | {"engine": (await attacked.state())["engine"]}


async def test_more_than_there_is_is_refused_with_the_reason(attacked: Target) -> None:
    before = await money(attacked)
    async with listening(attacked.settings.nats_url, "custody.withdrawal.failed") as heard:
        await send(
            attacked, subjects.CUSTODY_WITHDRAWAL_REQUESTED, "reserve", "failed", withdrawal("w-all", amount="9e18")
        )
        (refusal,) = await eventually(lambda: heard.of("custody.withdrawal.failed", WithdrawalOutcome))
    assert (refusal.withdrawal_id, refusal.reason, refusal.refused) == ("w-all", "RISK_NSF", True)
    assert await money(attacked) == before


async def test_every_service_is_as_ready_as_before(attacked: Target) -> None:
    await attacked.are_ready()
    await assert_books_are_right(attacked.pool)
