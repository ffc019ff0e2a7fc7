"""What the web server itself serves to the console: who may call it, the comparison, and calls passed on to custody."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from openspot.engine_client.administrators import EngineSessions
from openspot.http.api_keys.networks import AllowedNetworks
from openspot.kit.alone import alone
from openspot.kit.comparison_outcome import LOCK
from openspot.web_server.booking import Booking
from openspot.web_server.bounded_body import BODY_BYTES_MAX as BOUND
from openspot.web_server.console_routes import console_routes
from openspot.web_server.custody_gateway import BODY_BYTES_MAX, CustodyGateway
from openspot.web_server.health_report import HealthReporter
from openspot.web_server.operators import Operators, UserSessions
from openspot.web_server.public_status import PublicStatus
from openspot.web_server.reconciliation import Reconciliation
from openspot.web_server.reserves import Proving
from openspot.web_server.run_notes import RunNotes
from openspot.web_server.supervised import Supervised
from tests.support.asgi import Reply, ask
from tests.support.edge_operators import engine_token, participant_in
from tests.support.waiting import eventually, stretched

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from page_routes import routes

OPERATOR = {"authorization": f"Bearer {engine_token('operator')}"}
TRADER = {"authorization": f"Bearer {engine_token('trader')}"}
WHY = b'{"reason":"an account looks wrong"}'
WITHDRAWALS = "/console/custody/withdrawals"


class Platform:
    """An engine that knows sessions, and a custody that notes its calls."""

    def __init__(self) -> None:
        self.sessions = {"operator": "SUPER_ADMIN", "trader": "BOTH"}
        self.calls: list[tuple[str, str, str | None, bytes]] = []
        self.users = {"auditor": ["health.read", "console.use", "new.in_a_later_version"]}
        self.forwarded: list[str | None] = []
        self.status = 200
        self.note_status = 201
        self.notes: list[tuple[str, str, str]] = []
        self.reasons: list[str] = []
        self.more: dict[str, str] = {}

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_post("/exchange.v1.AdminService/ValidateToken", self._validate)
        application.router.add_get("/api/v1/operator/session", self._session)
        application.router.add_post("/api/v1/operator/runs/{run}", self._note)
        application.router.add_route("*", "/operator/{path:.*}", self._custody)
        return application

    async def _validate(self, request: web.Request) -> web.Response:
        kind = self.sessions.get(participant_in((await request.json())["token"]))
        return web.json_response({"valid": kind is not None, "participantId": "olivia", "type": kind or ""})

    async def _session(self, request: web.Request) -> web.Response:
        permissions = self.users.get(request.headers["authorization"].removeprefix("Bearer "))
        self.forwarded.append(request.headers.get("x-forwarded-for"))
        if permissions is None:
            return web.json_response({"message": "a second factor is missing"}, status=403)
        return web.json_response({"operator": "user:u1", "roles": ["AUDITOR"], "permissions": permissions})

    async def _note(self, request: web.Request) -> web.Response:
        if self.note_status == 201:
            forwarded = request.headers["x-forwarded-for"]
            self.notes.append((request.match_info["run"], request.headers["authorization"], forwarded))
            self.reasons.append((await request.json())["reason"])
        return web.json_response({"entry": 1, "message": ["as the edge says"]}, status=self.note_status)

    async def _custody(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.calls.append((request.method, request.path, request.headers.get("authorization"), body))
        return web.json_response({"message": "as custody says", **self.more}, status=self.status)


@pytest.fixture
def platform() -> Platform:
    return Platform()


@pytest.fixture
async def server(platform: Platform) -> AsyncIterator[TestServer]:
    async with TestServer(platform.application()) as running:
        yield running


def program(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text)


class Console:
    """The routes, with a program that stands for `openspot reconcile`."""

    networks = AllowedNetworks(())

    def __init__(self, client: aiohttp.ClientSession, url: str, folder: Path, command: str, timeout_s: float) -> None:
        self.client, self.url, self.folder = client, url, folder
        self.reconciliation = Reconciliation(folder, program(command), timeout_s)
        self.proving = Proving(folder, program(command), timeout_s)
        self.booking = Booking(folder, program(command), timeout_s)
        self.reporter = HealthReporter(client, {}, folder, stretched(3), self.reconciliation)
        operators = Operators(
            EngineSessions(client, url, stretched(3)), UserSessions(client, url, stretched(3)), self.networks
        )
        self.application = console_routes(
            self.reporter,
            operators,
            self.reconciliation,
            self.proving,
            self.booking,
            RunNotes(client, url, stretched(3)),
            CustodyGateway(client, url, stretched(15)),
            PublicStatus(self.reporter.services),
            Supervised(folder),
            otherwise=self._nothing,
        )

    async def _nothing(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 418, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def ended(self) -> None:
        async def is_idle() -> bool:
            return not self.reconciliation.is_running

        await eventually(is_idle, 60)


@pytest.fixture
async def console(server: TestServer, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Console]:
    command, timeout_s = getattr(request, "param", ("", 60.0))
    async with aiohttp.ClientSession() as client:
        made = Console(client, str(server.make_url("")).rstrip("/"), tmp_path, command, timeout_s)
        yield made
        await made.reconciliation.stop()


LEAVES_AN_OUTCOME = """
import json, os, pathlib, sys
strangers = sorted(name for name in os.environ if name.startswith("OPENSPOT_"))
folder = pathlib.Path(os.environ["OPENSPOT_DATA_DIR"])
(folder / "reconcile.json").write_text(json.dumps({"at": 1, "error": " ".join(strangers)}))
sys.exit(1)
"""


@pytest.mark.parametrize("console", [(LEAVES_AN_OUTCOME, 60.0)], indirect=True)
async def test_the_button_compares_without_the_settings_of_the_web_server(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENSPOT_SUPERVISED", "1")
    monkeypatch.setenv("OPENSPOT_NATS_URL", "nats://without-a-password")
    reply = await ask(console.application, "POST", "/console/reconcile", headers=OPERATOR, body=WHY)
    assert (reply.status, reply.header("cache-control")) == (202, "no-store")
    await console.ended()
    report = json.loads(await console.reporter.report())
    assert report["reconcile"] == {"at": 1, "error": "OPENSPOT_DATA_DIR"}
    assert (report["reconciling"], report["failure"]) == (False, "")


async def test_only_administrators_compare(console: Console) -> None:
    for headers in ({}, TRADER, {"authorization": f"Bearer {engine_token('nobody')}"}):
        assert (await ask(console.application, "POST", "/console/reconcile", headers=headers, body=WHY)).status == 401
    assert not console.reconciliation.is_running
    assert (await ask(console.application, "GET", "/console/reconcile", headers=OPERATOR)).status == 405


@pytest.mark.parametrize(("path", "run"), [("/console/reconcile", "comparison"), ("/console/reserves", "proof")])
@pytest.mark.parametrize("console", [("import time; time.sleep(600)", 600.0)], indirect=True)
async def test_the_edge_has_who_why_and_from_where_before_a_run_begins(
    console: Console, platform: Platform, path: str, run: str
) -> None:
    command = console.reconciliation if run == "comparison" else console.proving
    for wrong in (b"", b"{}", b'{"reason":"no"}', b'{"reason":"a\\u0000bc"}'):
        assert (await ask(console.application, "POST", path, headers=OPERATOR, body=wrong)).status == 400
    platform.note_status = 403
    refused = await ask(console.application, "POST", path, headers=OPERATOR, body=WHY)
    assert (refused.status, refused.json["message"]) == (403, "as the edge says")
    assert not command.is_running
    platform.note_status = 201
    both = [ask(console.application, "POST", path, headers=OPERATOR, body=WHY) for _ in range(2)]
    assert sorted([reply.status for reply in await asyncio.gather(*both)]) == [202, 409]
    # Whoever is refused because it runs leaves no entry.
    assert (platform.notes, platform.reasons) == (
        [(run, OPERATOR["authorization"], "127.0.0.1")], ["an account looks wrong"],
    )  # fmt: skip
    await command.stop()


@pytest.mark.parametrize("console", [("import time; time.sleep(600)", 600.0)], indirect=True)
async def test_a_comparison_that_the_timetable_began_is_not_begun_again(console: Console, platform: Platform) -> None:
    with alone(console.folder / LOCK, "timetable"):
        refused = await ask(console.application, "POST", "/console/reconcile", headers=OPERATOR, body=WHY)
        assert (refused.status, refused.json["message"]) == (409, "a comparison runs already")
        assert json.loads(await console.reporter.report())["reconciling"] is True
    assert platform.notes == [], "nothing was begun, so nothing is noted"
    begun = await ask(console.application, "POST", "/console/reconcile", headers=OPERATOR, body=WHY)
    assert begun.status == 202


IS_SECOND = """
import sys
assert sys.argv[1] == "--started-by=olivia", sys.argv
sys.exit(3)
"""


@pytest.mark.parametrize("console", [(IS_SECOND, 60.0)], indirect=True)
async def test_who_was_faster_at_the_same_moment_makes_no_failure_of_the_button(console: Console) -> None:
    assert (await ask(console.application, "POST", "/console/reconcile", headers=OPERATOR, body=WHY)).status == 202
    await console.ended()
    assert console.reconciliation.failure == ""


async def test_nothing_is_compared_while_the_engine_is_silent(console: Console, server: TestServer) -> None:
    assert (await ask(console.application, "GET", "/console/health.json", headers=OPERATOR)).status == 200
    await server.close()
    reply = await ask(console.application, "POST", "/console/reconcile", headers=OPERATOR, body=WHY)
    assert (reply.status, reply.json["code"]) == (503, "SERVICE_UNAVAILABLE")


@pytest.mark.parametrize("console", [("", 60.0)], indirect=True)
async def test_no_call_of_the_server_hides_a_page(console: Console) -> None:
    hidden = [
        path for path in routes("console") if (await ask(console.application, "GET", f"/console{path}")).status != 418
    ]
    assert hidden == []


WAITS_FOR_ANOTHER = """
import sys
print(sys.argv[1:], file=sys.stderr)
sys.exit(3)
"""


@pytest.mark.parametrize("console", [(WAITS_FOR_ANOTHER, 60.0)], indirect=True)
async def test_adjustments_are_booked_in_the_name_of_the_operator_and_the_command_says_why_not(
    console: Console,
) -> None:
    async def asked(body: bytes, headers: Any = OPERATOR) -> Reply:
        return await ask(console.application, "POST", "/console/bookings", headers=headers, body=body)

    async def book(body: bytes, headers: Any = OPERATOR) -> int:
        return (await asked(body, headers)).status

    assert await book(b'{"reason":"--plan"}', {}) == 401
    for wrong in (b"", b"{}", b'{"reason":"no"}', b'{"reason":"a\\u0000bc"}', b'{"reason":"why","operator":"user:x"}'):
        assert await book(wrong) == 400
    assert await book(b" " * 5000) == 413
    begun = await asked(b'{"reason":"--plan"}')
    assert begun.status == 202

    async def is_idle() -> bool:
        return not console.booking.is_running

    await eventually(is_idle, 60)
    state = await ask(console.application, "GET", "/console/bookings.json", headers=OPERATOR)
    assert "exit code 3: ['--operator=engine:" in state.json["failure"]
    request_id = dict(begun.headers)[b"x-request-id"].decode()
    assert len(request_id) == 16
    given = f"'--reason=--plan', '--address=127.0.0.1', '--request-id={request_id}']"
    assert state.json["failure"].endswith(given)


@pytest.mark.parametrize("console", [("import time; time.sleep(600)", 600.0)], indirect=True)
async def test_one_comparison_runs_at_a_time_and_ends_with_the_server(console: Console) -> None:
    assert (await ask(console.application, "POST", "/console/reconcile", headers=OPERATOR, body=WHY)).status == 202
    assert (await ask(console.application, "POST", "/console/reconcile", headers=OPERATOR, body=WHY)).status == 409
    assert json.loads(await console.reporter.report())["reconciling"] is True
    async with asyncio.timeout(stretched(60)):
        await console.reconciliation.stop()
    assert not console.reconciliation.is_running


@pytest.mark.parametrize(
    ("console", "reason"),
    [
        (("import sys; print('no such data directory', file=sys.stderr); sys.exit(4)", 60.0), "exit code 4: no such"),
        (("import time; time.sleep(600)", 0.05), "took longer than"),
    ],
    indirect=["console"],
)
async def test_a_comparison_without_an_outcome_says_why(console: Console, reason: str) -> None:
    assert (await ask(console.application, "POST", "/console/reconcile", headers=OPERATOR, body=WHY)).status == 202
    await console.ended()
    assert reason in json.loads(await console.reporter.report())["failure"]


async def test_calls_of_custody_are_passed_on_with_the_session_of_the_caller(
    console: Console, platform: Platform
) -> None:
    listed = await ask(console.application, "GET", WITHDRAWALS, headers=OPERATOR)
    assert (listed.status, listed.json, listed.header("cache-control")) == (
        200,
        {"message": "as custody says"},
        "no-store",
    )
    platform.status = 404
    headers = OPERATOR | {"content-type": "application/json"}
    rejected = await ask(console.application, "POST", f"{WITHDRAWALS}/w-1/rejection", b'{"reason": "x"}', headers)
    assert (rejected.status, rejected.json) == (404, {"message": "as custody says"})
    assert platform.calls == [
        ("GET", "/operator/withdrawals", OPERATOR["authorization"], b""),
        ("POST", "/operator/withdrawals/w-1/rejection", OPERATOR["authorization"], b'{"reason": "x"}'),
    ]


async def test_a_long_list_arrives_whole_and_one_without_end_is_refused(console: Console, platform: Platform) -> None:
    platform.more = {"rest": "x" * 1_000_000}
    assert (await ask(console.application, "GET", WITHDRAWALS, headers=OPERATOR)).json["rest"] == "x" * 1_000_000
    platform.more = {"rest": "x" * BOUND}
    assert (await ask(console.application, "GET", WITHDRAWALS, headers=OPERATOR)).status == 502


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", f"{WITHDRAWALS}/w-1/anything", 418),
        ("POST", f"{WITHDRAWALS}/../health/approvals", 418),
        ("POST", f"{WITHDRAWALS}/w.1/approvals", 404),
        ("POST", f"{WITHDRAWALS}/{'w' * 65}/approvals", 404),
        ("DELETE", f"{WITHDRAWALS}/w-1/approvals", 405),
        ("POST", WITHDRAWALS, 405),
        ("GET", "/console/orders", 418),
    ],
)
async def test_nothing_else_of_custody_is_reached(
    console: Console, platform: Platform, method: str, path: str, status: int
) -> None:
    assert (await ask(console.application, method, path, headers=OPERATOR)).status == status
    assert platform.calls == []


async def test_a_large_body_and_a_silent_custody_are_refused(
    console: Console, platform: Platform, server: TestServer
) -> None:
    path = f"{WITHDRAWALS}/w-1/rejection"
    large = await ask(console.application, "POST", path, b" " * (BODY_BYTES_MAX + 1), OPERATOR)
    assert (large.status, platform.calls) == (413, [])
    await server.close()
    silent = await ask(console.application, "GET", WITHDRAWALS, headers=OPERATOR)
    assert (silent.status, silent.json["code"]) == (502, "BAD_GATEWAY")


async def test_no_deposit_is_played_where_the_platform_plays_none(console: Console) -> None:
    reply = await ask(console.application, "POST", "/simulated-deposits", headers=OPERATOR)
    assert reply.status == 418


async def test_a_user_opens_what_the_edge_says_that_the_roles_allow(console: Console, platform: Platform) -> None:
    auditor = {"authorization": "Bearer auditor"}
    assert (await ask(console.application, "GET", "/console/health.json", headers=auditor)).status == 200
    refused = await ask(console.application, "POST", "/console/reconcile", headers=auditor, body=WHY)
    assert (refused.status, refused.json["message"]) == (403, "this needs the permission reconcile.run")
    assert not console.reconciliation.is_running
    stranger = {"authorization": "Bearer stranger"}
    said = await ask(console.application, "GET", "/console/health.json", headers=stranger)
    assert (said.status, said.json["message"]) == (403, "a second factor is missing")
    assert set(platform.forwarded) == {"127.0.0.1"}


async def test_operators_call_from_the_listed_networks_alone(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Console, "networks", AllowedNetworks(["192.0.2.0/24"]))
    elsewhere = Console(console.client, console.url, console.folder, "", 60.0)
    for headers in (OPERATOR, {"authorization": "Bearer auditor"}):
        refused = await ask(elsewhere.application, "GET", "/console/health.json", headers=headers)
        assert (refused.status, refused.json["message"]) == (403, "operators may not call from 127.0.0.1")


@pytest.mark.parametrize(
    ("console", "failure"),
    [
        (("import sys; sys.exit(0)", 60.0), ""),
        (
            ("import sys; print('openspot: another proof is being made now', file=sys.stderr); sys.exit(1)", 60.0),
            "`openspot reserves prove` ended with exit code 1: openspot: another proof is being made now",
        ),
    ],
    indirect=["console"],
)
async def test_the_button_makes_a_proof_or_says_why_not(console: Console, failure: str) -> None:
    assert (await ask(console.application, "POST", "/console/reserves", headers=TRADER, body=WHY)).status == 401
    assert (await ask(console.application, "POST", "/console/reserves", headers=OPERATOR, body=WHY)).status == 202

    async def state() -> dict[str, Any]:
        found: dict[str, Any] = (await ask(console.application, "GET", "/console/reserves.json", headers=OPERATOR)).json
        return found

    async def has_ended() -> bool:
        return not (await state())["running"]

    await eventually(has_ended)
    assert await state() == {"running": False, "failure": failure}
    assert (await ask(console.application, "GET", "/console/reserves.json", headers={})).status == 401


@pytest.mark.parametrize("console", [("import time; time.sleep(600)", 600.0)], indirect=True)
async def test_one_proof_is_made_at_a_time(console: Console) -> None:
    assert (await ask(console.application, "POST", "/console/reserves", headers=OPERATOR, body=WHY)).status == 202
    assert (await ask(console.application, "POST", "/console/reserves", headers=OPERATOR, body=WHY)).status == 409
    await console.proving.stop()
