"""The command `openspot`. Each command imports what it needs itself, so that every one starts quickly."""

import asyncio
import json
import os
import secrets
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from openspot import __version__
from openspot.kit.clock import NANOSECONDS_PER_MS
from openspot.kit.log import configure_log
from openspot.kit.settings import Settings

app = typer.Typer(no_args_is_help=True, add_completion=False)
console = Console()
error_console = Console(stderr=True)

CONNECT_TIMEOUT_S = 5.0
DEPOSIT_TIMEOUT_S = 15.0


@app.callback()
def main() -> None:
    """OpenSpot: a self-hosted spot exchange."""
    # Files of every command and its children are for this account alone: journal, log, snapshots, secrets, exports.
    os.umask(0o077)


def fail(reason: str) -> typer.Exit:
    """Print the reason to standard error and return the exception to raise."""
    error_console.print(f"openspot: {reason}", highlight=False, markup=False)
    return typer.Exit(1)


def load_settings() -> Settings:
    """The settings of the environment. Ends the command with every field that is wrong, and why."""
    from pydantic import ValidationError

    try:
        return Settings()
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()]
        raise fail("bad settings\n" + "\n".join(lines)) from error


def running_settings() -> Settings:
    """The settings of the environment, completed by those of the platform that runs for this data directory."""
    from openspot.kit.secrets_file import SecretsFileError, with_known_secrets
    from openspot.up.state import settings_of_running

    settings = load_settings()
    try:
        return with_known_secrets(settings_of_running(settings))
    except SecretsFileError as error:
        raise fail(str(error)) from error
    except OSError as error:
        raise fail(f"the data directory {settings.data_dir.resolve()} cannot be read: {error}") from error


@app.command()
def up(
    ephemeral: Annotated[
        bool, typer.Option("--ephemeral", help="Start with no data, and remove the data when it stops.")
    ] = False,
) -> None:
    """Start the whole platform: embedded NATS and PostgreSQL, and every service. Ctrl-C stops it.

    A data directory has one running platform at most, ephemeral or not; the other commands connect to that one.
    """
    from openspot.up.platform import run_platform

    raise typer.Exit(asyncio.run(run_platform(load_settings(), console, ephemeral=ephemeral)))


@app.command()
def run(service: Annotated[str, typer.Argument(help="Name of one service, for example: ledger")]) -> None:
    """Run one service alone; its addresses come from the environment."""
    from openspot.kit.secrets_file import SecretsFileError, with_secrets
    from openspot.kit.service import SUPERVISED, run_service
    from openspot.up.data_directory import close_if_own
    from openspot.up.exposure import dangers
    from openspot.up.services import SERVICES

    if service not in SERVICES:
        raise fail(f"unknown service {service!r}; one of: {', '.join(SERVICES)}")
    settings = load_settings()
    if SUPERVISED not in os.environ:  # `openspot up` has done this before it starts its children
        if found := dangers(settings, [service]):
            raise fail("\n".join(found))
        close_if_own(settings.data_dir)
    try:
        settings = with_secrets(settings)
    except SecretsFileError as error:
        raise fail(str(error)) from error
    raise typer.Exit(run_service(service, SERVICES[service].main(), settings))


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Every address, state and process id as JSON.")] = False,
) -> None:
    """Show what runs: addresses, process ids, and whether each service is ready."""
    from openspot.up.state import running_state

    data_dir = load_settings().data_dir.resolve()
    settings = running_settings()
    state = running_state(data_dir)
    if state is None:
        if as_json:
            typer.echo(json.dumps({"running": False, "dataDir": str(data_dir)}))
        else:
            console.print(f"nothing runs for {data_dir}; `openspot up` starts it")
        raise typer.Exit(1)
    ready = asyncio.run(_readiness(settings))
    if as_json:
        report = {
            "running": True,
            "ephemeral": state.ephemeral,
            "dataDir": str(state.data_dir),
            "supervisor": state.supervisor_pid,
            "addresses": state.addresses,
            "processes": {name: {"pid": pid, "ready": ready.get(name)} for name, pid in state.pids.items()},
        }
        typer.echo(json.dumps(report, indent=1))
    else:
        kind = "Ephemeral data" if state.ephemeral else "Data"
        for name, address in {kind: str(state.data_dir), **state.addresses}.items():
            console.print(f"{name:22} {address}", highlight=False, soft_wrap=True)
        for name, pid in state.pids.items():
            mark = {True: "ready", False: "not ready", None: "running"}[ready.get(name)]
            console.print(f"{name:22} process {pid}, {mark}", highlight=False)
    raise typer.Exit(0 if all(ready.values()) else 1)


async def _readiness(settings: Settings) -> dict[str, bool]:
    from openspot.up.services import SERVICES
    from openspot.up.supervisor import is_ready

    answers = await asyncio.gather(
        *(is_ready(settings.host, service.ready_port(settings)) for service in SERVICES.values())
    )
    return dict(zip(SERVICES, answers, strict=True))


