"""Keeps the states of alerts and what waits for each destination in a file of the data directory.

A file, because an alert must go out while database and bus are away. It is replaced as a whole, so that a kill leaves
the old one or the new one.
"""

import os
from pathlib import Path

import msgspec

from openspot.http.operator_alerts import AlertKind
from openspot.kit.log import get_logger
from openspot.operator_alerts.book import AlertState
from openspot.operator_alerts.outbox import Outbox

log = get_logger("alerts")

FILE_NAME = "operator-alerts.json"


class Kept(msgspec.Struct):
    """What is kept: the alerts by kind, and the outboxes by destination."""

    alerts: dict[AlertKind, AlertState] = {}
    outboxes: dict[str, Outbox] = {}


class Keeper:
    """Reads and writes the file in `data_dir`."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / FILE_NAME
        self._written = b""
        self._is_failing = False

    def read(self) -> Kept:
        """What was kept. A file that cannot be read is put aside: what lasts is told again, and what waited is lost."""
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return Kept()
        except OSError as error:
            log.error("the alerts that were kept cannot be read", file=str(self._path), error=str(error))
            return Kept()
        try:
            kept = msgspec.json.decode(content, type=Kept)
        except msgspec.MsgspecError as error:
            damaged = self._path.with_suffix(".damaged")
            log.error("the file of alerts is damaged and put aside", file=str(damaged), error=str(error))
            self._path.replace(damaged)
            return Kept()
        self._written = content
        return kept

    def write(self, kept: Kept) -> None:
        """Replace the file if something has changed.

        On a disk that takes nothing the alerts go on in memory: that the disk is full must be told.
        """
        content = msgspec.json.encode(kept)
        if content == self._written:
            return
        try:
            self._replace(content)
        except OSError as error:
            if not self._is_failing:
                log.error("the alerts cannot be kept: after a restart some are told twice", error=str(error))
            self._is_failing = True
            return
        self._written, self._is_failing = content, False

    def _replace(self, content: bytes) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = self._path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._path)
