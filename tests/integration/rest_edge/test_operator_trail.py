"""The trail of operators: one chain from concurrent writers, kept as it is, checked, searched and exported."""

import asyncio
import csv
import getpass
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pyarrow.parquet
import pytest

from openspot.http.operators import OperatorRole
from openspot.kit.settings import Settings, as_part
from openspot.rest_edge.operators.trail import VALUES_LENGTH_MAX, OperatorAction, record_action
from openspot.rest_edge.operators.trail_command import TrailError, export, verify
from openspot.rest_edge.operators.trail_heads import HEADS_NAME, HeadKeeper, kept_heads
from openspot.rest_edge.settings import RestEdgeSettings
from tests.support.edge_operators import make_operator
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually


@pytest.fixture
def command_settings(settings: Settings, tmp_path: Path) -> RestEdgeSettings:
    """What `openspot audit` works with, with heads of this test alone."""
    return as_part(settings.model_copy(update={"data_dir": tmp_path}), RestEdgeSettings)


def act(subject: str = "u1", operator: str = "user:ada", **fields: object) -> OperatorAction:
    given = {"action": "users.annotate", "subject_kind": "user", "reason": "asked by phone", "address": "192.0.2.7"}
    return OperatorAction(operator=operator, subject_id=subject, **(given | fields))  # type: ignore[arg-type]


async def write(pool: asyncpg.Pool, *actions: OperatorAction) -> None:
    for action in actions:
        async with pool.acquire() as connection, connection.transaction():
            await record_action(connection, action)


async def tamper(pool: asyncpg.Pool, statement: str) -> None:
    """Do what only the owner of the database can do, past the trigger."""
    await pool.execute("ALTER TABLE operator_actions DISABLE TRIGGER operator_actions_stay")
    await pool.execute(statement)
    await pool.execute("ALTER TABLE operator_actions ENABLE TRIGGER operator_actions_stay")


async def test_entries_of_writers_at_the_same_time_make_one_chain(
    pool: asyncpg.Pool, command_settings: RestEdgeSettings
) -> None:
    await asyncio.gather(*(write(pool, act(f"u{number}")) for number in range(20)))
    found = await verify(command_settings)
    assert (found.entries, found.heads, found.erased, found.head.number) == (20, 0, 0, 20)
    times = [row["at_ms"] for row in await pool.fetch("SELECT at_ms FROM operator_actions ORDER BY entry_number")]
    assert times == sorted(times)


async def test_a_change_that_fails_leaves_no_entry(pool: asyncpg.Pool) -> None:
    with pytest.raises(ZeroDivisionError):
        async with pool.acquire() as connection, connection.transaction():
            await record_action(connection, act())
            raise ZeroDivisionError
    assert await pool.fetchval("SELECT count(*) FROM operator_actions") == 0


@pytest.mark.parametrize("statement", ["UPDATE operator_actions SET reason = ''", "DELETE FROM operator_actions",
                                       "TRUNCATE operator_actions CASCADE"])  # fmt: skip
async def test_the_database_changes_no_entry(pool: asyncpg.Pool, statement: str) -> None:
    await write(pool, act())
    with pytest.raises(asyncpg.RestrictViolationError, match="never changed"):
        await pool.execute(statement)


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE operator_actions SET reason = 'another' WHERE entry_number = 3", "entry 3 is changed"),
        ("UPDATE operator_actions SET at_ms = at_ms + 1 WHERE entry_number = 1", "entry 1 is changed"),
        ("UPDATE operator_actions SET after = '{}' WHERE entry_number = 5", "entry 5 is changed"),
        ("DELETE FROM operator_actions WHERE entry_number = 2", "entry 2 is missing"),
        ("DELETE FROM operator_actions WHERE entry_number = 1", "entry 1 is missing"),
        ("UPDATE operator_action_origins SET address = '10.0.0.1' WHERE entry_number = 4", "the address of entry 4"),
    ],
)
async def test_verify_names_the_first_entry_that_is_wrong(
    pool: asyncpg.Pool, command_settings: RestEdgeSettings, statement: str, fault: str
) -> None:
    await write(pool, *(act(f"u{number}", after={"note": str(number)}) for number in range(5)))
    assert (await verify(command_settings)).entries == 5
    await pool.execute("ALTER TABLE operator_action_origins DROP CONSTRAINT operator_action_origins_entry_number_fkey")
    try:
        await tamper(pool, statement)
        with pytest.raises(TrailError, match=fault):
            await verify(command_settings)
    finally:
        await pool.execute("DELETE FROM operator_action_origins")
        await pool.execute(
            "ALTER TABLE operator_action_origins ADD FOREIGN KEY (entry_number) REFERENCES operator_actions"
        )


