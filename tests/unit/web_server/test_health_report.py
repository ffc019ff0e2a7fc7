"""The health page's report: what services say, what they leave open, the last reconciliation, and who may see it."""

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from starlette.requests import Request

from openspot.engine_client.administrators import EngineSessions
from openspot.http.api_keys.networks import AllowedNetworks
from openspot.http.policy import Permission
from openspot.kit.alone import alone
from openspot.kit.backup_outcome import LAST
from openspot.kit.comparison_outcome import FAILURE, LOCK, REPORT
from openspot.kit.health import Health
from openspot.kit.intervals import IntervalSettings
from openspot.kit.process_ends import ProcessEnd, note_end
from openspot.web_server.booking import Booking
from openspot.web_server.console_routes import console_routes
from openspot.web_server.custody_gateway import CustodyGateway
from openspot.web_server.health_report import ENDS_SHOWN_MAX, HealthReporter, last_reconcile
from openspot.web_server.operators import Operators, UserSessions
from openspot.web_server.public_status import PublicStatus
from openspot.web_server.reconciliation import Reconciliation
from openspot.web_server.reserves import Proving
from openspot.web_server.run_notes import RunNotes
from openspot.web_server.service import by_path
from openspot.web_server.settings import WebServerSettings
from openspot.web_server.supervised import Supervised
from tests.support.asgi import ask
from tests.support.edge_operators import engine_token, participant_in
from tests.support.waiting import stretched

METRICS = """# TYPE openspot_router_translator_lag_events gauge
openspot_router_translator_lag_events 7.0
# TYPE openspot_bus_consumer_lag_messages gauge
openspot_bus_consumer_lag_messages{durable="ledger-settlement"} 3.0
# TYPE openspot_http_in_flight gauge
openspot_http_in_flight 5.0
"""
READY = {"status": "ok", "details": {"bus": {"status": "up"}, "database": {"status": "up"}}}
NOT_READY = {"status": "error", "details": {"bus": {"status": "up"}, "engine": {"status": "down", "message": "gone"}}}
DEGRADED = {
    "status": "ok",
    "details": {"bus": {"status": "up"}, "ledger-transfers": {"status": "degraded", "message": "stuck"}},
}


class Neighbours:
    """Services and an engine, as one server."""

    def __init__(self) -> None:
        self.sessions = {"operator": "SUPER_ADMIN", "robot": "SYSTEM", "trader": "BOTH"}

    def application(self) -> web.Application:
        application = web.Application()
        for name, body, status in (("good", READY, 200), ("bad", NOT_READY, 503), ("slow", DEGRADED, 200)):
            application.router.add_get(f"/{name}/ready", self._answer(json.dumps(body), status))
            application.router.add_get(f"/{name}/metrics", self._answer(METRICS, 200))
        application.router.add_get("/other/ready", self._answer("<html>not a service</html>", 200))
        application.router.add_get("/other/metrics", self._answer("", 200))
        application.router.add_post("/exchange.v1.AdminService/ValidateToken", self._validate)
        return application

    def _answer(self, text: str, status: int) -> "web.RequestHandler":  # type: ignore[type-arg]
        async def answer(request: web.Request) -> web.Response:
            return web.Response(text=text, status=status)

        return answer  # type: ignore[return-value]

    async def _validate(self, request: web.Request) -> web.Response:
        kind = self.sessions.get(participant_in((await request.json())["token"]))
        return web.json_response({"valid": kind is not None, "participantId": "p", "type": kind or ""})


@pytest.fixture
async def server() -> AsyncIterator[TestServer]:
    async with TestServer(Neighbours().application()) as running:
        yield running


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as client:
        yield client


