"""Decides about signed requests: is it this key's signature, fresh, from an allowed address, and not a repetition?

A process keeps the keys that it has read, so that checking a request costs one signature and no query. It drops a
changed key as soon as it hears of the change, and every key after KEPT_S, in case it heard nothing.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from openspot.http.api_keys.networks import AllowedNetworks
from openspot.http.api_keys.replays import Replays
from openspot.http.api_keys.signature import Algorithm, signed_text, timestamp_fault, verified
from openspot.http.api_keys.store import ApiKeyRow, ApiKeyStore
from openspot.http.api_keys.vault import Vault
from openspot.http.authentication import CredentialsError
from openspot.http.context import Identity
from openspot.http.policy import Access
from openspot.kit.log import get_logger
from openspot.kit.sealing import UnsealError
from openspot.kit.single_flight import SingleFlight

log = get_logger("api_keys")

KEPT_S = 10.0
KEPT_MAX = 20_000
USES_MAX = 20_000
LEARNT_S = 60.0
"""Unknown ids cause one look-up of earlier sealing secrets in so many seconds, however many there are."""
_READS_MAX = 3
NOT_VALID = "the API key or its signature is not valid"
"""The same text for an unknown key and for a wrong signature, so that nobody can find out which keys exist."""
_NOBODYS_SECRET = b"checked where there is no key, so that this takes as long"


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request as its sender signed it, and the address that it came from."""

    key_id: str
    timestamp: str
    signature: str
    method: str
    target: bytes
    body: bytes
    address: str


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key that is ready to check signatures."""

    key_id: str
    version: int
    identity: Identity
    algorithm: Algorithm
    material: bytes
    """The secret, or the public key."""
    networks: AllowedNetworks
    kept_until: float


class ApiKeyChecker:
    """Checks signed requests. `wall_clock` returns seconds since 1970, `now` those of a monotonic clock."""

    def __init__(
        self,
        store: ApiKeyStore,
        vault: Vault,
        replays: Replays,
        wall_clock: Callable[[], float] = time.time,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._vault = vault
        self._replays = replays
        self._wall_clock = wall_clock
        self._now = now
        self._known: dict[str, ApiKey] = {}
        self._changes = 0
        self._reads: SingleFlight[str, ApiKey | None] = SingleFlight(self._read)
        self._learning: SingleFlight[None, None] = SingleFlight(self._learn)
        self._learn_at = float("-inf")
        self._uses: dict[str, float] = {}

    async def check(self, request: SignedRequest) -> ApiKey:
        """The key that signed `request`.

        Raises CredentialsError, HttpError (503) if repetitions cannot be found now, and what the database raises.
        """
        now = self._wall_clock()
        fault = timestamp_fault(request.timestamp, int(now * 1000))
        if fault is not None:
            raise CredentialsError(fault)
        key = await self._key(request.key_id)
        text = signed_text(request.timestamp, request.method, request.target, request.body)
        algorithm, material = (key.algorithm, key.material) if key else (Algorithm.HMAC_SHA256, _NOBODYS_SECRET)
        signature = verified(algorithm, material, text, request.signature)
        if key is None or signature is None:
            raise CredentialsError(NOT_VALID)
        if not key.networks.admit(request.address):
            raise CredentialsError(f"the API key may not be used from {request.address}")
        if not await self._replays.is_first(key.key_id, signature):
            raise CredentialsError("the signature was used before: sign each request anew")
        self._note_use(key.key_id, now)
        return key

    async def is_current(self, key: ApiKey) -> bool:
        """Whether `key` has not been rotated or revoked since it was read."""
        current = await self._key(key.key_id)
        return current is not None and current.version == key.version

    def drop(self, key_id: str) -> None:
        """Forget a key that was rotated or revoked."""
        self._changes += 1
        self._known.pop(key_id, None)

    def take_uses(self) -> dict[str, datetime]:
        """The time of each key's last use, for the keys used since the previous call."""
        uses, self._uses = self._uses, {}
        return {key_id: datetime.fromtimestamp(used_at, UTC) for key_id, used_at in uses.items()}

    def give_back_uses(self, uses: dict[str, datetime]) -> None:
        """Take back uses that could not be recorded. A later use of the same key takes precedence."""
        for key_id, used_at in uses.items():
            if len(self._uses) < USES_MAX:
                self._uses.setdefault(key_id, used_at.timestamp())

    def _note_use(self, key_id: str, now: float) -> None:
        if key_id in self._uses or len(self._uses) < USES_MAX:
            self._uses[key_id] = now

    async def _key(self, key_id: str) -> ApiKey | None:
        key = self._known.get(key_id)
        if key is not None and self._now() < key.kept_until:
            return key
        # The id itself shows whether this platform made it. So strangers cannot cause queries for made-up ids.
        if not self._vault.made(key_id):
            if self._now() >= self._learn_at:
                await self._learning.get(None)
            if not self._vault.made(key_id):
                return None
        return await self._reads.get(key_id)

    async def _learn(self, _: None) -> None:
        """Know the ids of keys that were made with sealing secrets of earlier."""
        self._vault.learn(await self._store.sealed_tag_keys())
        self._learn_at = self._now() + LEARNT_S

    async def _read(self, key_id: str) -> ApiKey | None:
        key = None
        for _ in range(_READS_MAX):
            changes = self._changes
            row = await self._store.get(key_id)
            key = self._ready(row) if row is not None else None
            # A row that was read while a key changed may be the old one.
            if changes == self._changes:
                self._keep(key_id, key)
                break
        return key

    def _ready(self, row: ApiKeyRow) -> ApiKey | None:
        try:
            material = self._material(row)
        except UnsealError as error:
            log.error("API key not usable", key_id=row.key_id, reason=str(error))
            return None
        return ApiKey(
            row.key_id,
            row.version,
            # A key never has the access of an administrator. Its scopes limit what it may do.
            Identity(row.user_id, Access.USER, row.scopes),
            row.algorithm,
            material,
            AllowedNetworks(row.networks),
            self._now() + KEPT_S,
        )

    def _material(self, row: ApiKeyRow) -> bytes:
        if row.public_key is not None:
            return row.public_key
        assert row.sealed_secret is not None, "the table demands one of them"
        return self._vault.open(row.key_id, row.sealed_secret)

    def _keep(self, key_id: str, key: ApiKey | None) -> None:
        self._known.pop(key_id, None)
        if key is not None:
            if len(self._known) >= KEPT_MAX:
                del self._known[next(iter(self._known))]
            self._known[key_id] = key
