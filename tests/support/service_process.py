"""A service as a child process, to be killed or paused."""

import asyncio
import os
import subprocess
import sys

from openspot.kit.settings import Settings, environment_of
from tests.support.waiting import START_S_MAX, stretched


class ServiceProcess:
    """One service in a process of its own, with the settings of the test."""

    def __init__(self, settings: Settings, code: str, log_name: str) -> None:
        """`code` is the Python that the child runs; it may use `sys` and `run_service`."""
        self.settings = settings
        self._code = f"import sys\nfrom openspot.kit.service import run_service\n{code}\n"
        self.log_path = settings.data_dir / log_name
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, without waiting until it is ready."""
        environment = os.environ | environment_of(self.settings)
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen([sys.executable, "-c", self._code], env=environment, stderr=log, stdout=log)

    def signal(self, number: int) -> None:
        """Send a signal: SIGSTOP pauses it, SIGCONT lets it go on."""
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        """kill -9."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    async def ended(self) -> int:
        """Wait until it has ended by itself, and return its exit code."""
        assert self.process is not None
        return await asyncio.to_thread(self.process.wait, stretched(START_S_MAX))

    @property
    def exit_code(self) -> int | None:
        """The exit code, None while it runs."""
        assert self.process is not None
        return self.process.poll()

    def log(self) -> str:
        """What it logged."""
        return self.log_path.read_text("utf-8")
