"""A backup under flow is restored elsewhere: the same state, no difference, and no number is given out twice."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from openspot.backup.errors import BackupError
from openspot.backup.postgres import IDS_SKIPPED
from openspot.backup.restore import Point, choose
from openspot.backup.sealing import Seal
from openspot.backup.verify import verify
from openspot.custody.hold import hold_reason
from openspot.kit.backup_outcome import backup_outcome
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.reconcile.rebuild import rebuild
from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.support.backups import EVENTS_SKIPPED, BackupSite, state_at
from tests.support.bus_accounts import BusAccounts
from tests.support.mirrored_market import MIRRORS, WAIT_S, MirroredMarket, mirrored_market
from tests.support.waiting import eventually

NEWEST_TRADE = "SELECT coalesce(max(sequence), 0) FROM trades"


class KilledError(BaseException):
    """Ends the work in the middle, and nothing can clean up."""


class Killer:
    """Ends the work after its step number `last`."""

    def __init__(self, last: int = 0) -> None:
        self.steps: list[str] = []
        self._last = last

    def __call__(self, step: str) -> None:
        self.steps.append(step)
        if len(self.steps) == self._last:
            raise KilledError(step)


@asynccontextmanager
async def flowing(market: MirroredMarket) -> AsyncIterator[None]:
    """Orders come in while the block runs."""
    flow = asyncio.create_task(market.trade(100_000))
    try:
        yield
        assert not flow.done(), flow.exception()
    finally:
        flow.cancel()
        with suppress(asyncio.CancelledError):
            await flow


@asynccontextmanager
async def restored_market(settings: Any) -> AsyncIterator[MirroredMarket]:
    """The restored platform, with its mirrors repaired as the operator does it."""
    bus = await Bus.connect(settings, "test")
    await bus.ensure_streams()
    try:
        async with (
            asyncpg.create_pool(settings.database_url, min_size=1, max_size=3) as pool,
            mirrored_market(settings, bus, pool, MIRRORS) as market,
        ):
            await rebuild(settings, is_plan=False, wait_s=WAIT_S)
            yield market
    finally:
        await bus.close()


async def test_a_backup_under_flow_is_restored_with_the_same_state_and_no_difference(
    market: MirroredMarket, site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path
) -> None:
    async with flowing(market):
        await eventually(lambda: market.pool.fetchval("SELECT count(*) > 20 FROM trades"))
        made = await site.back_up(market.settings)
        lost_event = await market.pool.fetchval(NEWEST_TRADE)
    assert verify(site.place, made.name).problems == []
    restored, settings = await site.restore(tmp_path / "restored", bus_accounts.next_url())
    assert restored.command == made.journal.last
    assert (restored.event, restored.state_hash) == state_at(market.settings, made.journal.last)
    assert restored.rows_event <= restored.event
    assert restored.next_event == restored.event + EVENTS_SKIPPED + 1 > lost_event
    assert hold_reason(settings.data_dir).startswith(f"restored from {made.name}, since ")
    async with restored_market(settings) as again:
        assert await again.differences() == []
        await again.trade(1)
        assert await again.differences() == []
        # Whoever knows a trade of the lost time never meets its number again.
        assert await again.pool.fetchval(NEWEST_TRADE) >= restored.next_event


async def test_ids_of_the_database_jump_over_what_clients_may_have_seen(
    market: MirroredMarket, site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path
) -> None:
    await market.trade(1)
    assert await market.differences() == []
    await site.back_up(market.settings)
    _, settings = await site.restore(tmp_path / "restored", bus_accounts.next_url())
    connection: Any = await asyncpg.connect(settings.database_url)
    try:
        old, new = [
            {row["name"]: row["value"] for row in await each.fetch(SEQUENCES)} for each in (market.pool, connection)
        ]
    finally:
        await connection.close()
    assert old.keys() == new.keys()
    assert all(new[name] - value >= IDS_SKIPPED for name, value in old.items()), (old, new)
    assert "engine_order_ids" in new


SEQUENCES = "SELECT sequencename AS name, coalesce(last_value, start_value) AS value FROM pg_sequences"


@pytest.mark.proof
async def test_a_point_between_two_backups_is_restored_from_the_older_databases_and_the_newer_journal(
    market: MirroredMarket, site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path
) -> None:
    await market.trade(2)
    assert await market.differences() == []
    first = await site.back_up(market.settings)
    await market.trade(2)
    assert await market.differences() == []
    point = (await market.reconcile()).engine_sequence
    at = time.time_ns()
    await market.trade(2)
    second = await site.back_up(market.settings)
    assert first.known_event < point < second.known_event

    restored, settings = await site.restore(tmp_path / "event", bus_accounts.next_url(), Point(event=point))
    assert (restored.databases_of, restored.journal_of) == (first.name, second.name)
    assert restored.event == point
    assert restored.state_hash == state_at(market.settings, restored.command)[1]
    async with restored_market(settings) as again:
        assert await again.differences() == []

    if at > first.taken_ns:
        by_time, _ = await site.restore(tmp_path / "time", bus_accounts.next_url(), Point(time_ns=at))
        assert by_time.state_hash == restored.state_hash


async def test_points_that_no_backup_reaches_are_refused(
    market: MirroredMarket, site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path
) -> None:
    await market.trade(1)
    made = await site.back_up(market.settings)
    with pytest.raises(BackupError, match=r"no backup reaches so far back: the oldest, .* know event \d+"):
        choose(site.place, Point(event=1))
    with pytest.raises(BackupError, match="no backup reaches so far back"):
        choose(site.place, Point(time_ns=1))
    with pytest.raises(BackupError, match="no backup reaches so far: the newest that fits"):
        choose(site.place, Point(time_ns=time.time_ns() + 10**12))
    with pytest.raises(BackupError, match="no backup reaches so far: the newest ends with event"):
        await site.restore(tmp_path / "restored", bus_accounts.next_url(), Point(event=made.known_event + 10**6))
    with pytest.raises(BackupError, match="there is no backup 2020 in "):
        choose(site.place, Point(), "2020")
    assert not (tmp_path / "restored").exists()


async def test_a_second_backup_stores_only_what_is_new_and_old_ones_are_removed(
    market: MirroredMarket, site: BackupSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openspot.backup.journal.SEGMENT_BYTES", 500)
    await market.trade(6)
    assert await market.differences() == []
    first = await site.back_up(market.settings)
    objects = stored(site)
    await market.trade(1)
    second = await site.back_up(market.settings)
    complete = [segment for segment in first.journal.segments if segment.is_full]
    assert len(complete) > 2
    assert second.journal.segments[: len(complete)] == complete
    # What has not changed is neither stored again nor touched.
    assert all(stored(site)[name] == time_ns for name, time_ns in objects.items())
    assert len(stored(site)) - len(objects) < len(objects) / 2
    third = await site.back_up(market.settings, keep=1)
    assert site.place.names() == [third.name]
    assert set(stored(site)) == {piece.name for file in third.all_files for piece in file.pieces}
    assert verify(site.place, third.name).problems == []


async def test_rows_that_change_in_the_middle_of_a_table_make_few_new_objects_and_the_backup_is_whole(
    market: MirroredMarket, site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openspot.backup.pieces.PIECE_BYTES_MIN", 5_000)
    monkeypatch.setattr("openspot.backup.pieces.LINES_BYTES", 5_000)
    await market.pool.execute(
        "INSERT INTO audit_records (request_id, user_id, method, path, status, address, duration_ms, created_at)"
        " SELECT 'r' || n, 'u', 'GET', '/orders', 200, '::1', 1, now() FROM generate_series(1, 5000) AS n"
    )
    await market.trade(1)
    first = await site.back_up(market.settings)
    await market.pool.execute("DELETE FROM audit_records WHERE request_id IN ('r1', 'r2500')")
    second = await site.back_up(market.settings, keep=1)
    assert 0 < second.new_bytes([first]) < second.stored_bytes / 5
    outcome = backup_outcome(market.settings.data_dir)
    assert (outcome.stored_bytes, outcome.new_bytes) == (second.stored_bytes, second.new_bytes([first]))
    # The first is removed, and what the second shares with it is still there.
    assert site.place.names() == [second.name]
    sound: dict[str, int] = {}
    assert verify(site.place, second.name, sound).problems == []
    assert len(sound) == len(second.objects)
    _, settings = await site.restore(tmp_path / "restored", bus_accounts.next_url())
    connection: Any = await asyncpg.connect(settings.database_url)
    try:
        assert await connection.fetchval("SELECT count(*) FROM audit_records WHERE user_id = 'u'") == 4998
    finally:
        await connection.close()


def stored(site: BackupSite) -> dict[str, int]:
    """The objects, with the time at which each was written."""
    return {path.name: path.stat().st_mtime_ns for path in (site.folder / "objects").glob("*/*")}


async def test_a_killed_backup_is_no_backup_and_the_next_one_is_sound(market: MirroredMarket, site: BackupSite) -> None:
    steps = Killer()
    await site.back_up(market.settings, step=steps)
    assert steps.steps[-1] == "wrote the manifest"
    before = site.place.names()
    for number in range(1, len(steps.steps)):
        await market.trade(1)
        with pytest.raises(KilledError):
            await site.back_up(market.settings, step=Killer(number))
        assert site.place.names() == before
        assert verify(site.place, before[0]).problems == []
    made = await site.back_up(market.settings)
    assert verify(site.place, made.name).problems == []
    assert names_in(market.settings.data_dir, "backup-work*") == []
    age_s = backup_outcome(market.settings.data_dir).age_s
    assert age_s is not None
    assert age_s < 3600


@pytest.mark.proof
async def test_a_killed_restore_leaves_no_data_directory_and_can_be_begun_again(
    market: MirroredMarket, site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path
) -> None:
    await market.trade(1)
    await site.back_up(market.settings)
    steps = Killer()
    expected, _ = await site.restore(tmp_path / "whole", bus_accounts.next_url(), step=steps)
    assert steps.steps == ["journal", "files", "database openspot", "events", "done"]
    data_dir = tmp_path / "restored"
    for number in range(1, len(steps.steps)):
        with pytest.raises(KilledError):
            await site.restore(data_dir, bus_accounts.next_url(), step=Killer(number))
        assert not data_dir.exists()
    again, _ = await site.restore(data_dir, bus_accounts.next_url())
    assert again == expected


async def test_a_restore_refuses_what_is_not_empty_or_has_another_key(
    market: MirroredMarket,
    site: BackupSite,
    bus_accounts: BusAccounts,
    tmp_path: Path,
    postgres_server: EmbeddedPostgres,
) -> None:
    sealed = BackupSite(site.folder, postgres_server, Seal(b"k" * 32))
    made = await sealed.back_up(market.settings)
    assert made.key_id == sealed.seal.key_id
    with pytest.raises(BackupError, match=r"is not empty: set OPENSPOT_DATA_DIR to a new one"):
        await sealed.restore(market.settings.data_dir, bus_accounts.next_url())
    with pytest.raises(BackupError, match=r"the database 'test_.*' is not empty|the database .* is not empty"):
        await sealed.restore(tmp_path / "restored", bus_accounts.next_url(), url=market.settings.database_url)
    with pytest.raises(BackupError, match="was encrypted with another key: it needs"):
        BackupSite(site.folder, postgres_server, Seal(b"x" * 32)).place.manifest(made.name)
    with pytest.raises(BackupError, match="is encrypted: set OPENSPOT_BACKUP_KEY_FILE"):
        await site.restore(tmp_path / "restored", bus_accounts.next_url())
    assert names_in(tmp_path, "restored*") == ["restored.restoring.lock"]
    restored, _ = await sealed.restore(tmp_path / "restored", bus_accounts.next_url())
    assert restored.command == made.journal.last
    # The secrets in the folder cannot be read by whoever finds it.
    content = b"".join(path.read_bytes() for path in site.folder.rglob("*") if path.is_file())
    assert b"alice" not in content


def names_in(folder: Path, pattern: str) -> list[str]:
    """The names in a folder that match."""
    return sorted(path.name for path in folder.glob(pattern))


async def test_verify_names_damage_of_every_kind_of_file(market: MirroredMarket, site: BackupSite) -> None:
    (market.settings.data_dir / "secrets.json").write_text('{"custody_seed": "seed"}', "utf-8")
    archive = market.settings.data_dir / "archive/trades/2026-01"
    archive.mkdir(parents=True)
    (archive / "rows.csv.gz").write_bytes(b"rows")
    made = await site.back_up(market.settings)
    kinds = {"journal/", "database/openspot/toc.dat", "database/openspot/", "data/secrets.json", "data/archive/"}
    for kind in kinds:
        file = next(each for each in made.all_files if each.path.startswith(kind))
        path = site.folder / "objects" / file.pieces[0].name[:2] / file.pieces[0].name
        whole = path.read_bytes()
        for damaged in (None, whole[:-1], bytes([whole[0] ^ 1]) + whole[1:]):
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            problems = verify(site.place, made.name).problems
            assert any(problem.startswith(file.path) for problem in problems), (file.path, problems)
            path.write_bytes(whole)
    assert verify(site.place, made.name).problems == []
    manifest = site.folder / "backups" / f"{made.name}.json"
    for change in ((b'"knownEvent": ', b'"knownEvent": 1'), (b'"format": 1', b'"format": 2'), (b"{", b"")):
        whole = manifest.read_bytes()
        manifest.write_bytes(whole.replace(*change, 1))
        with pytest.raises(BackupError, match=r"signature is not right|reads up to format 1|cannot be read"):
            verify(site.place, made.name)
        manifest.write_bytes(whole)


@pytest.mark.proof
async def test_a_journal_that_went_another_way_after_a_restore_is_not_taken_for_the_first(
    market: MirroredMarket, site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path
) -> None:
    await market.trade(1)
    await site.back_up(market.settings)
    await market.trade(1)
    first = await site.back_up(market.settings)
    restored, settings = await site.restore(tmp_path / "restored", bus_accounts.next_url(), name=site.place.names()[0])
    other = await site.back_up(settings)
    assert other.journal.epoch == first.journal.epoch
    assert other.journal.last > first.journal.last
    # A point of the first way is not looked for in the other one.
    base, source = choose(site.place, Point(event=first.known_event))
    assert (base.name, source.name) == (first.name, first.name)
    assert restored.command < first.journal.last


async def test_a_backup_without_a_journal_is_refused(site: BackupSite, settings: Settings) -> None:
    with pytest.raises(BackupError, match=r"there is no journal at .*: nothing can be backed up"):
        await site.back_up(settings)
    assert site.place.names() == []
