"""`openspot reports`: the figures that the operators' reports are made of."""

import asyncio
from datetime import date
from typing import Annotated

import typer

from openspot.cli.common import fail, running_settings

reports_app = typer.Typer(no_args_is_help=True, help="The figures of each day that reports are made of.")


@reports_app.command()
def rebuild(
    since: Annotated[str, typer.Option(help="From this day on, such as 2026-01-31; without it: all")] = "",
) -> None:
    """Write the figures of closed days anew from ledger and trades, for example after a repair of the ledger."""
    from openspot.rest_edge.operators.reports.rebuild_command import ReportError
    from openspot.rest_edge.operators.reports.rebuild_command import rebuild as write_anew
    from openspot.rest_edge.settings import RestEdgeSettings

    try:
        first = date.fromisoformat(since) if since else None
    except ValueError as error:
        raise fail(f"--since {since!r} is no date such as 2026-01-31") from error
    try:
        days = asyncio.run(write_anew(running_settings(RestEdgeSettings), first))
    except ReportError as error:
        raise fail(str(error)) from error
    typer.echo(f"{len(days):,} days were written anew" if days else "no day is closed")
