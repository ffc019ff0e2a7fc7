"""Starts the platform in numbered steps, each of which can be repeated, and ends it cleanly on Ctrl-C.

1. take the data directory  2. refuse dangerous settings, check that the ports are free  3. start NATS and PostgreSQL
unless addresses are given  4. bring the database up to date  5. start the services  6. wait until all are ready
"""

import asyncio
import contextlib
import shutil
import signal
import time
from pathlib import Path

import psutil
from rich.console import Console
from rich.markup import escape
from sqlalchemy.exc import SQLAlchemyError

from openspot.kit.bus import BusError
from openspot.kit.description import FirstStartNote, OwnDatabase
from openspot.kit.disk import MEBIBYTE, Disk, DiskState
from openspot.kit.log import configure_log, get_logger
from openspot.kit.process_ends import ProcessEnd, cause_of, note_end
from openspot.kit.secrets_file import SecretsFileError, with_known_secrets, with_secrets
from openspot.kit.settings import Settings, variable
from openspot.kit.tasks import end_tasks, is_set_within
from openspot.market_data.candle_import import CandleImportError
from openspot.migrations import create_database, name_of, upgrade
from openspot.up.bus_keeper import BusKeeper
from openspot.up.bus_passwords import BusPasswordsError, kept_passwords
from openspot.up.bus_users import ACCESSES, API_PREFIX, KEEPER, OPERATOR, STORE, bus_accounts, url_of
from openspot.up.control import ControlServer
from openspot.up.data_directory import EPHEMERAL, DataDirectoryError, claim, take_lock
from openspot.up.demo import give_the_demo_a_past
from openspot.up.embedded_nats import (
    EmbeddedNats,
    EmbeddedServerError,
    adopt_streams,
    end_leftover,
    free_port,
    port_is_free,
)
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.up.exposure import dangers
from openspot.up.last_fault import last_fault
from openspot.up.launch import Launcher, best_launcher
from openspot.up.log_lines import LOG_NAME
from openspot.up.nats_configuration import NatsConfiguration
from openspot.up.operations import Operations, Server
from openspot.up.redaction import Redactor, passwords_in, secrets_of
from openspot.up.services import DESCRIPTORS, addresses, enabled, grouped
from openspot.up.state import end_leftovers, write_state
from openspot.up.supervisor import Child, ChildFailedError, child_settings

log = get_logger("up")

READY_TIMEOUT_S = 240.0
LOG_BYTES_MAX = 50_000_000
WATCH_INTERVAL_S = 0.5
SERVER_PAUSE_S = 2.0
"""How long an embedded server that did not start again is left alone, for example on a full disk."""


class StartError(Exception):
    """The platform cannot start; the message says what to do."""


