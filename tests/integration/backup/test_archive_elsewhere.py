"""An archive whose folder lies outside the data directory comes back to the folder that the settings name."""

from pathlib import Path

import pytest

from openspot.archive.kinds import KINDS
from openspot.archive.restore import Checked, verify
from openspot.archive.run import archive
from openspot.backup.errors import BackupError
from tests.integration.archive.test_archive import AGE, BEFORE
from tests.integration.backup.test_backup import KilledError, Killer, names_in
from tests.support.backups import BackupSite
from tests.support.bus_accounts import BusAccounts
from tests.support.mirrored_market import MirroredMarket


@pytest.fixture
async def files(market: MirroredMarket, site: BackupSite, tmp_path: Path) -> set[Path]:
    """The files of an archive outside the data directory, of which there is a backup; relative to its folder."""
    folder = tmp_path / "disk" / "archive"
    await market.trade(2)
    assert await market.differences() == []
    await market.pool.execute(AGE)
    await archive(market.settings.database_url, folder, dict.fromkeys(KINDS, BEFORE), is_dry=False)
    await site.back_up(market.settings, archive=folder)
    return files_in(folder)


def files_in(folder: Path) -> set[Path]:
    """The files below a folder, relative to it."""
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


async def test_an_archive_outside_the_data_directory_is_restored_to_its_folder_and_sound(
    files: set[Path], site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path
) -> None:
    folder = tmp_path / "new-disk" / "archive"
    _, settings = await site.restore(tmp_path / "restored", bus_accounts.next_url(), archive=folder)
    assert files_in(folder) == files
    assert names_in(folder, "*.restoring") == []
    assert not (settings.data_dir / "archive").exists()
    checked = await verify(folder, settings.database_url)
    assert checked == Checked(rows=checked.rows, files=checked.files, problems=[])
    assert checked.rows.keys() == KINDS.keys()


async def test_without_a_folder_of_its_own_the_archive_is_restored_below_the_data_directory(
    files: set[Path], site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path
) -> None:
    _, settings = await site.restore(tmp_path / "restored", bus_accounts.next_url())
    assert files_in(settings.data_dir / "archive") == files
    inside = tmp_path / "again" / "old" / "rows"
    await site.restore(tmp_path / "again", bus_accounts.next_url(), archive=inside)
    assert files_in(inside) == files


async def test_a_folder_with_files_is_refused_before_anything_is_written(
    files: set[Path], site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path
) -> None:
    folder = tmp_path / "new-disk"
    folder.mkdir()
    (folder / "other").write_text("other", "utf-8")
    with pytest.raises(BackupError, match=r"new-disk is not empty: set OPENSPOT_ARCHIVE_DIR to a new one"):
        await site.restore(tmp_path / "restored", bus_accounts.next_url(), archive=folder)
    assert files_in(folder) == {Path("other")}
    assert names_in(tmp_path, "restored*") == []
    (folder / "other").unlink()
    await site.restore(tmp_path / "restored", bus_accounts.next_url(), archive=folder)
    assert files_in(folder) == files


@pytest.mark.proof
async def test_a_restore_that_was_killed_or_failed_leaves_no_archive_and_can_be_begun_again(
    files: set[Path], site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path
) -> None:
    folder, data_dir = tmp_path / "new-disk", tmp_path / "restored"
    for number in range(1, 5):
        with pytest.raises(KilledError):
            await site.restore(data_dir, bus_accounts.next_url(), archive=folder, step=Killer(number))
        assert names_in(folder, "*") in ([], ["restored.restoring"])
        assert not data_dir.exists()

    def fill(step: str) -> None:
        if step == "events":
            data_dir.mkdir()
            (data_dir / "other").write_text("other", "utf-8")

    with pytest.raises(BackupError, match="nothing was restored: "):
        await site.restore(data_dir, bus_accounts.next_url(), archive=folder, step=fill)
    assert names_in(folder, "*") == []
    (data_dir / "other").unlink()
    await site.restore(data_dir, bus_accounts.next_url(), archive=folder)
    assert files_in(folder) == files


async def test_a_restore_that_was_killed_between_the_archive_and_the_data_directory_can_be_begun_again(
    files: set[Path], site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, data_dir = tmp_path / "new-disk", tmp_path / "restored"
    draft = data_dir.with_name("restored.restoring")
    top = {path.parts[0] for path in files}
    rename = Path.rename

    def killed_at(doomed: Path) -> None:
        def renamed(path: Path, target: Path) -> Path:
            if target == doomed:
                raise KilledError
            return rename(path, target)

        monkeypatch.setattr(Path, "rename", renamed)

    # Before the last entry of the archive, and when all of it is there.
    for doomed, there in ((folder / max(top), top - {max(top)}), (data_dir, top)):
        killed_at(doomed)
        with pytest.raises(KilledError):
            await site.restore(data_dir, bus_accounts.next_url(), archive=folder)
        assert set(names_in(folder, "*")) == there | {draft.name} and draft.exists() and not data_dir.exists()
    monkeypatch.setattr(Path, "rename", rename)
    # What somebody put there since is not removed.
    (folder / "other").write_text("other", "utf-8")
    with pytest.raises(BackupError, match="new-disk is not empty"):
        await site.restore(data_dir, bus_accounts.next_url(), archive=folder)
    assert files_in(folder) > files
    (folder / "other").unlink()
    await site.restore(data_dir, bus_accounts.next_url(), archive=folder)
    assert files_in(folder) == files


async def test_files_of_a_platform_that_was_restored_are_never_taken_for_those_of_a_killed_restore(
    files: set[Path], site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, data_dir = tmp_path / "new-disk", tmp_path / "restored"
    rename = Path.rename

    def renamed(path: Path, target: Path) -> Path:
        moved = rename(path, target)
        if target == data_dir:
            raise KilledError
        return moved

    monkeypatch.setattr(Path, "rename", renamed)
    with pytest.raises(KilledError):
        await site.restore(data_dir, bus_accounts.next_url(), archive=folder)
    monkeypatch.setattr(Path, "rename", rename)
    left = files_in(folder)
    assert left > files and data_dir.exists()
    # The platform goes elsewhere, and another restore leaves a draft: the list does not know that one.
    data_dir.rename(tmp_path / "moved")
    with pytest.raises(KilledError):
        await site.restore(data_dir, bus_accounts.next_url(), archive=tmp_path / "third", step=Killer(1))
    with pytest.raises(BackupError, match="new-disk is not empty"):
        await site.restore(data_dir, bus_accounts.next_url(), archive=folder)
    assert files_in(folder) == left