@app.command()
def deposit(
    user: Annotated[str, typer.Argument(help="User id, or the e-mail of a registered user")],
    asset: Annotated[str, typer.Argument(help="For example BTC")],
    amount: Annotated[str, typer.Argument(help="A decimal number, for example 0.5")],
    tx_hash: Annotated[str, typer.Option(help="Transaction hash; the same one credits once")] = "",
) -> None:
    """Publish custody.deposit.confirmed as the custody service does, and wait until the ledger has credited it."""
    from openspot.domain.ids import PARTICIPANT_ID_TEXT
    from openspot.domain.money import MoneyError, parse_decimal

    try:
        if parse_decimal(amount) <= 0:
            raise fail("AMOUNT must be positive")
    except MoneyError as error:
        raise fail(f"AMOUNT {error}") from error
    if "@" not in user and not PARTICIPANT_ID_TEXT.fullmatch(user):
        raise fail("USER is no user id: letters, digits, _ : - only")
    outcome = asyncio.run(
        _deposit(running_settings(), user, asset.upper(), amount, tx_hash or f"0x{secrets.token_hex(32)}")
    )
    typer.echo(outcome)


async def _deposit(settings: Settings, user: str, asset: str, amount: str, tx_hash: str) -> str:
    from openspot.contracts import subjects
    from openspot.contracts.messages import DepositConfirmed
    from openspot.kit.bus import Bus, BusError
    from openspot.kit.database import DatabaseUnavailableError, create_pool

    try:
        # The connection itself waits for a server without limit.
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            bus = await Bus.connect(settings, "cli")
        pool = await create_pool(settings, connections_max=1, timeout_s=CONNECT_TIMEOUT_S)
    except (BusError, DatabaseUnavailableError, TimeoutError) as error:
        reason = str(error) or "no NATS server answers"
        raise fail(f"the platform is not running here ({reason}); `openspot up` starts it") from error
    try:
        user_id = user
        if "@" in user:
            user_id = await pool.fetchval("SELECT user_id FROM users WHERE email = $1", user.lower())
            if user_id is None:
                raise fail(f"USER: nobody is registered as {user}")
        event = DepositConfirmed(tx_hash, user_id, asset, amount, timestamp=time.time_ns() // NANOSECONDS_PER_MS)
        try:
            await bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, event, f"deposit-{tx_hash}")
        except BusError as error:
            raise fail(f"the deposit was not published: {error}") from error
        query = "SELECT balance FROM ledger_entries WHERE transaction_id = $1"
        deadline = time.monotonic() + DEPOSIT_TIMEOUT_S
        while (balance := await pool.fetchval(query, tx_hash)) is None:
            if time.monotonic() > deadline:
                raise fail(
                    f"published ({tx_hash}), but not credited within {DEPOSIT_TIMEOUT_S:.0f} s: "
                    "see the log for the reason (unknown currency, too many decimals, a service that is down)"
                )
            await asyncio.sleep(0.05)
        from openspot.kit.database import text_of

        return f"credited {amount} {asset} to {user_id}, balance {text_of(balance)} ({tx_hash})"
    finally:
        await bus.close()
        await pool.close()


@app.command()
def replay(
    file: Annotated[Path | None, typer.Argument(help="Level-3 order flow as CSV, plain, .gz or .xz")] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Generate a flow instead of reading a file")] = False,
    symbol: Annotated[str, typer.Option(help="Market to play it on")] = "BTC-USD",
    users: Annotated[int, typer.Option(help="How many users share the orders")] = 16,
    events: Annotated[int | None, typer.Option(help="Stop after this many events")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the generated flow")] = 1,
) -> None:
    """Send real order flow through the REST edge, then compare engine, ledger and rows. Exit code 1: differences."""
    from openspot.replay.report import format_report
    from openspot.replay.run import ReplayError, ReplayOptions
    from openspot.replay.run import replay as play

    if sample == (file is not None):
        raise fail("give a FILE, or --sample")
    settings = running_settings()
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "replay")
    options = ReplayOptions(
        settings, file, symbol=symbol, users=users, events_max=events, sample_seed=seed, console=console
    )
    try:
        report = asyncio.run(play(options))
    except ReplayError as error:
        raise fail(str(error)) from error
    typer.echo(format_report(report))
    raise typer.Exit(0 if report.agrees else 1)


