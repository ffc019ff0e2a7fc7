"""The check of a second factor, for every route that needs it.

A TOTP code works once, a recovery code works once, and wrong codes count as guesses. After five guesses whoever guesses
must wait 30 seconds; each further guess doubles the wait, up to an hour.

Guesses count where they are made. Those of a login, for which a password is enough, count for their network; those from
networks that the owner has never logged in from also count together. Those of a session count for themselves. So
somebody who knows the password, but has no code, cannot keep the owner out at home or from what a session may do.
"""

from enum import StrEnum

from openspot.http.errors import HttpError
from openspot.http.throttle import network_of
from openspot.kit.clock import utc_now
from openspot.kit.sealing import Sealer
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.credentials.attempt_store import AttemptStore
from openspot.rest_edge.identity.credentials.login_throttling import AttemptKey, DelayRule
from openspot.rest_edge.identity.second_factor.recovery_codes import CODE_LENGTH, code_hash, normalised
from openspot.rest_edge.identity.second_factor.store import Factor, MfaStore
from openspot.rest_edge.identity.second_factor.totp import DIGITS, matching_step

MFA_GUESSES = DelayRule(5, 30, 3600)


class Method(StrEnum):
    """The methods of proving a second factor."""

    TOTP = "totp"
    RECOVERY_CODE = "recovery_code"


def mfa_code_invalid() -> HttpError:
    """The refusal of a code that is wrong, expired or used."""
    return HttpError(400, "the MFA code is wrong, expired or was used before", "MFA_CODE_INVALID")


def sealing_purpose(user_id: str) -> str:
    """The purpose under which a user's TOTP secret is sealed: the secret of another user's row does not open in it."""
    return f"totp:{user_id}"


def session_keys(user_id: str) -> tuple[AttemptKey, ...]:
    """The keys that a guess of a session counts under."""
    return (AttemptKey(f"mfa:{user_id}", MFA_GUESSES, resets=True),)


def login_keys(user_id: str, address: str, *, known: bool) -> tuple[AttemptKey, ...]:
    """The keys that a guess of a login counts under. `known`: the user has logged in from this network before."""
    own = AttemptKey(f"mfa-login:{user_id}:{network_of(address)}", MFA_GUESSES, resets=True)
    return (own,) if known else (own, AttemptKey(f"mfa-login:{user_id}", MFA_GUESSES, resets=True))


class SecondFactor:
    """Checks the codes of users with MFA."""

    def __init__(
        self,
        store: MfaStore,
        sealer: Sealer,
        attempts: AttemptStore,
        activity: ActivityLog,
    ) -> None:
        self._store = store
        self._sealer = sealer
        self._attempts = attempts
        self._activity = activity

    async def is_enabled(self, user_id: str) -> bool:
        """Whether the user has enabled MFA."""
        factor = await self._store.factor(user_id)
        return factor is not None and factor.enabled_at is not None

    async def require(self, user_id: str, code: str | None, origin: Origin | None = None) -> None:
        """Check and consume `code`, a TOTP or recovery code, in a session. A user without MFA needs none.

        Raises HttpError: 401 MFA_REQUIRED without a code, 400 MFA_CODE_INVALID for a wrong one, 429
        TOO_MANY_MFA_ATTEMPTS after too many wrong ones.
        """
        await self._require(user_id, code, origin, session_keys(user_id))

    async def require_at_login(self, user_id: str, code: str, origin: Origin, *, known: bool) -> None:
        """As `require`, for a login. `known` says that the user has logged in from this network before."""
        await self._require(user_id, code, origin, login_keys(user_id, origin.address, known=known))

    async def _require(
        self, user_id: str, code: str | None, origin: Origin | None, keys: tuple[AttemptKey, ...]
    ) -> None:
        factor = await self._store.factor(user_id)
        if factor is None or factor.enabled_at is None:
            return
        if code is None:
            raise HttpError(401, "this needs an MFA code", "MFA_REQUIRED")
        await self._count(keys)
        method = await self._consume(user_id, factor, code)
        if method is None:
            raise mfa_code_invalid()
        await self._attempts.succeeded(keys)
        if method is Method.RECOVERY_CODE:
            await self._activity.record(user_id, ActivityKind.RECOVERY_CODE_USED, origin or Origin())

    def step_of(self, user_id: str, factor: Factor, code: str) -> int | None:
        """The TOTP step of `code`, None if it is wrong or used. Consumes nothing."""
        secret = self._sealer.open(factor.sealed_secret, sealing_purpose(user_id)).decode()
        return matching_step(secret, code, utc_now(), factor.last_step)

    async def count_guess(self, user_id: str) -> tuple[AttemptKey, ...]:
        """Count a guess of a session before its code is checked, so that parallel guesses gain nothing.

        Returns the keys to pass to `forget_guesses` if the code is right. Raises HttpError (429) after too many.
        """
        keys = session_keys(user_id)
        await self._count(keys)
        return keys

    async def _count(self, keys: tuple[AttemptKey, ...]) -> None:
        wait_s = (await self._attempts.take(keys, utc_now())).wait_s
        if wait_s:
            message = f"too many wrong MFA codes: try again in {wait_s} s"
            raise HttpError(429, message, "TOO_MANY_MFA_ATTEMPTS", headers={"Retry-After": str(wait_s)})

    async def forget_guesses(self, keys: tuple[AttemptKey, ...]) -> None:
        """The code was right: forget the guesses before it."""
        await self._attempts.succeeded(keys)

    async def _consume(self, user_id: str, factor: Factor, code: str) -> Method | None:
        text = normalised(code)
        if len(text) == DIGITS:
            step = self.step_of(user_id, factor, text)
            used = step is not None and await self._store.use_step(user_id, step)
            return Method.TOTP if used else None
        if len(text) == CODE_LENGTH and await self._store.use_recovery_code(user_id, code_hash(text), utc_now()):
            return Method.RECOVERY_CODE
        return None
