"""What a service needs that moves money by transfers is there: its table, its kinds and the accounts of the house."""

import ast
from pathlib import Path

import asyncpg
import pytest

from openspot.domain import ids
from openspot.domain.ids import HOUSE_ACCOUNT_PURPOSES, HOUSE_PREFIX
from openspot.domain.transfer import TransferKind
from openspot.up.services import DESCRIPTORS

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "openspot"
COLUMNS = {
    "reference": ("text", "NO"),
    "kind": ("text", "NO"),
    "subject_id": ("text", "NO"),
    "movements": ("jsonb", "NO"),
    "status": ("text", "NO"),
    "result_code": ("text", "YES"),
    "attempts": ("integer", "NO"),
    "next_attempt_at": ("timestamp with time zone", "NO"),
    "created_at": ("timestamp with time zone", "NO"),
    "decided_at": ("timestamp with time zone", "YES"),
}


def stores_of(source: str) -> list[str]:
    """The tables that a Python source gives to a TransferStore."""
    return [
        ast.literal_eval(keyword.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "TransferStore"
        for keyword in node.keywords
        if keyword.arg == "table"
    ]


TABLES = sorted(
    (path.relative_to(SOURCES).parts[0], table)
    for path in SOURCES.rglob("*.py")
    if "TransferStore(" in (source := path.read_text("utf-8"))
    for table in stores_of(source)
)


def test_the_edges_table_is_found() -> None:
    assert ("rest_edge", "edge_transfers") in TABLES


@pytest.mark.parametrize(("package", "table"), TABLES)
async def test_a_table_of_transfers_has_what_the_shared_store_needs(
    package: str, table: str, pool: asyncpg.Pool, subscriptions_database_url: str
) -> None:
    descriptor = next(each for each in DESCRIPTORS if each.name.replace("-", "_") == package)
    assert table in descriptor.tables.owns
    if descriptor.database is None:
        await check_table(pool, table)
        return
    connection = await asyncpg.connect(subscriptions_database_url)
    await check_table(connection, table)
    await connection.close()


async def check_table(database: asyncpg.Pool | asyncpg.Connection, table: str) -> None:
    columns = await database.fetch(
        "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = $1", table
    )
    assert {row["column_name"]: (row["data_type"], row["is_nullable"]) for row in columns} == COLUMNS
    indexes = await database.fetch("SELECT indexdef FROM pg_indexes WHERE tablename = $1", table)
    definitions = "\n".join(row["indexdef"] for row in indexes)
    # Without the first, two rows have one reference; without the second, the timer reads the whole table each second.
    assert "(reference)" in definitions
    assert "(next_attempt_at) WHERE (status = 'pending'::text)" in definitions


def test_every_account_of_the_house_has_a_purpose_and_stands_in_the_documents() -> None:
    accounts = {
        value for name, value in vars(ids).items() if name.endswith("_ACCOUNT_ID") and value.startswith(HOUSE_PREFIX)
    }
    assert accounts == HOUSE_ACCOUNT_PURPOSES.keys()
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    assert [account for account in sorted(accounts - {ids.EXTERNAL_ACCOUNT_ID}) if f"`{account}`" not in page] == []
    report = (ROOT / "docs/guides/reconcile.md").read_text("utf-8")
    lines = [f" {account} ({purpose}): " for account, purpose in HOUSE_ACCOUNT_PURPOSES.items()]
    assert [line for line in lines if line not in report] == []


def test_the_protocol_names_every_kind_of_transfer() -> None:
    comment = f"  // {', '.join(list(TransferKind)[:-1])} or {list(TransferKind)[-1]}.\n  string kind = 2;"
    assert comment in (ROOT / "proto" / "exchange" / "v1" / "accounts.proto").read_text("utf-8")
