"""The platform as a whole: numbered steps, each safe to repeat, and a clean end on Ctrl-C.

1. take the data directory  2. see that the ports are free  3. start NATS and PostgreSQL unless addresses
are given  4. bring the database up to date  5. start the services  6. wait until all are ready
"""

import asyncio
import contextlib
import fcntl
import json
import shutil
import signal
import tempfile
import time
from pathlib import Path

import psutil
from rich.console import Console

from openspot.kit.log import configure_log, get_logger
from openspot.kit.secrets_file import FILE_NAME as SECRETS_FILE
from openspot.kit.secrets_file import with_secrets
from openspot.kit.settings import Settings
from openspot.migrations import upgrade
from openspot.up.embedded_nats import EmbeddedNats, EmbeddedServerError, free_port, port_is_free
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.up.services import ADDRESSES, SERVICES
from openspot.up.state import end_leftovers, write_state
from openspot.up.supervisor import Child, ChildFailedError

log = get_logger("up")

READY_TIMEOUT_S = 120.0
LOG_BYTES_MAX = 50_000_000
WATCH_INTERVAL_S = 0.5
Server = EmbeddedNats | EmbeddedPostgres


class StartError(Exception):
    """The platform cannot start; the message says what to do."""


class Platform:
    """A platform that is started and stopped once."""

    def __init__(self, settings: Settings, console: Console, *, ephemeral: bool = False) -> None:
        self._console = console
        self._ephemeral = ephemeral
        if ephemeral:
            folder = Path(tempfile.mkdtemp(prefix="openspot-"))
            folder.chmod(0o755)
            settings = settings.model_copy(update={"data_dir": folder})
        self.settings = settings.model_copy(update={"data_dir": settings.data_dir.resolve()})
        self._servers: dict[str, Server] = {}
        self._children: dict[str, Child] = {}
        self._stack = contextlib.ExitStack()
        self._new_password = False

    @property
    def log_path(self) -> Path:
        """The one log of all processes."""
        return self.settings.data_dir / "openspot.log"

    async def start(self) -> None:
        """Run the steps. Raises StartError; what was started until then is to be stopped with `stop`."""
        began = time.monotonic()
        self._take_data_directory()
        self._check_ports()
        await self._start_servers()
        self._say("bringing the database up to date")
        await asyncio.to_thread(upgrade, self.settings.database_url)
        await self._start_children()
        self._write_state()
        self._print_addresses(time.monotonic() - began)

    def _say(self, text: str) -> None:
        self._console.print(f"[dim]·[/dim] {text}", highlight=False, soft_wrap=True)

    def _take_data_directory(self) -> None:
        folder = self.settings.data_dir
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = self._stack.enter_context((folder / "lock").open("w"))
        except OSError as error:
            raise StartError(f"the data directory {folder} cannot be used: {error}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StartError(
                f"a platform is already running on {folder}: `openspot status` shows it.\n"
                "For a second one set OPENSPOT_DATA_DIR and other ports."
            ) from error
        for name in end_leftovers(folder):
            self._say(f"ended a leftover of an earlier run: {name}")
        if self.log_path.exists() and self.log_path.stat().st_size > LOG_BYTES_MAX:
            self.log_path.replace(self.log_path.with_suffix(".log.1"))
        self._new_password = not self.settings.admin_password and not (folder / SECRETS_FILE).exists()
        self.settings = with_secrets(self.settings)
        self._say(f"data in {folder}, log in {self.log_path}")

    def _check_ports(self) -> None:
        taken = []
        for service in SERVICES.values():
            for field in service.ports:
                port = getattr(self.settings, field)
                if not port_is_free(port, self.settings.host):
                    remedy = f"free it, or set OPENSPOT_{field.upper()}"
                    taken.append(f"port {port} ({service.title}) is taken{_holder(port)}; {remedy}")
        if taken:
            raise StartError("\n".join(taken))

    async def _start_servers(self) -> None:
        folder = self.settings.data_dir
        updates: dict[str, str | bool] = {}
        if not self.settings.nats_url:
            port = self.settings.nats_port if port_is_free(self.settings.nats_port) else free_port()
            nats = EmbeddedNats(folder / "nats", port, self.log_path)
            self._servers["NATS"] = nats
            updates |= {"nats_url": nats.url, "nats_synced": True}
        if not self.settings.database_url:
            postgres = EmbeddedPostgres(folder / "postgres", self.log_path)
            self._servers["PostgreSQL"] = postgres
            updates["database_url"] = postgres.url()
        if self._servers:
            self._say(f"starting {' and '.join(self._servers)} (embedded)")
        outcomes = await asyncio.gather(
            *(asyncio.to_thread(server.start) for server in self._servers.values()), return_exceptions=True
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise StartError(str(outcome)) from outcome
        self.settings = self.settings.model_copy(update=updates)

    async def _start_children(self) -> None:
        self._children = {name: Child(service, self.settings, self.log_path) for name, service in SERVICES.items()}
        ready = {name: asyncio.Event() for name in SERVICES}

        async def bring_up(child: Child) -> None:
            for other in child.service.after:
                await ready[other].wait()
            await child.start()
            try:
                await child.await_ready()
            except ChildFailedError as error:
                raise StartError(f"{error}; {self._last_fault(child.service.name)}") from error
            ready[child.service.name].set()
            self._console.print(f"[green]✓[/green] {child.service.title}")

        self._say("starting the services")
        try:
            async with asyncio.timeout(READY_TIMEOUT_S), asyncio.TaskGroup() as group:
                for child in self._children.values():
                    group.create_task(bring_up(child))
        except TimeoutError as error:
            waiting = ", ".join(name for name, event in ready.items() if not event.is_set())
            raise StartError(f"not ready after {READY_TIMEOUT_S:.0f} s: {waiting}; see {self.log_path}") from error

    def _last_fault(self, service: str) -> str:
        """The newest error that a service logged, and where to read more."""
        for line in reversed(self.log_path.read_text("utf-8", "replace").splitlines()):
            if f'"service": "{service}"' in line and '"level": "error"' in line:
                fault = json.loads(line)
                return f"{fault.get('error') or fault['event']} (more in {self.log_path})"
        return f"see {self.log_path}"

    def _addresses(self) -> dict[str, str]:
        return {name: address(self.settings) for name, address in ADDRESSES}

    def _write_state(self) -> None:
        pids = {name: server.process.pid for name, server in self._servers.items() if server.process is not None}
        pids |= {name: child.pid for name, child in self._children.items() if child.pid is not None}
        write_state(self.settings, pids, self._addresses())

    def _print_addresses(self, seconds: float) -> None:
        self._console.print(f"\n[b]OpenSpot is ready[/b] ({seconds:.1f} s)")
        for name, address in self._addresses().items():
            self._console.print(f"  {name:22} {address}", soft_wrap=True, highlight=False)
        if self._new_password:
            self._console.print(
                f"engine administrator [b]{self.settings.admin_id}[/b], password "
                f"[b]{self.settings.admin_password}[/b] (shown this once; kept in {SECRETS_FILE})",
                soft_wrap=True,
                highlight=False,
            )
        self._console.print("Ctrl-C stops everything.")

    async def watch(self, stop: asyncio.Event) -> None:
        """Until `stop`: keep the embedded servers alive and the state file true."""
        known: dict[str, int | None] = {}
        while not stop.is_set():
            for name, server in self._servers.items():
                if server.process is not None and server.process.poll() is not None:
                    log.error(
                        "embedded server ended, starting it again", server=name, exit_code=server.process.returncode
                    )
                    try:
                        await asyncio.to_thread(server.start)
                    except EmbeddedServerError as error:
                        log.error("embedded server did not start", server=name, error=str(error))
            pids = {name: child.pid for name, child in self._children.items()}
            pids |= {name: server.process.pid for name, server in self._servers.items() if server.process}
            if pids != known:
                self._write_state()
                known = pids
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), WATCH_INTERVAL_S)

    async def stop(self) -> None:
        """Stop edges first, then what they lean on, the servers last."""
        for name in reversed(list(self._children)):
            await self._children[name].stop()
        for server in reversed(list(self._servers.values())):
            await asyncio.to_thread(server.stop)
        self._stack.close()
        if self._ephemeral:
            shutil.rmtree(self.settings.data_dir, ignore_errors=True)


