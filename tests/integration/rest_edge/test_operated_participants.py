"""Participants as operators of the edge see them: who reads their risk, who freezes one, what the trail keeps."""

import csv
import io
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pyarrow.parquet
import pytest
from aiohttp import ClientSession

from openspot.http.operators import PERMISSIONS, OperatorRole
from openspot.http.policy import Permission
from openspot.kit.settings import Settings
from openspot.rest_edge.operators import exports
from tests.support.edge_operators import link_owners, make_operator
from tests.support.engine_client import EngineClient, running_engine
from tests.support.rest_client import PREFIX, RestClient, running_edge

FREEZE = "/operator/participants/alice/freeze"
BECAUSE = {"reason": "its orders look like those of a broken program"}


@asynccontextmanager
async def operated(
    settings: Settings, pool: asyncpg.Pool, role: OperatorRole
) -> AsyncIterator[tuple[RestClient, EngineClient]]:
    """An edge with its engine, where alice has an order, called by an operator who has one role."""
    async with running_engine(settings) as engine, running_edge(settings) as edge:
        await engine.fund("alice", USD="1000")
        await engine.place("buy", "100", "5")
        await make_operator(edge, pool, "ada@example.org", role)
        yield edge, engine


async def trail(pool: asyncpg.Pool) -> list[tuple[Any, ...]]:
    rows = await pool.fetch("SELECT * FROM operator_actions ORDER BY entry_number")
    names = ("operator", "action", "subject_kind", "subject_id", "reason")
    return [
        (*(row[name] for name in names), json.loads(row["before"]), json.loads(row["after"]))
        for row in rows
        if row["action"].startswith("participants.")
    ]


@pytest.mark.parametrize("role", OperatorRole)
async def test_risk_is_read_and_a_participant_frozen_by_whoever_has_the_permission(
    settings: Settings, pool: asyncpg.Pool, role: OperatorRole
) -> None:
    async with operated(settings, pool, role) as (edge, engine):
        who = (await edge("GET", "/operator/session")).body["operator"]
        risk = await edge("GET", "/operator/risk?participantId=alice")
        if Permission.RISK_READ in PERMISSIONS[role]:
            [row] = risk.body["metrics"]
            assert (row["utilisationPercent"], row["openOrders"], row["state"]) == ("50.00", 1, "active")
            assert (await edge("GET", "/operator/risk?limit=1")).body["metrics"] == [row]
        else:
            assert (risk.status, risk.code) == (403, "PERMISSION_MISSING")
        frozen = await edge("PUT", FREEZE, BECAUSE)
        if Permission.RISK_FREEZE_PARTICIPANT in PERMISSIONS[role]:
            assert (frozen.status, frozen.body) == (200, {"participantId": "alice", "state": "frozen"})
            assert (await engine.place("buy", "100", "1")).result_code != "SUCCESS"
            assert (await edge("PUT", FREEZE, BECAUSE)).status == 200
            ended = await edge("DELETE", FREEZE, {"reason": "the program is mended"})
            assert (ended.status, ended.body["state"]) == (200, "active")
            assert (await engine.place("buy", "100", "1")).result_code == "SUCCESS"
            subject, active, state = ("participant", "alice"), {"state": "active"}, {"state": "frozen"}
            assert await trail(pool) == [
                (who, "participants.freeze", *subject, BECAUSE["reason"], active, state),
                (who, "participants.unfreeze", *subject, "the program is mended", state, active),
            ]
        else:
            assert (frozen.status, frozen.code) == (403, "PERMISSION_MISSING")
            assert (await edge("DELETE", FREEZE, BECAUSE)).code == "PERMISSION_MISSING"
            assert await trail(pool) == []


@pytest.mark.parametrize("role", OperatorRole)
async def test_participants_and_balances_are_read_by_whoever_has_the_permission(
    settings: Settings, pool: asyncpg.Pool, role: OperatorRole
) -> None:
    async with operated(settings, pool, role) as (edge, _):
        participants = await edge("GET", "/operator/participants?limit=1&offset=1")
        alice = await edge("GET", "/operator/participants/alice")
        if Permission.PARTICIPANTS_READ in PERMISSIONS[role]:
            assert (len(participants.body["participants"]), participants.body["total"] > 1) == (1, True)
            assert (alice.body["participantId"], alice.body["type"], alice.body["state"]) == ("alice", "BOTH", "active")
        else:
            assert (participants.code, alice.code) == ("PERMISSION_MISSING", "PERMISSION_MISSING")
        balances = await edge("GET", "/operator/balances?participantId=alice&currency=USD")
        if Permission.BALANCES_READ_ALL in PERMISSIONS[role]:
            [row] = balances.body["balances"]
            assert (row["total"], row["available"], row["locked"]) == ("1000", "500", "500")
            assert (await edge("GET", "/operator/balances?limit=1")).body["balances"] != []
        else:
            assert (balances.status, balances.code) == (403, "PERMISSION_MISSING")