class Platform:
    """A platform. It is started and stopped once.

    An ephemeral one keeps its data in a folder below the data directory, which is removed when it stops.
    """

    def __init__(self, settings: Settings, console: Console, *, ephemeral: bool = False) -> None:
        self._console = console
        self._ephemeral = ephemeral
        self._home = settings.data_dir.resolve()
        folder = self._home / EPHEMERAL if ephemeral else self._home
        self.settings = settings.model_copy(update={"data_dir": folder})
        self._services = enabled(settings)
        self._servers: dict[str, Server] = {}
        self._bus_urls: dict[str, str] = {}
        self._keeper: BusKeeper | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._launcher: Launcher | None = None
        self._children: dict[str, Child] = {}
        self._stack = contextlib.ExitStack()
        self._first_start_notes: list[FirstStartNote] = []
        self._disk = Disk(folder, settings.disk_reserve_mib * MEBIBYTE)
        self._disk_state = DiskState.OK
        self._control: ControlServer | None = None
        self._operations: Operations | None = None
        self._redactor = Redactor()

    @property
    def log_path(self) -> Path:
        """The one log of all processes."""
        return self.settings.data_dir / LOG_NAME

    async def start(self) -> None:
        """Run the steps after `take_data_directory`. Raises StartError; `stop` then ends what was started."""
        began = time.monotonic()
        if found := dangers(self.settings, self._services):
            raise StartError("\n".join(found))
        if refusal := self._disk.refusal:
            raise StartError(refusal)
        self._check_ports()
        self._launcher = await best_launcher(self.log_path)
        await self._start_servers()
        await self._upgrade_database()
        await self._import_the_demos_past()
        await self._start_children(self._launcher)
        await self._start_control()
        self._write_state()
        self._print_addresses(time.monotonic() - began)

    def _say(self, text: str) -> None:
        self._console.print(f"[dim]·[/dim] {text}", highlight=False, soft_wrap=True)

    def take_data_directory(self) -> None:
        """Lock the data directory, close it to others, and end processes of a killed platform. Raises StartError."""
        folder = self.settings.data_dir
        try:
            claim(self._home)
            self._stack.enter_context(take_lock(self._home))
            self._end_leftovers()
            claim(folder)
            known = with_known_secrets(self.settings)
            self._first_start_notes = [
                note
                for descriptor in DESCRIPTORS
                for note in descriptor.first_start_notes
                if not getattr(known, note.secret)
            ]
            self.settings = with_secrets(self.settings)
        except (DataDirectoryError, SecretsFileError) as error:
            raise StartError(str(error)) from error
        except OSError as error:
            raise StartError(f"the data directory {folder} cannot be used: {error}") from error
        if self.log_path.exists() and self.log_path.stat().st_size > LOG_BYTES_MAX:
            self.log_path.replace(self.log_path.with_suffix(".log.1"))
        self._say(f"data in {folder}, log in {self.log_path}")

    def _end_leftovers(self) -> None:
        abandoned = self._home / EPHEMERAL
        for name in (*end_leftovers(self._home), *end_leftovers(abandoned)):
            self._say(f"ended a leftover of an earlier run: {name}")
        if abandoned.exists():
            end_leftover(abandoned / "nats")
            with contextlib.suppress(EmbeddedServerError):
                EmbeddedPostgres(abandoned / "postgres").end_leftover()
            shutil.rmtree(abandoned)

    def _check_ports(self) -> None:
        taken = []
        for service in self._services.values():
            for listener in service.listeners:
                port = getattr(self.settings, listener.setting)
                if not port_is_free(port, service.listening_host(self.settings)):
                    remedy = f"free it, or set {variable(listener.setting, type(self.settings))}"
                    taken.append(f"port {port} ({service.title}) is taken{_holder(port)}; {remedy}")
        if taken:
            raise StartError("\n".join(taken))

    async def _start_servers(self) -> None:
        folder = self.settings.data_dir
        updates: dict[str, str | bool] = {}
        nats = postgres = None
        # The data of an ephemeral platform does not outlive it, so it needs no safety against a power cut. NATS syncs
        # nevertheless: without syncs it acknowledges messages that it has not written, and loses them when it is
        # killed.
        is_synced = self.settings.embedded_postgres_synced and not self._ephemeral
        try:
            if not self.settings.nats_url:
                if end_leftover(folder / "nats"):
                    self._say("ended a leftover of an earlier run: NATS")
                port = self.settings.nats_port if port_is_free(self.settings.nats_port) else free_port()
                passwords = kept_passwords(folder)
                adopt_streams(folder / "nats", STORE)
                configuration = NatsConfiguration(accounts=bus_accounts(passwords))
                self._servers["NATS"] = nats = EmbeddedNats(folder / "nats", port, self.log_path, configuration)
            if not self.settings.database_url:
                self._servers["PostgreSQL"] = postgres = EmbeddedPostgres(
                    folder / "postgres", self.log_path, durable=is_synced
                )
        except (EmbeddedServerError, BusPasswordsError) as error:
            raise StartError(str(error)) from error
        except OSError as error:
            raise StartError(f"the data directory {folder} cannot be used: {error}") from error
        if self._servers:
            self._say(f"starting {' and '.join(self._servers)} (embedded)")
        outcomes = await asyncio.gather(
            *(asyncio.to_thread(server.start) for server in self._servers.values()), return_exceptions=True
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise StartError(str(outcome)) from outcome
        if nats is not None:
            self._bus_urls = {name: url_of(nats.url, name, passwords[name]) for name in ACCESSES}
            keeper_url = url_of(nats.url, KEEPER, passwords[KEEPER])
            updates |= {"nats_url": self._bus_urls[OPERATOR], "nats_synced": True, "nats_api_prefix": API_PREFIX}
        if postgres is not None:
            updates["database_url"] = postgres.url()
        self.settings = self.settings.model_copy(update=updates)
        if nats is not None:
            await self._prepare_bus(keeper_url, folder)

    async def _prepare_bus(self, url: str, folder: Path) -> None:
        """Make the streams, consumers and buckets of the embedded bus: its other users may not."""
        given = self.settings.model_copy(update={"nats_url": url, "nats_api_prefix": ""})
        self._keeper = BusKeeper(given, folder)
        try:
            lost = await self._keeper.open()
        except (BusError, TimeoutError) as error:
            raise StartError(f"the embedded bus could not be prepared: {error!r}; see {self.log_path}") from error
        if lost:
            self._console.print(
                f"[red]The bus had lost {len(lost)} of its streams and consumers.[/red] They are made again. Events "
                "may be missing: run `openspot reconcile` and mend what it names.",
                highlight=False,
                soft_wrap=True,
            )

    async def _upgrade_database(self) -> None:
        self._say("bringing the database up to date")
        try:
            await asyncio.to_thread(upgrade, self.settings.database_url)
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).strip()
            raise StartError(f"the database of DATABASE_URL could not be brought up to date: {reason}") from error
        for descriptor in DESCRIPTORS:
            if descriptor.database is not None:
                await asyncio.to_thread(self._upgrade_own_database, descriptor.database)

    async def _import_the_demos_past(self) -> None:
        """Before the bots trade: candles of trades would be in the way."""
        if "demo" not in self._services:
            return
        try:
            if written := await give_the_demo_a_past(self.settings.database_url):
                self._say(f"gave the charts an invented past of {written} candles")
        except CandleImportError as error:
            self._say(f"the charts begin without a past: {error}")

    def _upgrade_own_database(self, database: OwnDatabase) -> None:
        """Bring a service's own database up to date. Makes it first, unless the operator has given one."""
        url, setting = database.address(self.settings), variable(database.setting, type(self.settings))
        is_given = bool(getattr(self.settings, database.setting))
        postgres = self._servers.get("PostgreSQL")
        try:
            if isinstance(postgres, EmbeddedPostgres) and not is_given:
                postgres.ensure_database(name_of(url))
            elif not is_given:
                create_database(name_of(url), self.settings.database_url)
            upgrade(url, database.migrations)
        except (SQLAlchemyError, EmbeddedServerError) as error:
            reason = str(getattr(error, "orig", None) or error).strip()
            raise StartError(
                f"the database {name_of(url)} could not be brought up to date: {reason}; "
                f"create it for the role of DATABASE_URL, or set {setting}"
            ) from error

    async def _start_children(self, launcher: Launcher) -> None:
        self._redactor = Redactor(secrets_of(self.settings) | passwords_in(self._bus_urls.values()))
        given = {name: child_settings(name, self.settings, self._bus_urls) for name in self._services}
        children = [
            Child({name: given[name] for name in names}, self.log_path, launcher, self._redactor)
            for names in grouped(self.settings)
        ]
        self._children = {name: child for child in children for name in child.names}
        ready = {name: asyncio.Event() for name in self._services}

        async def bring_up(child: Child) -> None:
            for other in child.after:
                await ready[other].wait()
            await child.start()
            try:
                await child.await_started()
            except ChildFailedError as error:
                raise StartError(f"{error}; {self._last_fault(child)}") from error
            for name in child.names:
                ready[name].set()
            shared = " in one process" if len(child.names) > 1 else ""
            self._console.print(f"[green]✓[/green] {child.title}{shared}")

        self._say("starting the services")
        try:
            async with asyncio.timeout(READY_TIMEOUT_S), asyncio.TaskGroup() as group:
                for child in children:
                    group.create_task(bring_up(child))
        except TimeoutError as error:
            waiting = ", ".join(name for name, event in ready.items() if not event.is_set())
            raise StartError(f"not ready after {READY_TIMEOUT_S:.0f} s: {waiting}; see {self.log_path}") from error

    def _last_fault(self, child: Child) -> str:
        """The newest error that a child logged, and the place to read more."""
        fault = self._redactor(last_fault(self.log_path, {child.name, *child.names}))
        return f"{fault} (more in {self.log_path})" if fault else f"see {self.log_path}"

    def pids(self) -> dict[str, int]:
        """Process ids of the servers and services that run, by name."""
        pids = {name: server.process.pid for name, server in self._servers.items() if server.process is not None}
        return pids | {name: child.pid for name, child in self._children.items() if child.pid is not None}

    def _write_state(self) -> None:
        """Replace the state file. Raises OSError."""
        write_state(self.settings, self.pids(), addresses(self.settings), self._bus_urls, ephemeral=self._ephemeral)

    def _tell_of_the_disk(self) -> None:
        """Tell the terminal and the log when the disk becomes full or nearly full, and when it has space again."""
        space = self._disk.space
        if space is None or space.state is self._disk_state:
            return
        self._disk_state = space.state
        log.warning("the state of the disk has changed", state=space.state.value, reason=space.message)
        with contextlib.suppress(OSError):
            self._say(space.message or "the disk has space again")

    def _print_addresses(self, seconds: float) -> None:
        self._console.print(f"\n[b]OpenSpot is ready[/b] ({seconds:.1f} s)")
        for name, address in addresses(self.settings).items():
            self._console.print(f"  {name:22} {address}", soft_wrap=True, highlight=False)
        for note in self._first_start_notes:
            self._console.print(note.text(self.settings), soft_wrap=True, highlight=False)
        removed = " and removes its data" if self._ephemeral else ""
        self._console.print(f"Ctrl-C stops everything{removed}.")

    async def _start_control(self) -> None:
        self._operations = Operations(self._children, self._servers, self.log_path, self._redactor, self._write_state)
        self._control = ControlServer(self.settings.data_dir, self._operations.carry_out)
        try:
            await self._control.start()
        except OSError as error:
            raise StartError(f"the control socket in {self.settings.data_dir} cannot be made: {error}") from error

    async def watch(self, stop: asyncio.Event) -> None:
        """Restart embedded servers that end, and keep the state file up to date, until `stop` is set."""
        known: dict[str, int] = {}
        if self._keeper is not None:
            self._keeping = asyncio.create_task(self._keeper.run(stop))
        while not stop.is_set():
            for name, server in self._servers.items():
                if server.process is not None and server.process.poll() is not None:
                    log.error(
                        "embedded server ended, starting it again", server=name, exit_code=server.process.returncode
                    )
                    end = ProcessEnd(
                        name.lower(), name, time.time_ns() // 1_000_000, cause_of(server.process.returncode)
                    )
                    with contextlib.suppress(OSError):
                        await asyncio.to_thread(note_end, self.settings.data_dir, end)
                    if self._operations is not None:
                        self._operations.server_restarts[name] += 1
                    try:
                        await asyncio.to_thread(server.start)
                    except (EmbeddedServerError, OSError) as error:
                        log.error("embedded server did not start", server=name, error=str(error))
                        await is_set_within(stop, SERVER_PAUSE_S)
            self._tell_of_the_disk()
            if (pids := self.pids()) != known:
                try:
                    self._write_state()
                    known = pids
                except OSError as error:
                    log.warning("the state file is not current, trying again", error=str(error))
            await is_set_within(stop, WATCH_INTERVAL_S)

    async def stop(self) -> None:
        """Stop the services, each before those that it uses, then the servers."""
        if self._control is not None:
            await self._control.stop()
        if self._operations is not None:
            await self._operations.stop()
        children = list(dict.fromkeys(self._children.values()))
        stopped = {child.name: asyncio.Event() for child in children}

        async def stop_child(child: Child) -> None:
            for other in children:
                if other.uses.intersection(child.names):
                    await stopped[other.name].wait()
            await child.stop()
            stopped[child.name].set()

        await asyncio.gather(*(stop_child(child) for child in children))
        if self._launcher is not None:
            await self._launcher.close()
        if self._keeping is not None:
            await end_tasks(self._keeping)
        if self._keeper is not None:
            await self._keeper.close()
        await asyncio.gather(*(asyncio.to_thread(server.stop) for server in self._servers.values()))
        if self._ephemeral:
            shutil.rmtree(self.settings.data_dir, ignore_errors=True)
        self._stack.close()


