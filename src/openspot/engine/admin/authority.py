"""Logins, sessions, logouts, and the first administrator (facts A5-23 to A5-29).

A login counts against its limits before the password is checked. For networks from which a participant has
logged in before, it has limits and a hashing queue of its own. Guesses from other networks do not use these up, so they
cannot lock an administrator out.
"""

import secrets
from typing import NamedTuple

from openspot.domain.ids import PARTICIPANT_ID_TEXT
from openspot.domain.order import StpMode
from openspot.domain.result_code import ResultCode
from openspot.engine import metrics
from openspot.engine.admin import fields
from openspot.engine.admin.errors import AdminError, FieldError, permission_denied, resource_exhausted, unauthenticated
from openspot.engine.admin.known_networks import KnownNetworks
from openspot.engine.admin.tokens import TokenClaims, TokenError, read_token, sign_token
from openspot.engine.core.records import FLAG_ACTIVE, Command, CommandKind, decode_results
from openspot.engine.engine import Engine
from openspot.engine.state.directory import UNKNOWN_ACCOUNT
from openspot.engine.state.participants import REVOKE_TOKEN, ParticipantAccount, ParticipantProfile
from openspot.http.throttle import network_of
from openspot.kit.clock import NANOSECONDS_PER_MS
from openspot.kit.log import get_logger
from openspot.kit.passwords import Passwords
from openspot.kit.rate_limit import RateLimit

log = get_logger("admin")

ADMINISTRATORS = frozenset({"SUPER_ADMIN", "SYSTEM"})
"""Participant types that may call administrative methods."""

_TOKEN_ID_BYTES = 16
_KEYS_MAX = 10_000
LOGINS_WAITING_MAX = 32
KNOWN_LOGINS_WAITING_MAX = 8


class AdminSession(NamedTuple):
    """A logged-in participant. `expires_ms` is in milliseconds since 1970."""

    participant_id: str
    account: int
    profile: ParticipantProfile
    token_id: str
    expires_ms: int


