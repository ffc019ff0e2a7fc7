"""Commands of the operators' trail."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from openspot.cli.common import fail, running_settings

audit_app = typer.Typer(no_args_is_help=True, help="Check and export the trail of what operators did.")


@audit_app.command()
def verify(
    head: Annotated[
        list[str] | None, typer.Option(help="A head that was kept elsewhere, such as 12:6f1c…; may be given again")
    ] = None,
) -> None:
    """Check every entry of the trail, and that no head is unknown. Exit code 1: the first entry that is wrong."""
    from openspot.rest_edge.operators.trail_command import TrailError
    from openspot.rest_edge.operators.trail_command import verify as verify_trail
    from openspot.rest_edge.settings import RestEdgeSettings

    try:
        found = asyncio.run(verify_trail(running_settings(RestEdgeSettings), head or ()))
    except TrailError as error:
        raise fail(str(error)) from error
    typer.echo(
        f"{found.entries:,} entries, unbroken; {found.heads:,} heads agree; {found.erased:,} addresses erased\n"
        f"head {found.head.number}:{found.head.hash}\n"
        "Keep the head where nobody who can write to the database can change it"
    )


@audit_app.command()
def export(
    path: Annotated[Path, typer.Argument(help="A file that does not exist yet, ending in .csv or .parquet")],
    reason: Annotated[str, typer.Option(help="Why; the operators' trail keeps it")],
) -> None:
    """Write the whole trail to a CSV or Parquet file, newest entry first, with every hash.

    The export has an entry of its own, which stands first.
    """
    from openspot.rest_edge.operators.trail_command import TrailError
    from openspot.rest_edge.operators.trail_command import export as export_trail
    from openspot.rest_edge.settings import RestEdgeSettings

    try:
        asyncio.run(export_trail(running_settings(RestEdgeSettings), path, reason))
    except TrailError as error:
        raise fail(str(error)) from error
    except OSError as error:
        raise fail(f"{path} cannot be written: {error.strerror}") from error
    typer.echo(f"written: {path}")