def _holder(port: int) -> str:
    """ " by NAME (process 123)" where the system tells who listens on `port`, else nothing."""
    try:
        for connection in psutil.net_connections("tcp"):
            listens = connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port
            if listens and connection.pid:
                return f" by {psutil.Process(connection.pid).name()} (process {connection.pid})"
    except (psutil.Error, OSError):
        return ""
    return ""


async def run_platform(settings: Settings, console: Console, *, ephemeral: bool) -> int:
    """Start the platform, run it until SIGINT or SIGTERM, stop it; answers the exit code."""
    platform = Platform(settings, console, ephemeral=ephemeral)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    platform.settings.data_dir.mkdir(parents=True, exist_ok=True)
    with platform.log_path.open("a") as output:
        configure_log(platform.settings, "up", output)
        return await _run_until(platform, stop, console)


async def _run_until(platform: Platform, stop: asyncio.Event, console: Console) -> int:
    start = asyncio.create_task(platform.start())
    interrupted = asyncio.create_task(stop.wait())
    code = 0
    try:
        await asyncio.wait({start, interrupted}, return_when=asyncio.FIRST_COMPLETED)
        if not start.done():
            start.cancel()
            await asyncio.gather(start, return_exceptions=True)
        else:
            start.result()
            await platform.watch(stop)
    except* StartError as errors:
        code = 1
        for error in errors.exceptions:
            console.print(f"[red]OpenSpot did not start:[/red] {error}", highlight=False)
    finally:
        interrupted.cancel()
        console.print("stopping …")
        began = time.monotonic()
        await platform.stop()
        console.print(f"stopped in {time.monotonic() - began:.1f} s")
    return code
