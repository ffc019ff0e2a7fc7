"""Registering, logging in, refreshing and logging out (Document A 5, design section 8).

An access token lives 15 minutes, a refresh token 30 days. A refresh token works once. Its second use ends the
session, because two parties hold it. Guesses at passwords are slowed down by the rules of `guessing`.
"""

import hashlib
import os
import secrets
import time
from datetime import UTC, datetime, timedelta

import msgspec

from openspot.domain.ids import short_id
from openspot.http.context import Identity
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.http.throttle import network_of
from openspot.kit.log import get_logger
from openspot.kit.passwords import Passwords
from openspot.kit.tokens import Claims, sign
from openspot.rest_edge.auth.attempt_store import AttemptStore
from openspot.rest_edge.auth.guessing import attempt_keys
from openspot.rest_edge.auth.password_rules import password_fault
from openspot.rest_edge.auth.schemas import RegisterBody
from openspot.rest_edge.auth.sessions import EndedSessions, SessionsUnavailableError
from openspot.rest_edge.auth.store import AuthStore, EmailTakenError, RefreshFault, User
from openspot.rest_edge.settings import RestEdgeSettings

log = get_logger("auth")

LOGIN_THREADS = max(1, (os.cpu_count() or 1) // 2)
"""Half the cores at most: the other half handles orders."""
_QUEUES = ((LOGIN_THREADS, 64), (1, 16), (1, 8))
"""(threads, requests that may wait) of logins, logins from known networks, and registrations."""
_REFRESH_BYTES = 32
_RANDOM_BYTES = 16
_FAULT_MESSAGES = {
    RefreshFault.UNKNOWN: "the refresh token is not valid",
    RefreshFault.EXPIRED: "the refresh token has expired",
    RefreshFault.REVOKED: "the session has ended",
    RefreshFault.REUSED: "the refresh token was used before: the session has ended",
}


class Tokens(msgspec.Struct, rename="camel", frozen=True):
    """The tokens of a session. `expires_in` is the access token's life in seconds."""

    access_token: str
    refresh_token: str
    token_type: str
    expires_in: int
    user_id: str


class PasswordQueues:
    """Where passwords are hashed. Each kind of request has a queue of its own.

    So a flood of registrations does not block logins, and a flood of logins from unknown networks does not block the
    owners of accounts.
    """

    def __init__(self, logins: Passwords, known_logins: Passwords, registrations: Passwords) -> None:
        self.logins = logins
        self.known_logins = known_logins
        self.registrations = registrations

    @classmethod
    def start(cls) -> "PasswordQueues":
        """Queues with threads; `close` ends them."""
        return cls(*(Passwords(threads, waiting_max, _overloaded) for threads, waiting_max in _QUEUES))

    def close(self) -> None:
        """End the threads."""
        for queue in (self.logins, self.known_logins, self.registrations):
            queue.close()


def _overloaded() -> Exception:
    return service_unavailable("too many logins at a time", "OVERLOADED")


class AuthService:
    """What the auth routes do. Every method raises HttpError with what the client is told."""

    def __init__(
        self,
        settings: RestEdgeSettings,
        store: AuthStore,
        attempts: AttemptStore,
        passwords: PasswordQueues,
        ended: EndedSessions,
    ) -> None:
        self._secret = settings.jwt_secret
        self._access_s = settings.access_token_s
        self._refresh_life = timedelta(seconds=settings.refresh_token_s)
        self._store = store
        self._attempts = attempts
        self._passwords = passwords
        self._ended = ended

    async def register(self, body: RegisterBody) -> User:
        """Create a user. 409 if the email address is taken, 400 for a password that is easy to guess."""
        fault = password_fault(body.password, body.email)
        if fault is not None:
            raise validation_error([fault])
        password_hash = await self._passwords.registrations.hash(body.password)
        user_id = short_id(os.urandom(_RANDOM_BYTES))
        try:
            return await self._store.add_user(user_id, body.email, password_hash)
        except EmailTakenError as error:
            raise HttpError(409, "the email address is taken", "EMAIL_TAKEN") from error

    async def login(self, email: str, password: str, address: str) -> Tokens:
        """Begin a session. 401 for wrong credentials, whichever of the two is wrong; 429 after too many guesses."""
        network, now = network_of(address), datetime.now(UTC)
        user, known = await self._store.user_by_email(email, network)
        keys = attempt_keys(email, address, known=known)
        # Count before checking the password, so that parallel guesses gain nothing.
        wait_s = await self._attempts.take(keys, now)
        if wait_s:
            message = f"too many failed logins: try again in {wait_s} s"
            raise HttpError(429, message, "TOO_MANY_LOGINS", headers={"Retry-After": str(wait_s)})
        queue = self._passwords.known_logins if known else self._passwords.logins
        try:
            right = await queue.matches(password, user.password_hash if user else None)
        except HttpError:
            # The queue was full: the password was not checked.
            await self._attempts.undo(keys)
            raise
        if not right or user is None:
            raise HttpError(401, "the email address or the password is wrong", "INVALID_CREDENTIALS")
        await self._attempts.succeeded(keys)
        await self._store.note_network(user.user_id, network, now)
        if queue.is_outdated(user.password_hash):
            await self._store.set_password_hash(user.user_id, await queue.hash(password))
        session_id = short_id(os.urandom(_RANDOM_BYTES))
        token = secrets.token_urlsafe(_REFRESH_BYTES)
        await self._store.add_refresh_token(_hash(token), session_id, user.user_id, now + self._refresh_life)
        return self._tokens(user.user_id, user.role, session_id, token)

    async def refresh(self, refresh_token: str) -> Tokens:
        """Exchange a refresh token for new tokens. 401 if it is not valid; a second use ends the session."""
        now = datetime.now(UTC)
        token = secrets.token_urlsafe(_REFRESH_BYTES)
        rotation = await self._store.rotate(_hash(refresh_token), _hash(token), now, now + self._refresh_life)
        if rotation.fault is not None:
            if rotation.fault is RefreshFault.REUSED:
                log.warning("a refresh token was used twice: session ended", user_id=rotation.user_id)
                await self._end_as_far_as_possible(rotation.family_id)
            code = "REFRESH_TOKEN_REUSED" if rotation.fault is RefreshFault.REUSED else "INVALID_REFRESH_TOKEN"
            raise HttpError(401, _FAULT_MESSAGES[rotation.fault], code)
        return self._tokens(rotation.user_id, rotation.role, rotation.family_id, token)

    async def logout(self, identity: Identity) -> None:
        """End the session of the token that was sent. 503 if not every process could be told: send it again."""
        if identity.session_id:
            await self._store.revoke_family(identity.session_id, identity.user_id, datetime.now(UTC))
            try:
                await self._ended.end(identity.session_id)
            except SessionsUnavailableError as error:
                message = "the session has ended here, but the bus does not respond: send it again"
                raise service_unavailable(message) from error

    async def _end_as_far_as_possible(self, session_id: str) -> None:
        try:
            await self._ended.end(session_id)
        except SessionsUnavailableError as error:
            log.warning("the end of a session was not told to other processes", error=str(error))

    def _tokens(self, user_id: str, role: str, session_id: str, refresh_token: str) -> Tokens:
        now = int(time.time())
        token_id = secrets.token_hex(8)
        claims = Claims(user_id, role, now + self._access_s, session_id=session_id, token_id=token_id)
        return Tokens(sign(claims, self._secret, now), refresh_token, "Bearer", self._access_s, user_id)


def _hash(refresh_token: str) -> bytes:
    # The token has 256 random bits: a plain hash gives nothing away.
    return hashlib.sha256(refresh_token.encode("utf-8", "surrogatepass")).digest()
