"""A page of a user's history reads about as many rows as it shows, however many the user and all others have."""

import asyncpg

from tests.support.histories import LIMIT, RecordingPool, fill, pages, plan_of

ROWS = 20_000
READ_MAX = 4 * (LIMIT + 1)
"""A page of trades merges four lists."""


async def test_no_page_of_a_history_reads_more_than_it_shows(pool: asyncpg.Pool) -> None:
    await fill(pool, ROWS)
    recording = RecordingPool(pool)
    async with pool.acquire() as connection:
        for name, page in pages(recording, ROWS).items():
            recording.issued.clear()
            assert await page(), f"{name}: the page is empty"
            for query, arguments in recording.issued:
                # PostgreSQL plans a prepared statement for its arguments, and after a few calls for any arguments.
                for mode in ("force_custom_plan", "force_generic_plan"):
                    nodes = await plan_of(connection, query, arguments, mode)
                    # A user has few accounts at any time, and here the table has one row.
                    scanned = [node for node in nodes if node.kind == "Seq Scan" and node.table != "ledger_accounts"]
                    assert not scanned, f"{name} reads a whole table: {nodes}"
                    assert max(node.rows for node in nodes) <= READ_MAX, f"{name}: {nodes}"
