"""Inspecting a write-ahead log: what SQLite would replay, and what it would silently skip."""

import random
import sqlite3
import struct
from pathlib import Path

import pytest

from openspot.engine.journal.write_ahead_log import LogReport, inspect_log

PAGE = 4096
FRAME = 24 + PAGE


def log_of(tmp_path: Path, commits: int) -> tuple[bytes, bytes]:
    """(database, write-ahead log) after some commits: the first creates a table, each other adds a row."""
    path = tmp_path / "some.sqlite"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size={PAGE}")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, content BLOB)")
    for number in range(commits - 1):
        connection.execute("INSERT INTO rows VALUES (?, zeroblob(100))", (number,))
    database, log = path.read_bytes(), path.with_name("some.sqlite-wal").read_bytes()
    connection.close()
    return database, log


def rows_that_sqlite_sees(database: bytes, log: bytes, folder: Path) -> int:
    folder.mkdir()
    copy = folder / "some.sqlite"
    copy.write_bytes(database)
    copy.with_name("some.sqlite-wal").write_bytes(log)
    connection = sqlite3.connect(copy)
    try:
        return int(connection.execute("SELECT count(*) FROM rows").fetchone()[0])
    finally:
        connection.close()


def test_an_intact_log_has_its_commits_and_nothing_torn(tmp_path: Path) -> None:
    _, content = log_of(tmp_path, 20)
    assert inspect_log(content) == LogReport(20, 0, 0)


def test_one_damaged_last_commit_is_torn(tmp_path: Path) -> None:
    _, content = log_of(tmp_path, 20)
    damaged = content[:-50] + b"\x55" * 50
    assert inspect_log(damaged) == LogReport(19, 1, 1)


def test_a_truncated_last_frame_is_ignored(tmp_path: Path) -> None:
    _, content = log_of(tmp_path, 20)
    assert inspect_log(content[:-50]) == LogReport(19, 0, 0)


def test_pages_without_their_commit_are_torn(tmp_path: Path) -> None:
    path = tmp_path / "big.sqlite"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE rows (content BLOB)")
    connection.execute("INSERT INTO rows VALUES (zeroblob(50000))")
    content = path.with_name("big.sqlite-wal").read_bytes()
    connection.close()
    report = inspect_log(content[:-FRAME])
    assert (report.torn_commits, report.torn_frames > 5) == (0, True)


def test_commits_after_a_damaged_one_are_counted(tmp_path: Path) -> None:
    _, content = log_of(tmp_path, 20)
    chance = random.Random(5)
    for _ in range(30):
        frame = chance.randrange(20)
        damaged = bytearray(content)
        damaged[32 + frame * FRAME + chance.choice((4, 20, 30, 4000))] ^= 1 << chance.randrange(8)
        report = inspect_log(bytes(damaged))
        assert report.commits <= frame
        assert report.commits + report.torn_commits >= 19
        assert report.torn_commits >= 19 - frame


def test_frames_from_before_the_last_reset_are_ignored(tmp_path: Path) -> None:
    _, content = log_of(tmp_path, 20)
    old = bytearray(content)
    # The first commit has two frames.
    for frame in range(13, 21):
        struct.pack_into(">I", old, 32 + frame * FRAME + 8, 12345)
    assert inspect_log(bytes(old)) == LogReport(12, 0, 0)


@pytest.mark.parametrize("content", [b"", b"\x00" * 31, b"\x00" * 5000, b"\xff" * 5000])
def test_a_file_that_is_not_a_log_contains_nothing(content: bytes) -> None:
    assert inspect_log(content) == LogReport(0, 0, 0)


def test_a_log_with_a_torn_header_contains_nothing(tmp_path: Path) -> None:
    _, content = log_of(tmp_path, 3)
    # The byte belongs to the salt, which is chance: only another value is sure to be wrong.
    assert inspect_log(content[:16] + bytes([content[16] ^ 1]) + content[17:]) == LogReport(0, 0, 0)


def test_the_report_agrees_with_what_sqlite_recovers(tmp_path: Path) -> None:
    database, content = log_of(tmp_path, 12)
    for number, frame in enumerate((3, 7, 11)):
        damaged = bytearray(content)
        damaged[32 + frame * FRAME + 1000] ^= 0xFF
        seen = rows_that_sqlite_sees(database, bytes(damaged), tmp_path / str(number))
        # The first commit created the table.
        assert inspect_log(bytes(damaged)).commits == seen + 1
