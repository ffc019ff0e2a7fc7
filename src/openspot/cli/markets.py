"""Commands for the phases of markets: halt one, hold an auction, go on trading."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Annotated, Any, TypeVar

import typer

from openspot.cli import listings
from openspot.cli.common import fail, running_settings

Value = TypeVar("Value")

market_app = typer.Typer(no_args_is_help=True, help="List and delist markets; halt one, hold an auction.")
listings.add_to(market_app)


def _ended(work: Coroutine[Any, Any, Value]) -> Value:
    from openspot.engine.phase_operator import PhaseOperatorError

    try:
        return asyncio.run(work)
    except PhaseOperatorError as error:
        raise fail(str(error)) from error


@market_app.command("phase")
def set_phase(
    symbol: Annotated[str, typer.Argument(help="Market, for example BTC-USD")],
    phase: Annotated[str, typer.Argument(help="continuous, halted, cancel-only, post-only or auction")],
    reason: Annotated[str, typer.Option(help="Why; the operators' trail keeps it")],
    duration: Annotated[
        str,
        typer.Option("--for", help="How long until continuous trading, for example 90s, 5m, 2h; without it: for good"),
    ] = "",
    who: Annotated[str, typer.Option("--as", help="Who decides; it is kept with the change")] = "operator",
) -> None:
    """Let a market enter a phase. An auction trades at one price when it ends."""
    from openspot.engine.phase_operator import set_phase as carry_out
    from openspot.engine.settings import EngineSettings
    from openspot.market_data.operator import PriceOperatorError, duration_of

    try:
        lasts = duration_of(duration) if duration else timedelta()
    except PriceOperatorError as error:
        raise fail(str(error)) from error
    phased = carry_out(running_settings(EngineSettings), symbol.upper(), phase, lasts, reason, f"shell:{who}")
    typer.echo(_ended(phased))


@market_app.command("list")
def list_phases() -> None:
    """Show each market's phase."""
    from openspot.engine.phase_operator import listed_phases
    from openspot.engine.settings import EngineSettings

    typer.echo("\n".join(_ended(listed_phases(running_settings(EngineSettings)))) or "there are no markets")
