"""Commands for the listing of markets: list one, change it, open it, delist it, show its changes."""

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any

import typer

from openspot.cli.common import fail, running_settings

Symbol = Annotated[str, typer.Argument(help="Market, for example DOGE-USD")]
Reason = Annotated[str, typer.Option(help="Why; it is kept with the change")]
Who = Annotated[str, typer.Option("--as", help="Who decides; it is kept with the change")]
At = Annotated[
    list[str] | None,
    typer.Option("--at", help="A status that follows by itself, for example open=2026-12-01T12:00:00Z; repeatable"),
]
Offers = Annotated[
    list[str] | None,
    typer.Option("--offer", help="What the market offers: conversions, payments, staking; repeatable; none: nothing"),
]
Plan = Annotated[bool, typer.Option("--plan", help="Only show what would change, and the version of the market")]
Version = Annotated[
    str, typer.Option("--version", help="The version that --plan showed; refused if the market is another one by now")
]
BasisPoints = typer.Option(help="Basis points")


def add_to(market_app: typer.Typer) -> None:
    """Add the commands to the group `market`."""
    market_app.command("list-new")(list_new)
    market_app.command("edit")(edit)
    market_app.command("open")(set_status)
    market_app.command("delist")(delist)
    market_app.command("changes")(changes)


def list_new(
    symbol: Symbol,
    reason: Reason,
    tick: Annotated[str, typer.Option(help="Smallest step of a price")],
    lot: Annotated[str, typer.Option(help="Smallest step of a quantity")],
    quantity: Annotated[str, typer.Option(help="Least and largest quantity of an order, for example 1:1000000")],
    notional: Annotated[str, typer.Option(help="Least and largest price times quantity, for example 1:1000000")],
    taker_fee: Annotated[int, BasisPoints] = 25,
    maker_fee: Annotated[int, BasisPoints] = 15,
    deviation: Annotated[int, typer.Option(help="How far a limit price may be from the reference")] = 2000,
    slippage: Annotated[int, typer.Option(help="The most that a market order may slip")] = 500,
    name: Annotated[str, typer.Option(help="What traders read beside the symbol")] = "",
    announcement: Annotated[str, typer.Option(help="What traders read about the market")] = "",
    status: Annotated[str, typer.Option(help="announced, post-only, auction or open")] = "announced",
    at: At = None,
    asset_name: Annotated[str, typer.Option(help="The base asset is new, and this is its name")] = "",
    asset_places: Annotated[int, typer.Option(help="Decimal places of the new asset's deposits")] = 8,
    logo: Annotated[str, typer.Option(help="The new asset's picture: doge for coins/doge.svg in OPENSPOT_BRAND")] = "",
    check: Annotated[bool, typer.Option("--check", help="Only say which rules are fulfilled")] = False,
    who: Who = "operator",
) -> None:
    """List a market, and its base asset if that is new. Every service knows it within a second."""
    from openspot.engine_client.listing_operator import checked, list_market

    symbol = symbol.upper()
    fields: dict[str, Any] = {
        "symbol": symbol,
        "tickSize": tick,
        "lotSize": lot,
        "takerFee": taker_fee,
        "makerFee": maker_fee,
        "deviationBpsMax": deviation,
        "slippageBpsMax": slippage,
        "name": name,
        "announcement": announcement,
        "status": status,
        "reason": reason,
        **_bounds("quantity", quantity),
        **_bounds("notional", notional),
        **_schedule(at),
    }
    if asset_name:
        base = symbol.partition("-")[0]
        fields["asset"] = {"currency": base, "name": asset_name, "places": asset_places, "logo": logo}
    settings = _settings()
    _print(checked(settings, fields) if check else list_market(settings, fields, f"shell:{who}"))


