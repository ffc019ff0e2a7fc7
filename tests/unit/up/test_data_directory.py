"""The data directory is closed to other accounts, and has one platform at a time."""

import os
import pwd
from pathlib import Path

import pytest

from openspot.up import data_directory
from openspot.up.data_directory import DataDirectoryError, claim, close_if_own, take_lock
from tests.support.other_account import needs_root


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """A data directory as an earlier release made it, open to everybody."""
    folder = tmp_path / "data"
    (folder / "nats/jetstream").mkdir(parents=True)
    for name in ("secrets.json", "openspot.log", "nats/jetstream/1.blk"):
        (folder / name).write_text("content", "utf-8")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def test_a_new_folder_is_closed_whatever_the_umask(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        claim(tmp_path / "new/data")
    finally:
        os.umask(umask)
    assert mode(tmp_path / "new/data") == 0o700


def test_an_empty_folder_that_is_open_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o777)
    claim(folder)
    assert mode(folder) == 0o700


def test_what_an_earlier_release_left_open_is_closed_with_all_its_contents(earlier: Path) -> None:
    outside = earlier.parent / "outside"
    outside.write_text("of somebody else", "utf-8")
    outside.chmod(0o644)
    (earlier / "link").symlink_to(outside)
    claim(earlier)
    contents = [path for path in (earlier, *earlier.rglob("*")) if not path.is_symlink()]
    assert [path for path in contents if mode(path) & 0o077] == []
    assert (earlier / "nats/jetstream/1.blk").read_text("utf-8") == "content"
    assert mode(outside) == 0o644


@needs_root
def test_a_folder_of_another_account_inside_is_left_to_it(earlier: Path) -> None:
    theirs = earlier / "postgres/data"
    theirs.mkdir(parents=True)
    (theirs / "PG_VERSION").write_text("18", "utf-8")
    for path in (theirs, theirs / "PG_VERSION"):
        os.chown(path, pwd.getpwnam("nobody").pw_uid, -1)
        path.chmod(0o755)
    claim(earlier)
    assert [mode(path) for path in (earlier / "postgres", theirs, theirs / "PG_VERSION")] == [0o700, 0o755, 0o755]


def test_an_open_folder_with_other_files_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "letter.txt").write_text("dear", "utf-8")
    (folder / "letter.txt").chmod(0o644)
    with pytest.raises(DataDirectoryError, match=r"letter\.txt.*OPENSPOT_DATA_DIR"):
        claim(folder)
    assert (mode(folder), mode(folder / "letter.txt")) == (0o755, 0o644)


def test_a_closed_folder_with_other_files_is_taken(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    (folder / "note.txt").write_text("mine", "utf-8")
    claim(folder)
    assert (folder / "note.txt").read_text("utf-8") == "mine"


@needs_root
def test_a_folder_of_another_account_is_refused_with_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    with pytest.raises(DataDirectoryError, match="belongs to the account nobody: run OpenSpot as nobody"):
        claim(folder)
    os.chown(folder, 54_321, -1)  # an account that was removed
    with pytest.raises(DataDirectoryError, match="belongs to the account 54321"):
        claim(folder)


def test_a_file_system_without_permissions_is_refused(earlier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_directory, "_is_open", lambda path: True)
    with pytest.raises(DataDirectoryError, match="keeps no permissions"):
        claim(earlier)


def test_a_file_in_its_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("", "utf-8")
    with pytest.raises(DataDirectoryError, match=f"{tmp_path}/data cannot be used"):
        claim(tmp_path / "data")


def test_a_service_alone_closes_its_own_data_directory_and_no_other_folder(earlier: Path, tmp_path: Path) -> None:
    close_if_own(earlier)
    assert (mode(earlier), mode(earlier / "openspot.log")) == (0o700, 0o600)
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o775)
    (shared / "letter.txt").write_text("dear", "utf-8")
    close_if_own(shared)
    assert mode(shared) == 0o775
    close_if_own(tmp_path / "none")
    assert not (tmp_path / "none").exists()


@needs_root
def test_a_service_alone_leaves_a_folder_of_another_account_open(earlier: Path) -> None:
    os.chown(earlier, pwd.getpwnam("nobody").pw_uid, -1)
    close_if_own(earlier)
    assert mode(earlier) == 0o755


def test_a_second_platform_is_refused_until_the_first_gives_the_lock_back(tmp_path: Path) -> None:
    with take_lock(tmp_path), pytest.raises(DataDirectoryError, match="already running"):
        take_lock(tmp_path)
    take_lock(tmp_path).close()