async def test_an_end_that_was_cut_off_is_noticed_by_the_heads(
    pool: asyncpg.Pool, command_settings: RestEdgeSettings
) -> None:
    keeper = HeadKeeper(pool, command_settings.data_dir)
    await keeper.keep()
    await write(pool, act("u1"), act("u2"))
    await keeper.keep()
    await keeper.keep()
    await write(pool, act("u3"))
    await HeadKeeper(pool, command_settings.data_dir).keep()
    assert [head.number for head in kept_heads(command_settings.data_dir / HEADS_NAME)] == [2, 3]
    before = await verify(command_settings)
    assert (before.entries, before.heads) == (3, 2)
    await pool.execute("DELETE FROM operator_action_origins WHERE entry_number = 3")
    await tamper(pool, "DELETE FROM operator_actions WHERE entry_number = 3")
    with pytest.raises(TrailError, match=r"entry 3 is missing: the trail was cut off, operator-trail\.heads knew it"):
        await verify(command_settings)
    # Whoever writes other entries in place of those that are gone has other hashes.
    await write(pool, act("u9"))
    with pytest.raises(TrailError, match="entry 3 is another than the one"):
        await verify(command_settings)
    (command_settings.data_dir / HEADS_NAME).unlink()
    assert (await verify(command_settings)).heads == 0
    with pytest.raises(TrailError, match="entry 3 is another than the one that the heads that you gave knew"):
        await verify(command_settings, [f"3:{before.head.hash}"])
    with pytest.raises(TrailError, match="'3:x' is no head"):
        await verify(command_settings, ["3:x"])


async def test_a_line_of_heads_that_a_power_cut_has_cut_is_replaced(
    pool: asyncpg.Pool, command_settings: RestEdgeSettings
) -> None:
    path = command_settings.data_dir / HEADS_NAME
    await write(pool, act("u1"))
    await HeadKeeper(pool, command_settings.data_dir).keep()
    path.write_bytes(path.read_bytes() + b"2:abc")
    assert (await verify(command_settings)).heads == 1
    await write(pool, act("u2"))
    await HeadKeeper(pool, command_settings.data_dir).keep()
    assert (await verify(command_settings)).heads == 2
    path.write_text("nonsense\n")
    with pytest.raises(TrailError, match=r"operator-trail\.heads, line 1"):
        await verify(command_settings)


async def test_a_running_edge_keeps_the_head(edge: RestClient, pool: asyncpg.Pool, settings: Settings) -> None:
    await write(pool, act())
    newest = await pool.fetchval("SELECT hash FROM operator_actions")

    async def is_kept() -> bool:
        return any(head.hash == newest for head in kept_heads(settings.data_dir / HEADS_NAME))

    await eventually(is_kept)


