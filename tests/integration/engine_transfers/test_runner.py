"""Transfers that a timer sends: which attempts are made, by whom, and what a service's table keeps of them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import asyncpg
import pytest

from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_transfers.metrics import TransferMetrics
from openspot.engine_transfers.model import Transfer, TransferResult
from openspot.engine_transfers.runner import AT_A_TIME, ATTEMPTS_MAX, TransferRunner
from openspot.engine_transfers.store import TransferStore
from openspot.kit.database import Connection
from tests.support.fake_transfers import FakeTransfers
from tests.support.waiting import stretched

BEGINNING = datetime(2026, 3, 1, tzinfo=UTC)
METRICS = TransferMetrics("test", "a test")


class Platform:
    """An engine, a database with the tables of two services, and the time."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self.pool = pool
        self.engine = FakeTransfers()
        self.engine.fund("ada", "USD", "1000")
        self.now = BEGINNING
        self.settled: list[tuple[str, bool]] = []
        self.has_settled = asyncio.Event()
        self.unsettled: set[str] = set()
        """References whose outcome the service fails to write."""
        self.is_owed = False

    async def before(self, transfer: Transfer) -> None:
        """Nothing."""

    async def settle(self, connection: Connection, transfer: Transfer, result: TransferResult, now: datetime) -> None:
        if transfer.reference in self.unsettled:
            raise AssertionError("a fault of the service")
        self.settled.append((transfer.reference, result.succeeded))
        self.has_settled.set()

    def process(self, table: str = "club_transfers") -> TransferRunner:
        """One process of the service that has this table."""
        store = TransferStore(self.pool, table=table)
        rules = {TransferKind.PAYMENT: self}
        return TransferRunner(store, self.engine, rules, METRICS, lambda: self.now)

    async def begin(self, runner: TransferRunner, *references: str, amount: str = "1") -> list[Transfer]:
        """Write transfers whose first attempt a killed process never makes."""
        begun = []
        for reference in references:
            movement = Movement("ada", "bob", "USD", Decimal(amount))
            begun.append(Transfer(reference, TransferKind.PAYMENT, "", (movement,)))
            async with self.pool.acquire() as connection, connection.transaction():
                await runner.begin(connection, begun[-1])
        return begun

    async def kept(self, table: str = "club_transfers") -> list[tuple[str, str, str | None, int]]:
        rows = await self.pool.fetch(f"SELECT reference, status, result_code, attempts FROM {table} ORDER BY reference")
        return [tuple(row.values()) for row in rows]


@pytest.fixture
async def platform(pool: asyncpg.Pool) -> AsyncIterator[Platform]:
    """Two services have tables in one database: `edge_transfers`, and `club_transfers`."""
    await pool.execute("CREATE TABLE club_transfers (LIKE edge_transfers INCLUDING ALL)")
    yield Platform(pool)
    await pool.execute("DROP TABLE club_transfers")


async def test_each_service_sends_the_transfers_of_its_own_table(platform: Platform) -> None:
    club, edge = platform.process(), platform.process("edge_transfers")
    await platform.begin(club, "club:1")
    await platform.begin(edge, "edge:1", "edge:2")
    assert (await club.resume(), await edge.resume()) == (0, 0)
    platform.now += timedelta(seconds=31)
    assert await club.resume() == 1
    assert platform.engine.calls == ["club:1"]
    assert await platform.kept() == [("club:1", "done", "SUCCESS", 2)]
    assert await platform.kept("edge_transfers") == [("edge:1", "pending", None, 1), ("edge:2", "pending", None, 1)]
    assert await edge.resume() == 2
    assert sorted(platform.settled) == [("club:1", True), ("edge:1", True), ("edge:2", True)]


