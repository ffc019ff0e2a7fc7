"""AccountService.Transfer over gRPC: movements between accounts, all or none, once for a reference."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal

import pytest

from openspot.contracts.gen.exchange.v1 import accounts_pb2 as pb
from openspot.domain.ids import CONVERSIONS_ACCOUNT_ID, FEE_ACCOUNT_ID
from openspot.domain.result_code import ResultCode
from openspot.domain.transfer import MOVEMENTS_MAX, Movement, TransferKind
from openspot.engine_client.commands import EngineCommands, TransferOutcome
from openspot.engine_client.errors import EngineAmbiguousError
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient
from tests.support.engine_faults import KILLED_AFTER_COMMIT, KILLED_BEFORE_COMMIT, tell_to_die
from tests.support.engine_nursery import Nursery, forked_engine

HOUSE = CONVERSIONS_ACCOUNT_ID


@pytest.fixture
async def commands(settings: Settings) -> AsyncIterator[EngineCommands]:
    """The engine's client as services use it."""
    async with connected(settings) as client:
        yield client


@asynccontextmanager
async def connected(settings: Settings) -> AsyncIterator[EngineCommands]:
    """The client of an engine with these settings."""
    assert isinstance(settings, EngineConnectionSettings)
    client = EngineCommands(settings)
    try:
        yield client
    finally:
        await client.close()


def movement(source: str, destination: str, asset: str, amount: str) -> Movement:
    return Movement(source, destination, asset, Decimal(amount))


CONVERSION = (movement("alice", HOUSE, "USD", "60"), movement(HOUSE, "alice", "BTC", "0.001"))


async def totals(engine: EngineClient, *participants: str) -> dict[str, dict[str, str]]:
    return {
        participant: {currency: row.total for currency, row in (await engine.balances(participant)).items()}
        for participant in participants
    }


async def test_a_conversion_moves_both_assets_and_shows_each_movement_on_the_event_stream(
    engine: EngineClient, commands: EngineCommands
) -> None:
    await engine.fund("alice", USD="100")
    await engine.fund(HOUSE, BTC="1")
    before = await engine.last_sequence()
    outcome = await commands.transfer("conversion-1", CONVERSION, TransferKind.CONVERSION)
    assert outcome == TransferOutcome(ResultCode.SUCCESS, "", before + 2)
    assert outcome.is_done
    assert await totals(engine, "alice", HOUSE) == {
        "alice": {"USD": "40", "BTC": "0.001"},
        HOUSE: {"USD": "60", "BTC": "0.999"},
    }
    events = await engine.events(before + 1, before + 2)
    shared = {"type": "transfer", "timestamp": events[0]["timestamp"], "kind": "conversion"}
    shared |= {"reference": "conversion-1", "count": 2}
    assert events == [
        shared
        | {"seq": before + 1, "index": 1, "currency": "USD", "amount": "60"}
        | {"fromParticipantId": "alice", "toParticipantId": HOUSE},
        shared
        | {"seq": before + 2, "index": 2, "currency": "BTC", "amount": "0.001"}
        | {"fromParticipantId": HOUSE, "toParticipantId": "alice"},
    ]


async def test_if_one_movement_cannot_be_paid_nothing_moves(engine: EngineClient, commands: EngineCommands) -> None:
    await engine.fund("alice", USD="100")
    before = await engine.last_sequence()
    outcome = await commands.transfer("conversion-1", CONVERSION, TransferKind.CONVERSION)
    assert (outcome.code, outcome.sequence, outcome.is_done) == (ResultCode.RISK_NSF, 0, False)
    assert outcome.message.startswith("movements: ")
    assert await totals(engine, "alice", HOUSE) == {"alice": {"USD": "100"}, HOUSE: {}}
    assert await engine.last_sequence() == before


