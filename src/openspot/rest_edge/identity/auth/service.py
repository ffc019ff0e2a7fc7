"""Registering, logging in, refreshing and logging out (facts A5-09, A5-10 and B4.1-31 to B4.1-34).

An access token lives 15 minutes, a refresh token 30 days. A refresh token works once. Its second use ends the
session, because two parties hold it. A user with MFA logs in in two steps: the password gives a challenge, and the
challenge with a code gives the tokens. The rules of `login_throttling` slow down guesses.
"""

import os

import msgspec

from openspot.domain.ids import short_id
from openspot.http.context import Identity
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.http.throttle import network_of
from openspot.kit.clock import iso_of, utc_now
from openspot.kit.log import get_logger
from openspot.kit.token_hash import new_token, token_hash
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.auth.metrics import FAILED_LOGINS
from openspot.rest_edge.identity.auth.schemas import RegisterBody
from openspot.rest_edge.identity.credentials.attempt_store import AttemptStore
from openspot.rest_edge.identity.credentials.login_throttling import attempt_keys
from openspot.rest_edge.identity.credentials.password_queues import PasswordQueues
from openspot.rest_edge.identity.credentials.password_rules import password_fault
from openspot.rest_edge.identity.credentials.store import AuthStore, RefreshFault, User
from openspot.rest_edge.identity.second_factor.challenges import CHALLENGE_LIFE, ChallengeStore
from openspot.rest_edge.identity.second_factor.code_check import Method, SecondFactor
from openspot.rest_edge.identity.sessions.ended_sessions import EndedSessions, SessionsUnavailableError
from openspot.rest_edge.identity.sessions.session_start import SessionStart, Tokens
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.mail.texts import MailKind

log = get_logger("auth")

_RANDOM_BYTES = 16
_FAULT_MESSAGES = {
    RefreshFault.UNKNOWN: "the refresh token is not valid",
    RefreshFault.EXPIRED: "the refresh token has expired",
    RefreshFault.REVOKED: "the session has ended",
    RefreshFault.REUSED: "the refresh token was used before: the session has ended",
}


class Challenge(msgspec.Struct, rename="camel", frozen=True):
    """The first step of a login succeeded. The second one needs a code."""

    mfa_required: bool
    challenge_token: str
    methods: list[str]
    expires_at: str


