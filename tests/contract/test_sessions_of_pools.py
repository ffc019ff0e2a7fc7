"""No code that uses a pool changes its session: the next use of the connection would find the change."""

import re
from pathlib import Path

SOURCES = Path("src/openspot")
SESSION = re.compile(
    r"""pg_(try_)?advisory_lock(_shared)?\(|["\s]LISTEN\s+\w|add_listener\(|["\s]SET\s+SESSION\b"""
    r"""|"SET\s+(?!LOCAL)\w+\s*(=|TO)|set_config\([^)]*false|CREATE\s+TEMP(ORARY)?\s+TABLE(?![^;]*ON\s+COMMIT\s+DROP)"""
)
OWN_CONNECTION = {
    "archive/store.py",
    "market_data/verify.py",
    "migrations/env.py",
    "reconcile/money_checks.py",
    "reconcile/queries.py",
    "reconcile/rebuild.py",
    "reconcile/rebuild_ledger_queries.py",
    "reconcile/rebuild_positions.py",
    "reconcile/rebuild_rows.py",
    "reconcile/tables.py",
    "reserves/store.py",
    "resealing/run.py",
}
"""What runs on connections that are closed afterwards."""


def test_only_programs_with_connections_of_their_own_change_their_session() -> None:
    found = {
        str(path.relative_to(SOURCES)) for path in SOURCES.rglob("*.py") if SESSION.search(path.read_text("utf-8"))
    }
    assert found == OWN_CONNECTION
