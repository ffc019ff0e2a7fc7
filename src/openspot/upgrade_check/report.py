"""What a check of an upgrade found."""

import msgspec


class UpgradeCheckError(Exception):
    """The upgrade could not be tried; the message says why and what to do. Nothing is known about the upgrade."""


class JournalChecked(msgspec.Struct, frozen=True, rename="camel"):
    """A journal that was replayed from its beginning. `compared` snapshots of the old release have the same state hash.

    The newest of them was taken at `compared_command`, 0 if there was none.
    """

    format: str
    commands: int
    events: int
    state_hash: str
    compared: int
    compared_command: int
    seconds: float


class DatabaseChecked(msgspec.Struct, frozen=True, rename="camel"):
    """A copy of a database with its migrations. `revision` is that of the old release, empty for a new database."""

    name: str
    size: int
    revision: str
    migrations: list[str]
    tables: int
    rows: int
    seconds: float


class UpgradeReport(msgspec.Struct, frozen=True, rename="camel"):
    """The upgrade works if there are no `problems`. `changes` are what it will do, in the words of operators."""

    release: str
    was_running: bool
    journal: JournalChecked | None
    databases: list[DatabaseChecked]
    changes: list[str]
    problems: list[str]
    scratch_bytes: int
    seconds: float

    @property
    def works(self) -> bool:
        """Whether there are no problems."""
        return not self.problems
