"""An operator restarts a process, once: with a permission, a reason and an entry. The supervisor is this test's."""

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from openspot.http.operators import OperatorRole
from openspot.kit.settings import Settings
from openspot.kit.supervision import Action, ControlError, Fault, ProcessState, Reply, Request, SupervisedProcess
from openspot.up.control import ControlServer
from tests.support.edge_operators import make_operator
from tests.support.rest_client import RestClient

ASK = {"pid": 7, "reason": "its consumer is stuck"}
PATH = "/operator/processes/ledger/restart"


class FakeSupervisor:
    """Knows processes, and counts the entries of the trail when it is asked to restart one."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self.pool = pool
        self.asked: list[tuple[Request, int]] = []
        self.fault: Fault | None = None
        self.processes = [
            SupervisedProcess("nats", "NATS", ["nats"], ProcessState.RUNNING, 5, 1, 0, fixed="all wait for it"),
            SupervisedProcess("ledger", "Ledger", ["ledger"], ProcessState.RUNNING, 7, 1, 0),
            SupervisedProcess("custody", "Custody", ["custody"], ProcessState.STOPPED, 0, 0, 0),
            SupervisedProcess("rest-edge+router", "Both", ["rest-edge", "router"], ProcessState.RUNNING, 8, 1, 0),
        ]

    async def control(self, request: Request) -> Reply:
        if request.action is Action.PROCESSES:
            return Reply(processes=self.processes)
        self.asked.append((request, await self.pool.fetchval("SELECT count(*) FROM operator_actions")))
        if self.fault is not None:
            raise ControlError("as the supervisor says", self.fault)
        return Reply(services=next(each.services for each in self.processes if each.name == request.service))


@pytest.fixture
async def supervisor(edge: RestClient, settings: Settings, pool: asyncpg.Pool) -> AsyncIterator[FakeSupervisor]:
    made = FakeSupervisor(pool)
    server = ControlServer(Path(settings.data_dir), made.control)
    await server.start()
    yield made
    await server.stop()


async def test_a_restart_is_in_the_trail_before_it_begins(
    edge: RestClient, pool: asyncpg.Pool, supervisor: FakeSupervisor
) -> None:
    await make_operator(edge, pool, "ada@example.org", OperatorRole.ADMINISTRATOR)
    begun = await edge("POST", PATH, ASK)
    assert (begun.status, begun.body) == (202, {"process": "ledger", "services": ["ledger"]})
    ((request, entries),) = supervisor.asked
    assert (request.action, request.service, request.pid, entries) == (Action.BEGIN_RESTART, "ledger", 7, 1)
    entry = await pool.fetchrow("SELECT operator, action, subject_id, reason, before, after FROM operator_actions")
    assert tuple(entry) == (
        request.by, "process.restarted", "ledger", "its consumer is stuck", '{"pid":"7","state":"RUNNING"}',
        '{"services":"ledger"}',
    )  # fmt: skip
    shared = await edge("POST", "/operator/processes/router/restart", ASK | {"pid": 8})
    assert shared.body["services"] == ["rest-edge", "router"]


async def test_what_would_be_refused_leaves_no_entry(
    edge: RestClient, pool: asyncpg.Pool, supervisor: FakeSupervisor
) -> None:
    await make_operator(edge, pool, "sam@example.org", OperatorRole.AUDITOR)
    assert (await edge("POST", PATH, ASK)).code == "PERMISSION_MISSING"
    await make_operator(edge, pool, "ada@example.org", OperatorRole.ADMINISTRATOR)
    for name, body, status, code in (
        ("ledger", ASK | {"pid": 6}, 409, "PROCESS_CHANGED"),
        ("nats", ASK | {"pid": 5}, 409, "PROCESS_FIXED"),
        ("custody", ASK | {"pid": 0}, 409, "PROCESS_STOPPED"),
        ("ledgre", ASK, 404, "PROCESS_NOT_FOUND"),
        ("ledger", {"pid": 7}, 400, "VALIDATION_FAILED"),
        ("ledger", ASK | {"reason": " "}, 400, "VALIDATION_FAILED"),
        ("ledger", ASK | {"pid": "7"}, 400, "VALIDATION_FAILED"),
        ("ledger", ASK | {"pid": -1}, 400, "VALIDATION_FAILED"),
    ):
        refused = await edge("POST", f"/operator/processes/{name}/restart", body)
        assert (refused.status, refused.code) == (status, code), (name, body, refused.body)
    supervisor.processes = [
        SupervisedProcess("ledger", "Ledger", ["ledger"], ProcessState.RESTARTING, 7, 1, 0, is_asked=True)
    ]
    assert (await edge("POST", PATH, ASK)).code == "PROCESS_RESTARTING"
    assert supervisor.asked == []
    assert await pool.fetchval("SELECT count(*) FROM operator_actions") == 0


async def test_a_restart_that_came_too_late_is_refused_by_the_supervisor(
    edge: RestClient, pool: asyncpg.Pool, supervisor: FakeSupervisor
) -> None:
    await make_operator(edge, pool, "ada@example.org", OperatorRole.ADMINISTRATOR)
    supervisor.fault = Fault.CHANGED
    refused = await edge("POST", PATH, ASK)
    assert (refused.status, refused.code, refused.body["message"]) == (
        409, "PROCESS_CHANGED", "as the supervisor says",
    )  # fmt: skip


async def test_without_a_supervisor_nobody_restarts_anything(edge: RestClient, pool: asyncpg.Pool) -> None:
    await make_operator(edge, pool, "ada@example.org", OperatorRole.ADMINISTRATOR)
    refused = await edge("POST", PATH, ASK)
    assert (refused.status, refused.code) == (503, "SUPERVISOR_SILENT")
    assert "whoever started the process restarts it" in refused.body["message"]
    assert await pool.fetchval("SELECT count(*) FROM operator_actions") == 0
