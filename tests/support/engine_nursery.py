"""Engine processes that start fast, because they are forked from a process that has imported everything.

Apart from the imports, which take half a second, a start does the same as any other. Each engine is a separate process
that can be killed with kill -9.
"""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager

from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient, EngineProcess, engine_process
from tests.support.waiting import stretched

_CODE = """
import contextlib, json, os, sys
from openspot.engine.service import run
from openspot.kit.service import run_service
from openspot.engine.settings import EngineSettings
with contextlib.suppress(ModuleNotFoundError):
    import openspot.engine.core.rust_core
for line in sys.stdin:
    order, value = json.loads(line)
    if order == "start":
        answer = os.fork()
        if answer == 0:
            log = os.open(value["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            for number in (1, 2):
                os.dup2(log, number)
            os.environ.update(value["environment"])
            exec(value["preparation"])
            sys.exit(run_service("engine", run, EngineSettings()))
    else:
        process_id, status = os.waitpid(value, os.WNOHANG if order == "poll" else 0)
        answer = os.waitstatus_to_exitcode(status) if process_id else None
    print(json.dumps(answer), flush=True)
"""


class Nursery:
    """The process that forks engines."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, order: str, value: object) -> int | None:
        """Send an instruction and read the response."""
        self._send(order, value)
        return self._answer()

    def end_of(self, pid: int, timeout_s: float) -> int:
        """Wait for an engine to end and return its exit code. Kills it after `timeout_s`, and fails."""
        self._send("wait", pid)
        in_time, _, _ = select.select([self._process.stdout], [], [], timeout_s)
        if not in_time:
            os.kill(pid, signal.SIGKILL)
        code = self._answer()
        assert in_time, f"process {pid} still ran after {timeout_s} s"
        assert code is not None
        return code

    def _send(self, order: str, value: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([order, value]) + "\n")
        self._process.stdin.flush()

    def _answer(self) -> int | None:
        assert self._process.stdout is not None
        answer: int | None = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process. End its engines first."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(stretched(10))
        self._process.stdout.close()


class ForkedEngine(EngineProcess):
    """An engine that a nursery forked."""

    def __init__(self, settings: Settings, nursery: Nursery, preparation: str = "") -> None:
        """`preparation` is Python that the engine's process runs before the engine."""
        super().__init__(settings, preparation)
        self._nursery = nursery
        self._pid = 0
        self._code: int | None = 0

    def start(self) -> None:
        self.settings.data_dir.mkdir(parents=True, exist_ok=True)
        value = {"log": str(self.log_path), "environment": self.environment(), "preparation": self._preparation}
        pid = self._nursery.ask("start", value)
        assert pid
        self._pid, self._code = pid, None

    def poll(self) -> int | None:
        if self._code is None:
            self._code = self._nursery.ask("poll", self._pid)
        return self._code

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self._pid, signal.SIGKILL)
            self.wait()

    def stop(self) -> int:
        if self.poll() is None:
            os.kill(self._pid, signal.SIGTERM)
        return self.wait()

    def wait(self, timeout_s: float = 30) -> int:
        if self._code is None:
            self._code = self._nursery.end_of(self._pid, timeout_s)
        return self._code


@contextmanager
def engine_nursery() -> Iterator[Nursery]:
    """A running nursery."""
    nursery = Nursery()
    try:
        yield nursery
    finally:
        nursery.close()


def forked_engine(
    settings: Settings, nursery: Nursery, preparation: str = ""
) -> AbstractAsyncContextManager[tuple[EngineProcess, EngineClient]]:
    """A ready engine that the nursery forks, and a client."""
    return engine_process(settings, child=ForkedEngine(settings, nursery, preparation))
