"""A connection goes back to its pool as it is, so nobody may leave a lock, a setting or a table in a pool's session."""

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src/openspot"
OWN_CONNECTIONS = {
    # Commands, each with a connection of its own that ends with the command.
    "archive/store.py",
    "market_data/verify.py",
    "reconcile/money_checks.py",
    "reconcile/queries.py",
    "reconcile/rebuild.py",
    "reconcile/rebuild_ledger_queries.py",
    "reconcile/rebuild_positions.py",
    "reconcile/rebuild_rows.py",
    "reconcile/tables.py",
    "reserves/store.py",
}
LEAVES_STATE = re.compile(
    r"pg_(?:try_)?advisory_lock(?:_shared)?\b"
    r"|[\"'(]\s*SET\s+(?!LOCAL\b|CONSTRAINTS\b|TRANSACTION\b)[A-Za-z_.]+\s*(?:=|TO\b)"
    r"|[\"'(;]\s*(?:LISTEN|PREPARE)\s+\w"
    r"|\bset_config\("
    r"|\bWITH\s+HOLD\b"
    r"|\bCREATE\s+TEMP(?:ORARY)?\s+TABLE\b(?![^;\"]*\bON\s+COMMIT\s+DROP\b)"
    r"|\badd_listener\(|\bset_(?:builtin_)?type_codec\("
)


def files_that_leave_state() -> set[str]:
    return {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "migrations" not in path.parts and LEAVES_STATE.search(path.read_text("utf-8"))
    }


def test_only_commands_with_a_connection_of_their_own_leave_state_in_a_session() -> None:
    assert files_that_leave_state() == OWN_CONNECTIONS


@pytest.mark.parametrize(
    "statement",
    [
        '"SELECT pg_advisory_lock(1)"',
        '"SELECT pg_try_advisory_lock($1)"',
        "\"SET lock_timeout = '2s'\"",
        '"SET search_path TO other"',
        '"LISTEN orders"',
        "\"SELECT set_config('a.b', '1', false)\"",
        '"DECLARE rows CURSOR WITH HOLD FOR SELECT 1"',
        '"CREATE TEMPORARY TABLE kept (id bigint)"',
        "await connection.add_listener(channel, note)",
    ],
)
def test_state_in_a_session_is_recognised(statement: str) -> None:
    assert LEAVES_STATE.search(statement)


@pytest.mark.parametrize(
    "statement",
    [
        '"SELECT pg_advisory_xact_lock(1)"',
        '"SET LOCAL lock_timeout = 100"',
        '"UPDATE orders SET status = $1"',
        '"CREATE TEMPORARY TABLE owed ON COMMIT DROP AS SELECT 1"',
    ],
)
def test_what_ends_with_its_transaction_is_allowed(statement: str) -> None:
    assert not LEAVES_STATE.search(statement)