async def test_what_an_order_holds_cannot_be_moved(engine: EngineClient, commands: EngineCommands) -> None:
    await engine.fund("alice", USD="100")
    await engine.place("buy", "50", "1")  # holds 50 and its worst fee, 0.125
    for amount, code in (("49.875000000000000001", ResultCode.RISK_NSF), ("49.875", ResultCode.SUCCESS)):
        outcome = await commands.transfer("t", [movement("alice", "bob", "USD", amount)], TransferKind.PAYMENT)
        assert outcome.code is code


async def test_a_reference_moves_once_and_conflicts_with_another_transfer(
    engine: EngineClient, commands: EngineCommands
) -> None:
    await engine.fund("alice", USD="100")
    pay = [movement("alice", "bob", "USD", "1")]
    outcomes = await asyncio.gather(*(commands.transfer("t-1", pay, TransferKind.PAYMENT) for _ in range(20)))
    assert {outcome.code for outcome in outcomes} == {ResultCode.SUCCESS}
    assert sum(outcome.sequence > 0 for outcome in outcomes) == 1
    # The same amount, written with more zeros.
    assert (await commands.transfer("t-1", [movement("alice", "bob", "USD", "1.000")], TransferKind.PAYMENT)).is_done
    for others, kind in (
        ([movement("alice", "bob", "USD", "1.1")], TransferKind.PAYMENT),
        ([movement("alice", "carol", "USD", "1")], TransferKind.PAYMENT),
        ([movement("bob", "alice", "USD", "1")], TransferKind.PAYMENT),
        ([*pay, *pay], TransferKind.PAYMENT),
        (pay, TransferKind.REWARD),
    ):
        outcome = await commands.transfer("t-1", others, kind)
        assert outcome.code is ResultCode.REFERENCE_CONFLICT
        assert outcome.message.startswith("reference: ")
    deposit = await engine.accounts.Deposit(
        pb.DepositRequest(participant_id="alice", currency="USD", amount="1", reference="t-1")
    )
    assert deposit.result_code == "REFERENCE_CONFLICT"
    assert await totals(engine, "alice", "bob") == {"alice": {"USD": "99"}, "bob": {"USD": "1"}}


async def test_a_transfer_creates_its_receivers_and_survives_a_restart(settings: Settings, nursery: Nursery) -> None:
    async with forked_engine(settings, nursery) as (child, engine), connected(settings) as commands:
        await engine.fund("alice", USD="100")
        refused = await commands.transfer("t-1", [movement("alice", "eve", "USD", "101")], TransferKind.REWARD)
        assert refused.code is ResultCode.RISK_NSF
        chain = [movement("alice", "bob", "USD", "100"), movement("bob", FEE_ACCOUNT_ID, "USD", "1")]
        assert (await commands.transfer("t-2", chain, TransferKind.REWARD)).is_done
        expected = await totals(engine, "alice", "bob", "eve", FEE_ACCOUNT_ID)
        assert expected == {"alice": {}, "bob": {"USD": "99"}, "eve": {}, FEE_ACCOUNT_ID: {"USD": "1"}}
        child.kill()
        child.start()
        await child.ready(engine)
        assert await totals(engine, "alice", "bob", "eve", FEE_ACCOUNT_ID) == expected
        # A new participant does not get a number that another one has.
        await engine.fund("frank", USD="7")
        assert await totals(engine, "frank", "bob", "eve") == {"frank": {"USD": "7"}, "bob": {"USD": "99"}, "eve": {}}


