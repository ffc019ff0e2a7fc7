"""What packages say of themselves is whole, and true of the database and of the sources."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import asyncpg
import pytest

import openspot
from openspot.kit.settings import generated_secrets
from openspot.reconcile.money_checks import tables_compared
from openspot.up.services import DESCRIPTOR_OF, DESCRIPTORS, SERVICES, PlatformSettings
from tests.support.sql_texts import names_tables_by_placeholder, uses

SOURCES = Path(openspot.__file__).parent
PACKAGES = sorted(
    path.name for path in SOURCES.iterdir() if path.is_dir() and path.name not in ("__pycache__", "migrations")
)
TABLES_OF = {descriptor.name.replace("-", "_"): descriptor.tables for descriptor in DESCRIPTORS}
ON_PLATFORM = [descriptor for descriptor in DESCRIPTORS if descriptor.database is None]
OWN_DATABASES = {descriptor.name: descriptor for descriptor in DESCRIPTORS if descriptor.database is not None}
OF_HTTP = {"audit_records", "idempotency_keys"}
"""Tables of the HTTP layer that a service's own database has too."""
REPAIRED_BY_PLACEHOLDER = {"orders", "trades"}
"""The repair of rows has one SQL for both tables."""
TABLES_AND_SEQUENCES = """
    SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = 'public' AND relkind IN ('r', 'p', 'v', 'm', 'S') AND relname <> 'alembic_version'
    -- The sequence of an identity column belongs to its table.
    AND NOT EXISTS (
        SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'i'
    )
"""


@pytest.fixture
async def tables(pool: asyncpg.Pool) -> set[str]:
    """Every table and sequence that the migrations make."""
    found = {row["relname"] for row in await pool.fetch(TABLES_AND_SEQUENCES)}
    assert len(found) > 10
    return found


@pytest.fixture
async def own_tables(subscriptions_database_url: str) -> dict[str, set[str]]:
    """The same of each database that a service has for itself."""
    connection = await asyncpg.connect(subscriptions_database_url)
    found = {row["relname"] for row in await connection.fetch(TABLES_AND_SEQUENCES)}
    await connection.close()
    return {"subscriptions": found}


@pytest.mark.spec("A1.1-17")
async def test_a_database_of_a_services_own_holds_its_tables_and_no_others(
    own_tables: dict[str, set[str]], tables: set[str]
) -> None:
    assert own_tables.keys() == OWN_DATABASES.keys()
    for name, found in own_tables.items():
        owned = set(OWN_DATABASES[name].tables.owns)
        assert found == owned | OF_HTTP
        assert not owned & tables
        assert OWN_DATABASES[name].tables.reads == ()


async def test_every_table_has_one_owner_and_nobody_reads_what_is_not_there(tables: set[str]) -> None:
    owners = Counter(table for descriptor in ON_PLATFORM for table in descriptor.tables.owns)
    assert owners == Counter(tables)
    for descriptor in ON_PLATFORM:
        assert set(descriptor.tables.reads) <= tables - set(descriptor.tables.owns)
        assert set(descriptor.tables.repairs) <= tables
        assert not (descriptor.tables.repairs and descriptor.processes), "a service writes its own tables only"


@pytest.mark.parametrize("package", PACKAGES)
async def test_sql_touches_only_tables_that_its_package_owns_or_reads(
    package: str, tables: set[str], own_tables: dict[str, set[str]]
) -> None:
    tables = tables.union(*own_tables.values())
    own = TABLES_OF.get(package)
    owned, read = (set(own.owns), set(own.reads)) if own else (set(), set())
    found = [use for path in sorted((SOURCES / package).rglob("*.py")) for use in uses(path, tables)]
    repaired = set(own.repairs) if own else set()
    strangers = [use for use in found if use.table not in (owned | repaired if use.writes else owned | read | repaired)]
    assert strangers == []
    # And nothing is claimed that the package has no use for. The comparisons name their tables beside their SQL.
    named = set(tables_compared()) if package == "reconcile" else set()
    assert {use.table for use in found} | named == owned | read | repaired
    assert repaired <= {use.table for use in found if use.writes} | REPAIRED_BY_PLACEHOLDER


def test_only_shared_sql_takes_the_names_of_its_tables() -> None:
    # The erasure's tables stand in a tuple beside it, and all of them in SQL of the same package. Those of reconcile
    # stand in its comparisons and in its descriptor. The check of an upgrade counts every table of a copy, whoever owns
    # it.
    assert [
        str(path.relative_to(SOURCES)) for path in sorted(SOURCES.rglob("*.py")) if names_tables_by_placeholder(path)
    ] == [
        "engine_transfers/store.py",
        "reconcile/money_checks.py",
        "reconcile/rebuild_ledger_queries.py",
        "reconcile/rebuild_rows.py",
        "reconcile/tables.py",
        "rest_edge/identity/users/erasure.py",
        "rest_edge/operators/moves/table.py",
        "upgrade_check/contents.py",
    ]


def test_the_command_line_has_no_sql_of_its_own() -> None:
    every_table = {table for descriptor in DESCRIPTORS for table in descriptor.tables.owns}
    assert [use for path in SOURCES.glob("*.py") for use in uses(path, every_table)] == []


def test_names_are_unique_and_dependencies_are_there() -> None:
    assert len({descriptor.name for descriptor in DESCRIPTORS}) == len(DESCRIPTORS)
    assert len(SERVICES) == sum(len(descriptor.processes) for descriptor in DESCRIPTORS)
    started: set[str] = set()
    for name, process in SERVICES.items():
        assert {*process.after, *process.uses} <= started, f"{name} comes before what it needs"
        # What a process waits for when it starts, it still needs while it stops.
        assert {*process.after} <= {*process.uses}, f"{name} stops together with what it waited for"
        started.add(name)


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_process_names_settings_of_its_own_class(name: str) -> None:
    process, settings = SERVICES[name], DESCRIPTOR_OF[name].settings
    assert issubclass(PlatformSettings, settings)
    assert process.listeners
    assert {process.host, *(listener.setting for listener in process.listeners)} <= set(settings.model_fields)
    assert set(process.secrets_checked) <= set(generated_secrets(settings))


def test_descriptors_load_nothing_that_only_the_services_need() -> None:
    program = "import sys, openspot.up.services; print([name for name in sys.argv[1:] if name in sys.modules])"
    heavy = ["grpc", "fastapi", "aiohttp", "asyncpg", "dbos", "nats", "sqlalchemy", "uvicorn", "websockets"]
    outcome = subprocess.run([sys.executable, "-c", program, *heavy], capture_output=True, text=True, check=True)
    assert outcome.stdout == "[]\n"


def test_no_two_listeners_have_the_same_port_by_default() -> None:
    ports = [getattr(PlatformSettings(), listener.setting) for p in SERVICES.values() for listener in p.listeners]
    assert len(set(ports)) == len(ports)
