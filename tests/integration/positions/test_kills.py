"""The service as a process that is killed: while it follows real fills, and in the middle of an import."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.kit.tasks import end_tasks
from openspot.positions.app import PREFIX
from openspot.replay.run import ReplayOptions, replay
from tests.support.in_process_platform import running
from tests.support.positions import PositionClient, PositionProcess, position_process
from tests.support.waiting import eventually, stretched

EVENTS = 200
LINES = int(os.environ.get("OPENSPOT_IMPORT_LINES", "40000"))
"""Lines of the file of the killed import. Its memory must not depend on them."""
SMALL = 2_000
STORED_BEFORE_KILL = 5_000
GROWTH_BYTES_MAX = 32 * 1024 * 1024
SETTLED_S_MAX = 120.0
IMPORT_S_MAX = 300.0

Count = Callable[[], Awaitable[int]]


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection to the database of this test, which is not the folder's."""
    opened = await asyncpg.connect(database_url)
    yield opened
    await opened.close()


@pytest.mark.proof
@pytest.mark.timeout(stretched(600))
async def test_followed_fills_equal_the_ledger_after_kills(
    settings: Settings, bus: Bus, connection: asyncpg.Connection
) -> None:
    async def followed() -> int:
        return int(await connection.fetchval("SELECT coalesce(sum(trade_count), 0) FROM position_checkpoints"))

    async def settled() -> bool:
        counts = await connection.fetchrow(
            """
            SELECT (SELECT count(*) FROM trades) AS trades, (SELECT count(*) FROM position_trades) AS sides,
                (SELECT count(*) FROM fifo_pending_fills) AS pending,
                (SELECT count(DISTINCT reference_id) FROM ledger_entries WHERE reference_type = 'trade') AS posted
            """
        )
        trades = counts["trades"]
        return trades > 20 and counts["sides"] == 2 * trades == 2 * counts["posted"] and not counts["pending"]

    async with (
        running(settings, "engine", "ledger", "router", "rest-edge"),
        position_process(settings, follow_fills=True) as process,
    ):
        flow = asyncio.create_task(replay(ReplayOptions(settings, users=3, events_max=EVENTS, catch_up_s=120)))
        try:
            for _ in range(2):
                before = await followed()
                await eventually(lambda before=before: _grown(followed, before, flow), SETTLED_S_MAX)
                process.kill()
                await process.start()
            assert (await flow).agrees
        finally:
            await end_tasks(flow)
        await eventually(settled, SETTLED_S_MAX)
        assert await followed() == await connection.fetchval("SELECT count(*) FROM trades")
        await equal_to_the_ledger(connection)
        await fifo_follows_too(process, connection)


async def _grown(followed: Count, before: int, flow: asyncio.Task[Any]) -> bool:
    return flow.done() or await followed() > before


async def equal_to_the_ledger(connection: asyncpg.Connection) -> None:
    """Every position and balance is what the ledger has posted for trades."""
    posted = await connection.fetch(
        """
        SELECT user_id, asset, sum(amount) AS amount FROM ledger_entries
        WHERE reference_type = 'trade' AND user_id NOT LIKE 'house:%' GROUP BY user_id, asset ORDER BY 1, 2
        """
    )
    balances = await connection.fetch(
        "SELECT participant_id, asset, available + locked FROM position_balances ORDER BY 1, 2"
    )
    assert len(posted) >= 4
    assert [tuple(row) for row in balances] == [tuple(row) for row in posted]
    held = await connection.fetch("SELECT participant_id, quantity FROM positions WHERE symbol = 'BTC-USD' ORDER BY 1")
    assert [tuple(row) for row in held] == [
        (row["user_id"], row["amount"]) for row in posted if row["asset"] == "BTC"
    ]  # fmt: skip


async def fifo_follows_too(process: PositionProcess, connection: asyncpg.Connection) -> None:
    """Every fill is a FIFO transaction of its owner, and the service says so; it takes no order to close."""
    client = PositionClient(process.settings)
    try:
        rows = await connection.fetch("SELECT participant_id, trade_count FROM positions WHERE symbol = 'BTC-USD'")
        for row in rows:
            found = await client.get(row["participant_id"], f"/fifo/{row['participant_id']}")
            assert (found["transactions"], found["unvaluedFills"]) == (row["trade_count"], 0)
        user = rows[0]["participant_id"]
        closed = await client.ask(user, "POST", f"/positions/{user}/BTC-USD/close")
        assert (closed.status, closed.code) == (409, "POSITIONS_FOLLOW_FILLS")
    finally:
        await client.close()


def history(lines: int) -> bytes:
    """A CSV file whose disposals leave few lots open."""
    rows = ["externalId,timestamp,type,asset,quantity,value\n"]
    for number in range(lines):
        kind, quantity = ("acquisition", "3") if number % 4 == 0 else ("disposal", "1")
        rows.append(f"row-{number:09},{1_600_000_000_000 + number * 1000},{kind},BTC,{quantity},100\n")
    return "".join(rows).encode()


@pytest.mark.proof
@pytest.mark.timeout(stretched(600))
async def test_a_killed_import_goes_on_when_it_is_sent_again_in_bounded_memory(
    settings: Settings, bus: Bus, connection: asyncpg.Connection
) -> None:
    async def stored() -> int:
        return int(await connection.fetchval("SELECT count(*) FROM fifo_transactions WHERE user_id = 'alice'"))

    content = history(LINES)
    patient = aiohttp.ClientTimeout(IMPORT_S_MAX)
    async with position_process(settings) as process, aiohttp.ClientSession(timeout=patient) as session:
        client = PositionClient(process.settings)

        async def send(user: str, file: bytes) -> dict[str, object]:
            headers = {"Content-Type": "text/csv", "Authorization": f"Bearer {client.as_user(user)}"}
            url = f"{process.settings.positions_url}{PREFIX}/fifo/transactions/import"
            async with session.post(
                url, data=file, headers=headers, timeout=aiohttp.ClientTimeout(IMPORT_S_MAX)
            ) as response:
                assert response.status == 200, await response.text()
                return dict(await response.json())

        first = asyncio.create_task(send("alice", content))
        await eventually(lambda: _above(stored, STORED_BEFORE_KILL), SETTLED_S_MAX)
        process.kill()
        with pytest.raises(aiohttp.ClientError):
            await first
        kept = await stored()
        assert STORED_BEFORE_KILL < kept < LINES
        assert kept % 1_000 == 0
        await process.start()
        assert (await send("bob", history(SMALL)))["accepted"] == SMALL
        before = process.peak_bytes()
        report = await send("alice", content)
        grown = process.peak_bytes() - before
        assert (report["accepted"], report["repeated"], report["refusedCount"]) == (LINES - kept, kept, 0)
        assert report["uncovered"] == []
        print(f"{LINES} lines, {kept} of them before the kill; peak {before >> 20} MiB, then {grown >> 20} MiB more")
        assert grown < GROWTH_BYTES_MAX
        found = await client.get("alice", "/fifo/alice")
        assert (found["transactions"], found["shortfallCount"], found["holdings"]) == (LINES, 0, [])
        assert sum(int(row["disposals"]) for row in found["gains"]) == LINES * 3 // 4
        await client.close()


async def _above(count: Count, least: int) -> bool:
    return await count() > least
