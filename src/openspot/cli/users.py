"""Commands about users and their roles."""

import asyncio
from typing import Annotated, Literal

import typer

from openspot.cli.common import console, fail, running_settings

users_app = typer.Typer(no_args_is_help=True, help="Make users administrators of the platform, and end that.")
RegisteredUser = Annotated[str, typer.Argument(help="E-mail address or id of a registered user")]


@users_app.command()
def promote(user: RegisteredUser) -> None:
    """Make a user an administrator, from the user's next login or refresh of the token on."""
    _change_role(user, "admin")


@users_app.command()
def demote(user: RegisteredUser) -> None:
    """End that a user is an administrator, and all of the user's sessions with it, at once."""
    _change_role(user, "user")


def _change_role(user: str, role: Literal["admin", "user"]) -> None:
    from openspot.rest_edge.identity.users.role_command import RoleError, change_role
    from openspot.rest_edge.identity.users.roles import Role
    from openspot.rest_edge.settings import RestEdgeSettings

    try:
        typer.echo(asyncio.run(change_role(running_settings(RestEdgeSettings), user, Role(role))))
    except RoleError as error:
        raise fail(str(error)) from error


@users_app.command("list")
def list_users(role: Annotated[str, typer.Option(help="Only users with this role: user or admin")] = "") -> None:
    """Show the registered users: id, role, time of registration, e-mail address; the first 1,000 by address."""
    from openspot.rest_edge.identity.users.role_command import RoleError, users_with
    from openspot.rest_edge.identity.users.roles import Role
    from openspot.rest_edge.settings import RestEdgeSettings

    if role and role not in set(Role):
        raise fail("--role must be user or admin")
    try:
        found = asyncio.run(users_with(running_settings(RestEdgeSettings), Role(role) if role else None))
    except RoleError as error:
        raise fail(str(error)) from error
    for user in found:
        typer.echo(f"{user.user_id}  {user.role:5}  {user.created_at:%Y-%m-%d %H:%M}  {user.email}")
    if not found:
        console.print("no user")
