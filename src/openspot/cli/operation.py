"""Commands of the daily operation: deposits, replays, comparisons, the mailbox."""

import asyncio
import json
import secrets
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from openspot import __version__
from openspot.cli.common import console, database_settings, error_console, fail, load_settings, running_settings
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.alone import BRIEFLY_S, BUSY, BusyError, alone
from openspot.kit.log import configure_log
from openspot.kit.settings import Settings

app = typer.Typer()

OTHER_S_MAX = 900
"""A command that needs a comparison of its own waits for another one for so many seconds."""


@app.command()
def deposit(
    user: Annotated[str, typer.Argument(help="User id, or the e-mail of a registered user")],
    asset: Annotated[str, typer.Argument(help="For example BTC")],
    amount: Annotated[str, typer.Argument(help="A decimal number, for example 0.5")],
    tx_hash: Annotated[str, typer.Option(help="Transaction hash; the same one credits once")] = "",
) -> None:
    """Publish custody.deposit.confirmed as the custody service does, and wait until the ledger has credited it."""
    from openspot.deposit.deposit import DepositError
    from openspot.deposit.deposit import deposit as make
    from openspot.domain.ids import PARTICIPANT_ID_TEXT
    from openspot.domain.money import MoneyError, parse_decimal

    try:
        if parse_decimal(amount) <= 0:
            raise fail("AMOUNT must be positive")
    except MoneyError as error:
        raise fail(f"AMOUNT {error}") from error
    if "@" not in user and not PARTICIPANT_ID_TEXT.fullmatch(user):
        raise fail("USER is no user id: letters, digits, _ : - only")
    settings = running_settings(Settings)
    try:
        outcome = asyncio.run(make(settings, user, asset.upper(), amount, tx_hash or f"0x{secrets.token_hex(32)}"))
    except DepositError as error:
        raise fail(str(error)) from error
    typer.echo(outcome)


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
    from openspot.replay.settings import ReplaySettings

    if sample == (file is not None):
        raise fail("give a FILE, or --sample")
    settings = running_settings(ReplaySettings)
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
    started_by: Annotated[str, typer.Option(hidden=True)] = "openspot reconcile",
) -> None:
    """Compare engine, ledger, order and trade rows of everybody, and name every difference and its likely cause.

    Exit code 0: no difference. 1: differences. 2: could not be compared. 3: another comparison is under way. While
    watching, the highest so far; another comparison does not count.
    """
    from openspot.reconcile.settings import ReconcileSettings

    settings = database_settings(ReconcileSettings, 2)
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "reconcile")
    code = 0
    try:
        while True:
            try:
                found = reconcile_once(
                    settings, wait, as_json=as_json, as_line=watch is not None, started_by=started_by
                )
            except BusyError as error:
                fail("another comparison of this data directory is under way")
                if watch is None:
                    raise typer.Exit(BUSY) from error
                found = 0
            code = max(code, found)
            if watch is None:
                break
            time.sleep(watch)
    except KeyboardInterrupt:
        pass
    raise typer.Exit(code)


def reconcile_after(settings: EngineConnectionSettings, wait_s: float, command: str, *, as_line: bool = False) -> int:
    """As `reconcile_once`, for a command that needs a comparison of its own: one that is under way is waited for."""
    try:
        return reconcile_once(
            settings, wait_s, as_json=False, as_line=as_line, started_by=command, lock_wait_s=OTHER_S_MAX
        )
    except BusyError as error:
        raise fail(f"another comparison has been under way for {OTHER_S_MAX} s", 2) from error


def reconcile_once(
    settings: EngineConnectionSettings,
    wait_s: float,
    *,
    as_json: bool,
    as_line: bool,
    started_by: str,
    lock_wait_s: float = BRIEFLY_S,
) -> int:
    """Compare once, print the report, and return the exit code: 0, 1 for differences, 2 if it could not be done.

    Raises BusyError if another comparison is still under way after `lock_wait_s` seconds.
    """
    from openspot.kit.comparison_outcome import LOCK, keep_failure, keep_report
    from openspot.reconcile.reconciliation import NotComparableError
    from openspot.reconcile.reconciliation import reconcile as compare
    from openspot.reconcile.report import format_line, format_report, report_json

    data_dir = settings.data_dir if settings.data_dir.is_dir() else None
    try:
        with alone(data_dir / LOCK, started_by, lock_wait_s) if data_dir else nullcontext(None) as begun:
            try:
                report = asyncio.run(compare(settings, wait_s))
            except NotComparableError as error:
                if data_dir and begun:
                    keep_failure(data_dir, str(error), begun)
                return _not_compared(str(error))
            if data_dir and begun:
                keep_report(data_dir, report, begun)
    except OSError as error:
        return _not_compared(f"the outcome cannot be kept in {settings.data_dir.resolve()}: {error}")
    typer.echo(report_json(report) if as_json else format_line(report) if as_line else format_report(report))
    return report.exit_code


def _not_compared(reason: str) -> int:
    error_console.print(f"openspot: could not be compared: {reason}", highlight=False, markup=False, soft_wrap=True)
    return 2


@app.command()
def mailbox(
    to: Annotated[str, typer.Option(help="Only mails to this address")] = "",
    last: Annotated[int, typer.Option(help="How many mails, the newest ones", min=1)] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON a mail.")] = False,
) -> None:
    """Show the mails that the platform wrote while no mail server is set, oldest first."""
    from dataclasses import asdict

    from openspot.kit.mail.transports import read_mailbox

    data_dir = running_settings(Settings).data_dir
    try:
        mails = [mail for mail in read_mailbox(data_dir) if to in ("", mail.recipient)][-last:]
    except (OSError, ValueError, TypeError) as error:
        raise fail(f"the mailbox in {data_dir.resolve()} cannot be read: {error}") from error
    for mail in mails:
        if as_json:
            typer.echo(json.dumps(asdict(mail)))
        else:
            typer.echo(f"{mail.sent_at}\nTo: {mail.recipient}\nSubject: {mail.subject}\n\n{mail.text}")
    if not mails and not as_json:
        console.print("no mail")


@app.command()
def version() -> None:
    """Show the version, and which matching core would run."""
    from openspot.engine.core.selection import make_core
    from openspot.engine.settings import EngineSettings

    core = make_core(load_settings(EngineSettings).engine_core).name
    typer.echo(f"openspot {__version__}, Python {sys.version.split()[0]}, {core} core")
