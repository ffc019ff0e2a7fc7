"""What a provider's report does to a payment, and who sees the payment, with the tables and the engine replaced."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed
from openspot.domain.ids import PAYMENTS_ACCOUNT_ID
from openspot.domain.market import load_markets
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_transfers.model import Transfer
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError
from openspot.kit.sql import numeric
from openspot.rest_edge.common.payload_digest import payload_digest
from openspot.rest_edge.products.payments.payment_routes import routes_of
from openspot.rest_edge.products.payments.schemas import CallbackBody, CallbackResponse, SessionBody
from openspot.rest_edge.products.payments.service import PaymentRules, PaymentService, credit_of
from openspot.rest_edge.products.payments.store import Payment

ONE = AMOUNT_SCALE
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRET = "the provider's secret"
ROUTES = routes_of(
    {"routes": {"card": {"name": "Card", "currency": "USD", "provider": "development", "minimum": "5",
                         "maximum": "100", "fee_bps": 150, "fee_fixed": "0.30"}}},
    load_markets().assets,
)  # fmt: skip
OPEN = Payment(
    payment_id="p1", user_id="alice", route_id="card", asset="USD", amount=100 * ONE, fee=180 * ONE // 100,
    return_url=None, status="open", payment_status="unpaid", credited=False, created_at=NOON,
    expires_at=NOON + timedelta(hours=24), completed_at=None,
)  # fmt: skip


class Bench:
    """The service, and its tables, bus and engine in memory."""

    def __init__(self, *payments: Payment) -> None:
        self.pool = self
        self.now = NOON
        self.payments = {each.payment_id: each for each in payments}
        self.events: set[str] = set()
        self.begun: list[Transfer] = []
        self.attempted: list[Transfer] = []
        self.published: list[tuple[str, msgspec.Struct, str]] = []
        self.markets = load_markets()
        around: Any = self
        self.rules = PaymentRules(around, around)
        self.service = PaymentService(
            around, around, ROUTES, self.markets, lambda: round(self.now.timestamp()) * 10**9, secret=SECRET,
            return_origins=frozenset(), page_url="https://shop.example/pay", open_max=3, kept=timedelta(days=7),
        )  # fmt: skip

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator["Bench"]:
        yield self

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        yield

    async def get(self, payment_id: str) -> Payment | None:
        return self.payments.get(payment_id)

    async def add(self, payment: Payment, open_max: int) -> datetime | None:
        if len(self.payments) >= open_max:
            return NOON
        self.payments[payment.payment_id] = payment
        return None

    async def lock(self, _connection: Any, payment_id: str) -> Payment | None:
        return self.payments.get(payment_id)

    async def note_event(self, _connection: Any, event_id: str, *_: Any) -> bool:
        is_new = event_id not in self.events
        self.events.add(event_id)
        return is_new

    async def complete(self, _connection: Any, payment_id: str, payment_status: str, now: datetime) -> None:
        self.payments[payment_id] = replace(
            self.payments[payment_id], status="complete", payment_status=payment_status, completed_at=now
        )

    async def begin(self, _connection: Any, transfer: Transfer) -> None:
        self.begun.append(transfer)

    async def attempt(self, transfer: Transfer) -> None:
        self.attempted.append(transfer)

    async def publish(self, subject: str, message: msgspec.Struct, message_id: str) -> None:
        self.published.append((subject, message, message_id))

    async def report(self, event: str = "e1", **change: Any) -> CallbackResponse:
        """Send a signed report of the provider."""
        fields = {"eventId": event, "paymentId": "p1", "paymentStatus": "paid", "amount": "100", "currency": "USD"}
        raw = msgspec.json.encode(fields | change)
        body = CallbackBody.model_validate(fields | change)
        return await self.service.take_callback(raw, payload_digest(SECRET, raw), body)

    async def open(self, amount: str, **change: Any) -> Any:
        """Open a payment as alice."""
        body = SessionBody.model_validate({"routeId": "card", "amount": amount, "currency": "USD"} | change)
        return await self.service.open_session("alice", body, IdempotentOperation("p1", is_resumed=False))


async def test_a_report_is_taken_with_its_whole_signature_only() -> None:
    bench = Bench(OPEN)
    fields = {"eventId": "e1", "paymentId": "p1", "paymentStatus": "paid", "amount": "100", "currency": "USD"}
    raw, body = msgspec.json.encode(fields), CallbackBody.model_validate(fields)
    right = payload_digest(SECRET, raw)
    last = "0" if right[-1] != "0" else "1"
    for wrong in (None, "", right[:8], right[:-1], right[:-1] + last, right + "0", payload_digest("other", raw)):
        with pytest.raises(HttpError) as refused:
            await bench.service.take_callback(raw, wrong, body)
        assert (refused.value.status_code, refused.value.code) == (401, "SIGNATURE_INVALID")
    assert (bench.events, bench.begun) == (set(), [])
    assert (await bench.service.take_callback(raw, right.upper(), body)).repeated is False


async def test_an_event_id_counts_once_whatever_it_says_the_second_time() -> None:
    bench = Bench(OPEN, replace(OPEN, payment_id="p2"))
    assert not (await bench.report("e1", paymentStatus="failed")).repeated
    assert (await bench.report("e1", paymentStatus="paid")).repeated
    assert (await bench.report("e1", paymentId="p2")).repeated
    assert bench.begun == []
    assert [each.payment_status for each in bench.payments.values()] == ["failed", "unpaid"]


async def test_money_that_arrives_after_a_failure_or_the_sessions_end_is_credited_once() -> None:
    bench = Bench(OPEN)
    await bench.report("e1", paymentStatus="failed")
    assert bench.begun == []
    bench.now = NOON + timedelta(days=3)
    assert not (await bench.report("e2")).repeated
    assert (await bench.report("e3")).repeated
    assert (await bench.report("e4", paymentStatus="failed")).repeated
    assert bench.begun == bench.attempted == [credit_of(OPEN)]
    assert bench.payments["p1"].payment_status == "paid"


@pytest.mark.parametrize("change", [{"amount": "99.99"}, {"amount": "100.01"}, {"currency": "BRL"}])
async def test_a_report_of_another_amount_or_currency_changes_nothing(change: dict[str, str]) -> None:
    bench = Bench(OPEN)
    with pytest.raises(HttpError, match="the payment is of 100 USD") as refused:
        await bench.report(**change)
    assert (refused.value.status_code, refused.value.code) == (409, "AMOUNT_MISMATCH")
    assert (bench.events, bench.begun, bench.payments["p1"]) == (set(), [], OPEN)


async def test_money_for_a_cancelled_payment_goes_back_to_its_payer() -> None:
    bench = Bench(replace(OPEN, status="cancelled"))
    with pytest.raises(HttpError) as refused:
        await bench.report()
    assert (refused.value.status_code, refused.value.code) == (409, "PAYMENT_CANCELLED")
    assert bench.begun == []
    assert (await bench.report(paymentStatus="failed")).repeated


def test_the_credit_is_the_amount_less_the_fee_from_the_payments_account() -> None:
    movement = Movement(PAYMENTS_ACCOUNT_ID, "alice", "USD", numeric(9820 * ONE // 100))
    assert credit_of(OPEN) == Transfer("payment:p1", TransferKind.PAYMENT, "p1", (movement,))


async def test_the_deposit_is_announced_whole_under_a_reference_of_its_own() -> None:
    bench = Bench(replace(OPEN, completed_at=NOON))
    await bench.rules.before(credit_of(OPEN))
    event = DepositConfirmed("payment-in:p1", PAYMENTS_ACCOUNT_ID, "USD", "100", timestamp=int(NOON.timestamp() * 1000))
    assert bench.published == [(subjects.CUSTODY_DEPOSIT_CONFIRMED, event, "deposit-payment-in:p1")]


@pytest.mark.parametrize("amount", ["5", "100"])
async def test_the_bounds_of_a_route_are_themselves_allowed(amount: str) -> None:
    bench = Bench()
    response = await bench.open(amount)
    assert (response.status, response.payment_status, response.expires_at) == (
        "open", "unpaid", "2026-03-02T12:00:00.000Z",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("amount", "change"), [("4.99", {}), ("100.01", {}), ("50.001", {}), ("50", {"currency": "BRL"})]
)
async def test_a_payment_beyond_the_bounds_of_its_route_is_refused(amount: str, change: dict[str, str]) -> None:
    bench = Bench()
    with pytest.raises(HttpError) as refused:
        await bench.open(amount, **change)
    assert (refused.value.status_code, refused.value.code) == (400, "VALIDATION_FAILED")
    assert bench.payments == {}


async def test_a_session_expires_with_its_last_second_and_is_its_users_only() -> None:
    bench = Bench(OPEN)
    bench.now = OPEN.expires_at - timedelta(seconds=1)
    assert (await bench.service.payment("alice", "p1")).status == "open"
    bench.now = OPEN.expires_at
    assert (await bench.service.payment("alice", "p1")).status == "expired"
    with pytest.raises(HttpError) as refused:
        await bench.service.payment("bob", "p1")
    assert (refused.value.status_code, refused.value.code) == (404, "PAYMENT_NOT_FOUND")


@pytest.mark.spec("B4.1-57")
async def test_a_payment_is_shown_whole() -> None:
    bench = Bench(replace(OPEN, status="complete", payment_status="paid", credited=True, completed_at=NOON))
    assert (await bench.service.payment("alice", "p1")).model_dump(by_alias=True) == {
        "id": "p1",
        "routeId": "card",
        "currency": "USD",
        "amount": "100",
        "fee": "1.8",
        "netAmount": "98.2",
        "status": "complete",
        "paymentStatus": "paid",
        "credited": True,
        "url": "https://shop.example/pay/p1",
        "returnUrl": None,
        "createdAt": "2026-03-01T12:00:00.000Z",
        "expiresAt": "2026-03-02T12:00:00.000Z",
        "completedAt": "2026-03-01T12:00:00.000Z",
    }


async def test_too_many_open_payments_are_refused_until_the_first_ends() -> None:
    bench = Bench(*(replace(OPEN, payment_id=f"q{number}") for number in range(3)))
    with pytest.raises(HttpError, match="3 payments of yours wait for money") as refused:
        await bench.open("50")
    assert (refused.value.status_code, refused.value.code) == (409, "TOO_MANY_PAYMENTS")


def test_an_unknown_route_is_not_found() -> None:
    with pytest.raises(HttpError) as refused:
        Bench().service.route("none")
    assert (refused.value.status_code, refused.value.code) == (404, "PAYMENT_ROUTE_NOT_FOUND")


async def test_while_nobody_knows_what_markets_offer_no_payment_is_opened_and_one_of_before_is_credited() -> None:
    bench = Bench(OPEN)
    bench.markets.knows_offers = False
    for call in (bench.service.routes, lambda: bench.service.route("none")):
        with pytest.raises(HttpError, match="has not said yet what its markets offer") as refused:
            call()
        assert refused.value.status_code == 503
    with pytest.raises(HttpError) as refused:
        await bench.open("50", routeId="market-doge-usd")
    assert refused.value.status_code == 503
    assert not (await bench.report("e1")).repeated
    assert len(bench.begun) == 1


async def test_the_same_report_under_another_event_id_is_a_repetition() -> None:
    bench = Bench(OPEN)
    assert not (await bench.report("e1", paymentStatus="failed")).repeated
    assert (await bench.report("e2", paymentStatus="failed")).repeated
    assert not (await bench.report("e3", paymentStatus="paid")).repeated
    assert (await bench.report("e4", paymentStatus="paid")).repeated
    assert (await bench.report("e5", paymentStatus="failed")).repeated
    assert (len(bench.begun), bench.payments["p1"].payment_status) == (1, "paid")


async def test_a_session_has_the_fee_of_its_route_and_a_resumed_one_is_found() -> None:
    bench = Bench()
    first = await bench.open("100")
    assert bench.payments["p1"] == OPEN
    bench.now = NOON + timedelta(hours=1)
    body = SessionBody.model_validate({"routeId": "card", "amount": "50", "currency": "USD"})
    again = await bench.service.open_session("alice", body, IdempotentOperation("p1", is_resumed=True))
    assert (again, bench.payments) == (first, {"p1": OPEN})


async def test_a_payment_that_is_complete_never_expires() -> None:
    bench = Bench(OPEN)
    await bench.report("e1")
    bench.now = NOON + timedelta(days=3)
    shown = await bench.service.payment("alice", "p1")
    assert (shown.status, shown.payment_status) == ("complete", "paid")
