"""Creating, listing, rotating and revoking API keys.

A secret is made here, shown once, and stored encrypted. A rotated or revoked key stops working in every process at
once: the change is committed first, then announced on the bus.
"""

import base64
import os
import secrets
from collections.abc import Awaitable, Callable, Sequence

from openspot.http.api_keys.changes import ChangeNotToldError, KeyChanges
from openspot.http.api_keys.signature import Algorithm, read_public_key
from openspot.http.api_keys.store import (
    KEYS_MAX,
    ApiKeyRow,
    ApiKeyStore,
    Ended,
    NoSuchUserError,
    TooManyKeysError,
)
from openspot.http.api_keys.vault import Vault
from openspot.http.ended_sessions import SessionOverError
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.http.policy import Scope
from openspot.kit.clock import Clock, iso_of, utc_datetime
from openspot.kit.database import Connection
from openspot.kit.log import get_logger
from openspot.rest_edge.common.plan_limits import API_KEYS, PlanLimits
from openspot.rest_edge.common.user_rows import lock_users
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.api_keys.schemas import (
    ApiKeyResponse,
    ApiKeySecretResponse,
    CreateApiKeyBody,
    RevokedApiKeyResponse,
    RotateApiKeyBody,
)
from openspot.rest_edge.identity.credentials.refusals import user_not_found
from openspot.rest_edge.identity.second_factor.code_check import SecondFactor

log = get_logger("api_keys")

SECRET_BYTES = 32
_RANDOM_BYTES = 16


