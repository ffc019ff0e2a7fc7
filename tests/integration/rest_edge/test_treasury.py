"""The treasury through edge, engine, router and ledger: the house's money moves once, and every book agrees."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
from prometheus_client import REGISTRY

from openspot.deposit.deposit import deposit
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.rest_edge.operators import people
from openspot.rest_edge.operators.spans import Span
from openspot.rest_edge.operators.treasury import store
from tests.support.edge_operators import link_owners
from tests.support.histories import LIMIT, RecordingPool, plan_of
from tests.support.house_money import (
    approve,
    assert_another_approves_once,
    assert_books_agree,
    assert_refused_by_field,
    treasurer,
    until_total,
)
from tests.support.in_process_platform import running
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually

ADA, CAS = "ada@example.org", "cas@example.org"
WHY = {"reason": "the insurance is below its level"}
TO_INSURANCE = {"from": "house:payments", "to": "house:insurance", "asset": "USD", "amount": "30"} | WHY
MOVE = "/operator/treasury/transfers"


@pytest.fixture
async def settings(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setattr(people, "LOOK_INTERVAL_S", 0.05)
    return settings.model_copy(update={"treasury_alone_limit": 100})


@pytest.fixture
async def platform(settings: Settings, bus: Bus) -> AsyncIterator[Settings]:
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


@pytest.fixture
async def cas(ada: RestClient, platform: Settings, pool: asyncpg.Pool) -> AsyncIterator[RestClient]:
    """Another account of ada's."""
    async with treasurer(platform, pool, CAS) as client:
        await link_owners(pool, ADA, CAS)
        yield client


async def test_the_houses_money_moves_once_and_every_book_agrees(
    platform: Settings, ada: RestClient, bob: RestClient, cas: RestClient, pool: asyncpg.Pool
) -> None:
    await deposit(platform, "house:payments", "USD", "500", "funding-1")
    await until_total(ada, "house:payments", "500")
    await _alone(ada)
    await _together(ada, bob, cas)
    await assert_books_agree(platform)
    assert await pool.fetchval("SELECT count(*) FROM edge_transfers WHERE kind = 'treasury' AND status = 'done'") == 5
    made = "SELECT count(*) FROM operator_actions WHERE action IN ('house_transfer.made', 'house_transfer.approved')"
    assert await pool.fetchval(made) == 7


async def _alone(ada: RestClient) -> None:
    key = {"Idempotency-Key": "move-1"}
    first = await ada("POST", MOVE, TO_INSURANCE, headers=key)
    assert (first.status, first.body["status"], first.body["valueUsd"]) == (201, "done", "30.00"), first.body
    assert (await ada("POST", MOVE, TO_INSURANCE, headers=key)).body["id"] == first.body["id"]
    await until_total(ada, "house:insurance", "30")
    await until_total(ada, "house:payments", "470")
    # What the source has not got stays where it is.
    poor = await ada("POST", MOVE, TO_INSURANCE | {"from": "house:interest", "amount": "1"})
    assert (poor.body["status"], poor.body["resultCode"]) == ("refused", "RISK_NSF")
    bad = (
        ({"to": "house:payments"}, "to must be another account than from"),
        ({"from": "house:external"}, "from: house:external is the outside world"),
        ({"to": "house:staking"}, "to: house:staking holds what users have staked"),
        ({"to": "house:unknown"}, "to must be one of house:fees"),
        ({"to": "someuser"}, "to"),
        ({"asset": "NOPE"}, "asset must be one of"),
        ({"amount": "0"}, "amount"),
        ({"amount": "0.001"}, "amount"),
        ({"reason": " "}, "reason"),
    )
    await assert_refused_by_field(ada, MOVE, TO_INSURANCE, bad)


async def _together(ada: RestClient, bob: RestClient, cas: RestClient) -> None:
    # 30 of 100 are used; many small ones at once are no way around the bound, nor is an account with the same owner.
    small = TO_INSURANCE | {"amount": "30"}
    replies = await asyncio.gather(*(each("POST", MOVE, small) for each in (ada, cas, cas, ada)))
    assert sorted(reply.body["status"] for reply in replies) == ["done", "done", "waiting", "waiting"]
    asked = (await ada("POST", MOVE, TO_INSURANCE | {"amount": "200"})).body
    assert asked["status"] == "waiting"
    await assert_another_approves_once(ada, bob, asked["id"])
    made = (await bob("GET", f"{MOVE}/{asked['id']}")).body
    assert (made["status"], made["from"], made["amount"]) == ("done", "house:payments", "200")
    # What an approval cannot pay is refused by the engine, and says so.
    much = (await bob("POST", MOVE, TO_INSURANCE | {"amount": "9000"})).body
    assert (await approve(ada, much["id"])).status == 200
    assert (await bob("GET", f"{MOVE}/{much['id']}")).body["resultCode"] == "RISK_NSF"
    # And back: sweeping is the same way.
    swept = await bob("POST", MOVE, TO_INSURANCE | {"from": "house:insurance", "to": "house:payments"})
    assert swept.body["status"] == "done"
    await until_total(ada, "house:payments", "240")
    await until_total(ada, "house:insurance", "260")
    listed = (await ada("GET", f"{MOVE}?account=house:interest")).body
    assert [row["status"] for row in listed] == ["refused"]
    entries = (await ada("GET", "/operator/treasury/accounts/house:insurance/entries?limit=2")).body
    assert [(row["kind"], row["amount"], row["balance"]) for row in entries] == [
        ("treasury", "-30", "260"), ("treasury", "200", "290"),
    ]  # fmt: skip
    for path in ("house:nobody/entries", "house:nobody/entries/export?reason=yearly%20audit"):
        assert (await ada("GET", f"/operator/treasury/accounts/{path}")).code == "HOUSE_ACCOUNT_NOT_FOUND"
    assert (await ada("GET", f"{MOVE}/nothing")).code == "HOUSE_TRANSFER_NOT_FOUND"