@pytest.mark.parametrize(
    ("preparation", "happened"), [(KILLED_BEFORE_COMMIT, False), (KILLED_AFTER_COMMIT, True)], ids=["before", "after"]
)
async def test_a_kill_at_the_commit_leaves_all_movements_or_none_and_a_repeat_makes_it_once(
    settings: Settings, nursery: Nursery, preparation: str, happened: bool
) -> None:
    pay = [movement("alice", "bob", "USD", "1"), movement("bob", "carol", "USD", "0.25")]
    async with forked_engine(settings, nursery, preparation) as (child, engine), connected(settings) as commands:
        await engine.fund("alice", USD="100")
        tell_to_die(settings)
        with pytest.raises(EngineAmbiguousError):
            await commands.transfer("t-1", pay, TransferKind.PAYMENT)
        assert child.wait() == -9
        child.start()
        await child.ready(engine)
        moved = {"alice": {"USD": "99"}, "bob": {"USD": "0.75"}, "carol": {"USD": "0.25"}}
        found = await totals(engine, "alice", "bob", "carol")
        assert found == (moved if happened else {"alice": {"USD": "100"}, "bob": {}, "carol": {}})
        repeated = await commands.transfer("t-1", pay, TransferKind.PAYMENT)
        assert (repeated.code, repeated.sequence == 0) == (ResultCode.SUCCESS, happened)
        assert await totals(engine, "alice", "bob", "carol") == moved


def request(**changes: object) -> pb.TransferRequest:
    fields: dict[str, object] = {"reference": "t-1", "kind": "payment", "movements": [paid()]}
    return pb.TransferRequest(**fields | changes)  # type: ignore[arg-type]


def paid(**changes: str) -> pb.Movement:
    fields = {"from_participant_id": "alice", "to_participant_id": "bob", "currency": "USD", "amount": "1"}
    return pb.Movement(**fields | changes)


_BAD_REQUESTS = (
    (request(reference=""), "UNKNOWN_REFERENCE", "reference: "),
    (request(reference="x" * 129), "UNKNOWN_REFERENCE", "reference: "),
    (request(reference="a b"), "UNKNOWN_REFERENCE", "reference: "),
    (request(reference="t:1:transfer-debit"), "UNKNOWN_REFERENCE", "reference: "),
    (request(kind="gift"), "INVALID_TRANSFER", "kind: "),
    (request(kind=""), "INVALID_TRANSFER", "kind: "),
    (request(movements=[]), "INVALID_TRANSFER", "movements: "),
    (request(movements=[paid()] * (MOVEMENTS_MAX + 1)), "INVALID_TRANSFER", "movements: "),
    (request(movements=[paid(from_participant_id="")]), "AUTH_INVALID_USER", "movements[0].fromParticipantId: "),
    (request(movements=[paid(to_participant_id="a b")]), "AUTH_INVALID_USER", "movements[0].toParticipantId: "),
    (
        request(movements=[paid(), paid(to_participant_id="house:external")]),
        "AUTH_INVALID_USER",
        "movements[1].toParticipantId: ",
    ),
    (request(movements=[paid(to_participant_id="alice")]), "INVALID_TRANSFER", "movements[0].toParticipantId: "),
    (request(movements=[paid(), paid(currency="DOGE")]), "INVALID_CURRENCY", "movements[1].currency: "),
    (request(movements=[paid(amount="0")]), "INVALID_AMOUNT", "movements[0].amount: "),
    (request(movements=[paid(amount="-1")]), "INVALID_AMOUNT", "movements[0].amount: "),
    (request(movements=[paid(amount="one")]), "INVALID_AMOUNT", "movements[0].amount: "),
    (request(movements=[paid(amount="1e40")]), "INVALID_AMOUNT", "movements[0].amount: "),
    (request(movements=[paid(amount="0.0000000000000000001")]), "INVALID_AMOUNT", "movements[0].amount: "),
)


async def test_a_bad_field_is_refused_by_name_and_moves_nothing(engine: EngineClient) -> None:
    await engine.fund("alice", USD="100")
    before = await engine.last_sequence()
    for bad, code, field in _BAD_REQUESTS:
        answer = await engine.accounts.Transfer(bad)
        assert (answer.success, answer.result_code, answer.sequence) == (False, code, 0), bad
        assert answer.message.startswith(field), answer.message
    assert await engine.last_sequence() == before
    assert (await engine.accounts.Transfer(request())).success, "the reference is still free"
