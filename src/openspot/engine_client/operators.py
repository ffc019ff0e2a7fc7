"""Sessions of operators, of either kind: with the engine, or with the REST edge.

The engine is asked for each request. A user's token is verified here, and roles, second factor and session are read
from the database at each request. So a role that was taken, and a session that was ended, open nothing from then on.
"""

from base64 import urlsafe_b64decode
from collections.abc import Awaitable, Callable

import msgspec

from openspot.engine_client.administrators import EngineSessions, EngineSilentError
from openspot.http.api_keys.networks import AllowedNetworks
from openspot.http.authentication import CredentialsError, UserTokens, bearer_token
from openspot.http.context import Identity, RequestContext
from openspot.http.errors import HttpError
from openspot.http.operator_store import OperatorStanding
from openspot.http.operators import engine_operator, user_operator
from openspot.http.policy import NOBODY, Access, Permission

Standing = Callable[[str, str], Awaitable[OperatorStanding]]
"""Finds the standing of a user, in the session with that id."""


class _OfTheEngine(msgspec.Struct):
    """The claims of a token, as far as they tell the engine's from others: only the engine's name an audience."""

    aud: str


class OperatorSessions:
    """The authenticator of routes for operators."""

    name = "operatorSession"
    scheme = {  # noqa: RUF012
        "type": "http",
        "scheme": "bearer",
        "description": "the access token of a user who is an operator, from a login with a second factor; or the token "
        "of AdminService/Login, of a participant of type SUPER_ADMIN or SYSTEM",
    }
    grants: tuple[Access, ...] = (Access.OPERATOR, NOBODY)
    limited = False
    missing = "the token of an operator's session is required"

    def __init__(
        self, tokens: UserTokens, standing: Standing, engine: EngineSessions, networks: AllowedNetworks
    ) -> None:
        """Operators may call from `networks` alone."""
        self._tokens = tokens
        self._standing = standing
        self._engine = engine
        self._networks = networks

    async def identify(self, context: RequestContext) -> Identity | None:
        """The operator whose session it is. A user without roles gets an identity that opens nothing.

        Raises CredentialsError, or HttpError: 403 `OPERATOR_ADDRESS_REFUSED` for a foreign address and
        `OPERATOR_MFA_REQUIRED` for a session without a second factor, 503 if the engine is silent.
        """
        if context.authorization is None:
            return None
        token = bearer_token(context.authorization)
        found = await (self._of_engine(token) if names_the_engine(token) else self._of_user(context))
        if found.operator is not None and not self._networks.admit(context.address):
            raise HttpError(
                403,
                f"operators may not call from {context.address}: OPENSPOT_OPERATOR_NETWORKS has the addresses",
                "OPERATOR_ADDRESS_REFUSED",
            )
        return found

    async def require(self, context: RequestContext, permission: Permission) -> None:
        """Raise what ends a work of many steps: CredentialsError if the session has ended since the request began,
        HttpError (403) if the operator does not have the permission any more, or what `identify` raises."""
        identity = await self.identify(context)
        if identity is None or identity.operator is None:
            raise CredentialsError("the session is no operator's any more")
        if permission not in identity.operator.permissions:
            details = {"permission": permission.value}
            raise HttpError(403, f"this needs the permission {permission}", "PERMISSION_MISSING", details=details)

    async def _of_engine(self, token: str) -> Identity:
        try:
            session = await self._engine.find(token)
        except EngineSilentError as error:
            raise HttpError(503, f"{error}, so the session cannot be checked", "ENGINE_UNAVAILABLE") from error
        if session is None:
            raise CredentialsError("the session has ended, or the token is not valid")
        if not session.is_administrator:
            return Identity(session.participant_id, NOBODY)
        return Identity(
            session.participant_id, Access.OPERATOR, operator=engine_operator(session.participant_id.lower())
        )

    async def _of_user(self, context: RequestContext) -> Identity:
        identity = await self._tokens.identify(context)
        assert identity is not None, "the request has an Authorization header"
        standing = await self._standing(identity.user_id, identity.session_id)
        if standing.has_ended:
            raise CredentialsError("the session has ended")
        if not standing.roles:
            return Identity(identity.user_id, NOBODY, None, identity.session_id, identity.expires_at)
        if not standing.had_second_factor:
            raise HttpError(
                403,
                "operators need a second factor: turn it on in the account's settings, then log in again with a code",
                "OPERATOR_MFA_REQUIRED",
            )
        return Identity(
            identity.user_id,
            Access.OPERATOR,
            None,
            identity.session_id,
            identity.expires_at,
            operator=user_operator(identity.user_id, standing.roles),
        )


def names_the_engine(token: str) -> bool:
    """Whether a token says of itself that the engine made it. Whoever is named checks it."""
    _, _, rest = token.partition(".")
    payload, _, _ = rest.partition(".")
    try:
        msgspec.json.decode(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)), type=_OfTheEngine)
    except (ValueError, msgspec.MsgspecError):
        return False
    return True
