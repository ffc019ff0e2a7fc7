"""A whole platform as a child process, on free ports and with its own data directory.

End-to-end tests, benchmarks and demos use it: they must not disturb a platform that already runs here.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from openspot.kit.secrets_file import with_known_secrets
from openspot.kit.settings import variable
from openspot.up.embedded_nats import free_port
from openspot.up.log_lines import LOG_NAME
from openspot.up.services import SERVICES, PlatformSettings
from openspot.up.state import PlatformState, running_state, settings_of_running


class ChildPlatform:
    """`openspot up` as a child; `stop` ends everything that it started."""

    def __init__(
        self, data_dir: Path, environment: dict[str, str] | None = None, *, arguments: Sequence[str] = ()
    ) -> None:
        """`environment` and `arguments` are added to those of `openspot up`."""
        self.data_dir = data_dir
        self._arguments = arguments
        ports = {
            variable(listener.setting, PlatformSettings): str(free_port())
            for service in SERVICES.values()
            for listener in service.listeners
        }
        self._environment = (
            {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "NATS_URL")}
            | ports
            | {"OPENSPOT_NATS_PORT": str(free_port()), "OPENSPOT_DATA_DIR": str(data_dir)}
            | (environment or {})
        )
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def output_path(self) -> Path:
        """What `openspot up` printed."""
        return self.data_dir / "up.out"

    @property
    def log_path(self) -> Path:
        """The log of the platform. That of an ephemeral one is gone when it has ended."""
        state = running_state(self.data_dir)
        return (state.data_dir if state else self.data_dir) / LOG_NAME

    def start(self, timeout_s: float = 240.0) -> float:
        """Start it, wait until all services are ready, and return the seconds that this took.

        If they are not ready in time, raises RuntimeError with the output and the end of the log.
        """
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        began = time.monotonic()
        with self.output_path.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "openspot.cli", "up", *self._arguments],
                stdout=output,
                stderr=output,
                env=self._environment,
            )
        while time.monotonic() - began < timeout_s and self._process.poll() is None:
            state = running_state(self.data_dir)
            if state is not None and state.supervisor_pid == self._process.pid:
                return time.monotonic() - began
            time.sleep(0.05)
        log = self.log_path.read_text("utf-8", "replace")[-3000:] if self.log_path.exists() else ""
        printed = self.output_path.read_text("utf-8", "replace")
        self.stop()
        raise RuntimeError(f"the platform did not start:\n{printed}\n{log}")

    @property
    def settings(self) -> Any:
        """Addresses and secrets of the running platform."""
        return with_known_secrets(settings_of_running(PlatformSettings(data_dir=self.data_dir)))

    @property
    def state(self) -> PlatformState:
        """The state file as it is now. Raises RuntimeError if nothing runs."""
        state = running_state(self.data_dir)
        if state is None:
            raise RuntimeError("the platform does not run")
        return state

    def pid(self, name: str) -> int:
        """Process id of a service, or of NATS or PostgreSQL."""
        return self.state.pids[name]

    def kill(self, name: str) -> int:
        """Kill one process with SIGKILL, and return its former process id."""
        pid = self.pid(name)
        os.kill(pid, signal.SIGKILL)
        return pid

    def stop(self, timeout_s: float = 60.0) -> int:
        """Stop it as Ctrl-C does, and return its exit code. Processes that still run after `timeout_s` are killed."""
        if self._process is None:
            return 0
        family = [self._process.pid, *(child.pid for child in self._children())]
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            for pid in family:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            return self._process.wait()

    def kill_supervisor(self) -> None:
        """Kill `openspot up` itself with SIGKILL. Its children must notice that and end."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def _children(self) -> list[psutil.Process]:
        assert self._process is not None
        try:
            return psutil.Process(self._process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []
