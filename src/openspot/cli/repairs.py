"""Commands that put the mirrors of the engine right."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from openspot.cli.common import error_console, running_settings
from openspot.cli.operation import reconcile_once
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.log import configure_log

if TYPE_CHECKING:
    from openspot.reconcile.outcome import Rebuilt


ledger_app = typer.Typer(no_args_is_help=True, help="Repair the ledger and the other mirrors of the engine.")


@ledger_app.command()
def rebuild(
    plan: Annotated[
        bool, typer.Option("--plan", "--dry-run", help="Print each change that is due, and change nothing.")
    ] = False,
    wait: Annotated[float, typer.Option(help="Seconds that the mirrors get to catch up before", min=0)] = 30,
) -> None:
    """Make ledger, order and trade rows what the engine's events say; the services may run. Then compare everything.

    Only what differs is changed. Exit code 0: everything agrees now. 1: something differs, or with --plan a change is
    due. 2: it could not be done.
    """
    from openspot.reconcile.outcome import NotRebuiltError
    from openspot.reconcile.rebuild import rebuild as repair
    from openspot.reconcile.settings import ReconcileSettings

    settings = running_settings(ReconcileSettings)
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "rebuild")
    try:
        rebuilt = asyncio.run(repair(settings, is_plan=plan, wait_s=wait))
    except NotRebuiltError as error:
        error_console.print(f"openspot: {error}", highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(2) from error
    raise typer.Exit(_end_of_repair(settings, rebuilt, wait, is_plan=plan))


def _end_of_repair(settings: EngineConnectionSettings, rebuilt: "Rebuilt", wait_s: float, *, is_plan: bool) -> int:
    """Print what a repair did, compare everything unless it was a plan, and return the exit code."""
    from openspot.reconcile.outcome import format_plan

    typer.echo(format_plan(rebuilt, is_plan=is_plan))
    for problem in rebuilt.problems:
        error_console.print(f"problem: {problem}", highlight=False, markup=False, soft_wrap=True)
    if is_plan:
        return 1 if rebuilt.total or rebuilt.problems else 0
    return max(reconcile_once(settings, wait_s, as_json=False, as_line=False), 1 if rebuilt.problems else 0)


positions_app = typer.Typer(no_args_is_help=True, help="Repair what the position service has counted.")


@positions_app.command("rebuild")
def rebuild_positions(
    plan: Annotated[bool, typer.Option("--plan", help="Print each change that is due, and change nothing.")] = False,
    wait: Annotated[float, typer.Option(help="Seconds that the service gets to catch up before", min=0)] = 30,
) -> None:
    """Count the trades that the position service lacks, from the trade rows, and make positions and FIFO fit them.

    The services may run. Exit code 0: everything agrees now. 1: something differs, or with --plan a change is due.
    2: it could not be done.
    """
    from openspot.positions.settings import PositionSettings
    from openspot.reconcile.outcome import NotRebuiltError
    from openspot.reconcile.rebuild_positions import rebuild_positions as repair
    from openspot.reconcile.settings import ReconcileSettings

    settings = running_settings(PositionSettings)
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "rebuild")
    try:
        rebuilt = asyncio.run(repair(settings, is_plan=plan, wait_s=wait))
    except NotRebuiltError as error:
        error_console.print(f"openspot: {error}", highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(2) from error
    raise typer.Exit(_end_of_repair(running_settings(ReconcileSettings), rebuilt, wait, is_plan=plan))
