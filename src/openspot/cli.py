"""The command `openspot`. Each command imports only what it needs, so that all start quickly."""

import asyncio
import json
import os
import re
import secrets
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console

from openspot import __version__
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.log import configure_log
from openspot.kit.settings import AnySettings, Settings, SettingsError, as_part, load
from openspot.venue_simulator.command import app as venue_simulator_app

if TYPE_CHECKING:
    from openspot.custody.operator import Operator
    from openspot.up.state import PlatformState

app = typer.Typer(no_args_is_help=True, add_completion=False)
console = Console()
error_console = Console(stderr=True)


@app.callback()
def main() -> None:
    """OpenSpot: a self-hosted spot exchange."""
    # Files of every command and its children are for this account alone: journal, log, snapshots, secrets, exports.
    os.umask(0o077)


def fail(reason: str) -> typer.Exit:
    """Print the reason to standard error and return the exception to raise."""
    error_console.print(f"openspot: {reason}", highlight=False, markup=False)
    return typer.Exit(1)


def load_settings(kind: type[AnySettings]) -> AnySettings:
    """The settings from the environment. Ends the command if some are invalid, and names each variable and reason."""
    try:
        return load(kind)
    except SettingsError as error:
        raise fail(f"bad settings\n{error}") from error


def platform_settings() -> Settings:
    """The settings of every service, from the environment."""
    from openspot.up.services import PlatformSettings

    settings: Settings = load_settings(PlatformSettings)
    return settings


def running_settings(kind: type[AnySettings]) -> AnySettings:
    """The settings from the environment, completed by those of the platform that runs for this data directory."""
    from openspot.kit.secrets_file import SecretsFileError, with_known_secrets
    from openspot.up.state import settings_of_running

    settings = platform_settings()
    try:
        return as_part(with_known_secrets(settings_of_running(settings)), kind)
    except SecretsFileError as error:
        raise fail(str(error)) from error
    except OSError as error:
        raise fail(f"the data directory {settings.data_dir.resolve()} cannot be read: {error}") from error


@app.command()
def up(
    ephemeral: Annotated[
        bool, typer.Option("--ephemeral", help="Start with no data, and remove the data when it stops.")
    ] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Run bots that quote and trade on every market.")] = False,
) -> None:
    """Start the whole platform: embedded NATS and PostgreSQL, and every service. Ctrl-C stops it.

    A data directory has one running platform at most, ephemeral or not; the other commands connect to that one.
    """
    from openspot.up.platform import run_platform

    settings = platform_settings()
    if demo:
        settings = settings.model_copy(update={"demo": True})
    raise typer.Exit(asyncio.run(run_platform(settings, console, ephemeral=ephemeral)))


@app.command()
def run(service: Annotated[str, typer.Argument(help="Name of one service, for example: ledger")]) -> None:
    """Run one service alone; its addresses come from the environment."""
    from openspot.up.run import RunError
    from openspot.up.run import run as run_here

    try:
        raise typer.Exit(run_here(service))
    except RunError as error:
        raise fail(str(error)) from error


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Every address, state and process id as JSON.")] = False,
) -> None:
    """Show what runs: addresses, process ids, and whether each service is ready."""
    from openspot.up.state import running_state

    settings = running_settings(Settings)
    data_dir = platform_settings().data_dir.resolve()
    state = running_state(data_dir)
    if state is None:
        if as_json:
            typer.echo(json.dumps({"running": False, "dataDir": str(data_dir)}))
        else:
            console.print(f"nothing runs for {data_dir}; `openspot up` starts it")
        raise typer.Exit(1)
    ready = asyncio.run(_readiness(settings, state))
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


async def _readiness(settings: Settings, state: "PlatformState") -> dict[str, bool]:
    from openspot.up.services import PlatformSettings, enabled
    from openspot.up.supervisor import is_ready

    services = enabled(PlatformSettings.model_validate(state.settings))
    answers = await asyncio.gather(
        *(is_ready(service.listening_host(settings), service.ready_port(settings)) for service in services.values())
    )
    return dict(zip(services, answers, strict=True))


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
) -> None:
    """Compare engine, ledger, order and trade rows of everybody, and name every difference and its likely cause.

    Exit code 0: no difference. 1: differences. 2: could not be compared. While watching, the highest so far.
    """
    settings = running_settings(EngineConnectionSettings)
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