class ApiKeyService:
    """Handles the requests to the API key routes. Methods raise HttpError to refuse a request."""

    def __init__(
        self,
        store: ApiKeyStore,
        vault: Vault,
        changes: KeyChanges,
        second_factor: SecondFactor,
        activity: ActivityLog,
        plans: PlanLimits,
        clock: Clock,
    ) -> None:
        self._store = store
        self._vault = vault
        self._changes = changes
        self._second_factor = second_factor
        self._activity = activity
        self._plans = plans
        self._clock = clock

    async def create(
        self, user_id: str, body: CreateApiKeyBody, origin: Origin, session_id: str = ""
    ) -> ApiKeySecretResponse:
        """Make a key. 409 if the user has as many as the plan allows, or KEYS_MAX where that is not known.

        401 if the session that asks has ended meanwhile. Raises what the second factor raises.
        """
        await self._second_factor.require(user_id, body.mfa_code)
        key_id = self._vault.make_id(os.urandom(_RANDOM_BYTES))
        secret, sealed, public_key = self._material(key_id, body.public_key)
        key = ApiKeyRow(
            key_id=key_id,
            user_id=user_id,
            name=body.name,
            scopes=frozenset(body.scopes),
            networks=tuple(dict.fromkeys(body.ip_allow_list)),
            algorithm=body.algorithm,
            sealed_secret=sealed,
            public_key=public_key,
            version=1,
            created_at=utc_datetime(self._clock),
        )
        keys_max = await self._plans.of_user(user_id, API_KEYS, KEYS_MAX)
        try:
            await self._store.add(key, keys_max, session_id)
        except TooManyKeysError as error:
            message = f"you may have at most {keys_max} API keys: revoke one, or choose a plan with more"
            raise HttpError(409, message, "TOO_MANY_API_KEYS") from error
        except NoSuchUserError as error:
            raise user_not_found() from error
        except SessionOverError as error:
            raise HttpError(401, "the session has ended") from error
        await self._activity.record(user_id, ActivityKind.API_KEY_CREATED, origin)
        return ApiKeySecretResponse(**_fields_of(key), secret=secret)

    async def list_of(self, user_id: str) -> list[ApiKeyResponse]:
        """The user's keys, the newest first, without their secrets."""
        return [ApiKeyResponse(**_fields_of(key)) for key in await self._store.list_of(user_id)]

    async def rotate(self, user_id: str, key_id: str, body: RotateApiKeyBody, origin: Origin) -> ApiKeySecretResponse:
        """Give a key a new secret or public key. The old one stops working at once. 404 if the user has no such key."""
        await self._second_factor.require(user_id, body.mfa_code)
        known = await self._store.get(key_id)
        if known is None or known.user_id != user_id:
            raise _not_found()
        if known.algorithm is Algorithm.ED25519 and body.public_key is None:
            raise validation_error(["publicKey is required for the algorithm ed25519"])
        if known.algorithm is not Algorithm.ED25519 and body.public_key is not None:
            raise validation_error(["publicKey must not be given for the algorithm hmac-sha256"])
        secret, sealed, public_key = self._material(key_id, body.public_key)
        key = await self._store.rotate(user_id, key_id, sealed, public_key, utc_datetime(self._clock))
        if key is None:
            raise _not_found()
        try:
            await self._changes.tell(Ended(key_id, key.version))
        except ChangeNotToldError as error:
            raise _not_told("rotated") from error
        finally:
            await self._activity.record(user_id, ActivityKind.API_KEY_ROTATED, origin)
        return ApiKeySecretResponse(**_fields_of(key), secret=secret)

    async def revoke(self, user_id: str, key_id: str, origin: Origin) -> RevokedApiKeyResponse:
        """Revoke a key at once, in all processes. 404 if the user never had it. Revoking twice is no error."""
        known = await self._store.get(key_id)
        ended = await self._store.revoke(user_id, key_id, utc_datetime(self._clock))
        if ended is None:
            raise _not_found()
        try:
            await self._tell_all([ended])
        finally:
            if known is not None:
                await self._activity.record(user_id, ActivityKind.API_KEY_REVOKED, origin)
        return RevokedApiKeyResponse(id=key_id, revoked=True)

    async def revoke_all(self, user_id: str) -> None:
        """Revoke every key of a user, for example when the account is deleted."""
        await self._tell_all(await self._store.revoke_all(user_id, utc_datetime(self._clock)))

    async def revoke_for_operator(
        self, user_id: str, key_id: str | None, beside: Callable[[Connection, list[str]], Awaitable[None]]
    ) -> list[str]:
        """Revoke a user's key, or all without `key_id`, and return their ids. 404 if the user never had that key.

        `beside` gets the ids and writes in the same transaction who did it; it is not called if all were revoked
        before. 503 if not every process could be told: the keys are revoked.
        """
        async with self._store.pool.acquire() as connection, connection.transaction():
            now = utc_datetime(self._clock)
            await lock_users(connection, [user_id])
            ended, is_new = await self._store.revoke_within(connection, user_id, key_id, now)
            if key_id is not None and not ended:
                raise HttpError(404, "the user has no such API key", "API_KEY_NOT_FOUND")
            ids = [key.key_id for key in ended]
            if is_new:
                await beside(connection, ids)
        await self._tell_all(ended)
        return ids

    async def revoke_all_within(self, connection: Connection, user_id: str) -> list[Ended]:
        """Revoke every key of a user in the caller's transaction, after whose commit `announce` tells of them."""
        ended, _ = await self._store.revoke_within(connection, user_id, None, utc_datetime(self._clock))
        return ended

    async def announce(self, ended: Sequence[Ended]) -> None:
        """Make every process drop revoked keys.

        If the bus does not respond, the other processes learn of it when the bus comes back.
        """
        for key in ended:
            try:
                await self._changes.tell(key)
            except ChangeNotToldError as error:
                log.warning("a revoked key is not told to other processes yet", key_id=key.key_id, error=str(error))

    async def suspend_all(self, user_id: str) -> None:
        """Make every process drop the keys of a user whose login is locked. They work again when it is unlocked."""
        await self._tell_all(await self._store.suspended(user_id))

    async def _tell_all(self, ended: list[Ended]) -> None:
        untold: ChangeNotToldError | None = None
        for key in ended:
            try:
                await self._changes.tell(key)
            except ChangeNotToldError as error:
                untold = error
        if untold is not None:
            raise _not_told("revoked") from untold

    def _material(self, key_id: str, public_key: str | None) -> tuple[str | None, bytes | None, bytes | None]:
        """Return (secret to show, encrypted secret, public key), with a new secret or with the given public key."""
        if public_key is not None:
            return None, None, read_public_key(public_key)
        secret = secrets.token_urlsafe(SECRET_BYTES)
        return secret, self._vault.seal(key_id, secret.encode()), None


def _fields_of(key: ApiKeyRow) -> dict[str, object]:
    return {
        "id": key.key_id,
        "name": key.name,
        "scopes": [scope for scope in Scope if scope in key.scopes],
        "ip_allow_list": list(key.networks),
        "algorithm": key.algorithm,
        "public_key": base64.b64encode(key.public_key).decode() if key.public_key is not None else None,
        "created_at": iso_of(key.created_at),
        "rotated_at": iso_of(key.rotated_at) if key.rotated_at is not None else None,
        "last_used_at": iso_of(key.last_used_at) if key.last_used_at is not None else None,
    }


def _not_found() -> HttpError:
    return HttpError(404, "you have no such API key", "API_KEY_NOT_FOUND")


def _not_told(what: str) -> HttpError:
    return service_unavailable(
        f"the key is {what}, but the bus does not respond: other processes may take the old one for some seconds. "
        "Send the request again"
    )
