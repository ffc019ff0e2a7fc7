"""`openspot archive`: old rows out of the database, into files that can be checked, searched and brought back."""

import asyncio
import json
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from openspot.cli.common import database_settings, error_console, fail, running_settings
from openspot.kit.log import configure_log

if TYPE_CHECKING:
    from openspot.archive.run import Moved
    from openspot.archive.settings import ArchiveSettings

Value = TypeVar("Value")
KindNames = Annotated[
    list[str] | None, typer.Option("--kind", help="orders, trades, entries or audit; may be repeated; without it: all")
]

archive_app = typer.Typer(
    invoke_without_command=True,
    help="Move old rows out of the database into files with checksums; check, search and restore these.",
)


@archive_app.callback()
def archive(
    context: typer.Context,
    kind: KindNames = None,
    before: Annotated[
        str, typer.Option(help="Move what is older than this date, such as 2026-01-31, in place of the settings")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what would leave, and change nothing.")] = False,
    wait: Annotated[float, typer.Option(help="Seconds that the mirrors get to catch up before", min=0)] = 30,
) -> None:
    """Move what is older than the settings OPENSPOT_ARCHIVE_…_DAYS say, after a comparison without differences.

    Exit code 0: done. 1: bad arguments, or the archive is not sound. 2: the comparison found differences or failed.
    """
    if context.invoked_subcommand is not None:
        return
    from openspot.archive.run import archive as move

    settings = _settings()
    times = _times(settings, kind, before, datetime.now(UTC))
    if not times:
        typer.echo("nothing leaves: no OPENSPOT_ARCHIVE_…_DAYS is set, and no --before is given")
        return
    if not dry_run and times.keys() - {"audit"}:
        _require_agreement(wait)
    moved = _ended(move(settings.database_url, settings.archive_folder, times, is_dry=dry_run))
    _report(moved, settings)


@archive_app.command()
def compact(kind: KindNames = None) -> None:
    """Make the indexes of the kinds' tables anew while the platform runs: old ones are half empty.

    Each index needs the place of a second one meanwhile.
    """
    from openspot.archive.run import compact as make_anew

    settings = _settings()
    for each in _ended(make_anew(settings.database_url, {one.name for one in _kinds(kind)})):
        typer.echo(f"{each.name:32} {each.before:>16,} → {each.after:,} bytes")


@archive_app.command()
def verify() -> None:
    """Read every file of the archive: checksums, rows, totals, and whether the database knows it.

    Exit code 1: something is wrong.
    """
    from openspot.archive.restore import verify as check

    settings = _settings()
    checked = _ended(check(settings.archive_folder, settings.database_url))
    for name, rows in checked.rows.items():
        typer.echo(f"{name:10} {rows:>12,} rows in {checked.files[name]:,} files")
    for problem in checked.problems:
        error_console.print(f"problem: {problem}", highlight=False, markup=False, soft_wrap=True)
    if not checked.rows and not checked.problems:
        typer.echo(f"there is no archive in {settings.archive_folder}")
    raise typer.Exit(1 if checked.problems else 0)


@archive_app.command()
def query(
    user: Annotated[str, typer.Argument(help="User id")],
    kind: KindNames = None,
    since: Annotated[str, typer.Option(help="From this time on, for example 2026-03 or 2026-03-01 12:00")] = "",
    until: Annotated[str, typer.Option(help="Before this time")] = "",
) -> None:
    """Print a user's rows in the archive, as lines of JSON. Every file that is read is checked."""
    from openspot.archive.files import ArchiveError, found_rows

    settings = _settings()
    try:
        for each in _kinds(kind):
            for row in found_rows(settings.archive_folder, each, user, since, until):
                typer.echo(json.dumps({"kind": each.name} | row))
    except ArchiveError as error:
        raise fail(str(error)) from error


@archive_app.command()
def restore(kind: KindNames = None) -> None:
    """Bring all archived rows of the kinds back into the database. The files stay, set aside."""
    from openspot.archive.restore import restore as bring_back

    settings = _settings()
    restored = _ended(bring_back(settings.database_url, settings.archive_folder, _kinds(kind)))
    for name, rows in restored.items():
        typer.echo(f"{name:10} {rows:>12,} rows are in the database again")
    if not restored:
        typer.echo("nothing to restore")


def _settings() -> "ArchiveSettings":
    from openspot.archive.settings import ArchiveSettings

    settings = running_settings(ArchiveSettings)
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "archive")
    return settings


def _kinds(names: list[str] | None) -> list[Any]:
    from openspot.archive.kinds import KINDS

    for name in names or ():
        if name not in KINDS:
            raise fail(f"--kind {name!r} is none of {', '.join(KINDS)}")
    return [KINDS[name] for name in names or KINDS]


def _times(settings: "ArchiveSettings", names: list[str] | None, before: str, now: datetime) -> dict[str, datetime]:
    """By kind, the time before which rows leave."""
    from openspot.archive.settings import AGE_DAYS_MIN

    kinds = [kind.name for kind in _kinds(names)]
    if before:
        try:
            given = datetime.fromisoformat(before)
        except ValueError as error:
            raise fail(f"--before {before!r} is no date such as 2026-01-31") from error
        given = given if given.tzinfo else given.replace(tzinfo=UTC)
        if given > now - timedelta(days=AGE_DAYS_MIN):
            raise fail(f"--before must be at least {AGE_DAYS_MIN} days ago: the bus may deliver younger trades again")
        return dict.fromkeys(kinds, given)
    days = settings.archive_days
    return {name: now - timedelta(days=days[name]) for name in kinds if days[name]}


def _require_agreement(wait_s: float) -> None:
    """End the command unless all mirrors agree with the engine: what leaves must be right."""
    from openspot.cli.operation import reconcile_after
    from openspot.reconcile.settings import ReconcileSettings

    code = reconcile_after(database_settings(ReconcileSettings, 2), wait_s, "openspot archive", as_line=True)
    if code:
        error_console.print("openspot: nothing was archived: first, every mirror must agree with the engine")
        raise typer.Exit(2)


def _ended(work: Coroutine[Any, Any, Value]) -> Value:
    from openspot.archive.files import ArchiveError

    try:
        return asyncio.run(work)
    except (ArchiveError, OSError) as error:
        raise fail(str(error)) from error


def _report(moved: "Moved", settings: "ArchiveSettings") -> None:
    for note in moved.notes:
        error_console.print(f"note: {note}", highlight=False, markup=False, soft_wrap=True)
    for name, months in moved.rows.items():
        for month, rows in sorted(months.items()):
            typer.echo(f"{name:10} {month} {rows:>12,} rows")
    total = sum(rows for months in moved.rows.values() for rows in months.values())
    if moved.is_dry:
        typer.echo(f"{total:,} rows would leave")
    else:
        typer.echo(f"{total:,} rows left, into {len(moved.files):,} files in {settings.archive_folder.resolve()}")
