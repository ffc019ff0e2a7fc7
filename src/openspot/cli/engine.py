"""Commands of the engine's journal."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openspot.cli.common import error_console, fail, load_settings, running_settings

if TYPE_CHECKING:
    from openspot.engine.journal.loss import Loss


engine_app = typer.Typer(no_args_is_help=True, help="Read the engine's journal; the engine may be running.")
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
    from openspot.engine.journal.rows import JournalDamagedError
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
def recover(
    journal: JournalPath = None,
    accept_loss: Annotated[
        int | None, typer.Option(help="Give up this many commands; must be all that are lost", min=1)
    ] = None,
) -> None:
    """Show which acknowledged commands a damaged journal has lost, or give them up. Exit code 1: some are lost."""
    from functools import partial

    from openspot.engine.core.selection import make_core
    from openspot.engine.journal.journal import JournalLockedError
    from openspot.engine.journal.loss import LossError, accept, assess
    from openspot.engine.journal.rows import JournalDamagedError
    from openspot.engine.settings import EngineSettings

    settings = load_settings(EngineSettings)
    try:
        loss = assess(journal_path(journal))
        if accept_loss is None:
            _report_loss(loss)
            return
        folder = accept(
            loss,
            accept_loss,
            partial(make_core, settings.engine_core),
            stamp=time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()),
            orders_remembered=settings.engine_orders_remembered,
            event_retention=settings.engine_event_retention,
        )
    except (OSError, JournalDamagedError, JournalLockedError, LossError) as error:
        raise fail(str(error)) from error
    typer.echo(
        f"{loss.path} ends with command {loss.intact} now; {loss.lost} commands were given up.\n"
        f"{folder} has every replaced file, and in dropped.jsonl what was dropped, as far as it is readable.\n"
        "Next: start the platform, then run `openspot reconcile`. It names each order, trade and balance that the "
        "ledger and the rows have and the engine has not. Settle these with the users; correct the engine's balances "
        "with adjustments, above all those of deposits and withdrawals in dropped.jsonl"
    )


def _report_loss(loss: "Loss") -> None:
    if not loss.lost:
        typer.echo(f"{loss.path}: all {loss.intact} commands are intact, and no other file knows of later ones")
        return
    typer.echo(f"{loss.path}: intact up to command {loss.intact}; {loss.lost} later commands are lost: {loss.reason}")
    for proof in loss.proofs:
        if proof.command_sequence > loss.intact:
            typer.echo(f"{proof.path} proves that commands up to {proof.command_sequence} were acknowledged")
    typer.echo(
        f"Restore the folder {loss.path.parent} from a backup. Only without a backup, and with the platform stopped: "
        f"`openspot engine recover --accept-loss {loss.lost}`"
    )
    raise typer.Exit(1)


@engine_app.command()
def export(
    journal: JournalPath = None,
    out: Annotated[Path | None, typer.Option(help="File to write; standard output if none is given")] = None,
) -> None:
    """Write every command and every event as JSON lines."""
    from openspot.engine.journal.inspection import export as export_journal
    from openspot.engine.journal.rows import JournalDamagedError

    try:
        if out is None:
            export_journal(journal_path(journal), sys.stdout)
            return
        with out.open("w", encoding="utf-8") as file:
            lines = export_journal(journal_path(journal), file)
    except (OSError, JournalDamagedError) as error:
        raise fail(str(error)) from error
    typer.echo(f"{lines} lines in {out}")
