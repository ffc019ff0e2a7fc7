"""Money of the house from and to outside, through edge, engine, router and ledger: it counts once, and books agree."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal

import asyncpg
import pytest

from openspot.deposit import deposit as deposit_command
from openspot.deposit.deposit import DepositError, deposit
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineAmbiguousError, EngineUnreachableError
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.engine_transfers.engine import EngineTransfers
from openspot.http.operators import OperatorRole
from openspot.kit.bus import Bus
from openspot.kit.clock import system_clock
from openspot.kit.database import Connection
from openspot.kit.settings import Settings, as_part
from openspot.rest_edge.operators.treasury.outside import OutsideMoney
from tests.support.authenticator import register
from tests.support.edge_operators import link_owners, make_operator
from tests.support.house_money import (
    approve,
    assert_another_approves_once,
    assert_books_agree,
    assert_refused_by_field,
    treasurer,
    until_total,
)
from tests.support.in_process_platform import running
from tests.support.rest_client import Reply, RestClient
from tests.support.waiting import eventually

ADA, CAS = "ada@example.org", "cas@example.org"
WHY = {"reason": "the owners fill the insurance"}
IN = {"account": "house:insurance", "asset": "USD", "amount": "60", "category": "capital", "reference": "SEPA-1"} | WHY
FLOWS = "/operator/treasury/flows"
IS_WAITING = """
    SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')
"""


@pytest.fixture
async def platform(settings: Settings, bus: Bus) -> AsyncIterator[Settings]:
    settings = settings.model_copy(update={"adjustment_alone_limit": 100})
    async with running(settings, "engine", "ledger", "router", "rest-edge"):
        yield settings


@pytest.fixture
async def ada(platform: Settings, pool: asyncpg.Pool) -> AsyncIterator[RestClient]:
    async with treasurer(platform, pool, ADA) as client:
        yield client


@pytest.fixture
async def bob(platform: Settings, pool: asyncpg.Pool) -> AsyncIterator[RestClient]:
    async with treasurer(platform, pool, "bob@example.org") as client:
        yield client


async def test_money_comes_in_and_goes_out_once_and_every_book_agrees(
    platform: Settings, ada: RestClient, bob: RestClient, pool: asyncpg.Pool
) -> None:
    key = {"Idempotency-Key": "flow-1"}
    first = (await ada("POST", FLOWS, IN, headers=key)).body
    assert (first["status"], first["valueUsd"], first["approvedBy"]) == ("done", "60.00", None), first
    assert (await ada("POST", FLOWS, IN, headers=key)).body["id"] == first["id"]
    await until_total(ada, "house:insurance", "60")
    out = IN | {"amount": "-25", "category": "costs", "reference": "SEPA-2"}
    assert (await ada("POST", FLOWS, out)).body["status"] == "done"
    await until_total(ada, "house:insurance", "35")
    # What the account has not got stays, and its reference is free again.
    poor = (await ada("POST", FLOWS, out | {"amount": "-36", "reference": "SEPA-3"})).body
    assert poor["status"] == "waiting", poor
    assert (await approve(bob, poor["id"])).status == 200
    refused = (await ada("GET", f"{FLOWS}/{poor['id']}")).body
    assert (refused["status"], refused["resultCode"]) == ("refused", "RISK_NSF")
    again = (await bob("POST", FLOWS, out | {"amount": "-30", "reference": "SEPA-3"})).body
    assert again["status"] == "done", again
    await until_total(ada, "house:insurance", "5")
    await until_total_outside(pool, "-5")
    await assert_books_agree(platform)
    listed = (await ada("GET", f"{FLOWS}?category=capital")).body
    assert [(row["amount"], row["reference"]) for row in listed] == [("60", "SEPA-1")]
    assert (await ada("GET", f"{FLOWS}?to=2020-01-01T00:00:00Z")).body == []
    file = (await ada("GET", f"{FLOWS}/export?reason=books")).body
    assert [line.split(",")[3] for line in file.splitlines()] == ["amount", "-30", "-36", "-25", "60"]
    trail = await pool.fetch("SELECT action, subject_kind, subject_id FROM operator_actions ORDER BY entry_number")
    actions = [row["action"] for row in trail if row["action"].startswith("house_flow")]
    assert actions == [
        "house_flow.recorded", "house_flow.recorded", "house_flow.requested", "house_flow.approved",
        "house_flow.recorded", "house_flows.exported",
    ]  # fmt: skip
    assert {(row["subject_kind"], row["subject_id"]) for row in trail if row["action"].startswith("house_flow.")} == {
        ("account", "house:insurance")
    }


async def until_total_outside(pool: asyncpg.Pool, total: str) -> None:
    """Wait until the ledger's account of the outside world has this much."""

    async def has() -> bool:
        found = await pool.fetchval(
            "SELECT trim_scale(available + locked)::text FROM ledger_accounts WHERE user_id = 'house:external'"
        )
        return bool(found == total)

    await eventually(has)


