"""The deposit and withdrawal bridge on the real bus and the real engine (facts A1.5-01 to A1.5-10)."""

import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed, WithdrawalOutcome, WithdrawalRequested
from openspot.kit.bus import Bus
from openspot.router.custody.withdrawal_decisions import Decision, WithdrawalDecisions
from openspot.router.metrics import CUSTODY_EVENTS, LEDGER_ALERTS
from tests.support.engine_client import EngineClient
from tests.support.fake_ledger import FakeLedger
from tests.support.router_client import RouterClient, listening
from tests.support.waiting import eventually


def custody_events(kind: str) -> float:
    samples = [sample for metric in CUSTODY_EVENTS.collect() for sample in metric.samples]
    return sum(
        sample.value for sample in samples if sample.labels.get("kind") == kind and sample.name.endswith("total")
    )


def ledger_alerts() -> float:
    samples = [sample for metric in LEDGER_ALERTS.collect() for sample in metric.samples]
    return sum(sample.value for sample in samples if sample.name.endswith("total"))


async def deposit(bus: Bus, tx_hash: str, amount: str, *, asset: str = "BTC", message_id: str | None = None) -> None:
    event = DepositConfirmed(tx_hash, "carol", asset, amount, network="mainnet", confirmations=6)
    await bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, event, message_id or tx_hash)


async def total(engine: EngineClient, user_id: str, asset: str) -> str | None:
    balance = (await engine.balances(user_id)).get(asset)
    return balance.total if balance is not None else None


async def is_reserved(engine: EngineClient, amount: str) -> bool:
    """Whether so much of alice's BTC is held for withdrawals."""
    return (await engine.balances("alice"))["BTC"].reserved == amount


async def hold(bus: Bus, engine: EngineClient, withdrawal_id: str, amount: str) -> None:
    """Have a withdrawal of alice's BTC reserved."""
    request = WithdrawalRequested(withdrawal_id, "alice", "BTC", amount)
    await bus.publish(subjects.CUSTODY_WITHDRAWAL_REQUESTED, request, withdrawal_id)
    await eventually(lambda: is_reserved(engine, amount))


@pytest.mark.spec("A1.5-01", "A1.5-02", "A1.5-03", "A6.2-05")
async def test_a_confirmed_deposit_credits_the_engine_and_then_the_ledger(
    router: RouterClient, bus: Bus, engine: EngineClient, ledger: FakeLedger
) -> None:
    await deposit(bus, "0xabc", "1.50000001")
    posting = await eventually(lambda: ledger.posted.get("0xabc"))
    assert (posting.user_id, posting.asset, posting.amount) == ("carol", "BTC", "1.50000001")
    assert (posting.transaction_id, posting.reference_id) == ("0xabc", "0xabc")
    assert await total(engine, "carol", "BTC") == "1.50000001"


@pytest.mark.spec("A1.5-07", "A1.5-08")
async def test_the_same_transaction_hash_credits_once_however_often_it_comes(
    router: RouterClient, bus: Bus, engine: EngineClient, ledger: FakeLedger
) -> None:
    for number in range(3):
        # Other message ids: the bus itself does not recognise the repeats.
        await deposit(bus, "0xsame", "2", message_id=f"delivery-{number}")
    await eventually(lambda: len([posting for posting in ledger.postings if posting.transaction_id == "0xsame"]) == 3)
    assert await total(engine, "carol", "BTC") == "2"
    assert ledger.balances["carol", "BTC"] == 2


@pytest.mark.spec("A1.5-04", "A1.5-05", "A1.5-06")
async def test_a_ledger_that_fails_is_asked_again_until_it_has_the_deposit(
    router: RouterClient, bus: Bus, engine: EngineClient, ledger: FakeLedger
) -> None:
    alerts = ledger_alerts()
    ledger.fails_with = "database is down"
    await deposit(bus, "0xlate", "3")
    await eventually(lambda: ledger_alerts() > alerts)
    assert await total(engine, "carol", "BTC") == "3"
    assert "0xlate" not in ledger.posted
    ledger.fails_with = None
    await eventually(lambda: "0xlate" in ledger.posted, 30)
    assert ledger.balances["carol", "BTC"] == 3
    assert await total(engine, "carol", "BTC") == "3"


@pytest.mark.spec("A1.5-02")
@pytest.mark.parametrize(
    ("asset", "amount"),
    [("DOGE", "1"), ("BTC", "0.000000001"), ("USD", "1.005"), ("BTC", "-1"), ("BTC", "0"), ("BTC", "NaN")],
)
async def test_a_deposit_that_can_never_be_is_counted_and_left_and_the_next_is_done(
    router: RouterClient, bus: Bus, engine: EngineClient, ledger: FakeLedger, asset: str, amount: str
) -> None:
    before = custody_events("deposit")
    await deposit(bus, "0xbad", amount, asset=asset)
    await eventually(lambda: custody_events("deposit") > before)
    await deposit(bus, "0xgood", "1")
    await eventually(lambda: "0xgood" in ledger.posted)
    assert set(ledger.posted) == {"0xgood"}
    assert set(await engine.balances("carol")) == {"BTC"}