async def test_the_trail_is_searched_by_operator_subject_action_and_time(edge: RestClient, pool: asyncpg.Pool) -> None:
    await make_operator(edge, pool, "auditor@example.org", OperatorRole.AUDITOR)
    await write(
        pool,
        act("u1", before={"note": None}, after={"note": "=1+1"}),
        act("u2", operator="engine:root", action="users.lock_login"),
        act("u1", operator="shell:root", action="operators.roles"),
    )

    async def numbers(query: str) -> list[int]:
        reply = await edge("GET", f"/operator/trail?{query}")
        assert reply.status == 200, reply.body
        return [entry["number"] for entry in reply.body]

    assert await numbers("") == [3, 2, 1]
    assert await numbers("operator=engine:root") == [2]
    assert await numbers("subjectId=u1") == [3, 1]
    assert await numbers("subjectId=u1&action=operators.roles&subjectKind=user") == [3]
    now = datetime.now(UTC)
    soon, past = ((now + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ") for hours in (1, -1))
    assert await numbers(f"from={past}&to={soon}") == [3, 2, 1]
    assert await numbers(f"from={soon}") == await numbers(f"to={past}") == []

    first = await edge("GET", "/operator/trail?limit=2")
    cursor = first.headers["X-Next-Cursor"]
    assert [entry["number"] for entry in first.body] == [3, 2]
    second = await edge("GET", f"/operator/trail?limit=2&cursor={cursor}")
    assert "X-Next-Cursor" not in second.headers
    (entry,) = second.body
    stored = await pool.fetchrow("SELECT hash, at_ms FROM operator_actions WHERE entry_number = 1")
    assert stored is not None
    assert entry == {
        "number": 1, "operator": "user:ada", "action": "users.annotate", "subjectKind": "user", "subjectId": "u1",
        "reason": "asked by phone", "before": {"note": None}, "after": {"note": "=1+1"}, "requestId": "",
        "address": "192.0.2.7", "hash": stored["hash"], "time": entry["time"],
    }  # fmt: skip
    assert (await edge("GET", "/operator/trail?from=yesterday")).status == 400


async def test_the_export_has_every_entry_and_no_formula(
    edge: RestClient, pool: asyncpg.Pool, command_settings: RestEdgeSettings
) -> None:
    await make_operator(edge, pool, "auditor@example.org", OperatorRole.AUDITOR)
    await write(pool, act("u1", reason='=cmd|"x"'), act("u2"))
    reply = await edge("GET", "/operator/trail/export?subjectId=u1&reason=yearly%20audit")
    assert reply.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(reply.body, newline="")))
    assert [(row["entry"], row["reason"], row["address"]) for row in rows] == [("1", '\'=cmd|"x"', "192.0.2.7")]
    path = command_settings.data_dir / "trail.csv"
    await export(command_settings, path, "kept elsewhere")
    with path.open(newline="") as file:
        assert [row["entry"] for row in csv.DictReader(file)] == ["4", "3", "2", "1"]
    with pytest.raises(FileExistsError):
        await export(command_settings, path, "kept elsewhere")
    table = command_settings.data_dir / "trail.parquet"
    await export(command_settings, table, "kept elsewhere")
    found = pyarrow.parquet.read_table(table).to_pylist()
    assert [(row["entry"], row["reason"]) for row in found] == [
        (5, "kept elsewhere"), (4, "kept elsewhere"), (3, "yearly audit"), (2, "asked by phone"), (1, '=cmd|"x"'),
    ]  # fmt: skip
    assert found[0]["time"].tzinfo is not None
    assert found[0]["previousHash"] == found[1]["hash"]


