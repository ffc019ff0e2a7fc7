"""Registering, logging in, refreshing and logging out (Document A 5, design section 8).

An access token lives 15 minutes, a refresh token 30 days; a refresh token works once, and its second use ends
the session for both who hold it. Failed logins are counted for each account and each address.
"""

import hashlib
import os
import secrets
import time
from datetime import UTC, datetime, timedelta

import msgspec

from openspot.domain.ids import short_id
from openspot.kit.log import get_logger
from openspot.kit.passwords import Passwords
from openspot.kit.settings import Settings
from openspot.kit.tokens import Claims, sign
from openspot.rest_edge.auth.schemas import RegisterBody
from openspot.rest_edge.auth.sessions import EndedSessions, SessionsUnavailableError
from openspot.rest_edge.auth.store import AuthStore, EmailTakenError, RefreshFault, User
from openspot.rest_edge.context import Identity
from openspot.rest_edge.errors import EdgeError, service_unavailable, validation_error
from openspot.rest_edge.throttle import Throttle, Tier, caller_key

log = get_logger("auth")

_WINDOW_S = 900
PAIR_TIERS = (Tier("pair", 10, _WINDOW_S),)
"""Failed logins to one account from one address: a guess at the password."""
ACCOUNT_TIERS = (Tier("account", 50, _WINDOW_S),)
"""Failed logins to one account from anywhere: high enough that a stranger does not lock its owner out at once."""
ADDRESS_TIERS = (Tier("address", 100, _WINDOW_S),)
"""Failed logins from one address to any account: one password tried on many."""

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


class LoginGuard:
    """Slows down who guesses passwords: counts failed logins only, so that a right password costs nothing."""

    def __init__(self, pairs: Throttle, accounts: Throttle, addresses: Throttle) -> None:
        self._pairs = pairs
        self._accounts = accounts
        self._addresses = addresses

    async def check(self, email: str, address: str) -> None:
        """Raise EdgeError (429) if there were too many failures."""
        for throttle, key in self._keys(email, address):
            outcome = await throttle.peek(key)
            if not outcome.allowed:
                raise EdgeError(
                    429,
                    f"too many failed logins: try again in {outcome.retry_after_s} s",
                    "TOO_MANY_LOGINS",
                    headers={"Retry-After": str(outcome.retry_after_s)},
                )

    async def note_failure(self, email: str, address: str) -> None:
        """Count a failed login."""
        for throttle, key in self._keys(email, address):
            await throttle.hit(key)

    def _keys(self, email: str, address: str) -> tuple[tuple[Throttle, str], ...]:
        # The counts may live in a shared store: no address of a person goes there.
        account = hashlib.sha256(email.encode()).hexdigest()[:32]
        origin = caller_key(None, address)
        return (
            (self._pairs, f"login-pair:{account}:{origin}"),
            (self._accounts, f"login-account:{account}"),
            (self._addresses, f"login-address:{origin}"),
        )


class AuthService:
    """What the auth routes do. Every method raises EdgeError with what the client is told."""

    def __init__(
        self, settings: Settings, store: AuthStore, passwords: Passwords, guard: LoginGuard, ended: EndedSessions
    ) -> None:
        self._secret = settings.jwt_secret
        self._access_s = settings.access_token_s
        self._refresh_life = timedelta(seconds=settings.refresh_token_s)
        self._store = store
        self._passwords = passwords
        self._guard = guard
        self._ended = ended

    async def register(self, body: RegisterBody) -> User:
        """A new user. 409 if the address is taken, 400 if the password is the address."""
        password = body.password
        if password.strip().lower() == body.email:
            raise validation_error(["password must not be the email address"])
        password_hash = await self._passwords.hash(password)
        user_id = short_id(os.urandom(_RANDOM_BYTES))
        try:
            return await self._store.add_user(user_id, body.email, password_hash)
        except EmailTakenError as error:
            raise EdgeError(409, "the email address is taken", "EMAIL_TAKEN") from error

    async def login(self, email: str, password: str, address: str) -> Tokens:
        """A new session. 401 for wrong credentials, whichever of the two is wrong; 429 after too many."""
        await self._guard.check(email, address)
        user = await self._store.user_by_email(email)
        if not await self._passwords.matches(password, user.password_hash if user else None) or user is None:
            await self._guard.note_failure(email, address)
            raise EdgeError(401, "the email address or the password is wrong", "INVALID_CREDENTIALS")
        if self._passwords.is_outdated(user.password_hash):
            await self._store.set_password_hash(user.user_id, await self._passwords.hash(password))
        session_id = short_id(os.urandom(_RANDOM_BYTES))
        token = secrets.token_urlsafe(_REFRESH_BYTES)
        expires_at = datetime.now(UTC) + self._refresh_life
        await self._store.add_refresh_token(_hash(token), session_id, user.user_id, expires_at)
        return self._tokens(user.user_id, user.role, session_id, token)

    async def refresh(self, refresh_token: str) -> Tokens:
        """New tokens for a refresh token, which is used up. 401 if it is not valid; a reuse ends the session."""
        now = datetime.now(UTC)
        token = secrets.token_urlsafe(_REFRESH_BYTES)
        rotation = await self._store.rotate(_hash(refresh_token), _hash(token), now, now + self._refresh_life)
        if rotation.fault is not None:
            if rotation.fault is RefreshFault.REUSED:
                log.warning("a refresh token was used twice: session ended", user_id=rotation.user_id)
                await self._end_as_far_as_possible(rotation.family_id)
            code = "REFRESH_TOKEN_REUSED" if rotation.fault is RefreshFault.REUSED else "INVALID_REFRESH_TOKEN"
            raise EdgeError(401, _FAULT_MESSAGES[rotation.fault], code)
        return self._tokens(rotation.user_id, rotation.role, rotation.family_id, token)

    async def logout(self, identity: Identity) -> None:
        """End the session of the token that was sent. 503 if not every process could be told: send it again."""
        if identity.session_id:
            await self._store.revoke_family(identity.session_id, identity.user_id, datetime.now(UTC))
            try:
                await self._ended.end(identity.session_id)
            except SessionsUnavailableError as error:
                message = "the session has ended here, but the bus does not answer: try again"
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