@pytest.mark.spec("A1.5-09", "A1.5-10", "A6.2-06")
async def test_a_withdrawal_is_held_before_anything_is_sent_and_then_taken_once(
    router: RouterClient, bus: Bus, engine: EngineClient, ledger: FakeLedger, nats_url: str
) -> None:
    async with listening(nats_url, "custody.withdrawal.>") as heard:
        request = WithdrawalRequested("w1", "alice", "BTC", "400", address="bc1q", network="mainnet")
        await bus.publish(subjects.CUSTODY_WITHDRAWAL_REQUESTED, request, "w1")
        await eventually(lambda: heard.of(subjects.CUSTODY_WITHDRAWAL_RESERVED, WithdrawalOutcome))
    held = (await engine.balances("alice"))["BTC"]
    assert (held.total, held.reserved) == ("1000", "400")
    assert not ledger.postings
    for number in range(2):
        outcome = WithdrawalOutcome("w1", "alice", "BTC", "400", tx_hash="0xsent")
        await bus.publish(subjects.CUSTODY_WITHDRAWAL_COMPLETED, outcome, f"w1-completed-{number}")
    await eventually(lambda: len(ledger.postings) == 2)
    left = (await engine.balances("alice"))["BTC"]
    assert (left.total, left.reserved) == ("600", "0")
    assert ledger.balances["alice", "BTC"] == 600


async def test_a_withdrawal_that_is_not_what_was_held_moves_nothing_on_either_side(
    router: RouterClient, bus: Bus, engine: EngineClient, ledger: FakeLedger
) -> None:
    await hold(bus, engine, "w9", "400")
    failed = custody_events("complete")
    for number, (user_id, asset, amount) in enumerate(
        (("alice", "BTC", "399.99999999"), ("alice", "USD", "400"), ("bob", "BTC", "400"))
    ):
        outcome = WithdrawalOutcome("w9", user_id, asset, amount, tx_hash="0xother")
        await bus.publish(subjects.CUSTODY_WITHDRAWAL_COMPLETED, outcome, f"w9-other-{number}")
    await eventually(lambda: custody_events("complete") == failed + 3)
    assert await is_reserved(engine, "400")
    assert not ledger.postings
    await bus.publish(subjects.CUSTODY_WITHDRAWAL_COMPLETED, WithdrawalOutcome("w9", "alice", "BTC", "400"), "w9-right")
    await eventually(lambda: len(ledger.postings) == 1)
    assert await total(engine, "alice", "BTC") == "600"


async def test_a_withdrawal_that_failed_sets_its_funds_free_again(
    router: RouterClient, bus: Bus, engine: EngineClient, ledger: FakeLedger
) -> None:
    await hold(bus, engine, "w2", "400")
    outcome = WithdrawalOutcome("w2", "alice", "BTC", "400", reason="chain refused it")
    await bus.publish(subjects.CUSTODY_WITHDRAWAL_FAILED, outcome, "w2-failed")
    await eventually(lambda: is_reserved(engine, "0"))
    assert await total(engine, "alice", "BTC") == "1000"
    assert not ledger.postings


async def test_a_withdrawal_beyond_the_funds_is_refused_with_the_reason(
    router: RouterClient, bus: Bus, engine: EngineClient, nats_url: str
) -> None:
    async with listening(nats_url, "custody.withdrawal.>") as heard:
        request = WithdrawalRequested("w3", "alice", "BTC", "1000.5")
        await bus.publish(subjects.CUSTODY_WITHDRAWAL_REQUESTED, request, "w3")
        (outcome,) = await eventually(lambda: heard.of(subjects.CUSTODY_WITHDRAWAL_FAILED, WithdrawalOutcome))
    assert (outcome.withdrawal_id, outcome.reason) == ("w3", "RISK_NSF")
    assert (await engine.balances("alice"))["BTC"].reserved == "0"


async def test_a_withdrawal_that_was_refused_is_not_reserved_when_its_request_comes_again(
    router: RouterClient, bus: Bus, engine: EngineClient, nats_url: str
) -> None:
    before = custody_events("reserve")
    request = WithdrawalRequested("w4", "alice", "BTC", "1000.5")
    async with listening(nats_url, "custody.withdrawal.>") as heard:
        await bus.publish(subjects.CUSTODY_WITHDRAWAL_REQUESTED, request, "w4")
        await eventually(lambda: custody_events("reserve") == before + 1)
        await engine.fund("alice", BTC="1000")
        await bus.publish(subjects.CUSTODY_WITHDRAWAL_REQUESTED, request, "w4-again")
        await eventually(lambda: custody_events("reserve") == before + 2)
        await eventually(lambda: heard.of(subjects.CUSTODY_WITHDRAWAL_FAILED, WithdrawalOutcome))
        outcomes = heard.of(subjects.CUSTODY_WITHDRAWAL_FAILED, WithdrawalOutcome)
        assert {outcome.reason for outcome in outcomes} == {"RISK_NSF"}
        assert heard.of(subjects.CUSTODY_WITHDRAWAL_RESERVED, WithdrawalOutcome) == []
    assert (await engine.balances("alice"))["BTC"].reserved == "0"


async def test_of_two_decisions_about_one_withdrawal_the_first_stands(bus: Bus) -> None:
    one, other = WithdrawalDecisions(bus), WithdrawalDecisions(bus)
    identifier = "odd id: ü"
    assert await one.earlier(identifier) is None
    assert await one.decide(identifier, Decision("RISK_NSF")) == Decision("RISK_NSF")
    assert await other.decide(identifier, Decision(None)) == Decision("RISK_NSF")
    assert await other.earlier(identifier) == Decision("RISK_NSF")
