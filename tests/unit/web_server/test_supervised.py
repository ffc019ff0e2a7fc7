"""Processes and their log in the console: who may see them, and what is said where nobody supervises."""

from pathlib import Path

from openspot.kit.process_ends import ProcessEnd, note_end
from openspot.kit.supervision import (
    Action,
    ControlError,
    LogLine,
    LogPage,
    ProcessState,
    Reply,
    Request,
    SupervisedProcess,
)
from openspot.up.control import ControlServer
from openspot.web_server.supervised import UNSUPERVISED
from tests.support.asgi import ask
from tests.unit.web_server.test_console_routes import OPERATOR, TRADER, Console, Platform, console, platform, server

__all__ = ["console", "platform", "server"]
PATHS = ("/console/processes.json", "/console/ends.json", "/console/logs.json")


async def test_logs_need_a_permission_that_few_have(console: Console, platform: Platform) -> None:
    for path in PATHS:
        assert (await ask(console.application, "GET", path, headers=TRADER)).status == 401
        assert (await ask(console.application, "POST", path, headers=OPERATOR)).status == 405
    auditor = {"authorization": "Bearer auditor"}
    assert (await ask(console.application, "GET", PATHS[0], headers=auditor)).status == 200
    for path in PATHS[1:]:
        refused = await ask(console.application, "GET", path, headers=auditor)
        assert (refused.status, refused.json["message"]) == (403, "this needs the permission logs.read")


async def test_without_a_supervisor_the_page_says_so(console: Console) -> None:
    shown = await ask(console.application, "GET", PATHS[0], headers=OPERATOR)
    assert (shown.status, shown.json) == (200, {"processes": [], "reason": UNSUPERVISED})
    refused = await ask(console.application, "GET", PATHS[2], headers=OPERATOR)
    assert (refused.status, refused.json["message"]) == (503, UNSUPERVISED)


async def test_what_the_supervisor_says_is_shown(console: Console, tmp_path: Path) -> None:
    asked: list[Request] = []

    async def control(request: Request) -> Reply:
        asked.append(request)
        if request.action is Action.PROCESSES:
            return Reply(
                processes=[SupervisedProcess("ledger", "Ledger", ["ledger"], ProcessState.RUNNING, 7, 1000, 2)]
            )
        if request.level == "loud":
            raise ControlError("level: one of debug, info, warning, error")
        return Reply(logs=LogPage([LogLine("2026-11-28T14:49:48Z", "ledger", "info", "settled")], "1-2", True))

    server = ControlServer(tmp_path, control)
    await server.start()
    try:
        (process,) = (await ask(console.application, "GET", PATHS[0], headers=OPERATOR)).json["processes"]
        assert process == {
            "name": "ledger", "title": "Ledger", "services": ["ledger"], "state": "RUNNING", "pid": 7,
            "startedAtMs": 1000, "restarts": 2, "isAsked": False, "fixed": "", "failure": "",
        }  # fmt: skip
        query = "process=ledger&level=info&after=1-1&limit=5"
        page = await ask(console.application, "GET", PATHS[2], headers=OPERATOR, query=query)
        assert page.json == {
            "lines": [{"at": "2026-11-28T14:49:48Z", "service": "ledger", "level": "info", "text": "settled"}],
            "cursor": "1-2",
            "isCut": True,
        }
        assert asked[-1] == Request(Action.LOGS, "ledger", level="info", after="1-1", limit=5)
        for query in ("limit=0", "limit=501", "limit=x", "limit=1e9", "process=" + "x" * 101, "level=loud"):
            refused = await ask(console.application, "GET", PATHS[2], headers=OPERATOR, query=query)
            assert (refused.status, refused.json["code"]) == (400, "BAD_REQUEST")
    finally:
        await server.stop()


async def test_the_last_lines_of_an_end_are_shown_newest_end_first(console: Console, tmp_path: Path) -> None:
    note_end(tmp_path, ProcessEnd("ledger", "Ledger", 1, "signal SIGKILL", lines=["error no space"]))
    note_end(tmp_path, ProcessEnd("router", "Router", 2, "restarted in the console by user:u1", is_asked=True))
    shown = (await ask(console.application, "GET", PATHS[1], headers=OPERATOR)).json
    assert shown == [
        {"process": "router", "title": "Router", "atMs": 2, "cause": "restarted in the console by user:u1",
         "isAsked": True, "lines": []},
        {"process": "ledger", "title": "Ledger", "atMs": 1, "cause": "signal SIGKILL",
         "isAsked": False, "lines": ["error no space"]},
    ]  # fmt: skip