async def test_refusals_say_why_and_leave_participant_and_trail_as_they_are(
    settings: Settings, pool: asyncpg.Pool
) -> None:
    async with operated(settings, pool, OperatorRole.MARKET_OPERATIONS) as (edge, engine):
        await engine.fund("margin:alice")
        for method, participant_id, body, status, code in (
            ("PUT", "alice", {"reason": "no"}, 400, "VALIDATION_FAILED"),
            ("PUT", "no.id", BECAUSE, 400, "VALIDATION_FAILED"),
            ("PUT", "nobody", BECAUSE, 404, "AUTH_INVALID_USER"),
            ("PUT", "house:fees", BECAUSE, 409, "PARTICIPANT_NOT_FREEZABLE"),
            ("PUT", "margin:alice", BECAUSE, 409, "PARTICIPANT_NOT_FREEZABLE"),
            ("DELETE", "alice", BECAUSE, 409, "PARTICIPANT_NOT_FROZEN"),
        ):
            refused = await edge(method, f"/operator/participants/{participant_id}/freeze", body)
            assert (refused.status, refused.code) == (status, code), refused.body
        for path in (
            "risk?limit=0", "risk?limit=1001", "risk?participantId=no.id", "balances?limit=0", "balances?limit=1001",
            "balances?participantId=no.id", "balances?currency=usd", "participants?limit=0", "participants?limit=1001",
            "participants?offset=-1", "participants/no.id",
        ):  # fmt: skip
            assert (await edge("GET", f"/operator/{path}")).status == 400
        assert (await edge("GET", "/operator/participants/nobody")).status == 404
        assert (await engine.place("buy", "100", "1")).result_code == "SUCCESS"
        assert await trail(pool) == []


async def test_nobody_freezes_or_frees_an_account_of_their_own(settings: Settings, pool: asyncpg.Pool) -> None:
    async with operated(settings, pool, OperatorRole.MARKET_OPERATIONS) as (edge, engine):
        token, own = edge.token, (await edge("GET", "/operator/session")).body["operator"].removeprefix("user:")
        await make_operator(edge, pool, "linked@example.org", OperatorRole.AUDITOR)
        linked = (await edge("GET", "/operator/session")).body["operator"].removeprefix("user:")
        await link_owners(pool, "ada@example.org", "linked@example.org")
        edge.token = token
        for participant_id in (own, linked, f"margin:{own}"):
            await engine.fund(participant_id)
            for method in ("PUT", "DELETE"):
                refused = await edge(method, f"/operator/participants/{participant_id}/freeze", BECAUSE)
                assert (refused.status, refused.code) == (403, "OWN_ACCOUNT")


async def test_while_the_engine_is_silent_503_says_so(settings: Settings, pool: asyncpg.Pool) -> None:
    async with running_edge(settings) as edge:
        await make_operator(edge, pool, "ada@example.org", OperatorRole.MARKET_OPERATIONS)
        paths = ("/operator/risk", "/operator/balances", "/operator/participants", "/operator/participants/alice")
        for method, path, body in (*(("GET", path, None) for path in paths), ("PUT", FREEZE, BECAUSE)):
            refused = await edge(method, path, body)
            assert (refused.status, refused.code) == (503, "SERVICE_UNAVAILABLE")


async def test_an_auditor_saves_every_participant_once_as_a_file(
    settings: Settings, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "ROWS_AT_A_TIME", 2)
    async with operated(settings, pool, OperatorRole.AUDITOR) as (edge, engine):
        for name in ("bob", "carol", "dora"):
            await engine.fund(name, USD="1")
        listed = (await edge("GET", "/operator/participants?limit=1000")).body["participants"]
        reply = await edge("GET", "/operator/participants/all/export?reason=yearly%20audit")
        rows = list(csv.DictReader(io.StringIO(reply.body)))
        names = [row["participantId"] for row in listed]
        assert {"alice", "bob", "carol", "dora"} <= set(names)
        assert [row["participant_id"] for row in rows] == names
        assert rows[names.index("alice")]["state"] == "active"
        assert rows[0].keys() == {"participant_id", "state", "name", "type", "stp_mode", "created_at", "freezable"}
        entry = await pool.fetchrow("SELECT action, reason FROM operator_actions WHERE subject_id = 'participants'")
        assert entry is not None
        assert tuple(entry) == ("participants.exported", "yearly audit")
        assert (await edge("GET", "/operator/participants/all/export")).status == 400


