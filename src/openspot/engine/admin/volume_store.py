"""Trading volumes in a SQLite file beside the journal.

Volumes are computed from events but kept longer than events are retained. A file that belongs to another journal is
emptied. A lost file is filled again from the events that are still retained.

    volumes(account, day, currency, amount)    amount: decimal digits of amount units
    meta(key, value)                           epoch; next_sequence: the first event that the volumes do not include
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
    """The volume file of one engine. All methods raise sqlite3.Error. Use it from one thread at a time."""

    def __init__(self, path: Path, epoch: str) -> None:
        """Recreate the file if it is unreadable; empty it if it belongs to another journal."""
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
        """The first event that the volumes do not include."""

    def _open(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.executescript(_SCHEMA)

    def rows(self) -> list[tuple[VolumeKey, int]]:
        """All volumes."""
        rows = self._connection.execute("SELECT account, day, currency, amount FROM volumes")
        return [(VolumeKey(account, day, currency), int(amount)) for account, day, currency, amount in rows]

    def write(self, changed: Mapping[VolumeKey, int], next_sequence: int, oldest_day: int) -> None:
        """Set volumes to new amounts, delete those before `oldest_day`, and record the next event to read."""
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
