"""An edge that is killed between the steps of a house flow: the next one ends it, and it counts once everywhere."""

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import aiohttp
import asyncpg
import pytest

from openspot.deposit.deposit import deposit
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.flow_kills import ANNOUNCED, ANSWERED, BEGUN, RESERVED
from tests.support.house_money import CHECKED, approve, assert_books_agree, treasurer, until_total
from tests.support.in_process_platform import running
from tests.support.killable_platform import EdgeProcess
from tests.support.parts import first_then_proof
from tests.support.rest_client import Reply, RestClient
from tests.support.waiting import eventually

FLOWS = "/operator/treasury/flows"
ACCOUNT = "house:insurance"
FUNDS, ALONE, BOUND = 1000, 60, 100


class Case(NamedTuple):
    """The step after which the edge dies, what moves, and whether a second person has approved it."""

    step: str
    amount: int

    @property
    def is_approved(self) -> bool:
        """Beyond the bound, or not."""
        return abs(self.amount) > BOUND


CASES = (
    Case(ANNOUNCED, ALONE),
    Case(BEGUN, ALONE),
    Case(ANSWERED, ALONE),
    Case(BEGUN, -ALONE),
    Case(RESERVED, -ALONE),
    Case(ANSWERED, -ALONE),
    Case(BEGUN, BOUND + ALONE),
    Case(ANNOUNCED, BOUND + ALONE),
    Case(RESERVED, -BOUND - ALONE),
    Case(ANSWERED, -BOUND - ALONE),
)


@pytest.fixture
async def platform(settings: Settings, bus: Bus) -> AsyncIterator[Settings]:
    """Everything but an edge, with funds in the account."""
    settings = settings.model_copy(update={"adjustment_alone_limit": BOUND})
    async with running(settings, "engine", "ledger", "router"):
        await deposit(settings, ACCOUNT, "USD", str(FUNDS), "funding-1")
        yield settings


@asynccontextmanager
async def edge_that_dies(settings: Settings, step: str) -> AsyncIterator[EdgeProcess]:
    """An edge in a process of its own that kills itself at that step."""
    edge = EdgeProcess(settings, f"from tests.support.flow_kills import die_when\ndie_when({step!r})")
    edge.start()
    client = RestClient(settings)
    try:
        await edge.ready(client)
        yield edge
    finally:
        await client.close()
        if edge.exit_code is None:
            edge.kill()


@pytest.mark.parametrize("case", first_then_proof(*CASES), ids=lambda case: f"{case.step}{case.amount:+}")
async def test_a_flow_counts_once_whenever_its_edge_is_killed(
    platform: Settings, pool: asyncpg.Pool, case: Case
) -> None:
    async with (
        edge_that_dies(platform, case.step) as edge,
        treasurer(platform, pool, "ada@example.org") as ada,
        treasurer(platform, pool, "bob@example.org") as bob,
    ):
        await until_total(ada, ACCOUNT, str(FUNDS))
        if case.is_approved:
            asked = (await record(ada, case)).body
            assert asked["status"] == "waiting"
        with pytest.raises(aiohttp.ClientError):
            await (approve(bob, asked["id"]) if case.is_approved else record(ada, case))
        assert await edge.ended() == -signal.SIGKILL, edge.log()
        (flow,) = await pool.fetch("SELECT flow_id, status FROM house_flows")
        assert flow["status"] == "pending", "it came further"
        # Time passes: what the dead edge held is free.
        await pool.execute("UPDATE edge_transfers SET next_attempt_at = now()")
        await pool.execute("UPDATE idempotency_keys SET claimed_until = now()")
        async with running(platform, "rest-edge"):
            await assert_counts_once(pool, ada, case, flow["flow_id"])
            if case.is_approved:
                assert (await approve(bob, flow["flow_id"])).code == "REQUEST_DECIDED"
            await assert_books_agree(platform)


async def record(client: RestClient, case: Case) -> Reply:
    """The same request, however often."""
    body = {
        "account": ACCOUNT, "asset": "USD", "amount": str(case.amount), "category": "capital", "reference": "SEPA-1",
    }  # fmt: skip
    return await client("POST", FLOWS, body | CHECKED, headers={"Idempotency-Key": "flow-1"})


async def assert_counts_once(pool: asyncpg.Pool, client: RestClient, case: Case, flow_id: str) -> None:
    """Whoever repeats the request gets the flow; rows, engine, ledger and trail have it once."""
    again = await record(client, case)
    assert again.status == 201, again.body
    assert again.body["id"] == flow_id

    async def is_done() -> bool:
        return bool((await client("GET", f"{FLOWS}/{flow_id}")).body["status"] == "done")

    await eventually(is_done)
    await until_total(client, ACCOUNT, str(FUNDS + case.amount))
    for reference in ("SEPA-1", "sepa-1"):
        other = {"account": ACCOUNT, "asset": "USD", "amount": "1", "category": "capital", "reference": reference}
        assert (await client("POST", FLOWS, other | CHECKED)).code == "REFERENCE_COUNTS_ALREADY"
    assert await pool.fetchval("SELECT count(*) FROM house_flows") == 1
    entries = await pool.fetch("SELECT user_id, amount::int FROM ledger_entries")
    moved = [(ACCOUNT, amount) for amount in (FUNDS, case.amount)]
    assert sorted(map(tuple, entries)) == sorted(moved + [("house:external", -amount) for _, amount in moved])
    trail = await pool.fetch("SELECT action FROM operator_actions WHERE action LIKE 'house_flow.%' ORDER BY at_ms")
    expected = ["house_flow.requested", "house_flow.approved"] if case.is_approved else ["house_flow.recorded"]
    assert [row["action"] for row in trail] == expected
