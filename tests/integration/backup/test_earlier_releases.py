"""A backup that an earlier release made is restored by this one.

`releases/<release>.tar` is a folder of backups, without a key. That of 0.1.0 is of `market` after `market.trade(3)`;
later ones are named by their commit and have what `business.py` does. A release whose format or tables are new adds
one: with OPENSPOT_MAKE_RELEASE_BACKUP=<commit> the first test here writes it.

`releases/<release>.json` has the commands, events and state hash of the engine that was backed up. Of 0.1.0 nobody
wrote them down; they are what 470be0a restored.
"""

import itertools
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from openspot.backup.verify import verify
from openspot.kit.bus import Bus
from openspot.migrations import upgrade
from openspot.reconcile.rebuild import rebuild
from tests.integration.backup.business import ROWS, business, run_by_people
from tests.support import engine_client
from tests.support.backups import BackupSite, state_at
from tests.support.bus_accounts import BusAccounts
from tests.support.mirrored_market import MIRRORS, WAIT_S, mirrored_market

RELEASES = Path(__file__).parent / "releases"
FIRST = "0.1.0"
"""Its backup has orders and trades alone."""
COMMIT = "OPENSPOT_MAKE_RELEASE_BACKUP"
NOTES = ("commands", "events", "state_hash")


@pytest.mark.skipif(COMMIT not in os.environ, reason="writes a file of the repository")
async def test_this_release_adds_its_backup(settings: Any, bus: Bus, pool: asyncpg.Pool, site: BackupSite) -> None:
    async with business(run_by_people(settings), bus, pool) as market:
        await market.trade(3)
        assert await market.differences() == []
        assert await rows_of(pool) == {name: value for name, (_, value) in ROWS.items()}
        backup = await site.back_up(market.settings)
        event, state_hash = state_at(market.settings, backup.journal.last)
    with tarfile.open(RELEASES / f"{os.environ[COMMIT]}.tar", "w") as file:
        file.add(site.folder, "backups")
    notes = dict(zip(NOTES, (backup.journal.last, event, state_hash), strict=True))
    (RELEASES / f"{os.environ[COMMIT]}.json").write_text(json.dumps(notes, indent=2) + "\n")


async def rows_of(pool: asyncpg.Pool) -> dict[str, Any]:
    """A row of each kind, as it is in the database."""
    return {name: await pool.fetchval(query) for name, (query, _) in ROWS.items()}


@pytest.mark.parametrize("archive", sorted(RELEASES.glob("*.tar")), ids=lambda path: path.stem)
async def test_a_backup_of_an_earlier_release_is_restored_and_trades_on(
    archive: Path, site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tarfile.open(archive) as file:
        # Debian 12's Python 3.11 has no filters.
        file.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (name,) = site.place.names()
    assert verify(site.place, name).problems == []
    restored, settings = await site.restore(tmp_path / "restored", bus_accounts.next_url())
    notes = json.loads(archive.with_suffix(".json").read_text())
    assert dict(zip(NOTES, (restored.command, restored.event, restored.state_hash), strict=True)) == notes
    assert restored.event == restored.rows_event > 0
    upgrade(settings.database_url)
    # Orders of this test begin after those that the backup has.
    monkeypatch.setattr(engine_client, "_order_ids", itertools.count(10**9))
    await _trades_on(settings if archive.stem == FIRST else run_by_people(settings), archive.stem)


async def _trades_on(settings: Any, release: str) -> None:
    bus = await Bus.connect(settings, "test")
    await bus.ensure_streams()
    try:
        async with (
            asyncpg.create_pool(settings.database_url, min_size=1, max_size=3) as pool,
            mirrored_market(settings, bus, pool, MIRRORS) as market,
        ):
            assert await pool.fetchval("SELECT count(*) FROM trades") > 0
            await rebuild(settings, is_plan=False, wait_s=WAIT_S)
            assert await market.differences() == []
            if release != FIRST:
                assert await rows_of(pool) == {name: value for name, (_, value) in ROWS.items()}
                _, listed = await market.engine.request("GET", "/api/v1/markets")
                (doge,) = [row for row in listed if row["symbol"] == "DOGE-USD"]
                assert (doge["active"], doge["terms"]["announcement"]) == (True, "Trading begins.")
            await market.trade(1)
            assert await market.differences() == []
    finally:
        await bus.close()