async def test_a_transfer_is_never_attempted_by_two_processes_at_once_however_long_those_before_it_took(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, under_way, overlaps = platform.process(), list[str](), list[str]()
    send = platform.engine.transfer

    async def counted(reference: str, movements: Sequence[Movement], kind: TransferKind) -> TransferResult:
        if reference in under_way:
            overlaps.append(reference)
        under_way.append(reference)
        if len(under_way) == 1:
            await slow()
        result = await send(reference, movements, kind)
        under_way.remove(reference)
        return result

    async def slow() -> None:
        """The first call takes nearly as long as a lease; the other process looks for work meanwhile."""
        platform.now += timedelta(seconds=29)
        await other.resume()

    monkeypatch.setattr(platform.engine, "transfer", counted)
    first = platform.process()
    await platform.begin(first, *(f"club:{number}" for number in range(5)))
    platform.now += timedelta(seconds=31)
    await first.resume()
    assert overlaps == []
    assert sorted(platform.engine.calls) == [f"club:{number}" for number in range(5)]
    # The other process took all but the one that was under way: nothing was leased before its attempt.
    assert [attempts for *_, attempts in await platform.kept()] == [2] * 5


async def test_a_transfer_that_a_service_cannot_settle_holds_no_other_back(platform: Platform) -> None:
    club = platform.process()
    await platform.begin(club, "club:1", "club:2", "club:3")
    platform.unsettled = {"club:1"}
    platform.now += timedelta(seconds=31)
    assert await club.resume() == 3
    assert platform.settled == [("club:2", True), ("club:3", True)]
    # Its outcome is asked again, and what the engine has moved is not moved twice.
    platform.unsettled = set()
    platform.now += timedelta(seconds=31)
    assert await club.resume() == 1
    assert platform.settled[-1] == ("club:1", True)
    assert platform.engine.held("bob", "USD") == "3"


async def test_a_refusal_is_final_unless_the_transfer_is_owed(platform: Platform) -> None:
    club = platform.process()
    refused, owed = await platform.begin(club, "club:1", "club:2", amount="2000")
    assert (await club.attempt(refused)).result == TransferResult(False, "RISK_NSF")
    platform.is_owed = True
    assert (await club.attempt(owed)).result is None
    assert await platform.kept() == [("club:1", "refused", "RISK_NSF", 1), ("club:2", "pending", "RISK_NSF", 1)]
    platform.engine.fund("ada", "USD", "3000")
    platform.now += timedelta(seconds=2)
    assert await club.resume() == 1
    assert platform.settled == [("club:1", False), ("club:2", True)]
    assert platform.engine.held("bob", "USD") == "2000"


async def test_only_the_first_attempt_can_say_that_nothing_was_sent(platform: Platform) -> None:
    club = platform.process()
    unsent, lost = await platform.begin(club, "club:1", "club:2")
    platform.engine.faults = ["unsent", "lost", "unsent"]
    assert (await club.attempt(unsent)).result == TransferResult(False, "ENGINE_UNREACHABLE")
    assert (await club.attempt(lost)).result is None
    platform.now += timedelta(seconds=2)
    assert await club.resume() == 1
    assert await platform.kept() == [("club:1", "refused", "ENGINE_UNREACHABLE", 1), ("club:2", "pending", None, 2)]
    platform.now += timedelta(seconds=3)
    assert await club.resume() == 1
    assert platform.engine.held("bob", "USD") == "1"


async def test_a_refusal_that_a_later_attempt_has_overtaken_does_not_count(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    club, other = platform.process(), platform.process()
    (transfer,) = await platform.begin(club, "club:1", amount="2000")

    send = platform.engine.transfer

    async def overtaken(reference: str, movements: Sequence[Movement], kind: TransferKind) -> TransferResult:
        """The call takes longer than a lease; another process makes the next attempt meanwhile."""
        monkeypatch.setattr(platform.engine, "transfer", send)
        platform.now += timedelta(seconds=31)
        platform.engine.faults = ["late"]
        assert await other.resume() == 1
        return await send(reference, movements, kind)

    monkeypatch.setattr(platform.engine, "transfer", overtaken)
    assert (await club.attempt(transfer)).result is None
    assert await platform.kept() == [("club:1", "pending", None, 2)]


async def test_the_timer_begins_again_with_what_has_used_up_its_attempts(platform: Platform) -> None:
    club = platform.process()
    await platform.begin(club, "club:1")
    await platform.pool.execute("UPDATE club_transfers SET attempts = $1", ATTEMPTS_MAX)
    platform.now += timedelta(days=1)
    assert await club.resume() == 0
    running = asyncio.create_task(club.run())
    await asyncio.wait_for(platform.has_settled.wait(), stretched(60))
    running.cancel()
    await asyncio.wait([running])
    assert platform.settled == [("club:1", True)]
    assert platform.engine.calls == ["club:1"]


async def test_a_round_makes_a_bounded_number_of_attempts(platform: Platform) -> None:
    club = platform.process()
    platform.engine.faults = ["late"] * AT_A_TIME
    await platform.begin(club, *(f"club:{number}" for number in range(AT_A_TIME + 2)))
    platform.now += timedelta(seconds=31)
    assert await club.resume() == AT_A_TIME
    assert METRICS.pending._value.get() == AT_A_TIME + 2
    assert await club.resume() == 2
