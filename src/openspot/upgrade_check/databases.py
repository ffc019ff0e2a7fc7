"""Copies the databases into a scratch folder and brings the copies up to date. The databases themselves are only read.

A database that answers is copied with `pg_dump`, also while the old platform uses it. If the embedded server does not
run, its data folder is copied, under the lock that keeps the platform from starting.
"""

import asyncio
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import psutil
import psycopg
from sqlalchemy.exc import SQLAlchemyError

from openspot.backup.create import PLATFORM
from openspot.backup.errors import BackupError
from openspot.backup.postgres import CONNECT_TIMEOUT_S, connected, dump, load
from openspot.kit.settings import variable
from openspot.migrations import PLATFORM as PLATFORM_CHAIN
from openspot.migrations import missing_migrations, upgrade
from openspot.up.embedded_nats import EmbeddedServerError
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.up.services import DESCRIPTORS, PlatformSettings, without_password
from openspot.upgrade_check.contents import contents_of, lost
from openspot.upgrade_check.report import DatabaseChecked, UpgradeCheckError

SPARE_BYTES = 512 << 20
"""So much of the scratch disk stays free."""
DUMP_FACTOR = 3
"""A dump, the database made from it, and what its migrations write."""
_OWN = {each.name: each.database for each in DESCRIPTORS if each.database is not None}
_CHAINS = {PLATFORM: PLATFORM_CHAIN} | {name: database.migrations for name, database in _OWN.items()}

Step = Callable[[str], None]


@contextmanager
def copies(settings: Any, scratch: Path, step: Step) -> Iterator[tuple[Mapping[str, str], int]]:
    """(the addresses of the copies by name, the bytes that they took). Raises UpgradeCheckError."""
    cluster = settings.data_dir.resolve() / "postgres"
    server = EmbeddedPostgres(scratch / "postgres", durable=False)
    try:
        if settings.database_url:
            server.start()
            sources = {PLATFORM: settings.database_url} | _own_addresses(settings)
            yield _dumped(sources, server, scratch, step)
            return
        if not (cluster / "data/PG_VERSION").exists():
            raise UpgradeCheckError(
                f"there is no database in {cluster}: set DATABASE_URL, or check while the old platform runs"
            )
        needed = _copy_cluster(settings.data_dir.resolve(), cluster / "data", server.directory / "data", step)
        server.start()
        server.ensure_database(PLATFORM)
        elsewhere, dumped = _dumped(_own_addresses(settings), server, scratch, step, "_elsewhere")
        made = {name: elsewhere.get(name) or _made(server, name) for name in _CHAINS}
        yield made, needed + dumped
    except (EmbeddedServerError, BackupError, psycopg.Error) as error:
        raise UpgradeCheckError(str(error).strip()) from error
    finally:
        server.stop()


def _own_addresses(settings: Any) -> dict[str, str]:
    """The databases of services by name. Without DATABASE_URL only those whose address is set: they are elsewhere."""
    return {name: url for name, own in _OWN.items() if (url := own.address(settings))}


def _dumped(
    sources: Mapping[str, str], server: EmbeddedPostgres, scratch: Path, step: Step, ending: str = ""
) -> tuple[dict[str, str], int]:
    """(the addresses of the copies by name, the bytes that they need). Their names in `server` have this ending."""
    there = {name: url for name, url in sources.items() if name == PLATFORM or _is_there(name, url)}
    needed = DUMP_FACTOR * sum(_size_of(url) for url in there.values())
    require_space(scratch, needed)
    made = {}
    for name in sources:
        made[name] = _made(server, name, ending)
        if name in there:
            step(f"copying the database {name}")
            dump(there[name], scratch / name)
            load(made[name], scratch / name)
            shutil.rmtree(scratch / name)
    return made, needed


def _made(server: EmbeddedPostgres, name: str, ending: str = "") -> str:
    database = PLATFORM if name == PLATFORM else f"{PLATFORM}_{name}{ending}"
    server.ensure_database(database)
    return server.url(database)


