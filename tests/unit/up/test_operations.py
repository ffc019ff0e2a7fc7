"""What the console and the command line can ask of a running platform, over the control socket."""

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from openspot.kit.process_ends import read_ends
from openspot.kit.supervision import (
    Action,
    ControlError,
    Fault,
    ProcessState,
    Request,
    SupervisedProcess,
    SupervisorSilentError,
    ask,
)
from openspot.up.control import ControlServer
from openspot.up.operations import Operations
from openspot.up.redaction import Redactor
from openspot.up.services import PlatformSettings, enabled, grouped
from openspot.up.supervisor import Child
from tests.support.waiting import eventually


class FakeProcess:
    """A process that ends when it is told to, and notes how it was told."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.signals: list[int] = []
        self._ended = asyncio.Event()

    def end(self, code: int) -> None:
        self.returncode = code
        self._ended.set()

    async def wait(self) -> int:
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def terminate(self) -> None:
        self.signals.append(signal.SIGTERM)
        self.end(0)

    def kill(self) -> None:
        self.signals.append(signal.SIGKILL)
        self.end(-signal.SIGKILL)


class FakeLauncher:
    """Starts fakes."""

    def __init__(self) -> None:
        self.started: list[tuple[tuple[str, ...], FakeProcess]] = []
        self.faults: list[OSError] = []

    async def launch(self, services: Sequence[str], environment: Mapping[str, str], output: Path) -> FakeProcess:
        if self.faults:
            raise self.faults.pop()
        # Ids beyond those of the system, so that nothing of this machine is looked at.
        process = FakeProcess(2**30 + len(self.started))
        self.started.append((tuple(services), process))
        return process

    async def close(self) -> None:
        """Nothing runs beside the children."""


class QuickChild(Child):
    """Is ready when `may_start` is set."""

    may_start: asyncio.Event

    async def await_started(self) -> None:
        await self.may_start.wait()


class Site:
    """A platform of fakes with its control socket."""

    def __init__(self, folder: Path) -> None:
        settings: Any = PlatformSettings(data_dir=folder, one_process="true", demo=True)
        self.folder, self.launcher, self.may_start = folder, FakeLauncher(), asyncio.Event()
        self.may_start.set()
        self.log = folder / "openspot.log"
        self.log.write_text('{"service": "ledger", "level": "error", "event": "no space", "key": "a-secret-value"}\n')
        self.names = list(enabled(settings))
        redactor = Redactor({"a-secret-value"})
        launcher: Any = self.launcher
        made = [QuickChild(dict.fromkeys(names, settings), self.log, launcher, redactor) for names in grouped(settings)]
        for child in made:
            child.may_start = self.may_start
        self.children = {name: child for child in made for name in child.names}
        self.operations = Operations(self.children, {}, self.log, redactor, lambda: None)
        self.server = ControlServer(folder, self.operations.carry_out)

    async def processes(self) -> dict[str, SupervisedProcess]:
        return {each.name: each for each in (await ask(self.folder, Request(Action.PROCESSES))).processes}

    async def restart(self, name: str, pid: int, by: str = "user:u1") -> list[str]:
        return (await ask(self.folder, Request(Action.BEGIN_RESTART, name, pid, by))).services

    async def is_running_again(self, name: str, pid: int) -> bool:
        found = (await self.processes())[name]
        return found.state is ProcessState.RUNNING and found.pid != pid


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    made = Site(tmp_path)
    await made.server.start()
    children = dict.fromkeys(made.children.values())
    for child in children:
        await child.start()
    yield made
    await made.server.stop()
    await made.operations.stop()
    for child in children:
        await child.stop()


async def refusal(work: Any) -> Fault:
    with pytest.raises(ControlError) as refused:
        await work
    return refused.value.fault


async def test_every_process_of_the_platform_can_be_restarted_and_is_asked_to_end_in_order(site: Site) -> None:
    before = await site.processes()
    assert sorted(name for each in before.values() for name in each.services) == sorted(site.names)
    assert all(not each.fixed for each in before.values())
    for name, process in before.items():
        assert await site.restart(name, process.pid) == process.services
        await eventually(lambda name=name, pid=process.pid: site.is_running_again(name, pid))
    first = site.launcher.started[: len(before)]
    # SIGTERM and nothing else: every service then finishes what it has begun.
    assert [process.signals for _, process in first] == [[signal.SIGTERM]] * len(before)
    ends = read_ends(site.folder)
    assert {end.process for end in ends} == set(before)
    assert all(end.is_asked and end.cause == "restarted in the console by user:u1" for end in ends)
    assert {each.restarts for each in (await site.processes()).values()} == {1}


async def test_a_second_request_changes_nothing(site: Site) -> None:
    pid = (await site.processes())["ledger"].pid
    site.may_start.clear()
    await site.restart("ledger", pid)
    found = (await site.processes())["ledger"]
    assert (found.state, found.is_asked) == (ProcessState.RESTARTING, True)
    assert await refusal(site.restart("ledger", pid)) is Fault.BUSY
    site.may_start.set()
    await eventually(lambda: site.is_running_again("ledger", pid))
    assert await refusal(site.restart("ledger", pid)) is Fault.CHANGED
    assert len([names for names, _ in site.launcher.started if names == ("ledger",)]) == 2


async def test_a_process_that_died_while_its_restart_waited_is_not_restarted_twice(site: Site) -> None:
    engine, ledger = (await site.processes())["engine"].pid, (await site.processes())["ledger"].pid
    site.may_start.clear()
    await site.restart("engine", engine)
    await site.restart("ledger", ledger)
    dead = next(process for names, process in site.launcher.started if names == ("ledger",))
    dead.end(-signal.SIGKILL)
    await eventually(lambda: site.children["ledger"].pid not in (None, ledger))
    site.may_start.set()
    await eventually(lambda: site.is_running_again("ledger", ledger))
    assert len([names for names, _ in site.launcher.started if names == ("ledger",)]) == 2
    (end,) = (end for end in read_ends(site.folder) if end.process == "ledger")
    assert (end.cause, end.is_asked) == ("signal SIGKILL", False)
    assert end.lines == ["error no space key=***"]


async def test_what_was_stopped_on_the_machine_and_what_does_not_run_here_is_left_alone(site: Site) -> None:
    await ask(site.folder, Request(Action.STOP, "ledger"))
    assert (await site.processes())["ledger"].state is ProcessState.STOPPED
    assert await refusal(site.restart("ledger", 0)) is Fault.STOPPED
    assert await refusal(site.restart("ledgre", 1)) is Fault.UNKNOWN


async def test_a_restart_on_a_full_disk_is_tried_again_until_it_works(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openspot.up.supervisor.RESTART_PAUSE_S_MAX", 0.01)
    pid = (await site.processes())["ledger"].pid
    site.launcher.faults = [OSError(28, "No space left on device")] * 3
    await site.restart("ledger", pid)
    await eventually(lambda: site.is_running_again("ledger", pid))
    assert site.launcher.faults == []


async def test_the_log_is_read_without_secrets(site: Site) -> None:
    reply = await ask(site.folder, Request(Action.LOGS, "ledger", level="error", limit=10))
    assert reply.logs is not None
    assert [line.text for line in reply.logs.lines] == ["no space key=***"]
    for request in (
        Request(Action.LOGS, level="loud"),
        Request(Action.LOGS, after="../x"),
        Request(Action.LOGS, "nobody"),
    ):
        with pytest.raises(ControlError):
            await ask(site.folder, request)


async def test_a_request_that_is_none_is_refused_and_without_a_supervisor_nobody_answers(
    site: Site, tmp_path: Path
) -> None:
    for line in (b"{}", b"[", b'{"action": "format_disk"}', b'{"action": "restart", "service": 1}'):
        reader, writer = await asyncio.open_unix_connection(str(site.folder / "control.sock"))
        writer.write(line + b"\n")
        assert b"the request is not valid" in await reader.readline()
        writer.close()
    assert (await ask(site.folder, Request(Action.PROCESSES))).processes
    with pytest.raises(SupervisorSilentError):
        await ask(tmp_path / "elsewhere", Request(Action.PROCESSES))
