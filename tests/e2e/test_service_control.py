"""`openspot stop`, `start` and `restart`: one service of the running platform, from the command line."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable

import pytest

from openspot.kit.process_ends import read_ends
from openspot.kit.supervision import FILE_NAME, Action, ProcessState, Request, ask
from openspot.up.child_platform import ChildPlatform
from openspot.up.services import SERVICES, PlatformSettings
from tests.support.money_user import money_user
from tests.support.operator import Operator
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually, stretched

pytestmark = pytest.mark.proof


def openspot(platform: ChildPlatform, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "openspot.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENSPOT_DATA_DIR": str(platform.data_dir)},
    )


def status(platform: ChildPlatform) -> dict[str, object]:
    found: dict[str, object] = json.loads(openspot(platform, "status", "--json").stdout)
    return found


def test_a_service_is_restarted_and_ready_when_the_command_ends(breakable: ChildPlatform) -> None:
    before = breakable.pid("positions")
    done = openspot(breakable, "restart", "positions")
    assert (done.returncode, done.stdout) == (0, "positions is ready\n"), done.stderr
    assert status(breakable)["stopped"] == []
    assert breakable.pid("positions") != before


def test_a_stopped_service_stays_stopped_until_it_is_started(breakable: ChildPlatform) -> None:
    assert openspot(breakable, "stop", "subscriptions").returncode == 0
    try:
        assert openspot(breakable, "stop", "subscriptions").stderr == "openspot: subscriptions does not run\n"
        found = status(breakable)
        assert found["stopped"] == ["subscriptions"]
        assert "subscriptions          stopped; `openspot start subscriptions`" in openspot(breakable, "status").stdout
    finally:
        started = openspot(breakable, "start", "subscriptions")
    assert started.stdout == "subscriptions is ready\n", started.stderr
    assert openspot(breakable, "start", "subscriptions").stderr == "openspot: subscriptions runs already\n"
    assert status(breakable)["stopped"] == []


def test_services_that_share_a_process_are_stopped_and_started_together(platform: ChildPlatform) -> None:
    both = "rest-edge and router, which share a process, are"
    before = platform.pid("router")
    assert before == platform.pid("rest-edge")
    assert f"process {before} shared with rest-edge, ready" in openspot(platform, "status").stdout
    done = openspot(platform, "restart", "router")
    assert (done.returncode, done.stdout) == (0, f"{both} ready\n"), done.stderr
    assert platform.pid("router") == platform.pid("rest-edge") != before
    assert openspot(platform, "stop", "rest-edge").stdout == f"{both} stopped\n"
    try:
        assert sorted(status(platform)["stopped"]) == ["rest-edge", "router"]  # type: ignore[call-overload]
        assert openspot(platform, "stop", "router").stderr == "openspot: router does not run\n"
    finally:
        started = openspot(platform, "start", "router")
    assert started.stdout == f"{both} ready\n", started.stderr
    assert status(platform)["stopped"] == []


def test_services_with_a_process_each_are_restarted_alone(breakable: ChildPlatform) -> None:
    edge, router = breakable.pid("rest-edge"), breakable.pid("router")
    assert edge != router
    assert openspot(breakable, "restart", "router").stdout == "router is ready\n"
    assert breakable.pid("rest-edge") == edge
    assert breakable.pid("router") != router


def test_a_service_that_does_not_run_here_is_named_with_those_that_do(breakable: ChildPlatform) -> None:
    refused = openspot(breakable, "restart", "ledgre")
    assert refused.returncode == 1
    assert "no service ledgre runs here; there are: custody, engine," in " ".join(refused.stderr.split())


@pytest.mark.parametrize("name", ["engine", "rest-edge"])
async def test_a_restart_over_the_rest_edge_loses_no_order_and_is_answered_also_by_the_one_that_restarts(
    breakable: ChildPlatform, name: str
) -> None:
    async def process() -> tuple[ProcessState, int]:
        found = (await ask(breakable.data_dir, Request(Action.PROCESSES))).processes
        return next((each.state, each.pid) for each in found if each.name == name)

    async with money_user(breakable) as user, asyncio.timeout(stretched(120)):
        funded = await asyncio.to_thread(openspot, breakable, "deposit", user.user_id, "USD", "100")
        assert funded.returncode == 0, funded.stderr
        order = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "price": "10", "quantity": "1"}
        await eventually(lambda: is_placed(user.client, order))
        operator = RestClient(breakable.settings)
        admin = Operator(breakable.settings)
        operator.token = admin.login.token
        admin.close()
        before = await process()
        body = {"pid": before[1], "reason": "a test of restarts"}
        begun = await operator("POST", f"/operator/processes/{name}/restart", body)
        assert (begun.status, begun.body) == (202, {"process": name, "services": [name]}), begun.body
        await eventually(lambda: is_new(process, before[1]))
        again = await operator("POST", f"/operator/processes/{name}/restart", body)
        assert (again.status, again.code) == (409, "PROCESS_CHANGED")
        await operator.close()
        await eventually(lambda: is_open(user.client))
    (end,) = (end for end in read_ends(breakable.data_dir) if end.process == name and end.is_asked)
    assert end.cause == f"restarted in the console by engine:{breakable.settings.admin_id}"
    assert end.lines


OTHERS = sorted(
    name
    for name, process in SERVICES.items()
    if process.is_enabled(PlatformSettings(reconcile_every_s=0)) and name not in ("engine", "rest-edge")
)


@pytest.mark.timeout(900)
async def test_every_other_service_comes_back_from_a_restart_over_the_rest_edge(breakable: ChildPlatform) -> None:
    assert {
        "custody",
        "ledger",
        "ledger-worker",
        "margin",
        "market-data",
        "positions",
        "router",
        "subscriptions",
        "web",
        "ws-edge",
    } <= set(OTHERS)
    operator = RestClient(breakable.settings)
    admin = Operator(breakable.settings)
    operator.token = admin.login.token
    admin.close()

    async def all_processes() -> dict[str, tuple[ProcessState, int]]:
        found = (await ask(breakable.data_dir, Request(Action.PROCESSES))).processes
        return {each.name: (each.state, each.pid) for each in found}

    async def all_are_back(before: dict[str, int]) -> bool:
        now = await all_processes()
        return all(now[name][0] is ProcessState.RUNNING and now[name][1] != pid for name, pid in before.items())

    async with money_user(breakable) as user, asyncio.timeout(stretched(300)):
        funded = await asyncio.to_thread(openspot, breakable, "deposit", user.user_id, "USD", "100")
        assert funded.returncode == 0, funded.stderr
        before = {name: (await all_processes())[name][1] for name in OTHERS}
        for name, pid in before.items():
            body = {"pid": pid, "reason": "a test of restarts"}

            async def has_begun(name: str = name, body: dict[str, object] = body) -> bool:
                # While router or engine restart, another request may be refused, but never half done.
                return (await operator("POST", f"/operator/processes/{name}/restart", body)).status in (202, 409)

            await eventually(has_begun)
        await eventually(lambda: all_are_back(before), stretched(120))
        await operator.close()
        # Ready again, all of them: an order is placed, posted and shown.
        order = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "price": "10", "quantity": "1"}
        await eventually(lambda: is_placed(user.client, order), stretched(60))
        await eventually(lambda: is_open(user.client))
        reconciled = await asyncio.to_thread(openspot, breakable, "reconcile")
        assert reconciled.returncode == 0, reconciled.stdout + reconciled.stderr
    asked = {end.process for end in read_ends(breakable.data_dir) if end.is_asked}
    assert asked >= set(OTHERS)


async def is_placed(client: RestClient, order: dict[str, str]) -> bool:
    return (await client("POST", "/orders", order)).status == 201


async def is_open(client: RestClient) -> bool:
    found = await client("GET", "/orders?status=open")
    return found.status == 200 and [each["price"] for each in found.body] == ["10"]


async def is_new(process: Callable[[], Awaitable[tuple[ProcessState, int]]], pid: int) -> bool:
    state, found = await process()
    return state is ProcessState.RUNNING and found != pid


def test_the_log_is_shown_by_service_and_level_without_a_secret(breakable: ChildPlatform) -> None:
    shown = openspot(breakable, "logs", "ledger", "--lines", "500")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "ledger service: starting" in shown.stdout
    assert "router service: starting" not in shown.stdout
    secrets = json.loads((breakable.data_dir / "secrets.json").read_text())
    assert not any(secret in shown.stdout for secret in secrets.values())
    assert "there is no service ledgre; there are:" in openspot(breakable, "logs", "ledgre").stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a Unix socket")
def test_only_the_owner_can_reach_the_control_socket(breakable: ChildPlatform) -> None:
    assert breakable.data_dir.stat().st_mode & 0o077 == 0
    assert (breakable.data_dir / FILE_NAME).is_socket()