async def test_a_level_marks_the_account_that_is_below_it(
    platform: Settings, ada: RestClient, pool: asyncpg.Pool
) -> None:
    level = {"account": "house:insurance", "asset": "USD", "level": "50"} | WHY
    assert (await ada("PUT", "/operator/treasury/levels", level)).body["level"] == "50"

    async def row() -> dict[str, object]:
        accounts = (await ada("GET", "/operator/treasury/accounts")).body
        found = next(each for each in accounts if each["account"] == "house:insurance")
        return next((each for each in found["balances"] if each["asset"] == "USD"), {})

    assert ((await row())["isLow"], (await row())["level"]) == (True, "50")

    async def metric_is(value: float | None) -> bool:
        labels = {"account": "house:insurance", "asset": "USD"}
        return REGISTRY.get_sample_value("openspot_house_account_below_level", labels) == value

    await eventually(lambda: metric_is(1))
    await deposit(platform, "house:insurance", "USD", "50", "funding-2")

    async def is_filled() -> bool:
        found = await row()
        return (found["isLow"], found["engineAvailable"], found["difference"]) == (False, "50", "0")

    await eventually(is_filled)
    await eventually(lambda: metric_is(0))
    assert (await ada("PUT", "/operator/treasury/levels", level | {"level": None})).body["level"] is None
    assert (await row())["level"] is None
    await eventually(lambda: metric_is(None))
    for bad in ({"account": "house:external"}, {"account": "house:nobody"}, {"asset": "NOPE"}, {"level": "0"}):
        assert (await ada("PUT", "/operator/treasury/levels", level | bad)).status == 400, bad
    trail = await pool.fetch(
        "SELECT before, after FROM operator_actions WHERE action = 'house_level.set' ORDER BY entry_number"
    )
    assert [(entry["before"], entry["after"]) for entry in trail] == [
        ('{"asset":"USD","level":null}', '{"asset":"USD","level":"50"}'),
        ('{"asset":"USD","level":"50"}', '{"asset":"USD","level":null}'),
    ]


async def test_entries_of_one_transaction_are_listed_as_the_balance_changed(
    platform: Settings, ada: RestClient, pool: asyncpg.Pool
) -> None:
    # In the order of their random ids, the balances of the list would not add up.
    await pool.execute(
        "INSERT INTO ledger_entries (transaction_id, user_id, asset, amount, balance, entry_type, reference_type,"
        " reference_id)"
        " SELECT md5(n::text), 'house:insurance', 'USD', 10, 10 * n, 'treasury', 'transfer', 'moved-' || n"
        " FROM generate_series(1, 7) AS n ORDER BY n"
    )
    path: str | None = "/operator/treasury/accounts/house:insurance/entries?limit=3"
    balances: list[str] = []
    while path:
        page = await ada("GET", path)
        balances += [row["balance"] for row in page.body]
        cursor = page.headers.get("X-Next-Cursor")
        path = cursor and f"/operator/treasury/accounts/house:insurance/entries?limit=3&cursor={cursor}"
    assert balances == ["70", "60", "50", "40", "30", "20", "10"]


async def test_a_page_of_a_house_accounts_entries_reads_what_it_shows(pool: asyncpg.Pool) -> None:
    await pool.execute(
        "INSERT INTO ledger_entries (transaction_id, user_id, asset, amount, balance, entry_type, reference_type,"
        " reference_id) SELECT 'entry-' || n, 'house:insurance', 'USD', 1, n,"
        " CASE WHEN n % 100 = 0 THEN 'treasury' ELSE 'fee' END, CASE WHEN n % 100 = 0 THEN 'transfer' ELSE 'trade' END,"
        " 'reference-' || n FROM generate_series(1, 20000) AS n"
    )
    await pool.execute("ANALYZE ledger_entries")
    recording = RecordingPool(pool)
    assert len(await store.entries(recording, "house:insurance", Span(), LIMIT, 10_000)) == LIMIT
    async with pool.acquire() as connection:
        for mode in ("force_custom_plan", "force_generic_plan"):
            nodes = [
                node for query, values in recording.issued for node in await plan_of(connection, query, values, mode)
            ]
            assert {node.index for node in nodes if node.index} == {"ledger_entries_house"}, nodes
            assert max(node.rows for node in nodes) <= LIMIT, nodes
