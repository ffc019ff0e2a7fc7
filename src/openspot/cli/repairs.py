"""Commands that put the mirrors of the engine right."""

import asyncio
import getpass
import re
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated

import typer

from openspot.cli.common import database_settings, error_console, fail, running_settings
from openspot.cli.operation import reconcile_after
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.kit.log import configure_log

if TYPE_CHECKING:
    from openspot.reconcile.outcome import Rebuilt


_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

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

    settings = database_settings(ReconcileSettings, 2)
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "rebuild")
    try:
        rebuilt = asyncio.run(repair(settings, is_plan=plan, wait_s=wait))
    except NotRebuiltError as error:
        error_console.print(f"openspot: {error}", highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(2) from error
    raise typer.Exit(_end_of_repair(settings, rebuilt, wait, "openspot ledger rebuild", is_plan=plan))


def _end_of_repair(
    settings: EngineConnectionSettings, rebuilt: "Rebuilt", wait_s: float, command: str, *, is_plan: bool
) -> int:
    """Print what a repair did, compare everything unless it was a plan, and return the exit code."""
    from openspot.reconcile.outcome import format_plan

    typer.echo(format_plan(rebuilt, is_plan=is_plan))
    for problem in rebuilt.problems:
        error_console.print(f"problem: {problem}", highlight=False, markup=False, soft_wrap=True)
    if is_plan:
        return 1 if rebuilt.total or rebuilt.problems else 0
    return max(reconcile_after(settings, wait_s, command), 1 if rebuilt.problems else 0)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


@ledger_app.command("book-adjustments")
def book_adjustments(
    plan: Annotated[
        bool, typer.Option("--plan", "--dry-run", help="Print what would be booked, and change nothing.")
    ] = False,
    reason: Annotated[str, typer.Option(help="Why, for the operators' trail; needed unless --plan is given")] = "",
    operator: Annotated[str, typer.Option(help="In whose name; without it, your account of this machine")] = "",
    address: Annotated[str, typer.Option(help="The address that the operator asked from; the console gives it")] = "",
    request_id: Annotated[str, typer.Option(help="The id of the operator's request; the console gives it")] = "",
    wait: Annotated[float, typer.Option(help="Seconds that the mirrors get before the comparison", min=0)] = 30,
) -> None:
    """Book in the ledger what was adjusted at the engine alone. Then compare everything.

    Each adjustment is booked once, whatever is killed. Exit code 0: everything agrees now. 1: something differs, or
    with --plan something would be booked. 2: it could not be done. 3: another person must approve it in the console.
    """
    from openspot.reconcile.book_adjustments import book_adjustments as book
    from openspot.reconcile.book_adjustments import format_booked
    from openspot.reconcile.outcome import NotRebuiltError
    from openspot.reconcile.settings import ReconcileSettings
    from openspot.rest_edge.operators.trail import REASON_LENGTH_MAX, REASON_LENGTH_MIN
    from openspot.rest_edge.settings import RestEdgeSettings

    if not plan and not REASON_LENGTH_MIN <= len(reason) <= REASON_LENGTH_MAX:
        raise fail(f"--reason must have {REASON_LENGTH_MIN} to {REASON_LENGTH_MAX} characters", code=2)
    if address and not _is_address(address):
        raise fail("--address must be an IP address", code=2)
    if request_id and not _REQUEST_ID.fullmatch(request_id):
        raise fail("--request-id must have 1 to 64 letters, digits, - or _", code=2)
    settings = database_settings(RestEdgeSettings, 2)
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "book-adjustments")
    name = operator or f"shell:{getpass.getuser()}"
    try:
        outcome = asyncio.run(
            book(settings, operator=name, reason=reason, is_plan=plan, request_id=request_id, address=address)
        )
    except NotRebuiltError as error:
        raise fail(str(error), code=2) from error
    waits = outcome.request_id is not None and not outcome.is_booked
    typer.echo(format_booked(outcome, is_plan=plan), err=waits)
    for problem in outcome.problems:
        error_console.print(f"problem: {problem}", highlight=False, markup=False, soft_wrap=True)
    if waits:
        raise typer.Exit(3)
    is_whole = not outcome.problems and not outcome.more
    if plan:
        raise typer.Exit(0 if is_whole and not outcome.adjustments else 1)
    found = reconcile_after(running_settings(ReconcileSettings), wait, "openspot ledger book-adjustments")
    raise typer.Exit(max(found, 0 if is_whole else 1))


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

    settings = database_settings(PositionSettings, 2)
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "rebuild")
    try:
        rebuilt = asyncio.run(repair(settings, is_plan=plan, wait_s=wait))
    except NotRebuiltError as error:
        error_console.print(f"openspot: {error}", highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(2) from error
    compared = running_settings(ReconcileSettings)
    raise typer.Exit(_end_of_repair(compared, rebuilt, wait, "openspot positions rebuild", is_plan=plan))
