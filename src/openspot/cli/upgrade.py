"""`openspot upgrade --check`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openspot.cli.common import error_console, fail, platform_settings
from openspot.kit.log import configure_log

if TYPE_CHECKING:
    from openspot.upgrade_check.report import UpgradeReport

NOT_TRIED = 2
"""The exit code if the upgrade could not be tried."""


def upgrade(
    check: Annotated[bool, typer.Option("--check", help="Try the upgrade on a copy; nothing is changed.")] = False,
    scratch: Annotated[
        Path | None, typer.Option(help="Folder to work in; without one, a folder beside the data directory")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON.")] = False,
) -> None:
    """Try with this release what its first start would do with the data of an older one.

    The old platform may run meanwhile. Exit code 0: the upgrade works; 1: it does not, and the messages say why; 2: it
    could not be tried.
    """
    import msgspec

    from openspot.upgrade_check.check import check_upgrade
    from openspot.upgrade_check.report import UpgradeCheckError

    if not check:
        raise fail("say `openspot upgrade --check` to try an upgrade; `openspot up` of the new release carries it out")
    settings = platform_settings()
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "upgrade")

    def step(text: str) -> None:
        error_console.print(f"· {text}", highlight=False, markup=False, soft_wrap=True)

    try:
        report = check_upgrade(settings, scratch, step)
    except UpgradeCheckError as error:
        fail(str(error))
        raise typer.Exit(NOT_TRIED) from error
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(report), indent=1).decode())
    else:
        _show(report)
    raise typer.Exit(0 if report.works else 1)


def _show(report: "UpgradeReport") -> None:
    if report.journal is None:
        typer.echo("there is no journal: nothing was replayed")
    else:
        journal = report.journal
        typer.echo(
            f"journal: {journal.commands:,} commands replayed in {journal.seconds} s, state hash {journal.state_hash}; "
            f"{journal.compared} snapshots of the old release have the same hash, the newest at command "
            f"{journal.compared_command:,}"
        )
    for database in report.databases:
        typer.echo(
            f"{database.name}: {database.size >> 20:,} MiB, {database.rows:,} rows in {database.tables} tables, "
            f"migration {database.revision or 'none'}; {len(database.migrations)} migrations took {database.seconds} s"
        )
    for change in report.changes:
        typer.echo(f"will change: {change}")
    typer.echo(f"the copy took {report.scratch_bytes >> 20:,} MiB, the check {report.seconds} s")
    if report.was_running:
        typer.echo("the old platform runs: what it did since is not in the copy")
    for problem in report.problems:
        error_console.print(f"problem: {problem}", highlight=False, markup=False, soft_wrap=True)
    typer.echo("this release takes the data over" if report.works else "do not upgrade")