class AuthService:
    """Handles the requests to the auth routes. Methods raise HttpError to refuse a request."""

    def __init__(
        self,
        *,
        store: AuthStore,
        attempts: AttemptStore,
        passwords: PasswordQueues,
        ended: EndedSessions,
        challenges: ChallengeStore,
        second_factor: SecondFactor,
        sessions: SessionStart,
        activity: ActivityLog,
        outbox: Outbox,
    ) -> None:
        self._store = store
        self._attempts = attempts
        self._passwords = passwords
        self._ended = ended
        self._challenges = challenges
        self._second_factor = second_factor
        self._sessions = sessions
        self._activity = activity
        self._outbox = outbox

    async def register(self, body: RegisterBody) -> User:
        """Create a user and send a mail that verifies the address. 400 for a password that is easy to guess.

        If the address is taken, nothing is created and its owner gets a mail. The response has the same form, with an
        id that no user has, so that it does not tell which addresses have accounts.
        """
        fault = password_fault(body.password, body.email)
        if fault is not None:
            raise validation_error([fault])
        password_hash = await self._passwords.registrations.hash(body.password)
        user_id = short_id(os.urandom(_RANDOM_BYTES))
        user = User(user_id, body.email, password_hash, "user", utc_now())
        is_new = await self._store.add_user(user)
        await self._outbox.add(MailKind.VERIFY_EMAIL if is_new else MailKind.REGISTERED_ALREADY, body.email)
        return user

    async def login(self, email: str, password: str, origin: Origin) -> Tokens | Challenge:
        """Begin a session, or return a challenge if the user has MFA.

        401 for a wrong address or password, without saying which; 403 if an operator has locked the login, which only
        who knows the password is told; 429 after too many guesses.
        """
        user, known = await self._store.user_by_email(email, network_of(origin.address))
        keys = attempt_keys(email, origin.address, known=known)
        # The attempt counts before the password is checked, so that parallel guesses gain nothing.
        attempt = await self._attempts.take(keys, utc_now())
        if attempt.is_locked or attempt.wait_s:
            FAILED_LOGINS.labels("throttled").inc()
        if attempt.is_locked:
            raise HttpError(429, "too many failed logins: reset the password", "LOGIN_LOCKED")
        if attempt.wait_s:
            message = f"too many failed logins: try again in {attempt.wait_s} s"
            raise HttpError(429, message, "TOO_MANY_LOGINS", headers={"Retry-After": str(attempt.wait_s)})
        queue = self._passwords.known_logins if known else self._passwords.logins
        try:
            right = await queue.matches(password, user.password_hash if user else None)
        except HttpError:
            # The queue was full: the password was not checked.
            await self._attempts.undo(keys)
            raise
        if not right or user is None:
            FAILED_LOGINS.labels("password").inc()
            if attempt.is_last:
                await self._outbox.add(MailKind.TOO_MANY_FAILURES, email)
            raise _invalid_credentials()
        await self._attempts.succeeded(keys)
        await self._require_unlocked(user.user_id)
        if await self._second_factor.is_enabled(user.user_id):
            return await self._challenge(user.user_id)
        tokens = await self._sessions.begin(user, origin, utc_now())
        if tokens is None:
            raise _invalid_credentials()
        if queue.is_outdated(user.password_hash):
            renewed = await queue.hash(password)
            await self._store.replace_password_hash(user.user_id, user.password_hash, renewed)
        return tokens

    async def _require_unlocked(self, user_id: str) -> None:
        if await self._store.is_login_locked(user_id):
            raise HttpError(403, "this account is locked: ask the platform's support", "ACCOUNT_LOCKED")

    async def _challenge(self, user_id: str) -> Challenge:
        token = new_token()
        expires_at = utc_now() + CHALLENGE_LIFE
        await self._challenges.add(token_hash(token), user_id, expires_at)
        return Challenge(True, token, [method.value for method in Method], iso_of(expires_at))

    async def login_with_code(self, challenge_token: str, code: str, origin: Origin) -> Tokens:
        """Finish a login that needs a code.

        401 for a challenge that is unknown, expired, completed or out of attempts; 400 for a wrong code; 429 after too
        many wrong codes.
        """
        digest = token_hash(challenge_token)
        user_id = await self._challenges.take_attempt(digest, utc_now())
        if user_id is None:
            raise _invalid_challenge()
        # The user is read before the challenge is consumed. So `begin` refuses after a password reset in between.
        user = await self._store.user_by_id(user_id)
        try:
            known = await self._store.knows_network(user_id, network_of(origin.address))
            await self._second_factor.require_at_login(user_id, code, origin, known=known)
        except HttpError as error:
            FAILED_LOGINS.labels("code").inc()
            if error.status_code == 429:
                await self._challenges.give_back_attempt(digest)
            raise
        if user is None or not await self._challenges.consume(digest):
            raise _invalid_challenge()
        await self._require_unlocked(user.user_id)
        tokens = await self._sessions.begin(user, origin, utc_now())
        if tokens is None:
            raise _invalid_challenge()
        return tokens

    async def refresh(self, refresh_token: str, origin: Origin) -> Tokens:
        """Exchange a refresh token for new tokens. A second use ends the session.

        401 if the token is not valid; 429, with the token as good as before, if the session is refreshed too often.
        """
        now = utc_now()
        token = new_token()
        rotation = await self._store.rotate(
            token_hash(refresh_token),
            token_hash(token),
            now,
            now + self._sessions.refresh_life,
            self._sessions.access_life,
        )
        if rotation.fault is RefreshFault.TOO_OFTEN:
            message = f"this session is refreshed too often: try again in {rotation.wait_s} s"
            raise HttpError(429, message, "TOO_MANY_REFRESHES", headers={"Retry-After": str(rotation.wait_s)})
        if rotation.fault is not None:
            if rotation.fault is RefreshFault.REUSED:
                log.warning("a refresh token was used twice: session ended", user_id=rotation.user_id)
                await self._ended.end_as_far_as_possible([rotation.family_id])
                await self._activity.record(rotation.user_id, ActivityKind.REFRESH_TOKEN_REUSED, origin)
            code = "REFRESH_TOKEN_REUSED" if rotation.fault is RefreshFault.REUSED else "INVALID_REFRESH_TOKEN"
            raise HttpError(401, _FAULT_MESSAGES[rotation.fault], code)
        return await self._sessions.tokens(rotation.user_id, rotation.role, rotation.family_id, token)

    async def logout(self, identity: Identity, origin: Origin) -> None:
        """End the caller's session. 503 if it could not be announced to every process: the caller must try again."""
        if identity.session_id:
            if await self._store.revoke_family(identity.session_id, identity.user_id, utc_now()):
                await self._activity.record(identity.user_id, ActivityKind.LOGGED_OUT, origin)
            try:
                await self._ended.end(identity.session_id)
            except SessionsUnavailableError as error:
                message = "the session has ended here, but the bus does not respond: send it again"
                raise service_unavailable(message) from error


def _invalid_credentials() -> HttpError:
    return HttpError(401, "the email address or the password is wrong", "INVALID_CREDENTIALS")


def _invalid_challenge() -> HttpError:
    return HttpError(401, "the challenge is not valid any more: log in again", "MFA_CHALLENGE_INVALID")