class Authority:
    """The sessions of one engine."""

    def __init__(self, engine: Engine) -> None:
        settings = engine.settings
        assert settings.admin_token_secret, "with_secrets fills it in"
        self._engine = engine
        self._secret = settings.admin_token_secret
        self._lifetime_ms = settings.admin_token_s * 1000
        # One thread each, so that password hashing leaves the other processor cores to the engine.
        self.passwords = Passwords(1, LOGINS_WAITING_MAX, _too_many_logins)
        self.known_passwords = Passwords(1, KNOWN_LOGINS_WAITING_MAX, _too_many_logins)
        self._known = KnownNetworks(engine.journal_path.parent)
        # All logins of a participant count, but only failed logins of a network.
        self._by_participant = RateLimit(at_once=20, interval_s=3.0, keys_max=_KEYS_MAX)
        self._by_network = RateLimit(at_once=10, interval_s=6.0, keys_max=_KEYS_MAX)
        self._by_known = RateLimit(at_once=10, interval_s=6.0, keys_max=_KEYS_MAX)

    def find(self, participant_id: str) -> ParticipantAccount | None:
        """The account and profile of a participant, or None if it does not exist."""
        account = self._engine.machine.directory.account(participant_id)
        profile = self._engine.machine.participants.profiles.get(account)
        return None if profile is None else ParticipantAccount(account, profile)

    # Logins

    async def login(self, participant_id: str, password: str, address: str) -> tuple[str, AdminSession]:
        """Start a session. Returns (token, session). Raises FieldError if refused, AdminError at a limit."""
        fields.participant_id(participant_id)
        fields.given_password(password)
        network = network_of(address)
        known = self._known.holds(participant_id, network)
        self._admit(participant_id, network, known=known)
        found = self.find(participant_id)
        passwords = self.known_passwords if known else self.passwords
        if not await passwords.matches(password, found.profile.password_hash if found else ""):
            metrics.LOGINS.labels("failed").inc()
            log.warning("login failed", participant=participant_id, address=address)
            raise FieldError("participantId or password is wrong")
        self._give_back(participant_id, network, known=known)
        # The participant may have changed while the password was checked.
        account, profile = self.find(participant_id) or (UNKNOWN_ACCOUNT, None)
        assert profile is not None, "participants are never deleted"
        if not profile.active:
            raise FieldError(f"participantId: {participant_id} is not active")
        now_ms = self._now_ms()
        session = AdminSession(
            participant_id, account, profile, secrets.token_hex(_TOKEN_ID_BYTES), now_ms + self._lifetime_ms
        )
        claims = TokenClaims(participant_id, session.token_id, now_ms, session.expires_ms)
        self._known.add(participant_id, network)
        metrics.LOGINS.labels("succeeded").inc()
        log.info("login succeeded", participant=participant_id, type=profile.type, address=address)
        return sign_token(claims, self._secret, self._engine.epoch), session

    def _admit(self, participant_id: str, network: str, *, known: bool) -> None:
        """Count one login attempt. Raises AdminError if a limit is reached."""
        now_ns = self._engine.sequencer.now()
        if known:
            wait_s = self._by_known.take(f"{participant_id} {network}", now_ns)
        else:
            wait_s = self._by_network.take(network, now_ns)
            if not wait_s:
                wait_s = self._by_participant.take(participant_id, now_ns)
                if wait_s:
                    self._by_network.give_back(network)
        if wait_s:
            metrics.LOGINS.labels("put off").inc()
            raise resource_exhausted(f"too many logins, try again in {int(wait_s) + 1} s")

    def _give_back(self, participant_id: str, network: str, *, known: bool) -> None:
        if known:
            self._by_known.give_back(f"{participant_id} {network}")
        else:
            self._by_network.give_back(network)

    def close(self) -> None:
        """End the hashing threads."""
        self.passwords.close()
        self.known_passwords.close()

    # Sessions

    def session(self, token: str) -> AdminSession:
        """The session of a token. Raises AdminError (UNAUTHENTICATED)."""
        try:
            claims = read_token(token, self._secret, self._engine.epoch, self._now_ms())
        except TokenError as error:
            raise unauthenticated(str(error)) from error
        found = self.find(claims.participant_id)
        if found is None:
            raise unauthenticated("the token's participant does not exist")
        account, profile = found
        if not profile.active:
            raise unauthenticated("the token's participant is not active")
        if claims.issued_ms < profile.sessions_from_ms or self._engine.machine.participants.is_revoked(claims.token_id):
            raise unauthenticated("the session was ended")
        return AdminSession(claims.participant_id, account, profile, claims.token_id, claims.expires_ms)

    def bearer(self, authorization: str) -> AdminSession:
        """The session of an Authorization header. Raises AdminError (UNAUTHENTICATED)."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise unauthenticated("Authorization must be Bearer and a token of Login")
        return self.session(token.strip())

    def check_still_active(self, session: AdminSession) -> None:
        """Raise AdminError (UNAUTHENTICATED) if the participant of the session is no longer active."""
        found = self.find(session.participant_id)
        if found is None or not found.profile.active:
            raise unauthenticated("the token's participant is not active")

    def administrator(self, authorization: str) -> AdminSession:
        """The session of an Authorization header, if it is an administrator's.

        Raises AdminError (UNAUTHENTICATED, PERMISSION_DENIED).
        """
        session = self.bearer(authorization)
        if session.profile.type not in ADMINISTRATORS:
            raise permission_denied(f"a session of type {session.profile.type} may not administer the engine")
        return session

    async def logout(self, session: AdminSession) -> None:
        """Revoke the token of a session, durably. Raises IntakeRefusal, EngineStoppedError."""
        note = (session.token_id, str(session.expires_ms))
        await self._engine.intake.submit(Command(REVOKE_TOKEN), note)
        log.info("logout", participant=session.participant_id)

    def _now_ms(self) -> int:
        return self._engine.sequencer.now() // NANOSECONDS_PER_MS

    # The first administrator

    async def ensure_first_administrator(self) -> None:
        """Create the administrator that the settings name, unless the participant exists.

        An existing administrator keeps its password, even if the settings now have another one.
        Raises ValueError for an invalid OPENSPOT_ADMIN_ID or password, IntakeRefusal, EngineStoppedError.
        """
        settings = self._engine.settings
        found = self.find(settings.admin_id)
        if found is None:
            if not PARTICIPANT_ID_TEXT.fullmatch(settings.admin_id):
                raise ValueError("OPENSPOT_ADMIN_ID must be 1 to 64 letters, digits or _ : -")
            if len(settings.admin_password) > fields.PASSWORD_LENGTH_MAX:
                raise ValueError(f"OPENSPOT_ADMIN_PASSWORD must have at most {fields.PASSWORD_LENGTH_MAX} characters")
            password_hash = await self.passwords.hash(settings.admin_password)
            note = (settings.admin_id, settings.admin_id, "SUPER_ADMIN", password_hash)
            command = Command(CommandKind.CREATE_ACCOUNT, order_type=int(StpMode.NONE), flags=FLAG_ACTIVE)
            outcome = await self._engine.intake.create_account(note, command)
            (result,) = decode_results(outcome.results)
            assert result.code == ResultCode.SUCCESS, "there was no such participant"
            log.info("created the first administrator", participant=settings.admin_id)
        elif found.profile.type not in ADMINISTRATORS:
            log.error(
                "OPENSPOT_ADMIN_ID names a participant that is not an administrator: set it to another id",
                participant=settings.admin_id,
                type=found.profile.type,
            )


def _too_many_logins() -> AdminError:
    return resource_exhausted("too many logins at a time")