def _holder(port: int) -> str:
    """ " by NAME (process 123)" if the system tells who listens on `port`, else an empty text."""
    try:
        for connection in psutil.net_connections("tcp"):
            listens = connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port
            if listens and connection.pid:
                return f" by {psutil.Process(connection.pid).name()} (process {connection.pid})"
    except (psutil.Error, OSError):
        return ""
    return ""


async def run_platform(settings: Settings, console: Console, *, ephemeral: bool) -> int:
    """Start the platform, run it until SIGINT or SIGTERM, and stop it. Returns the exit code."""
    platform = Platform(settings, console, ephemeral=ephemeral)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    try:
        platform.take_data_directory()
    except StartError as error:
        _print_failure(console, error)
        return 1
    with platform.log_path.open("a") as output:
        configure_log(platform.settings, "up", output)
        return await _run_until(platform, stop, console)


def _print_failure(console: Console, error: BaseException) -> None:
    console.print(f"[red]OpenSpot did not start:[/red] {escape(str(error))}", highlight=False, soft_wrap=True)


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
            _print_failure(console, error)
    finally:
        interrupted.cancel()
        # The output may be a file on a full disk.
        with contextlib.suppress(OSError):
            console.print("stopping …")
        began = time.monotonic()
        await platform.stop()
        with contextlib.suppress(OSError):
            console.print(f"stopped in {time.monotonic() - began:.1f} s")
    return code