def _reconcile_once(settings: EngineConnectionSettings, wait_s: float, *, as_json: bool, as_line: bool) -> int:
    from openspot.reconcile.reconciliation import NotComparableError
    from openspot.reconcile.reconciliation import reconcile as compare
    from openspot.reconcile.report import format_line, format_report, keep_outcome, report_json

    try:
        report = asyncio.run(compare(settings, wait_s))
    except NotComparableError as error:
        if settings.data_dir.is_dir():
            keep_outcome(settings.data_dir, str(error))
        error_console.print(f"openspot: could not be compared: {error}", highlight=False, markup=False, soft_wrap=True)
        return 2
    if settings.data_dir.is_dir():
        keep_outcome(settings.data_dir, report)
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

    settings = running_settings(EngineConnectionSettings)
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "rebuild")
    try:
        rebuilt = asyncio.run(write_missing(settings, dry_run=dry_run))
    except NotRebuiltError as error:
        error_console.print(f"openspot: {error}", highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(2) from error
    typer.echo(
        f"{'missing' if dry_run else 'written'} up to event {rebuilt.until:,}: {rebuilt.orders:,} order rows, "
        f"{rebuilt.trades:,} trade rows, {rebuilt.settled:,} settled trades, "
        f"{rebuilt.postings:,} deposits and withdrawals, {rebuilt.transfers:,} transfers"
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
    from openspot.engine.settings import EngineSettings

    return given or of_settings(running_settings(EngineSettings))


@engine_app.command()
def verify(journal: JournalPath = None) -> None:
    """Check every batch, replay from zero, compare snapshots, print the state's hash. Exit code 1: a check failed."""
    from openspot.engine.journal.inspection import verify as verify_journal
    from openspot.engine.journal.journal import JournalDamagedError
    from openspot.engine.settings import EngineSettings

    try:
        report = verify_journal(journal_path(journal), load_settings(EngineSettings).engine_core)
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
    from openspot.engine.journal.inspection import export as export_journal
    from openspot.engine.journal.journal import JournalDamagedError

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
def mailbox(
    to: Annotated[str, typer.Option(help="Only mails to this address")] = "",
    last: Annotated[int, typer.Option(help="How many mails, the newest ones", min=1)] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON a mail.")] = False,
) -> None:
    """Show the mails that the platform wrote while no mail server is set, oldest first."""
    from dataclasses import asdict

    from openspot.rest_edge.mail.transports import read_mailbox

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


custody_app = typer.Typer(no_args_is_help=True, help="Decide on withdrawals; send deposits on the simulated chains.")
app.add_typer(custody_app, name="custody")
WithdrawalId = Annotated[str, typer.Argument(help="Id of the withdrawal, as `openspot custody list` shows it")]


def _as_operator(command: Callable[["Operator"], Awaitable[Any]]) -> Any:
    """Carry out a command of the custody's operator; ends with its reason if it is refused."""
    from openspot.custody.operator import OperatorError, operator
    from openspot.custody.settings import CustodySettings

    async def carry_out() -> Any:
        async with operator(running_settings(CustodySettings)) as commands:
            return await command(commands)

    try:
        return asyncio.run(carry_out())
    except OperatorError as error:
        raise fail(str(error)) from error


@custody_app.command("list")
def list_withdrawals() -> None:
    """Show the withdrawals that are not settled, and what each waits for."""
    lines = _as_operator(lambda commands: commands.listed())
    typer.echo("\n".join(lines) or "no withdrawal is open")


@custody_app.command()
def approve(withdrawal_id: WithdrawalId, approver: Annotated[str, typer.Option("--as", help="Who approves")]) -> None:
    """Approve a withdrawal. Approvers must be different people, and not the one who withdraws."""
    typer.echo(_as_operator(lambda commands: commands.approve(withdrawal_id, approver)))


@custody_app.command()
def sign(
    withdrawal_id: WithdrawalId, signer: Annotated[str, typer.Option(help="Signer of the wallet, for example warm-1")]
) -> None:
    """Sign an approved withdrawal with the key of one of its wallet's signers."""
    typer.echo(_as_operator(lambda commands: commands.sign(withdrawal_id, signer)))


@custody_app.command()
def reject(
    withdrawal_id: WithdrawalId,
    operator: Annotated[str, typer.Option("--as", help="Who rejects")],
    reason: Annotated[str, typer.Option(help="Why; the user sees it")],
) -> None:
    """Reject a withdrawal that is not being sent yet. Its funds and its quota come back."""
    typer.echo(_as_operator(lambda commands: commands.reject(withdrawal_id, operator, reason)))


@custody_app.command("deposit")
def deposit_on_chain(
    address: Annotated[str, typer.Argument(help="Deposit address of a user")],
    asset: Annotated[str, typer.Argument(help="For example BTC")],
    amount: Annotated[str, typer.Argument(help="A decimal number, for example 0.5")],
    network: Annotated[str, typer.Option(help="For example bitcoin")],
    tx_hash: Annotated[str, typer.Option(help="Transaction hash; the same one counts once")] = "",
) -> None:
    """Send a deposit on a simulated chain; it counts after the network's number of blocks."""
    from openspot.custody.deposits import ChainDeposit

    sent = ChainDeposit(tx_hash or f"0x{secrets.token_hex(32)}", network, address, asset.upper(), amount)
    typer.echo(_as_operator(lambda commands: commands.deposit(sent)))


@custody_app.command()
def audit() -> None:
    """Check the hash chain of the audit trail. Exit code 1: an entry was changed, or entries are missing."""
    count = _as_operator(lambda commands: commands.verified_audit())
    typer.echo(f"{count} entries, unbroken")


kyc_app = typer.Typer(no_args_is_help=True, help="Play the provider of verification (development).")
app.add_typer(kyc_app, name="kyc")


@kyc_app.command()
def review(
    user_id: Annotated[str, typer.Argument(help="User id")],
    answer: Annotated[str, typer.Argument(help="GREEN or RED")],
    final: Annotated[bool, typer.Option("--final", help="With RED: the user may not try again.")] = False,
) -> None:
    """Send the outcome of a user's check to the webhook, signed as a provider signs it."""
    from openspot.rest_edge.common.signed_events import EventError
    from openspot.rest_edge.funds.kyc.development import review as send_review
    from openspot.rest_edge.settings import RestEdgeSettings

    if answer.upper() not in ("GREEN", "RED"):
        raise fail("ANSWER must be GREEN or RED")
    try:
        applied = asyncio.run(send_review(running_settings(RestEdgeSettings), user_id, answer.upper(), final=final))
    except EventError as error:
        raise fail(str(error)) from error
    typer.echo("applied" if applied else "changed nothing: this user has no check, or a newer event came before")
    raise typer.Exit(0 if applied else 1)


payments_app = typer.Typer(no_args_is_help=True, help="Play the provider of payments (development).")
app.add_typer(payments_app, name="payments")
PaymentId = Annotated[str, typer.Argument(help="Id of the payment, as `POST /payments/session` returns it")]


@payments_app.command()
def complete(payment_id: PaymentId) -> None:
    """Tell the edge that a payment is paid, signed as a provider signs it. The user is credited once."""
    _report_payment(payment_id, "paid")


@payments_app.command("fail")
def fail_payment(payment_id: PaymentId) -> None:
    """Tell the edge that a payment failed, signed as a provider signs it."""
    _report_payment(payment_id, "failed")


def _report_payment(payment_id: str, outcome: Literal["paid", "failed"]) -> None:
    from openspot.rest_edge.common.signed_events import EventError
    from openspot.rest_edge.products.payments.development import report
    from openspot.rest_edge.settings import RestEdgeSettings

    if not re.fullmatch("[A-Za-z0-9]{1,40}", payment_id):
        raise fail("PAYMENT_ID must be 1 to 40 letters and digits")
    try:
        is_new = asyncio.run(report(running_settings(RestEdgeSettings), payment_id, outcome))
    except EventError as error:
        raise fail(str(error)) from error
    typer.echo(f"{payment_id} is {outcome}" if is_new else f"{payment_id}: the edge was told before; nothing changed")


app.add_typer(venue_simulator_app, name="venue-simulator")
market_data_app = typer.Typer(no_args_is_help=True, help="Check market data.")
app.add_typer(market_data_app, name="market-data")


@market_data_app.command("verify")
def verify_candles(
    wait: Annotated[float, typer.Option(help="Seconds that the trade rows get to catch up", min=0)] = 30,
) -> None:
    """Make every candle again from the trade rows, and name each one that differs.

    Exit code 0: no difference. 1: differences. 2: could not be compared.
    """
    from openspot.market_data.verify import CandlesNotComparableError
    from openspot.market_data.verify import verify as compare

    try:
        found = asyncio.run(compare(running_settings(Settings), wait))
    except CandlesNotComparableError as error:
        error_console.print(f"openspot: could not be compared: {error}", highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(2) from error
    typer.echo(
        f"{found.candles} candles of {found.trades} trades up to event {found.position.sequence}: "
        f"{found.count} differences"
    )
    for difference in found.differences:
        typer.echo(str(difference))
    raise typer.Exit(1 if found.count else 0)


if __name__ == "__main__":
    app()
