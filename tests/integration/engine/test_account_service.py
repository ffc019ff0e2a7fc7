"""exchange.v1.AccountService over gRPC, and the rules of balances (facts A1.4-10 to A1.4-17)."""

import asyncio

import pytest

from openspot.contracts.gen.exchange.v1 import accounts_pb2 as pb
from openspot.contracts.gen.exchange.v1 import orders_pb2
from tests.support.engine_client import EngineClient


def deposit(amount: str, participant: str = "alice", currency: str = "USD", reference: str = "") -> pb.DepositRequest:
    return pb.DepositRequest(participant_id=participant, currency=currency, amount=amount, reference=reference)


@pytest.mark.spec("B4.4-25", "B4.4-30")
async def test_a_deposit_creates_the_account_and_credits_it(engine: EngineClient) -> None:
    first = await engine.accounts.Deposit(deposit("100.000000000000000001"))
    assert (first.success, first.result_code, first.balance) == (True, "SUCCESS", "100.000000000000000001")
    second = await engine.accounts.Deposit(deposit("0.5"))
    assert (second.balance, second.sequence) == ("100.500000000000000001", first.sequence + 1)
    assert (await engine.balances())["USD"].total == "100.500000000000000001"


async def test_a_reference_credits_once_and_conflicts_with_another_deposit(engine: EngineClient) -> None:
    answers = await asyncio.gather(*(engine.accounts.Deposit(deposit("10", reference="tx-1")) for _ in range(20)))
    assert {(answer.success, answer.balance) for answer in answers} == {(True, "10")}
    assert sum(answer.sequence > 0 for answer in answers) == 1
    for other in (
        deposit("11", reference="tx-1"),
        deposit("10", "bob", reference="tx-1"),
        deposit("10", currency="BTC", reference="tx-1"),
    ):
        answer = await engine.accounts.Deposit(other)
        assert (answer.success, answer.result_code, answer.balance) == (False, "REFERENCE_CONFLICT", "0")
    assert await engine.balances("bob") == {}


@pytest.mark.spec("B4.4-26", "B4.4-30")
async def test_a_withdrawal_debits_free_funds_only(engine: EngineClient) -> None:
    await engine.fund("alice", USD="100")
    await engine.place("buy", "50", "1")  # holds 50 and its worst fee
    request = pb.WithdrawRequest(participant_id="alice", currency="USD", amount="49.9")
    refused = await engine.accounts.Withdraw(request)
    assert (refused.success, refused.result_code) == (False, "RISK_NSF")
    request.amount = "49.875"
    taken = await engine.accounts.Withdraw(request)
    assert (taken.success, taken.balance) == (True, "50.125")
    unknown = await engine.accounts.Withdraw(pb.WithdrawRequest(participant_id="bob", currency="USD", amount="1"))
    assert (unknown.success, unknown.result_code) == (False, "RISK_NSF")


async def test_a_reservation_holds_until_it_is_released_or_completed(engine: EngineClient) -> None:
    await engine.fund("alice", USD="100")

    async def reserve(reference: str) -> pb.ReserveWithdrawalResponse:
        return await engine.accounts.ReserveWithdrawal(
            pb.ReserveWithdrawalRequest(participant_id="alice", currency="USD", amount="60", reference=reference)
        )

    assert (await reserve("w1")).success
    assert (await reserve("w1")).success  # a repeat holds nothing more
    assert (await reserve("w2")).result_code == "RISK_NSF"
    assert (await reserve("")).result_code == "UNKNOWN_REFERENCE"
    assert (await engine.place("buy", "50", "1")).result_code == "RISK_NSF"
    usd = (await engine.balances())["USD"]
    assert (usd.total, usd.locked, usd.reserved) == ("100", "0", "60")

    assert (await engine.accounts.ReleaseWithdrawal(pb.ReleaseWithdrawalRequest(reference="w1"))).success
    assert (await engine.balances())["USD"].reserved == "0"
    assert (await reserve("w1")).result_code == "RESERVATION_CLOSED"

    assert (await reserve("w3")).success
    assert (await engine.accounts.CompleteWithdrawal(pb.CompleteWithdrawalRequest(reference="w3"))).success
    assert (await engine.accounts.CompleteWithdrawal(pb.CompleteWithdrawalRequest(reference="w3"))).success
    late = await engine.accounts.ReleaseWithdrawal(pb.ReleaseWithdrawalRequest(reference="w3"))
    assert (late.success, late.result_code) == (False, "RESERVATION_CLOSED")
    unknown = await engine.accounts.CompleteWithdrawal(pb.CompleteWithdrawalRequest(reference="nobody's"))
    assert (unknown.success, unknown.result_code) == (False, "UNKNOWN_REFERENCE")
    usd = (await engine.balances())["USD"]
    assert (usd.total, usd.reserved) == ("40", "0")


