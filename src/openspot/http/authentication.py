"""Who sends a request: the kinds of credentials that services take (facts A5-01, A5-17 and A5-21).

The pipeline asks each of a service's authenticators in turn; the first that finds a valid credential decides.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from openspot.http.context import Identity, RequestContext
from openspot.http.errors import HttpError
from openspot.http.policy import Access, Permission, Policy
from openspot.kit.service_credential import ServiceCredential
from openspot.kit.tokens import InvalidTokenError, verify_access_token

TOKENS_KEPT_MAX = 50_000


class CredentialsError(Exception):
    """A credential is not valid; the message says why and never shows the credential."""


class Authenticator(Protocol):
    """One kind of credential."""

    name: str
    """Its name among OpenAPI's security schemes."""
    scheme: dict[str, Any]
    """OpenAPI's description of it."""
    grants: tuple[Access, ...]
    """Every access that an identity of this kind can have, for example a user's and an administrator's."""
    limited: bool
    """Whether a credential of this kind may lack a scope."""
    missing: str
    """The message to a caller without any credential."""

    async def identify(self, context: RequestContext) -> Identity | None:
        """Return the caller's identity, None if the request carries no credential of this kind.

        Raises CredentialsError, or HttpError for a request that cannot be checked. If the credential signs the body,
        this awaits `context.read_body()` first.
        """


class RevokedSessions:
    """Ended sessions whose access tokens may not have expired yet."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._until

    def __len__(self) -> int:
        return len(self._until)

    def add(self, session_id: str, until: float) -> None:
        """Refuse the session's tokens until `until` (seconds since 1970), when the last of them has expired."""
        self._until[session_id] = max(until, self._until.get(session_id, 0))

    def forget_expired(self, now: float) -> None:
        """Drop the sessions whose tokens have all expired."""
        for session_id in [session for session, until in self._until.items() if until <= now]:
            del self._until[session_id]


def bearer_token(authorization: bytes) -> str:
    """The token of an Authorization header. Raises CredentialsError for another scheme."""
    scheme, _, raw = authorization.decode("latin-1").partition(" ")
    token = raw.strip()
    if scheme.lower() != "bearer" or not token:
        raise CredentialsError("the Authorization header must be: Bearer <token>")
    return token


class UserTokens:
    """Access tokens of users: HS256 JWTs.

    A signature is checked once. The identity is then kept by the token's text, for a bounded number of tokens, so that
    later requests cost a dictionary look-up each. Expiry and revocation are checked at every request.
    """

    name = "accessToken"
    scheme = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}  # noqa: RUF012
    grants: tuple[Access, ...] = (Access.USER, Access.USER | Access.ADMIN)
    limited = False
    missing = "a bearer token is required"

    def __init__(
        self, secret: str, revoked: RevokedSessions | None = None, now: Callable[[], float] = time.time
    ) -> None:
        self._secret = secret
        self._revoked = RevokedSessions() if revoked is None else revoked
        self._now = now
        self._known: dict[bytes, Identity] = {}

    async def identify(self, context: RequestContext) -> Identity | None:
        """Return the identity of the request's access token, None without one. Raises CredentialsError."""
        authorization = context.authorization
        if authorization is None:
            return None
        now = self._now()
        identity = self._known.get(authorization)
        if identity is None:
            identity = self._verified(bearer_token(authorization), now)
            self._keep(authorization, identity, now)
        elif now >= identity.expires_at:
            del self._known[authorization]
            raise CredentialsError("the token has expired")
        if identity.session_id in self._revoked:
            raise CredentialsError("the session has ended")
        return identity

    def _verified(self, token: str, now: float) -> Identity:
        try:
            claims = verify_access_token(token, self._secret, now)
        except InvalidTokenError as error:
            raise CredentialsError(str(error)) from error
        access = Access.USER | Access.ADMIN if claims.role == "admin" else Access.USER
        return Identity(claims.user_id, access, None, claims.session_id, claims.expires_at, claims.staking_balance)

    def _keep(self, authorization: bytes, identity: Identity, now: float) -> None:
        if len(self._known) >= TOKENS_KEPT_MAX:
            self._known = {text: kept for text, kept in self._known.items() if kept.expires_at > now}
            while len(self._known) >= TOKENS_KEPT_MAX:
                del self._known[next(iter(self._known))]
        self._known[authorization] = identity


