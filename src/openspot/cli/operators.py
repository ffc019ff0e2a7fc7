"""Commands about operators: the users who run the exchange, and their roles."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from openspot.cli.common import console, fail, running_settings

if TYPE_CHECKING:
    from openspot.http.operators import OperatorRole

operators_app = typer.Typer(no_args_is_help=True, help="Say which users run the exchange, and in which roles.")
RegisteredUser = Annotated[str, typer.Argument(help="E-mail address or id of a registered user")]
RoleNames = Annotated[str, typer.Argument(help="Roles, with commas, for example SUPPORT,TREASURY")]
Why = Annotated[str, typer.Option("--reason", help="Why; the trail of operators keeps it")]


@operators_app.command()
def add(user: RegisteredUser, roles: RoleNames, reason: Why) -> None:
    """Give a user roles, beside those that the user has. They open nothing before the user has a second factor."""
    given = _read(roles)
    _change(user, lambda present: present | given, reason)


@operators_app.command("roles")
def set_roles(user: RegisteredUser, roles: RoleNames, reason: Why) -> None:
    """Give an operator exactly these roles, from the next request on."""
    given = _read(roles)
    _change(user, lambda _: given, reason)


@operators_app.command()
def remove(user: RegisteredUser, reason: Why) -> None:
    """End that a user is an operator, and all sessions of the user, at once. The last administrator stays."""
    _change(user, lambda _: frozenset(), reason)


@operators_app.command("list")
def list_operators() -> None:
    """Show the operators: id, roles, whether there is a second factor, e-mail address."""
    from openspot.rest_edge.operators.role_command import OperatorError, operators
    from openspot.rest_edge.settings import RestEdgeSettings

    try:
        found = asyncio.run(operators(running_settings(RestEdgeSettings)))
    except OperatorError as error:
        raise fail(str(error)) from error
    for each in found:
        factor = "second factor" if each.has_second_factor else "NO second factor"
        typer.echo(f"{each.user_id}  {','.join(each.roles)}  {factor}  {each.email}")
    if not found:
        console.print("no operator")


def _read(names: str) -> "frozenset[OperatorRole]":
    from openspot.http.operators import OperatorRole

    given = [name.strip().upper() for name in names.split(",") if name.strip()]
    unknown = [name for name in given if name not in set(OperatorRole)]
    if unknown or not given:
        raise fail(f"ROLES: {', '.join(unknown) or 'nothing'} is not among {', '.join(OperatorRole)}")
    return frozenset(OperatorRole(name) for name in given)


def _change(user: str, wanted: "Callable[[frozenset[OperatorRole]], frozenset[OperatorRole]]", reason: str) -> None:
    from openspot.rest_edge.operators.role_command import OperatorError, change_operator
    from openspot.rest_edge.settings import RestEdgeSettings

    try:
        change = asyncio.run(change_operator(running_settings(RestEdgeSettings), user, wanted, reason))
    except OperatorError as error:
        raise fail(str(error)) from error
    already = "" if change.is_new else " already"
    if change.after:
        typer.echo(f"{change.email} ({change.user_id}) has the roles {', '.join(sorted(change.after))}{already}")
    else:
        typer.echo(f"{change.email} ({change.user_id}) is no operator{already}; all sessions have ended")
