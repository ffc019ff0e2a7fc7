"""The addresses that administrators acted from, in a file beside the journal, until the operators' trail has them.

An address is personal data, and the journal never forgets. So the note of an action holds a random word instead, and
the address stands here, from before the action is submitted until whoever reads the actions has it. Nothing depends on
the file: without it, addresses of actions that nobody has read yet are unknown.
"""

import secrets
import sqlite3
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from openspot.kit.log import get_logger

log = get_logger("admin")

FILE_NAME = "admin-origins.sqlite"
KEPT_S = 30 * 24 * 3600
"""Addresses that nobody has read are removed after this time."""
KEPT_MAX = 10_000
_WORD_BYTES = 12
_SCHEMA = "CREATE TABLE IF NOT EXISTS origins (word TEXT PRIMARY KEY, address TEXT NOT NULL, kept_at INTEGER NOT NULL)"


class Origins:
    """Addresses by word. A failure of the file is logged, and loses addresses alone."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._connection: sqlite3.Connection | None = None
        if self._path.exists():
            self._try_open()

    def _try_open(self) -> None:
        try:
            self._connection = self._open()
        except (sqlite3.Error, OSError) as error:
            log.warning("addresses of administrators cannot be kept", path=str(self._path), error=str(error))

    def _open(self) -> sqlite3.Connection:
        self._path.touch(mode=0o600)
        connection = sqlite3.connect(self._path, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA secure_delete=ON")
            connection.execute(_SCHEMA)
            connection.execute("DELETE FROM origins WHERE kept_at < ?", (int(time.time()) - KEPT_S,))
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def keep(self, address: str) -> str:
        """Keep an address, and return the word that stands for it; empty if it is not kept."""
        if not address:
            return ""
        if self._connection is None:
            self._try_open()
        if self._connection is None:
            return ""
        word = secrets.token_hex(_WORD_BYTES)
        try:
            self._connection.execute("INSERT INTO origins VALUES (?, ?, ?)", (word, address, int(time.time())))
            self._connection.execute(
                "DELETE FROM origins WHERE rowid <= (SELECT max(rowid) FROM origins) - ?", (KEPT_MAX,)
            )
        except sqlite3.Error as error:
            log.warning("the address of an administrator was not kept", error=str(error))
            return ""
        return word

    def addresses(self, words: Iterable[str]) -> Mapping[str, str]:
        """The addresses that are known of these words."""
        found: dict[str, str] = {}
        if self._connection is None:
            return found
        try:
            for word in words:
                for (address,) in self._connection.execute("SELECT address FROM origins WHERE word = ?", (word,)):
                    found[word] = address
        except sqlite3.Error as error:
            log.warning("addresses of administrators cannot be read", error=str(error))
        return found

    def forget(self, words: Iterable[str]) -> None:
        """Remove addresses that somebody else keeps from now on."""
        if self._connection is None:
            return
        try:
            self._connection.executemany("DELETE FROM origins WHERE word = ?", [(word,) for word in words])
        except sqlite3.Error as error:
            log.warning("addresses of administrators cannot be removed", error=str(error))

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
