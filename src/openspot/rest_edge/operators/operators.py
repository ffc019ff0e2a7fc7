"""Handles the requests about operators: lists them, and changes their roles."""

from collections.abc import Collection

from starlette.requests import Request

from openspot.http.context import operator
from openspot.http.errors import HttpError
from openspot.http.operators import OperatorRole
from openspot.kit.clock import iso_of
from openspot.kit.database import Pool
from openspot.rest_edge.identity.sessions.ended_sessions import EndedSessions
from openspot.rest_edge.operators.roles import RolesChange, list_operators, set_roles
from openspot.rest_edge.operators.schemas import OperatorResponse
from openspot.rest_edge.operators.trail import action_of, record_action, roles_text


class Operators:
    """Lists and changes operators. Methods raise HttpError to refuse a request."""

    def __init__(self, pool: Pool, ended: EndedSessions) -> None:
        self._pool = pool
        self._ended = ended

    async def all(self) -> list[OperatorResponse]:
        """Every user who is an operator."""
        return [
            OperatorResponse(
                user_id=each.user_id,
                email=each.email,
                display_name=each.display_name,
                roles=each.roles,
                second_factor=each.has_second_factor,
                changed_at=iso_of(each.changed_at),
            )
            for each in await list_operators(self._pool)
        ]

    async def change(
        self,
        request: Request,
        user: str,
        roles: Collection[OperatorRole],
        reason: str,
        expected: Collection[OperatorRole],
    ) -> RolesChange:
        """Give a user exactly these roles, if the user has the `expected` ones.

        Raises as `set_roles` does, or HttpError (409 `ROLES_CHANGED`).
        """

        def wanted(present: frozenset[OperatorRole]) -> frozenset[OperatorRole]:
            if present != frozenset(expected):
                has = ", ".join(sorted(present)) or "none"
                raise HttpError(409, f"expected: the roles have changed meanwhile, they are: {has}", "ROLES_CHANGED")
            return frozenset(roles)

        async with self._pool.acquire() as connection, connection.transaction():
            change = await set_roles(connection, user, wanted, operator(request).name)
            if change.is_new:
                before, after = ({"roles": roles_text(each)} for each in (change.before, change.after))
                action = action_of(request, "operators.roles", ("user", change.user_id), reason, before, after)
                await record_action(connection, action)
        await self._ended.end_as_far_as_possible(change.ended)
        return change