async def test_each_service_is_shown_with_its_checks_and_what_it_has_still_to_do(
    server: TestServer, session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    watched = {name: str(server.make_url(f"/{name}")) for name in ("good", "bad", "other", "missing")}
    report = json.loads(await HealthReporter(session, watched, tmp_path, stretched(3)).report())
    good, bad, other, missing = report["services"]
    assert (good["title"], good["state"], bad["state"]) == ("good", "READY", "NOT_READY")
    assert [check["message"] for check in bad["checks"]] == ["", "gone"]
    assert good["lags"] == [
        {"name": "Engine events not published yet", "value": 7},
        {"name": "Messages not dealt with yet: ledger-settlement", "value": 3},
    ]
    assert (other["state"], missing["state"]) == ("SILENT", "SILENT")
    assert "no readable response from http://" in other["checks"][0]["message"]
    assert report["reconcile"] is None


async def test_a_degraded_service_is_ready_and_says_what_is_wrong(
    server: TestServer, session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    watched = {"slow": str(server.make_url("/slow"))}
    (slow,) = json.loads(await HealthReporter(session, watched, tmp_path, stretched(3)).report())["services"]
    assert slow["state"] == "READY"
    assert slow["checks"] == [{"name": "bus", "message": ""}, {"name": "ledger-transfers", "message": "stuck"}]


async def test_the_newest_ends_of_processes_come_first(session: aiohttp.ClientSession, tmp_path: Path) -> None:
    for number in range(ENDS_SHOWN_MAX + 1):
        note_end(tmp_path, ProcessEnd("ledger", "Ledger", number, "signal SIGKILL"))
    ends = json.loads(await HealthReporter(session, {}, tmp_path, stretched(3)).report())["ends"]
    newest = {"process": "ledger", "title": "Ledger", "atMs": ENDS_SHOWN_MAX, "cause": "signal SIGKILL"}
    assert ends[0] == newest | {"isAsked": False}
    assert [end["atMs"] for end in ends] == list(range(ENDS_SHOWN_MAX, 0, -1))


async def test_the_newest_comparison_and_backup_are_shown_with_their_outcome_and_when_the_next_is_due(
    session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    settings = IntervalSettings(data_dir=tmp_path, reconcile_every_s=86_400, backup_every_s=0)
    reporter = HealthReporter(session, {}, tmp_path, stretched(3), intervals=settings)

    async def works() -> list[dict[str, Any]]:
        return json.loads(await reporter.report())["works"]

    compared, backed_up = await works()
    nothing = {"madeAt": None, "failedAt": None, "reason": "", "isLate": False, "begun": None, "differences": None}
    assert backed_up == nothing | {"work": "backup", "dueAt": None}
    assert compared == nothing | {"work": "comparison", "dueAt": compared["dueAt"]}
    assert abs(compared["dueAt"] / 1000 - time.time()) < 600, "it is due now"
    (tmp_path / REPORT).write_text('{"at": 1000, "report": {"differences": [{}], "unnamed": 2}}', "utf-8")
    (tmp_path / FAILURE).write_text('{"at": 7000, "error": "no engine"}', "utf-8")
    (tmp_path / LAST).write_text('{"time": 2.5}', "utf-8")
    with alone(tmp_path / LOCK, "timetable") as begun:
        compared, backed_up = await works()
    assert compared == {
        "work": "comparison", "madeAt": 1000, "failedAt": 7000, "reason": "no engine", "isLate": True,
        "begun": {"by": "timetable", "at": begun.at}, "differences": 3, "dueAt": 607_000,
    }  # fmt: skip
    assert backed_up == nothing | {"work": "backup", "madeAt": 2500, "dueAt": None}


async def test_a_service_that_is_gone_is_silent(
    server: TestServer, session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    address = str(server.make_url("/good"))
    await server.close()
    report = json.loads(await HealthReporter(session, {"good": address}, tmp_path, stretched(3)).report())
    assert [service["state"] for service in report["services"]] == ["SILENT"]


@pytest.mark.parametrize(
    ("content", "shown"), [('{"at": 1, "error": "no engine"}', True), ("[]", False), ("{", False), (None, False)]
)
def test_a_damaged_outcome_of_a_reconciliation_is_none(tmp_path: Path, content: str | None, shown: bool) -> None:
    path = tmp_path / "reconcile.json"
    if content is not None:
        path.write_text(content)
    assert (last_reconcile(tmp_path) is not None) == shown


async def test_only_administrators_see_the_report(
    server: TestServer, session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    address = str(server.make_url("")).rstrip("/")
    operators = operators_of(session, address)
    reporter = HealthReporter(session, {}, tmp_path, stretched(3))

    async def no_pages(scope: object, receive: object, send: object) -> None:
        raise AssertionError("the report has a path of its own")

    nothing_runs = Reconciliation(tmp_path)
    custody = CustodyGateway(session, address, stretched(15))
    status = PublicStatus(reporter.services)
    proving = Proving(tmp_path)
    routes = console_routes(
        reporter,
        operators,
        nothing_runs,
        proving,
        Booking(tmp_path),
        RunNotes(session, address, stretched(3)),
        custody,
        status,
        Supervised(tmp_path),
        otherwise=no_pages,
    )
    application = by_path(routes, Health())
    statuses = {}
    for value in ("Bearer operator", "Bearer robot", "Bearer trader", "Bearer nobody", "operator", "Bearer ", ""):
        scheme, _, name = value.partition(" ")
        headers = {"authorization": f"{scheme} {engine_token(name)}" if name else value} if value else {}
        statuses[value] = (await ask(application, "GET", "/console/health.json", headers=headers)).status
    assert statuses == {
        "Bearer operator": 200,
        "Bearer robot": 200,
        "Bearer trader": 401,
        "Bearer nobody": 401,
        "operator": 401,
        "Bearer ": 401,
        "": 401,
    }
    posted = await ask(application, "POST", "/console/health.json", headers=bearer("operator"))
    assert posted.status == 405


async def test_while_the_engine_is_silent_only_sessions_that_it_knew_may_look(
    server: TestServer, session: aiohttp.ClientSession
) -> None:
    operators = operators_of(session, str(server.make_url("")).rstrip("/"))
    assert await operators.may_look(request_of("operator"), Permission.HEALTH_READ) is None
    await server.close()
    assert await operators.may_look(request_of("operator"), Permission.HEALTH_READ) is None
    assert await operators.may_look(request_of("operator"), Permission.AUDIT_READ) is not None
    refused = await operators.may_look(request_of("robot"), Permission.HEALTH_READ)
    assert refused is not None and refused.status == 401


def operators_of(session: aiohttp.ClientSession, address: str) -> Operators:
    engine, users = EngineSessions(session, address, stretched(3)), UserSessions(session, address, stretched(3))
    return Operators(engine, users, AllowedNetworks(()))


def bearer(name: str) -> dict[str, str]:
    return {"authorization": f"Bearer {engine_token(name)}"}


def request_of(name: str) -> Request:
    headers = [(key.encode(), value.encode()) for key, value in bearer(name).items()]
    return Request({"type": "http", "headers": headers, "client": ("127.0.0.1", 1)})


def test_watched_services_are_read_from_their_setting() -> None:
    settings = WebServerSettings(watched_services="Order router=http://127.0.0.1:3006/, Ledger=http://10.0.0.2:3007")
    assert settings.watched == {"Order router": "http://127.0.0.1:3006", "Ledger": "http://10.0.0.2:3007"}
    with pytest.raises(ValueError, match="OPENSPOT_WATCHED_SERVICES: 'Ledger' is not title=address"):
        _ = WebServerSettings(watched_services="Ledger").watched
