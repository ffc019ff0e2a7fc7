"""A backup that an earlier release made is restored by this one.

`releases/<release>.tar` is a folder of backups, without a key: that of `market` after `market.trade(3)`. A release
whose format or tables are new adds one: with OPENSPOT_MAKE_RELEASE_BACKUP=1 the first test here writes it.
"""

import itertools
import os
import tarfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from openspot.backup.verify import verify
from openspot.kit.bus import Bus
from openspot.migrations import upgrade
from openspot.reconcile.rebuild import rebuild
from tests.support import engine_client
from tests.support.backups import BackupSite
from tests.support.bus_accounts import BusAccounts
from tests.support.mirrored_market import MIRRORS, WAIT_S, MirroredMarket, mirrored_market

RELEASES = Path(__file__).parent / "releases"


@pytest.mark.skipif("OPENSPOT_MAKE_RELEASE_BACKUP" not in os.environ, reason="writes a file of the repository")
async def test_this_release_adds_its_backup(market: MirroredMarket, site: BackupSite) -> None:
    await market.trade(3)
    assert await market.differences() == []
    await site.back_up(market.settings)
    with tarfile.open(RELEASES / f"{version('openspot')}.tar", "w") as file:
        file.add(site.folder, "backups")


@pytest.mark.parametrize("archive", sorted(RELEASES.glob("*.tar")), ids=lambda path: path.stem)
async def test_a_backup_of_an_earlier_release_is_restored_and_trades_on(
    archive: Path, site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tarfile.open(archive) as file:
        file.extractall(tmp_path, filter="data")
    (name,) = site.place.names()
    assert verify(site.place, name).problems == []
    restored, settings = await site.restore(tmp_path / "restored", bus_accounts.next_url())
    assert restored.command > 0
    assert restored.event == restored.rows_event > 0
    upgrade(settings.database_url)
    # Orders of this test begin after those that the backup has.
    monkeypatch.setattr(engine_client, "_order_ids", itertools.count(10**9))
    await _trades_on(settings)


async def _trades_on(settings: Any) -> None:
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
            await market.trade(1)
            assert await market.differences() == []
    finally:
        await bus.close()