async def test_market_operations_sees_participants_and_saves_no_file(settings: Settings, pool: asyncpg.Pool) -> None:
    async with operated(settings, pool, OperatorRole.MARKET_OPERATIONS) as (edge, _):
        assert (await edge("GET", "/operator/participants")).status == 200
        refused = await edge("GET", "/operator/participants/all/export?reason=curious")
        assert (refused.status, refused.code) == (403, "PERMISSION_MISSING")


async def saved(edge: RestClient, path: str) -> list[dict[str, str]]:
    """The rows of a file as CSV, after a look at the same file as Parquet: it has as many rows, with these columns."""
    reply = await edge("GET", f"/operator/{path}reason=yearly%20audit")
    rows = list(csv.DictReader(io.StringIO(reply.body)))
    url = f"{edge.settings.rest_url}{PREFIX}/operator/{path}reason=yearly%20audit&format=parquet"
    signed = {"Authorization": f"Bearer {edge.token}"}
    async with ClientSession() as session, session.get(url, headers=signed) as response:
        table = pyarrow.parquet.read_table(io.BytesIO(await response.read()))
    assert (response.status, table.num_rows) == (200, len(rows))
    assert table.column_names == reply.body.splitlines()[0].split(",")
    return rows


def named(listed: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Rows of a list as their file has them."""
    return [{re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name): str(value) for name, value in row.items()}
            for row in listed]  # fmt: skip


async def test_an_auditor_saves_all_balances_and_all_risk_as_files_in_the_order_of_accounts(
    settings: Settings, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "ROWS_AT_A_TIME", 2)
    async with operated(settings, pool, OperatorRole.AUDITOR) as (edge, engine):
        for name in ("bob", "carol", "dora"):
            await engine.fund(name, USD="1.5", BTC="0.000000000000000001")
        balances = named((await edge("GET", "/operator/balances")).body["balances"])
        assert len(balances) == 7
        assert await saved(edge, "balances/export?") == balances
        in_btc = [row for row in balances if row["currency"] == "BTC"]
        assert await saved(edge, "balances/export?currency=BTC&") == in_btc
        assert await saved(edge, "balances/export?currency=BTC&participantId=carol&") == [in_btc[1]]
        assert await saved(edge, "balances/export?participantId=nobody&") == []

        rows = await saved(edge, "risk/export?")
        metrics = named((await edge("GET", "/operator/risk")).body["metrics"])
        assert [(row["participant_id"], row["currency"]) for row in rows] == [
            (row["participant_id"], row["currency"]) for row in balances
        ]
        assert sorted(rows, key=str) == sorted(metrics, key=str)
        assert (rows[0]["utilisation_percent"], rows[0]["open_orders"]) == ("50.00", "1")
        assert await saved(edge, "risk/export?participantId=alice&") == [rows[0]]

        entries = await pool.fetch(
            "SELECT action, subject_id, reason, after FROM operator_actions WHERE action LIKE '%.exported'"
            " ORDER BY entry_number"
        )
        assert [(entry["action"], entry["subject_id"], entry["reason"]) for entry in entries] == [
            *[("balances.exported", "balances", "yearly audit")] * 8,
            *[("risk.exported", "risk", "yearly audit")] * 4,
        ]
        narrowed = {"participant": "carol", "currency": "BTC", "format": "parquet"}
        assert json.loads(entries[5]["after"]) == narrowed
        for bad in ("balances/export", "risk/export", "balances/export?reason=audit&currency=usd",
                    "risk/export?reason=audit&participantId=no.id"):  # fmt: skip
            assert (await edge("GET", f"/operator/{bad}")).status == 400


async def test_each_file_needs_the_permission_to_export_and_the_one_of_its_list(
    settings: Settings, pool: asyncpg.Pool
) -> None:
    needed = {"balances": Permission.BALANCES_READ_ALL, "risk": Permission.RISK_READ}
    async with running_engine(settings), running_edge(settings) as edge:
        for role in OperatorRole:
            await make_operator(edge, pool, f"{role.lower()}@example.org", role)
            for name, reading in needed.items():
                reply = await edge("GET", f"/operator/{name}/export?reason=yearly%20audit")
                if {Permission.BALANCES_EXPORT, reading} <= PERMISSIONS[role]:
                    assert reply.status == 200, (role, name)
                else:
                    assert (reply.status, reply.code) == (403, "PERMISSION_MISSING"), (role, name)


async def test_while_the_engine_is_silent_a_file_is_refused_and_not_broken(
    settings: Settings, pool: asyncpg.Pool
) -> None:
    async with running_edge(settings) as edge:
        await make_operator(edge, pool, "ada@example.org", OperatorRole.AUDITOR)
        for name in ("balances", "risk", "participants/all"):
            refused = await edge("GET", f"/operator/{name}/export?reason=yearly%20audit")
            assert (refused.status, refused.code) == (503, "SERVICE_UNAVAILABLE")
