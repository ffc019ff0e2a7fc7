"""The commands `openspot operators …`: they make users operators, and end that, on the running platform's database."""

import getpass
from collections.abc import Callable

from openspot.http.errors import HttpError
from openspot.http.operators import OperatorRole
from openspot.kit.database import pool_of_command
from openspot.rest_edge.identity.sessions.ending_command import UntoldError, tell_ended
from openspot.rest_edge.operators.roles import OperatorUser, RolesChange, list_operators, set_roles
from openspot.rest_edge.operators.trail import OperatorAction, record_action, roles_text
from openspot.rest_edge.settings import RestEdgeSettings

Roles = frozenset[OperatorRole]


class OperatorError(Exception):
    """A command was not carried out, or not wholly. The message says what holds now, and what to do."""


async def operators(settings: RestEdgeSettings) -> list[OperatorUser]:
    """The users who are operators. Raises OperatorError."""
    async with pool_of_command(settings, OperatorError) as pool:
        return await list_operators(pool)


async def change_operator(
    settings: RestEdgeSettings, user: str, wanted: Callable[[Roles], Roles], reason: str
) -> RolesChange:
    """Give a user the roles that `wanted` makes of the present ones. Raises OperatorError."""
    name = f"shell:{getpass.getuser()}"
    advice = "; look with `openspot operators list`"
    async with (
        pool_of_command(settings, OperatorError, advice) as pool,
        pool.acquire() as connection,
        connection.transaction(),
    ):
        try:
            change = await set_roles(connection, user, wanted, name)
            if change.is_new:
                await record_action(connection, _action(change, name, reason))
        except HttpError as error:
            raise OperatorError(str(error.message)) from error
        except ValueError as error:
            raise OperatorError(str(error)) from error
    try:
        await tell_ended(settings, change.ended)
    except UntoldError as error:
        raise OperatorError(
            f"{change.email} is no operator, but the bus does not answer: sessions that are open stay those of a user "
            f"for up to {settings.ended_session_life_s} s ({error})"
        ) from error
    return change


def _action(change: RolesChange, name: str, reason: str) -> OperatorAction:
    before, after = {"roles": roles_text(change.before)}, {"roles": roles_text(change.after)}
    return OperatorAction(name, "operators.roles", "user", change.user_id, reason, before, after)