def edit(
    symbol: Symbol,
    reason: Reason,
    quantity: Annotated[str, typer.Option(help="Least and largest quantity, for example 1:1000000")] = "",
    notional: Annotated[str, typer.Option(help="Least and largest price times quantity")] = "",
    taker_fee: Annotated[int | None, BasisPoints] = None,
    maker_fee: Annotated[int | None, BasisPoints] = None,
    deviation: Annotated[int | None, typer.Option(help="How far a limit price may be from the reference")] = None,
    slippage: Annotated[int | None, typer.Option(help="The most that a market order may slip")] = None,
    name: Annotated[str | None, typer.Option(help="What traders read beside the symbol")] = None,
    announcement: Annotated[str | None, typer.Option(help="What traders read about the market")] = None,
    at: At = None,
    offer: Offers = None,
    payments: Annotated[
        str, typer.Option(help="Terms of payments, for example minimum=5,maximum=1000,feeBps=100,feeFixed=0.5")
    ] = "",
    staking: Annotated[
        str, typer.Option(help="Terms of stakes, for example apr=0.04,lockDays=0,minimum=1,maximum=10,capacity=100")
    ] = "",
    plan: Plan = False,
    version: Version = "",
    who: Who = "operator",
) -> None:
    """Change fees, bounds, texts, schedule or offers of a market. What is not given stays as it is."""
    from openspot.engine_client.listing_operator import Looked, change_market

    given = {
        "takerFee": taker_fee,
        "makerFee": maker_fee,
        "deviationBpsMax": deviation,
        "slippageBpsMax": slippage,
        "name": name,
        "announcement": announcement,
    }
    fields: dict[str, Any] = {field: value for field, value in given.items() if value is not None}
    fields |= {"reason": reason, **_schedule(at)}
    fields |= _bounds("quantity", quantity) if quantity else {}
    fields |= _bounds("notional", notional) if notional else {}
    fields |= {} if offer is None else {"offers": [] if offer == ["none"] else offer}
    for name, text in (("payments", payments), ("staking", staking)):
        fields |= {name: _terms(name, text)} if text else {}
    _print(change_market(_settings(), symbol.upper(), fields, Looked(version, plan), f"shell:{who}"))


def set_status(
    symbol: Symbol,
    reason: Reason,
    status: Annotated[str, typer.Option(help="announced, post-only, auction or open")] = "open",
    plan: Plan = False,
    version: Version = "",
    who: Who = "operator",
) -> None:
    """Open a market, or let it get another status on the way there."""
    from openspot.engine_client.listing_operator import Looked
    from openspot.engine_client.listing_operator import set_status as carry_out

    _print(carry_out(_settings(), symbol.upper(), status, reason, Looked(version, plan), f"shell:{who}"))


def delist(symbol: Symbol, reason: Reason, plan: Plan = False, version: Version = "", who: Who = "operator") -> None:
    """Delist a market: it takes no order, its open orders are cancelled, and balances can be withdrawn.

    A market that margin offers is delisted in the console, which asks margin whether an account needs it.
    """
    from openspot.engine_client.listing_operator import Looked
    from openspot.engine_client.listing_operator import set_status as carry_out

    _print(carry_out(_settings(), symbol.upper(), "delisting", reason, Looked(version, plan), f"shell:{who}"))


def changes(symbol: Symbol) -> None:
    """Show the changes of a market: who made them, when, why, and what was there before."""
    from openspot.engine_client.listing_operator import listed_changes

    _print(listed_changes(_settings(), symbol.upper()))


def _settings() -> Any:
    from openspot.engine_client.settings import EngineConnectionSettings

    return running_settings(EngineConnectionSettings)


def _bounds(what: str, text: str) -> dict[str, str]:
    least, separator, largest = text.partition(":")
    if not separator:
        raise fail(f"--{what} must be LEAST:LARGEST, for example 1:1000000")
    return {f"{what}Min": least, f"{what}Max": largest}


def _terms(name: str, text: str) -> dict[str, str]:
    from openspot.engine_client.listing_operator import ListingOperatorError, terms_of

    try:
        return terms_of(name, text)
    except ListingOperatorError as error:
        raise fail(str(error)) from error


def _schedule(at: list[str] | None) -> dict[str, Any]:
    from openspot.engine_client.listing_operator import ListingOperatorError, schedule_of

    try:
        return {} if at is None else {"schedule": schedule_of(at)}
    except ListingOperatorError as error:
        raise fail(str(error)) from error


def _print(work: Coroutine[Any, Any, list[str]]) -> None:
    from openspot.engine_client.listing_operator import ListingOperatorError

    try:
        lines = asyncio.run(work)
    except ListingOperatorError as error:
        raise fail(str(error)) from error
    typer.echo("\n".join(lines) or "there is nothing to show")