async def test_a_withdrawal_completes_only_with_the_amount_that_is_held(engine: EngineClient) -> None:
    await engine.fund("alice", USD="100")
    held = pb.ReserveWithdrawalRequest(participant_id="alice", currency="USD", amount="60", reference="w9")
    assert (await engine.accounts.ReserveWithdrawal(held)).success
    for named, code in (
        (("alice", "USD", "59.99"), "REFERENCE_CONFLICT"),
        (("alice", "BTC", "60"), "REFERENCE_CONFLICT"),
        (("bob", "USD", "60"), "REFERENCE_CONFLICT"),
        (("alice", "DOGE", "60"), "INVALID_CURRENCY"),
        (("alice", "USD", "sixty"), "INVALID_AMOUNT"),
        (("alice", "USD", "60.0"), "SUCCESS"),
        (("alice", "USD", "60"), "SUCCESS"),
    ):
        participant_id, currency, amount = named
        request = pb.CompleteWithdrawalRequest(
            reference="w9", participant_id=participant_id, currency=currency, amount=amount
        )
        answer = await engine.accounts.CompleteWithdrawal(request)
        assert answer.result_code == code, named
    usd = (await engine.balances())["USD"]
    assert (usd.total, usd.reserved) == ("40", "0")


_BAD_DEPOSITS = (
    (deposit("0"), "INVALID_AMOUNT"),
    (deposit("-1"), "INVALID_AMOUNT"),
    (deposit(""), "INVALID_AMOUNT"),
    (deposit("NaN"), "INVALID_AMOUNT"),
    (deposit("Infinity"), "INVALID_AMOUNT"),
    (deposit("1,000"), "INVALID_AMOUNT"),
    (deposit("1e40"), "INVALID_AMOUNT"),
    (deposit("0.0000000000000000001"), "INVALID_AMOUNT"),
    (deposit("9" * 200), "INVALID_AMOUNT"),
    (deposit("1", currency="DOGE"), "INVALID_CURRENCY"),
    (deposit("1", currency=""), "INVALID_CURRENCY"),
    (deposit("1", participant=""), "AUTH_INVALID_USER"),
    (deposit("1", participant="a b"), "AUTH_INVALID_USER"),
    (deposit("1", participant="house:fees"), "AUTH_INVALID_USER"),
    (deposit("1", reference="x" * 257), "UNKNOWN_REFERENCE"),
)


async def test_a_bad_field_is_refused_with_a_code_and_credits_nothing(engine: EngineClient) -> None:
    for request, code in _BAD_DEPOSITS:
        answer = await engine.accounts.Deposit(request)
        assert (answer.success, answer.result_code, answer.balance, answer.sequence) == (False, code, "0", 0), request
    assert (await engine.request("GET", "/api/v1/balances"))[1] == {"balances": []}


@pytest.mark.spec("A1.4-10", "A1.4-11", "A1.4-12", "A1.4-13", "A1.4-15", "A1.4-16", "A1.4-17", "A2.5-04")
async def test_locked_always_equals_the_holds_of_open_orders(engine: EngineClient) -> None:
    await engine.fund("alice", USD="10000", BTC="10")
    await engine.fund("bob", USD="10000", BTC="10")

    async def locked() -> tuple[str, str]:
        balances = await engine.balances()
        return balances["USD"].locked, balances["BTC"].locked

    assert await locked() == ("0", "0")
    buy = await engine.place("buy", "100", "3")
    await engine.place("buy", "90.5", "2")
    assert await locked() == ("481", "0")
    await engine.place("sell", "200", "1.25")
    assert await locked() == ("481", "1.25")
    await engine.place("sell", "100", "1", "bob")  # fills a third of the first buy
    assert await locked() == ("381", "1.25")
    for order_type in (orders_pb2.IOC, orders_pb2.FOK):
        await engine.place("buy", "95", "5", type=order_type)
        assert await locked() == ("381", "1.25")
    await engine.cancel(buy.order_id)
    assert await locked() == ("181", "1.25")
    usd = (await engine.balances())["USD"]
    assert (usd.total, usd.available) == ("9899.85", "9718.85")  # 100 paid, and a maker fee of 15 bps


async def test_balances_of_an_unknown_participant_are_empty(engine: EngineClient) -> None:
    await engine.fund()
    assert await engine.balances("nobody") == {}
    assert await engine.balances("") == {}


async def test_fees_go_to_the_house_and_nothing_is_lost(engine: EngineClient) -> None:
    await engine.fund("maker", BTC="1")
    await engine.fund("taker", USD="1000")
    await engine.place("sell", "100", "1", "maker")
    await engine.place("buy", "100", "1", "taker")
    house = (await engine.balances("house:fees"))["USD"]
    assert house.total == "0.4"  # 25 bps and 15 bps of 100
    totals = [(await engine.balances(name))["USD"].total for name in ("maker", "taker", "house:fees")]
    assert totals == ["99.85", "899.75", "0.4"]
