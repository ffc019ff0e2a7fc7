"""The commands `openspot price` and `openspot owners`."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from openspot.engine_client.settings import EngineAddressSettings

if TYPE_CHECKING:
    from openspot.market_data.operator import PriceOperator

Value = TypeVar("Value")
Who = Annotated[str, typer.Option("--as", help="Who decides; it is kept with the decision")]
Reason = Annotated[str, typer.Option(help="Why; it is kept with the decision")]
Symbol = Annotated[str, typer.Argument(help="Market, for example BTC-USD")]
User = Annotated[str, typer.Argument(help="User id, or the e-mail of a registered user")]


def commands(
    running_settings: Callable[[type[EngineAddressSettings]], EngineAddressSettings], fail: Callable[[str], typer.Exit]
) -> tuple[typer.Typer, typer.Typer]:
    """The groups `price` and `owners`. The settings of the running platform and the way to fail are the caller's."""
    price = typer.Typer(no_args_is_help=True, help="Show fair prices; set one that counts for a time.")
    owners = typer.Typer(no_args_is_help=True, help="Say which users are one owner.")

    def as_operator(command: "Callable[[PriceOperator], Awaitable[Value]]") -> Value:
        from openspot.market_data.operator import PriceOperatorError, price_operator

        async def carry_out() -> Value:
            async with price_operator(running_settings(EngineAddressSettings)) as operator:
                return await command(operator)

        try:
            return asyncio.run(carry_out())
        except PriceOperatorError as error:
            raise fail(str(error)) from error

    @price.command("set")
    def set_price(
        symbol: Symbol,
        price: Annotated[str, typer.Argument(help="Quote asset for one unit of the base, for example 64000.5")],
        duration: Annotated[str, typer.Option("--for", help="How long it counts, for example 90s, 30m, 2h, 1d")],
        reason: Reason,
        who: Who = "operator",
        far: Annotated[bool, typer.Option("--far", help="The price is far from the present one, and meant")] = False,
    ) -> None:
        """Set the fair price of a market. It counts until its end, whatever is traded meanwhile."""
        from openspot.market_data.operator import PriceOperatorError, duration_of

        try:
            lasts = duration_of(duration)
        except PriceOperatorError as error:
            raise fail(str(error)) from error
        typer.echo(
            as_operator(
                lambda operator: operator.set_price(
                    symbol.upper(), price, lasts, reason=reason, who=who, is_far_meant=far
                )
            )
        )

    @price.command("list")
    def list_prices() -> None:
        """Show each market's fair price, how sure it is, what it costs to move it, and the operators' prices."""
        typer.echo("\n".join(as_operator(lambda operator: operator.listed_prices())) or "no market has a price yet")

    @price.command("clear")
    def clear_price(symbol: Symbol, who: Who = "operator") -> None:
        """End the operator's price of a market before its time."""
        typer.echo(as_operator(lambda operator: operator.clear_price(symbol.upper(), who=who)))

    @owners.command("link")
    def link(user_a: User, user_b: User, reason: Reason, who: Who = "operator") -> None:
        """Let two users be one owner: they cannot trade with each other if they prevent self-trades, what they trade
        with each other makes no price and no volume, and they have one fee tier.
        """
        typer.echo(as_operator(lambda operator: operator.link(user_a, user_b, reason=reason, who=who)))

    @owners.command("unlink")
    def unlink(user_a: User, user_b: User, reason: Reason, who: Who = "operator") -> None:
        """End the link of two users."""
        typer.echo(as_operator(lambda operator: operator.unlink(user_a, user_b, reason=reason, who=who)))

    @owners.command("list")
    def list_links() -> None:
        """Show the links that count."""
        typer.echo("\n".join(as_operator(lambda operator: operator.listed_links())) or "nobody is linked")

    return price, owners
