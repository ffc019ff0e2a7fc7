"""Setting up, enabling and disabling the second factor."""

import os
from dataclasses import dataclass
from datetime import datetime

import pyotp
import segno

from openspot.http.errors import HttpError
from openspot.kit.clock import DateClock, utc_now
from openspot.kit.sealing import Sealer
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.credentials.password_check import PasswordCheck
from openspot.rest_edge.identity.credentials.refusals import user_not_found
from openspot.rest_edge.identity.credentials.store import AuthStore
from openspot.rest_edge.identity.second_factor.code_check import SecondFactor, mfa_code_invalid, sealing_purpose
from openspot.rest_edge.identity.second_factor.recovery_codes import CODE_BYTES, CODES, code_hash, code_text, normalised
from openspot.rest_edge.identity.second_factor.store import MfaStore
from openspot.rest_edge.identity.second_factor.totp import provisioning_uri

_QR_SCALE = 4


@dataclass(frozen=True, slots=True)
class MfaStatus:
    """Whether MFA is enabled and how many recovery codes are left."""

    enabled_at: datetime | None
    recovery_codes_left: int


@dataclass(frozen=True, slots=True)
class MfaSetup:
    """The data for an authenticator app. They are shown once."""

    secret: str
    otpauth_uri: str
    qr_svg: str


class MfaService:
    """Handles the requests to the MFA routes. Methods raise HttpError to refuse a request."""

    def __init__(
        self,
        store: MfaStore,
        users: AuthStore,
        sealer: Sealer,
        passwords: PasswordCheck,
        second_factor: SecondFactor,
        activity: ActivityLog,
        issuer: str,
        now: DateClock = utc_now,
    ) -> None:
        """Authenticator apps show the name `issuer`."""
        self._store = store
        self._users = users
        self._sealer = sealer
        self._passwords = passwords
        self._second_factor = second_factor
        self._activity = activity
        self._issuer = issuer
        self._now = now

    async def status(self, user_id: str) -> MfaStatus:
        """Whether MFA is enabled."""
        factor = await self._store.factor(user_id)
        if factor is None or factor.enabled_at is None:
            return MfaStatus(None, 0)
        return MfaStatus(factor.enabled_at, await self._store.recovery_codes_left(user_id))

    async def set_up(self, user_id: str, password: str) -> MfaSetup:
        """Make a new TOTP secret. `enable` activates it. 400 for a wrong password, 409 if MFA is enabled already."""
        await self._passwords.require(user_id, password)
        user = await self._users.user_by_id(user_id)
        if user is None:
            raise user_not_found()
        secret = pyotp.random_base32()
        if not await self._store.set_up(user_id, self._sealer.seal(secret.encode(), sealing_purpose(user_id))):
            raise _enabled_already()
        uri = provisioning_uri(secret, user.email, self._issuer)
        return MfaSetup(secret, uri, segno.make(uri, error="m", micro=False).svg_inline(scale=_QR_SCALE))

    async def enable(self, user_id: str, code: str, origin: Origin) -> list[str]:
        """Enable the factor that was set up, and return its recovery codes. They are shown only now.

        409 if nothing was set up or MFA is enabled already, 400 for a wrong code.
        """
        factor = await self._store.factor(user_id)
        if factor is None:
            raise HttpError(409, "set MFA up first", "MFA_NOT_SET_UP")
        if factor.enabled_at is not None:
            raise _enabled_already()
        keys = await self._second_factor.count_guess(user_id)
        step = self._second_factor.step_of(user_id, factor, normalised(code))
        if step is None:
            raise mfa_code_invalid()
        codes = _new_codes()
        hashes = [code_hash(text) for text in codes]
        if not await self._store.enable(user_id, factor.sealed_secret, step, hashes, self._now()):
            raise HttpError(409, "MFA was set up anew or enabled meanwhile", "MFA_CHANGED_MEANWHILE")
        await self._second_factor.forget_guesses(keys)
        await self._activity.record(user_id, ActivityKind.MFA_ENABLED, origin)
        return codes

    async def verify(self, user_id: str, code: str, origin: Origin) -> None:
        """Check and consume a code. 409 if MFA is not enabled, 400 for a wrong code."""
        if not await self._second_factor.is_enabled(user_id):
            raise _not_enabled()
        await self._second_factor.require(user_id, code, origin)

    async def disable(self, user_id: str, password: str, code: str, origin: Origin) -> None:
        """Remove the factor and its recovery codes. 409 if MFA is not enabled, 400 for a wrong password or code."""
        if not await self._second_factor.is_enabled(user_id):
            raise _not_enabled()
        await self._passwords.require(user_id, password)
        await self._second_factor.require(user_id, code, origin)
        await self._store.remove(user_id)
        await self._activity.record(user_id, ActivityKind.MFA_DISABLED, origin)

    async def renew_recovery_codes(self, user_id: str, code: str, origin: Origin) -> list[str]:
        """Replace all recovery codes and return the new ones, which are shown only now. Refusals as for `verify`."""
        await self.verify(user_id, code, origin)
        codes = _new_codes()
        await self._store.replace_codes(user_id, [code_hash(text) for text in codes])
        await self._activity.record(user_id, ActivityKind.RECOVERY_CODES_RENEWED, origin)
        return codes


def _new_codes() -> list[str]:
    return [code_text(os.urandom(CODE_BYTES)) for _ in range(CODES)]


def _enabled_already() -> HttpError:
    return HttpError(409, "MFA is enabled already: disable it first", "MFA_ALREADY_ENABLED")


def _not_enabled() -> HttpError:
    return HttpError(409, "MFA is not enabled", "MFA_NOT_ENABLED")