@app.command()
def reconcile(
    watch: Annotated[
        float | None, typer.Option(help="Repeat with this many seconds between, until Ctrl-C", min=0.1)
    ] = None,
    wait: Annotated[float, typer.Option(help="Seconds that the mirrors get to catch up with the engine", min=0)] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON a comparison.")] = False,
) -> None:
    """Compare engine, ledger, order and trade rows of everybody, and name every difference and its likely cause.

    Exit code 0: no difference. 1: differences. 2: could not be compared. While watching, the highest so far.
    """
    settings = running_settings()
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "reconcile")
    code = 0
    try:
        while True:
            code = max(code, _reconcile_once(settings, wait, as_json=as_json, as_line=watch is not None))
            if watch is None:
                break
            time.sleep(watch)
    except KeyboardInterrupt:
        pass
    raise typer.Exit(code)


def _reconcile_once(settings: Settings, wait_s: float, *, as_json: bool, as_line: bool) -> int:
    from openspot.reconcile.reconciliation import NotComparableError
    from openspot.reconcile.reconciliation import reconcile as compare
    from openspot.reconcile.report import format_line, format_report, report_json

    try:
        report = asyncio.run(compare(settings, wait_s))
    except NotComparableError as error:
        error_console.print(f"openspot: could not be compared: {error}", highlight=False, markup=False, soft_wrap=True)
        return 2
    typer.echo(report_json(report) if as_json else format_line(report) if as_line else format_report(report))
    return report.exit_code


ledger_app = typer.Typer(no_args_is_help=True, help="Repair the ledger and the other mirrors of the engine.")
app.add_typer(ledger_app, name="ledger")


@ledger_app.command()
def rebuild(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what is missing, and write nothing.")] = False,
) -> None:
    """Write the ledger, order and trade rows that are missing, from the engine's events. Existing rows stay.

    Exit code 0: nothing is missing any more. 1: something cannot be written. 2: it could not be done.
    """
    from openspot.reconcile.rebuild import NotRebuiltError
    from openspot.reconcile.rebuild import rebuild as write_missing

    settings = running_settings()
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "rebuild")
    try:
        rebuilt = asyncio.run(write_missing(settings, dry_run=dry_run))
    except NotRebuiltError as error:
        error_console.print(f"openspot: {error}", highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(2) from error
    typer.echo(
        f"{'missing' if dry_run else 'written'} up to event {rebuilt.until:,}: {rebuilt.orders:,} order rows, "
        f"{rebuilt.trades:,} trade rows, {rebuilt.settled:,} settled trades, "
        f"{rebuilt.postings:,} deposits and withdrawals"
    )
    for problem in rebuilt.problems:
        error_console.print(f"problem: {problem}", highlight=False, markup=False, soft_wrap=True)
    raise typer.Exit(1 if rebuilt.problems else 0)


engine_app = typer.Typer(no_args_is_help=True, help="Read the engine's journal; the engine may be running.")
app.add_typer(engine_app, name="engine")
JournalPath = Annotated[
    Path | None, typer.Argument(help="Journal file; without one, that of the running platform or the data directory")
]


def journal_path(given: Path | None) -> Path:
    """The given journal, or that of the running platform, or that of the data directory."""
    from openspot.engine.engine import journal_path as of_settings

    return given or of_settings(running_settings())


@engine_app.command()
def verify(journal: JournalPath = None) -> None:
    """Check every batch, replay from zero, compare snapshots, print the state's hash. Exit code 1: a check failed."""
    from openspot.engine.audit import verify as verify_journal
    from openspot.engine.journal import JournalDamagedError

    try:
        report = verify_journal(journal_path(journal), load_settings().engine_core)
    except (FileNotFoundError, JournalDamagedError) as error:
        raise fail(str(error)) from error
    typer.echo(
        f"{report.path}: {report.commands} commands in {report.batches} batches, {report.events} events, "
        f"{report.snapshots} snapshots, replayed in {report.seconds:.1f} s with the {report.core} core\n"
        f"epoch {report.epoch}, state hash {report.state_hash}"
    )
    for problem in report.problems:
        error_console.print(f"problem: {problem}", highlight=False, markup=False)
    raise typer.Exit(0 if report.sound else 1)


@engine_app.command()
def export(
    journal: JournalPath = None,
    out: Annotated[Path | None, typer.Option(help="File to write; standard output if none is given")] = None,
) -> None:
    """Write every command and every event as JSON lines."""
    from openspot.engine.audit import export as export_journal
    from openspot.engine.journal import JournalDamagedError

    try:
        if out is None:
            export_journal(journal_path(journal), sys.stdout)
            return
        with out.open("w", encoding="utf-8") as file:
            lines = export_journal(journal_path(journal), file)
    except (OSError, JournalDamagedError) as error:
        raise fail(str(error)) from error
    typer.echo(f"{lines} lines in {out}")


@app.command()
def version() -> None:
    """Show the version, and which matching core would run."""
    from openspot.engine.core.selection import make_core

    core = make_core(load_settings().engine_core).name
    typer.echo(f"openspot {__version__}, Python {sys.version.split()[0]}, {core} core")


if __name__ == "__main__":
    app()
