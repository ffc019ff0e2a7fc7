"""Writes what a release leaves: journal, snapshot and database of a platform that was stopped in order.

With OPENSPOT_MAKE_RELEASE=<commit> the test writes `releases/<commit>`, and prints the release's line of `STATES`.
"""

import asyncio
import gzip
import os
import subprocess
from typing import Any

import asyncpg
import pytest

from openspot.engine.engine import journal_path
from openspot.kit.bus import Bus
from tests.integration.backup.business import ROWS, business, run_by_people
from tests.integration.upgrade_check.conftest import RELEASES, program
from tests.support.backups import state_at
from tests.support.filled_tables import insert

COMMIT = "OPENSPOT_MAKE_RELEASE"
STAKER = "SELECT user_id FROM staking_balances"
BESIDE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("kyc_profiles", {}), ("kyc_documents", {}), ("kyc_events", {}), ("custody_addresses", {}),
    ("custody_audit", {}), ("custody_audit_origins", {}), ("custody_chain_transactions", {}),
    ("custody_withdrawals", {"status": "rejected", "funds": "released"}), ("custody_approvals", {}),
    ("custody_signatures", {}), ("custody_deposits", {"confirmed_at": None}), ("withdrawal_addresses", {}),
    ("withdrawal_assignments", {}), ("api_keys", {}), ("owner_links", {}), ("user_limits", {}),
    ("operator_views", {}), ("operator_prices", {}), ("house_levels", {}), ("transfer_pauses", {}),
    ("watchlists", {}), ("deleted_users", {}),
)  # fmt: skip
"""Tables of what `business` does not do, each with a row that moves no money, and what must be said of it."""


@pytest.mark.skipif(COMMIT not in os.environ, reason="writes files of the repository")
async def test_this_release_adds_its_data(settings: Any, bus: Bus, pool: asyncpg.Pool) -> None:
    settings = run_by_people(settings)
    async with business(settings, bus, pool) as market:
        await market.trade(50)
        user = {"user_id": await pool.fetchval(STAKER)}
        for table, fields in BESIDE:
            await insert(pool, table, user | {"first_user_id": user["user_id"]}, **fields)
        assert await market.differences() == []
        assert {name: await pool.fetchval(query) for name, (query, _) in ROWS.items()} == {
            name: value for name, (_, value) in ROWS.items()
        }
    folder, journal = RELEASES / os.environ[COMMIT], journal_path(settings)
    (snapshot,) = journal.with_name("snapshots").iterdir()
    command = [program("pg_dump"), "--no-owner", "--no-privileges", settings.database_url]
    done = await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)
    folder.mkdir()
    for name, content in (
        (journal.name, journal.read_bytes()), (snapshot.name, snapshot.read_bytes()), ("openspot.sql", done.stdout),
    ):  # fmt: skip
        (folder / f"{name}.gz").write_bytes(gzip.compress(content, 9, mtime=0))
    last = int(snapshot.stem)
    print((last, *state_at(settings, last)))