async def test_a_reference_counts_once_whoever_has_it(
    platform: Settings, ada: RestClient, bob: RestClient, pool: asyncpg.Pool
) -> None:
    replies = await asyncio.gather(*(each("POST", FLOWS, IN | {"amount": "1"}) for each in (ada, bob, ada, bob)))
    assert sorted(reply.status for reply in replies) == [201, 409, 409, 409]
    first = next(reply.body["id"] for reply in replies if reply.status == 201)
    for reply in replies:
        if reply.status == 409:
            assert reply.code == "REFERENCE_COUNTS_ALREADY" and first in str(reply.body), reply.body
    # Neither in other letters, nor as what goes out.
    for other in ({"reference": "sepa-1"}, {"amount": "-1"}):
        assert (await ada("POST", FLOWS, IN | other)).code == "REFERENCE_COUNTS_ALREADY"
    # A request that waits has its reference, one that was rejected has not.
    waiting = (await ada("POST", FLOWS, IN | {"amount": "500", "reference": "SEPA-2"})).body
    assert waiting["status"] == "waiting"
    second = await bob("POST", FLOWS, IN | {"amount": "1", "reference": "Sepa-2"})
    assert second.code == "REFERENCE_COUNTS_ALREADY" and waiting["id"] in str(second.body)
    assert (await ada("POST", f"/operator/requests/{waiting['id']}/rejection", WHY)).status == 200
    assert (await bob("POST", FLOWS, IN | {"amount": "1", "reference": "Sepa-2"})).body["status"] == "done"
    # Nor what the command has brought in under it.
    await deposit(platform, "house:rewards", "USD", "5", "bank-7")
    for same in ("bank-7", "BANK-7"):
        known = await ada("POST", FLOWS, IN | {"amount": "1", "reference": same})
        assert known.code == "REFERENCE_COUNTS_ALREADY" and "5 USD of house:rewards" in str(known.body), known.body
    # Nor what custody has seen and credits later.
    await pool.execute("INSERT INTO custody_deposits VALUES ('0xab', 'eve', 'USD', 'wire', 'a1', 7, 1, 3, now(), NULL)")
    for same in ("0xab", "0XAB"):
        known = await ada("POST", FLOWS, IN | {"amount": "1", "reference": same})
        assert known.code == "REFERENCE_COUNTS_ALREADY" and "7 USD of eve" in str(known.body), known.body
    assert await pool.fetchval("SELECT count(*) FROM house_flows") == 2, "the first, and the one after the rejection"


async def test_what_is_recorded_for_the_house_is_not_deposited_for_anybody(
    platform: Settings, ada: RestClient, pool: asyncpg.Pool
) -> None:
    recorded = (await ada("POST", FLOWS, IN)).body["id"]
    waiting = (await ada("POST", FLOWS, IN | {"amount": "500", "reference": "SEPA-2"})).body["id"]
    for reference, text in (
        ("sepa-1", f"sepa-1 counts already, as money of the house: flow {recorded} of house:insurance"),
        ("SEPA-2", f"SEPA-2 counts already, as money of the house: request {waiting} of house:insurance"),
    ):
        with pytest.raises(DepositError) as refused:
            await deposit(platform, "eve", "USD", "60", reference)
        assert str(refused.value) == text
    # A repeated deposit is none, and what was given up frees its reference.
    assert (await ada("POST", f"/operator/requests/{waiting}/rejection", WHY)).status == 200
    for _ in range(2):
        await deposit(platform, "eve", "USD", "7", "SEPA-2")
    assert await pool.fetchval("SELECT count(*) FROM ledger_entries WHERE user_id = 'eve'") == 1


