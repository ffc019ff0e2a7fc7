"""Commands for the networks of coins: what is paused there, pause it, let it go on."""

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from openspot.cli.common import fail, running_settings

if TYPE_CHECKING:
    from openspot.rest_edge.operators.pauses.schemas import PauseResponse
    from openspot.rest_edge.settings import RestEdgeSettings

Value = TypeVar("Value")

coins_app = typer.Typer(
    no_args_is_help=True, help="Pause deposits or withdrawals of a coin or a network, and let them go on."
)

Direction = Annotated[str, typer.Argument(help="deposits or withdrawals")]
Coin = Annotated[str, typer.Option(help="The coin, for example BTC; without it, all coins of the network")]
OverNetwork = Annotated[str, typer.Option(help="The network, for example bitcoin; without it, all of the coin")]
Why = Annotated[str, typer.Option(help="Why; the operators' trail keeps it")]


@coins_app.command()
def networks(coin: Annotated[str, typer.Argument(help="The coin, for example BTC")]) -> None:
    """Show the networks of a coin, and what is paused there."""
    from openspot.rest_edge.operators.pauses.command import networks_of

    typer.echo("\n".join(_ended(networks_of(_settings(), coin.upper()))))


@coins_app.command("pauses")
def list_pauses() -> None:
    """Show every pause, the oldest first."""
    from openspot.rest_edge.operators.pauses.command import listed_pauses

    _show(_ended(listed_pauses(_settings())))


@coins_app.command()
def pause(
    direction: Direction,
    reason: Why,
    coin: Coin = "",
    network: OverNetwork = "",
    notice: Annotated[str, typer.Option(help="What users read")] = "",
) -> None:
    """Pause deposits or withdrawals. What comes meanwhile is recorded, and credited afterwards."""
    from openspot.rest_edge.operators.pauses.command import change_pause

    _show(_ended(change_pause(_settings(), coin.upper(), network, direction, reason, notice)))


@coins_app.command()
def resume(direction: Direction, reason: Why, coin: Coin = "", network: OverNetwork = "") -> None:
    """End a pause; name it as it was begun."""
    from openspot.rest_edge.operators.pauses.command import change_pause

    _show(_ended(change_pause(_settings(), coin.upper(), network, direction, reason, None)))


def _settings() -> "RestEdgeSettings":
    from openspot.rest_edge.settings import RestEdgeSettings

    return running_settings(RestEdgeSettings)


def _ended(work: Coroutine[Any, Any, Value]) -> Value:
    from openspot.rest_edge.operators.pauses.command import PauseError

    try:
        return asyncio.run(work)
    except PauseError as error:
        raise fail(str(error)) from error


def _show(found: "list[PauseResponse]") -> None:
    lines = [
        f"{each.direction:<12} {each.asset or 'all coins'} over {each.network or 'all networks'}, since "
        f"{each.paused_at}, by {each.paused_by}: {each.reason}"
        for each in found
    ]
    typer.echo("\n".join(lines) or "nothing is paused")
