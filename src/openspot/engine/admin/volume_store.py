"""Volumes on disk, beside the journal: a SQLite file that outlives the retention of events.

It follows from the events. A file of another journal is emptied; one that is lost is filled again from those
events that are still retained.

    volumes(account, day, currency, amount)    amount: decimal digits of amount units
    meta(key, value)                           epoch; next_sequence: the first event that is not in the volumes
"""

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from openspot.engine.admin.volumes import VolumeKey

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS volumes (
    account INTEGER NOT NULL,
    day INTEGER NOT NULL,
    currency TEXT NOT NULL,
    amount TEXT NOT NULL,
    PRIMARY KEY (account, day, currency)
) WITHOUT ROWID;
"""


class VolumeStore:
    """The file of one engine. All methods raise sqlite3.Error; one thread at a time."""

    def __init__(self, path: Path, epoch: str) -> None:
        """Open, or make anew what is of another journal or no such file at all."""
        try:
            self._open(path)
        except sqlite3.DatabaseError:
            self._connection.close()
            for ending in ("", "-wal", "-shm"):
                path.with_name(path.name + ending).unlink(missing_ok=True)
            self._open(path)
        known = dict(self._connection.execute("SELECT key, value FROM meta"))
        if known.get("epoch") != epoch:
            with self._connection:
                self._connection.execute("DELETE FROM volumes")
                self._connection.execute("DELETE FROM meta")
                self._connection.execute("INSERT INTO meta VALUES ('epoch', ?)", (epoch,))
            known = {}
        self.next_sequence = int(known.get("next_sequence", "1"))
        """The first event that is not in the volumes."""

    def _open(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.executescript(_SCHEMA)

    def rows(self) -> list[tuple[VolumeKey, int]]:
        """All volumes."""
        rows = self._connection.execute("SELECT account, day, currency, amount FROM volumes")
        return [(VolumeKey(account, day, currency), int(amount)) for account, day, currency, amount in rows]

    def write(self, changed: Mapping[VolumeKey, int], next_sequence: int, oldest_day: int) -> None:
        """Set volumes to new amounts, drop those of days before, and note how far the events were read."""
        with self._connection:
            self._connection.executemany(
                "INSERT INTO volumes VALUES (?, ?, ?, ?)"
                " ON CONFLICT (account, day, currency) DO UPDATE SET amount = excluded.amount",
                [(*key, str(amount)) for key, amount in changed.items()],
            )
            self._connection.execute("DELETE FROM volumes WHERE day < ?", (oldest_day,))
            self._connection.execute(
                "INSERT INTO meta VALUES ('next_sequence', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (str(next_sequence),),
            )
        self.next_sequence = next_sequence

    def close(self) -> None:
        """Close the file."""
        with suppress(sqlite3.Error):
            self._connection.close()