async def test_a_flow_that_is_recorded_during_a_deposit_waits_for_it(
    platform: Settings, ada: RestClient, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = deposit_command._require_no_flow
    recording: list[asyncio.Task[Reply]] = []

    async def is_decided() -> bool:
        return recording[0].done() or bool(await pool.fetchval(IS_WAITING))

    async def check_and_record(connection: Connection, tx_hash: str) -> None:
        await check(connection, tx_hash)
        body = IN | {"amount": "1", "reference": tx_hash.upper()}
        recording.append(asyncio.create_task(ada("POST", FLOWS, body)))
        await eventually(is_decided)

    monkeypatch.setattr(deposit_command, "_require_no_flow", check_and_record)
    await deposit(platform, "eve", "USD", "1", "bank-8")
    assert (await recording[0]).code == "REFERENCE_COUNTS_ALREADY"


async def test_beyond_the_bound_another_person_approves_whatever_it_was_spent_on(
    platform: Settings, ada: RestClient, bob: RestClient, pool: asyncpg.Pool
) -> None:
    user = RestClient(platform)
    eve = await register(user, "eve@example.org")
    await user.close()
    async with treasurer(platform, pool, CAS) as cas:
        await link_owners(pool, ADA, CAS)
        assert (await ada("POST", FLOWS, IN)).body["status"] == "done"
        # 60 of 100 are used, by adjustments and by the other account alike.
        gift = {"asset": "USD", "amount": "50", "category": "goodwill"} | WHY
        assert (await cas("POST", f"/operator/users/{eve}/adjustments", gift)).body["status"] == "waiting"
        asked = (await cas("POST", FLOWS, IN | {"amount": "41", "reference": "SEPA-2"})).body
        assert asked["status"] == "waiting"
        await assert_another_approves_once(ada, bob, asked["id"])
        await until_total(ada, "house:insurance", "101")


async def test_bad_flows_are_refused_by_field(ada: RestClient) -> None:
    bad = (
        ({"account": "house:external"}, "account: house:external is the outside world"),
        ({"account": "house:staking"}, "account: house:staking holds what users have staked"),
        ({"account": "house:fees"}, "account: house:fees takes and gives nothing outside"),
        ({"account": "house:unknown"}, "account must be one of house:fees"),
        ({"account": "someuser"}, "account"),
        ({"asset": "NOPE"}, "asset must be one of"),
        ({"amount": "0"}, "amount"),
        ({"amount": "-0.001"}, "amount"),
        ({"category": "gift"}, "category"),
        ({"reference": ""}, "reference"),
        ({"reference": "two words"}, "reference"),
        ({"reference": "x" * 129}, "reference"),
        ({"reason": " "}, "reason"),
    )
    await assert_refused_by_field(ada, FLOWS, IN, bad)
    assert (await ada("GET", f"{FLOWS}/nothing")).code == "HOUSE_FLOW_NOT_FOUND"


async def test_only_the_treasury_records_flows(platform: Settings, pool: asyncpg.Pool) -> None:
    client = RestClient(platform)
    try:
        await make_operator(client, pool, "sue@example.org", OperatorRole.SUPPORT)
        assert (await client("POST", FLOWS, IN)).status == 403
        assert (await client("GET", f"{FLOWS}/export?reason=books")).status == 403
    finally:
        await client.close()


class Unreachable(EngineCommands):
    """An engine that nobody reaches."""

    async def deposit(self, user_id: str, asset: str, amount: str, reference: str) -> str:
        raise EngineUnreachableError("the matching engine is not reachable")


async def test_what_is_on_its_way_is_not_taken_for_unsent(settings: Settings, bus: Bus) -> None:
    # The runner gives up what was certainly not sent. Then the row would say refused, and the event bring the money in.
    commands = Unreachable(as_part(settings, EngineConnectionSettings))
    money = OutsideMoney(EngineTransfers(commands), commands, bus, system_clock)
    moved = [Movement("house:external", "house:fees", "USD", Decimal(5))]
    try:
        with pytest.raises(EngineAmbiguousError):
            await money.transfer("house-flow:f1", moved, TransferKind.TREASURY)
    finally:
        await commands.close()