def _is_there(name: str, url: str) -> bool:
    """Whether a service's own database is there: releases before that service have none.

    Only its server can say that it is missing. Raises UpgradeCheckError if it says something else, or nothing.
    """
    try:
        psycopg.connect(url, connect_timeout=CONNECT_TIMEOUT_S).close()
    except psycopg.Error as error:
        if asyncio.run(_is_missing(url)):
            return False
        # What an address that cannot be read is refused for may be a part of its password.
        reason = "its address cannot be read" if isinstance(error, psycopg.ProgrammingError) else str(error).strip()
        raise UpgradeCheckError(
            f"the database {name} at {without_password(url)} cannot be looked at: {reason}. Start its server, or set "
            f"{variable(_OWN[name].setting, PlatformSettings)} to its address, and check again"
        ) from error
    return True


async def _is_missing(url: str) -> bool:
    """Whether the server says that it has no such database. Of a connection, only asyncpg has the code of a refusal."""
    try:
        connection = await asyncpg.connect(url, timeout=CONNECT_TIMEOUT_S)
    except asyncpg.InvalidCatalogNameError:
        return True
    except (OSError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return False
    await connection.close(timeout=CONNECT_TIMEOUT_S)
    return False


def _size_of(url: str) -> int:
    with connected(url) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0


def _copy_cluster(data_dir: Path, source: Path, target: Path, step: Step) -> int:
    with platform_kept_away(data_dir):
        if _is_served(source):
            raise UpgradeCheckError(
                f"the PostgreSQL server of a killed platform still runs in {source}: start the old release and stop it"
            )
        needed = sum(path.lstat().st_size for path in source.rglob("*") if path.is_file())
        require_space(target.parent.parent, needed)
        step(f"copying {source}")
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("postmaster.pid", ".s.PGSQL*"))
    # As root, the server runs as the account that owns the original.
    if os.geteuid() == 0:
        owner = source.stat()
        for path in (target, *target.rglob("*")):
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
    return needed


@contextmanager
def platform_kept_away(data_dir: Path) -> Iterator[None]:
    """Hold the lock of the data directory, if it has one, so that no platform starts meanwhile."""
    try:
        descriptor = os.open(data_dir / "lock", os.O_RDONLY)
    except FileNotFoundError:
        yield
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise UpgradeCheckError(f"a platform starts or stops for {data_dir}: wait, and check again") from error
    finally:
        os.close(descriptor)


def _is_served(data: Path) -> bool:
    try:
        process = psutil.Process(int((data / "postmaster.pid").read_text("utf-8").split()[0]))
        return process.name() == "postgres" and Path(process.cwd()).samefile(data)
    except (OSError, psutil.Error, ValueError, IndexError):
        return False


def require_space(folder: Path, needed: int) -> None:
    """Raise UpgradeCheckError unless the disk of `folder` has `needed` bytes and some to spare."""
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE_BYTES:
        raise UpgradeCheckError(
            f"the copy needs {needed >> 20:,} MiB and {SPARE_BYTES >> 20} MiB to spare, and {folder} has "
            f"{free >> 20:,} MiB: name another disk with --scratch"
        )


def check_database(name: str, url: str, step: Step) -> tuple[DatabaseChecked, list[str]]:
    """Bring a copy up to date. Returns what was done and the problems. Raises UpgradeCheckError."""
    revision = _revision_of(url)
    size = _size_of(url)
    missing = missing_migrations(revision, _CHAINS[name])
    problems: list[str] = []
    before = contents_of(url)
    began = time.perf_counter()
    if missing is None:
        problems.append(
            f"the database {name} has the migration {revision}, which this release does not know: it was made by a "
            "newer release"
        )
    elif missing:
        step(f"bringing the copy of {name} up to date")
        try:
            upgrade(url, _CHAINS[name])
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).strip()
            problems.append(f"the migrations of the database {name} fail: {reason}")
        else:
            problems += lost(before, contents_of(url))
    checked = DatabaseChecked(
        name=name,
        size=size,
        revision=revision,
        migrations=missing or [],
        tables=len(before),
        rows=sum(each.rows for each in before.values()),
        seconds=round(time.perf_counter() - began, 1),
    )
    return checked, problems


def _revision_of(url: str) -> str:
    """The newest migration of a database; empty if it has none."""
    with psycopg.connect(url) as connection:
        there = connection.execute("SELECT to_regclass('alembic_version') IS NOT NULL").fetchone()
        if there is None or not there[0]:
            return ""
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(row[0]) if row else ""
