"""Database and bus: whether they answer, and whether they keep what they acknowledge."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import psycopg

from openspot.doctor.findings import Finding, fine, problem, warning
from openspot.doctor.sealing import sealing_findings
from openspot.kit.bus import Bus, BusError
from openspot.migrations import missing_migrations
from openspot.rest_edge.common.demo_account_names import DEMO_ACCOUNTS
from openspot.up.services import without_password

TIMEOUT_S = 5
VERSION_MIN, VERSION_MAX = 14, 18
"""`pg_dump`, which makes backups, comes in version 18 and reads no newer server."""
CLOCK_S_MAX = 1.0
BUS_FULL_PERCENT = 80
_MUST_BE_ON = ("fsync", "full_page_writes", "synchronous_commit")
_STRANGERS = "SELECT count(*) FROM users WHERE user_id <> ALL(%s)"


def database_findings(url: str, settings: Any) -> Iterator[Finding]:
    """What is wrong with the platform's database. It is read in one transaction that cannot write."""
    try:
        with psycopg.connect(
            url, connect_timeout=TIMEOUT_S, options=f"-c statement_timeout={TIMEOUT_S}s"
        ) as connection:
            connection.read_only = True
            yield from _version(connection.info.server_version // 10_000)
            yield from _durability(connection)
            yield from _clock(connection)
            yield from _migrations(connection)
            yield from _strangers(connection, settings)
            # The last: a statement that takes too long ends the transaction.
            yield from sealing_findings(connection, settings)
    except psycopg.Error as error:
        if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:
            # No server said this. What the address is refused for may be a part of its password.
            yield problem("database", "the address in DATABASE_URL cannot be read", "percent-encode user and password")
            return
        yield problem("database", f"the database {without_password(url)} does not answer: {str(error).strip()}",
                      "start it, or set DATABASE_URL")  # fmt: skip


def _version(version: int) -> Iterator[Finding]:
    if version < VERSION_MIN:
        yield problem("database", f"PostgreSQL {version} is too old", f"use {VERSION_MIN} to {VERSION_MAX}")
    elif version > VERSION_MAX:
        yield problem("database", f"`openspot backup` cannot read PostgreSQL {version}", f"use {VERSION_MIN} to "
                      f"{VERSION_MAX}")  # fmt: skip
    else:
        yield fine("database", f"PostgreSQL {version} answers")


def _durability(connection: "psycopg.Connection[Any]") -> Iterator[Finding]:
    for name in _MUST_BE_ON:
        row = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
        value = row[0] if row else ""
        if value == "off":
            yield problem("database-durability", f"the database has {name} = off: a power cut loses what it confirmed",
                          f"set {name} = on in postgresql.conf")  # fmt: skip


def _clock(connection: "psycopg.Connection[Any]") -> Iterator[Finding]:
    before = time.time()
    row = connection.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()
    after = time.time()
    theirs = float(row[0]) if row else before
    apart = max(before - theirs, theirs - after, 0.0)
    if apart > CLOCK_S_MAX:
        yield problem("clock", f"the clock of the database is {apart:.1f} s away from this machine's", "synchronise "
                      "both with the same servers")  # fmt: skip


def _migrations(connection: "psycopg.Connection[Any]") -> Iterator[Finding]:
    row = connection.execute("SELECT to_regclass('alembic_version') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        yield fine("migrations", "the database is empty: `openspot up` makes the tables")
        return
    found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    missing = missing_migrations(found[0] if found else "")
    if missing is None:
        yield problem("migrations", f"the database has the migration {found and found[0]}, which this release does not "
                      "know", "run the release that made it, or a newer one")  # fmt: skip
    elif missing:
        yield warning("migrations", f"the database lacks {len(missing)} migrations of this release: "
                      f"{', '.join(missing)}", "`openspot upgrade --check` tries them, `openspot up` applies "
                      "them")  # fmt: skip
    else:
        yield fine("migrations", "the database has every migration of this release")


def _strangers(connection: "psycopg.Connection[Any]", settings: Any) -> Iterator[Finding]:
    row = connection.execute("SELECT to_regclass('users') IS NOT NULL").fetchone()
    if not settings.demo or row is None or not row[0]:
        return
    count = connection.execute(_STRANGERS, ([each.user_id for each in DEMO_ACCOUNTS],)).fetchone()
    if count and count[0]:
        yield warning("demo", f"the demo market trades with {count[0]:,} users who are no bots, at invented prices",
                      "start without OPENSPOT_DEMO if they have money")  # fmt: skip


def bus_findings(settings: Any, *, is_embedded: bool) -> Iterator[Finding]:
    """What is wrong with the bus."""
    try:
        used, limit = asyncio.run(_storage(settings, ask=not is_embedded))
    except (BusError, OSError, TimeoutError) as error:
        reason = str(error) or f"no answer within {TIMEOUT_S} s"
        servers = ", ".join(map(without_password, settings.nats_servers))
        yield problem("bus", f"the bus {servers} does not answer, or has no JetStream: {reason}", "start it with "
                      "`jetstream` on, or set NATS_URL")  # fmt: skip
        return
    if limit and used * 100 > limit * BUS_FULL_PERCENT:
        yield problem("bus", f"the bus has used {used >> 20} of {limit >> 20} MiB", "raise max_file_store, or the "
                      "limit of the account")  # fmt: skip
    elif is_embedded:
        yield fine("bus", "the embedded bus answers; it keeps its streams on the disk of the data directory")
    else:
        yield fine("bus", f"the bus answers; its streams take {used >> 20} MiB")


async def _storage(settings: Any, *, ask: bool) -> tuple[int, int]:
    """(the bytes that the streams take, the limit or 0). Raises BusError, TimeoutError."""
    async with asyncio.timeout(TIMEOUT_S):
        bus = await Bus.connect(settings, "doctor")
    try:
        await bus.check()
        return await bus.storage() if ask else (0, 0)
    finally:
        await bus.close()
