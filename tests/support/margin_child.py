"""The margin service as a child process, which can be told to kill itself in a liquidation.

Argument: the step of a liquidation after whose work, before it is stored, the process kills itself.
"""

import asyncio
import os
import signal
import subprocess
import sys
from typing import Any

from openspot.kit.service import run_service
from openspot.kit.settings import Settings, environment_of
from openspot.margin import service
from openspot.margin.liquidator import Liquidator
from openspot.margin.settings import MarginSettings
from openspot.up.supervisor import is_ready
from tests.support.waiting import START_S_MAX, eventually, stretched


class MarginChild:
    """The service in a process of its own."""

    def __init__(self, settings: Settings, port: int) -> None:
        self.settings: Any = settings.model_copy(update={"margin_port": port})
        self.process: subprocess.Popen[bytes] | None = None

    async def start(self, *, dies_after: str = "") -> None:
        """Start it. Waits until it is ready, unless `dies_after` names a step: it may be dead by then."""
        self._launch([dies_after] if dies_after else [])
        if not dies_after:
            await eventually(lambda: is_ready(self.settings.host, self.settings.margin_port, stretched(3)), START_S_MAX)

    def _launch(self, steps: list[str]) -> None:
        environment = os.environ | environment_of(self.settings)
        arguments = [sys.executable, "-m", "tests.support.margin_child", *steps]
        with (self.settings.data_dir / "margin.log").open("ab") as log:
            self.process = subprocess.Popen(arguments, env=environment, stderr=log, stdout=log)

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self.process is not None
        return self.process.pid

    async def end(self) -> int:
        """Wait until it has ended by itself, and return its code."""
        assert self.process is not None
        return await asyncio.to_thread(self.process.wait, stretched(START_S_MAX))

    def kill(self) -> None:
        """kill -9, if it lives."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def _die_after(step: str) -> None:
    name = f"_{step}"
    work = getattr(Liquidator, name)

    async def deadly(liquidator: Any, account: Any, row: Any) -> bool:
        goes_on: bool = await work(liquidator, account, row)
        finished = row.liquidation.step is None or row.liquidation.step.value != step
        if finished:
            os.kill(os.getpid(), signal.SIGKILL)
        return goes_on

    setattr(Liquidator, name, deadly)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        _die_after(each)
    sys.exit(run_service(service.NAME, service.run, MarginSettings()))