async def test_an_export_of_the_trail_needs_a_reason_and_is_the_newest_entry_of_its_file(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    await write(pool, act("u1"))
    await make_operator(edge, pool, "sam@example.org", OperatorRole.SUPPORT)
    assert (await edge("GET", "/operator/trail/export?reason=curious")).status == 403
    await make_operator(edge, pool, "eve@example.org", OperatorRole.AUDITOR)
    eve = await pool.fetchval("SELECT user_id FROM users WHERE email = 'eve@example.org'")
    for bad in ("", "?reason=no", "?reason=%20%20%20", "?reason=audit&format=xlsx", "?reason=audit&from=yesterday"):
        assert (await edge("GET", f"/operator/trail/export{bad}")).status == 400, bad
    assert await pool.fetchval("SELECT count(*) FROM operator_actions") == 1
    reply = await edge("GET", "/operator/trail/export?reason=yearly%20audit&from=2026-01-01T00:00:00Z")
    rows = list(csv.DictReader(io.StringIO(reply.body, newline="")))
    assert [row["entry"] for row in rows] == ["2", "1"]
    newest = rows[0]
    assert (newest["operator"], newest["action"], newest["reason"]) == (f"user:{eve}", "trail.exported", "yearly audit")
    assert (newest["subjectKind"], newest["subjectId"]) == ("list", "trail")
    after = json.loads(newest["after"])
    assert {name: value for name, value in after.items() if value is not None} == {
        "from": "2026-01-01T00:00:00+00:00", "format": "csv",
    }  # fmt: skip
    reply = await edge("GET", "/operator/trail/export?reason=again&action=users.annotate")
    assert [row["entry"] for row in csv.DictReader(io.StringIO(reply.body, newline=""))] == ["1"]
    assert await pool.fetchval("SELECT count(*) FROM operator_actions WHERE action = 'trail.exported'") == 2


async def test_the_command_writes_its_own_entry_and_needs_a_reason(
    pool: asyncpg.Pool, command_settings: RestEdgeSettings
) -> None:
    await write(pool, act("u1"))
    path = command_settings.data_dir / "trail.csv"
    for bad in ("", "  no  ", "x" * 501, "two\nlines"):
        with pytest.raises(TrailError, match="reason"):
            await export(command_settings, path, bad)
    assert not path.exists() and await pool.fetchval("SELECT count(*) FROM operator_actions") == 1
    await export(command_settings, path, " yearly audit ")
    with path.open(newline="") as file:
        newest, first = csv.DictReader(file)
    assert (newest["operator"], newest["action"], newest["reason"]) == (
        f"shell:{getpass.getuser()}", "trail.exported", "yearly audit",
    )  # fmt: skip
    assert (newest["subjectKind"], newest["subjectId"], json.loads(newest["after"])["format"]) == (
        "list",
        "trail",
        "csv",
    )
    assert newest["previousHash"] == first["hash"]
    assert (await verify(command_settings)).entries == 2


async def test_an_export_that_cannot_be_written_whole_leaves_no_file(
    pool: asyncpg.Pool, command_settings: RestEdgeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(pool, act("u1"))
    lost = command_settings.model_copy(
        update={"database_url": "postgresql://x@127.0.0.1:9/x", "request_timeout_s": 0.1}
    )
    path = command_settings.data_dir / "trail.csv"
    with pytest.raises(TrailError, match="not running here"):
        await export(lost, path, "kept elsewhere")
    assert not path.exists()
    monkeypatch.setattr("openspot.rest_edge.operators.trail_command.has_parquet", lambda: False)
    with pytest.raises(TrailError, match="Parquet needs pyarrow"):
        await export(command_settings, path.with_suffix(".parquet"), "kept elsewhere")


async def test_an_export_of_many_pages_is_whole(
    pool: asyncpg.Pool, command_settings: RestEdgeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openspot.rest_edge.operators.trail_pages.EXPORT_PAGE", 2)
    await write(pool, *(act(f"u{number}") for number in range(4)))
    path = command_settings.data_dir / "trail.csv"
    await export(command_settings, path, "kept elsewhere")
    with path.open(newline="") as file:
        assert [row["subjectId"] for row in csv.DictReader(file)] == ["trail", "u3", "u2", "u1", "u0"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("operator", "ada"), ("operator", "user:"), ("action", "Users"), ("subject_kind", ""), ("subject", ""),
        ("subject", "x" * 129), ("reason", "no"), ("reason", "x" * 501),
        ("after", {"note": "x" * VALUES_LENGTH_MAX}),
    ],
)  # fmt: skip
def test_an_action_of_another_form_is_refused(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=field):
        act(**{field: value})  # type: ignore[arg-type]
