"""Whom an operator reaches: users who are operators themselves are changed by administrators alone.

Otherwise support could lock out whoever could stop it, or two of compliance could take the second factor from them.
Callers have locked the user's row, as a change of roles does, so nobody becomes an operator meanwhile.
"""

from openspot.http.errors import HttpError
from openspot.http.operators import EVERY_PERMISSION, Operator, user_operator
from openspot.http.policy import Permission
from openspot.kit.database import Connection
from openspot.rest_edge.operators.users import store

_NEEDED = Permission.OPERATORS_END_SESSIONS


async def require_reach(connection: Connection, operator: Operator, user_id: str) -> None:
    """403 for a user who is an operator, unless `operator` may end sessions of operators."""
    if _NEEDED not in operator.permissions and await store.roles_of(connection, user_id):
        raise _refused(f"the user is an operator: this needs the permission {_NEEDED}")


async def require_reach_of_both(connection: Connection, approver: Operator, requested_by: str, user_id: str) -> None:
    """403 for a user who is an operator, unless whoever approves and whoever asked may end sessions of operators.

    The user may have got a role since somebody asked, or whoever asked may have lost one.
    """
    await require_reach(connection, approver, user_id)
    if not await store.roles_of(connection, user_id):
        return
    kind, _, asked_by = requested_by.partition(":")
    # A participant of the engine asked in a session that may administer.
    permissions = (
        EVERY_PERMISSION
        if kind == "engine"
        else user_operator(asked_by, await store.roles_of(connection, asked_by)).permissions
    )
    if _NEEDED not in permissions:
        raise _refused(
            f"the user is an operator, and whoever asked lacks the permission {_NEEDED}: "
            "reject the request, and let an administrator ask for it"
        )


def _refused(message: str) -> HttpError:
    return HttpError(403, message, "USER_IS_OPERATOR", details={"permission": _NEEDED.value})