SERVICE_SUBJECT = "service"
"""The subject of every service. No user has it: ids of users are longer."""


class ServiceKeys:
    """The shared secret of service calls: `x-api-key`, `x-api-secret`, and `x-participant-type: SYSTEM`."""

    name = "serviceKeys"
    scheme = {  # noqa: RUF012
        "type": "apiKey",
        "in": "header",
        "name": "x-api-key",
        "description": "with x-api-secret, and x-participant-type: SYSTEM",
    }
    grants: tuple[Access, ...] = (Access.SERVICE,)
    limited = False
    missing = "the headers x-api-key, x-api-secret and x-participant-type are required"

    def __init__(self, key: str, secret: str) -> None:
        """Raises ValueError without a key or a secret: an empty one would let everybody in."""
        self._credential = ServiceCredential(key, secret)

    async def identify(self, context: RequestContext) -> Identity | None:
        """The service, if the request carries its headers. Raises CredentialsError if one of them is wrong."""
        key, secret = context.header(b"x-api-key"), context.header(b"x-api-secret")
        if key is None and secret is None:
            return None
        if not self._credential.matches(key, secret):
            raise CredentialsError("x-api-key and x-api-secret must be those of a service")
        if context.header(b"x-participant-type") != "SYSTEM":
            raise CredentialsError("x-participant-type must be SYSTEM")
        return Identity(SERVICE_SUBJECT, Access.SERVICE)


def opens(kind: Authenticator, policy: Policy) -> bool:
    """Whether some credential of that kind opens the route. A limited one needs a route that names a scope."""
    if kind.limited and policy.scope is None and not policy.is_open:
        return False
    return any(access & policy.access for access in kind.grants)


def may_fail(kind: Authenticator, policy: Policy) -> bool:
    """Whether the route refuses some valid credentials of that kind."""
    return kind.limited or policy.permission is not None or not all(access & policy.access for access in kind.grants)


class Guard:
    """Checks the callers of one route against its policy."""

    def __init__(self, policy: Policy, authenticators: Sequence[Authenticator]) -> None:
        """Raises ValueError if no credential that the service takes could ever open the route."""
        self._policy = policy
        self._is_open = policy.is_open
        # Computed once, then looked up: operators of flags are slow, and the guard checks every request.
        self._opening = frozenset(access for kind in authenticators for access in kind.grants if access & policy.access)
        suitable = [kind for kind in authenticators if opens(kind, policy)]
        if not policy.is_open and not suitable:
            raise ValueError(f"no authenticator of this service grants {policy.access}")
        self._missing = " or ".join(kind.missing for kind in suitable)
        bearer = any(kind.scheme["type"] == "http" for kind in suitable)
        self._challenge = {"WWW-Authenticate": "Bearer"} if bearer else None

    def admit(self, context: RequestContext) -> None:
        """Let the request through, or raise HttpError: 401 without a valid credential, 403 with a wrong one."""
        policy, identity = self._policy, context.identity
        if self._is_open:
            return
        if identity is None:
            raise HttpError(401, context.refusal or self._missing, "UNAUTHENTICATED", headers=self._challenge)
        if identity.access not in self._opening:
            wanted = " or ".join(sorted((access.name or "").lower() for access in policy.access))
            raise HttpError(403, f"this route needs the access of: {wanted}", "FORBIDDEN")
        if policy.permission is not None:
            _check_permission(identity, policy.permission)
        if identity.scopes is None:
            return
        if policy.scope is None:
            raise HttpError(403, "this route takes no limited credential", "INSUFFICIENT_SCOPE")
        if policy.scope not in identity.scopes:
            raise HttpError(403, f"the credential lacks the scope {policy.scope}", "INSUFFICIENT_SCOPE")


def _check_permission(identity: Identity, permission: Permission) -> None:
    """Raise HttpError (403) if the operator lacks the permission."""
    caller = identity.operator
    if caller is not None and permission in caller.permissions:
        return
    roles = ", ".join(sorted(caller.roles)) if caller is not None else ""
    raise HttpError(
        403, f"this needs the permission {permission}, which your roles ({roles}) do not have", "PERMISSION_MISSING"
    )
