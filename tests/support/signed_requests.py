"""Requests signed with an API key, as a client signs them, and keys in memory to check them against."""

import base64
import hmac
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from nacl.signing import SigningKey

from openspot.http.api_keys.checker import ApiKeyChecker
from openspot.http.api_keys.replays import MemoryReplays
from openspot.http.api_keys.signature import Algorithm
from openspot.http.api_keys.store import ApiKeyRow
from openspot.http.api_keys.vault import Vault
from openspot.http.policy import Scope


@dataclass(frozen=True)
class Signer:
    """A client's API key: `secret` is a text (HMAC) or a signing key (Ed25519)."""

    key_id: str
    secret: str | SigningKey

    def headers(self, method: str, target: str, body: bytes = b"", timestamp: int | None = None) -> dict[str, str]:
        """The three headers for a request; `target` is the path with the query."""
        stamp = str(int(time.time() * 1000) if timestamp is None else timestamp)
        text = stamp.encode() + method.encode() + target.encode() + body
        if isinstance(self.secret, SigningKey):
            signature = base64.b64encode(self.secret.sign(text).signature).decode()
        else:
            signature = hmac.new(self.secret.encode(), text, "sha256").hexdigest()
        return {"x-api-key": self.key_id, "x-api-timestamp": stamp, "x-api-signature": signature}


class KeysInMemory:
    """Stands for the table of API keys."""

    def __init__(self, secret: str = "an-api-key-secret-of-thirty-two-bytes") -> None:
        self.vault = Vault(secret)
        self.rows: dict[str, ApiKeyRow] = {}
        self.reads = 0
        self._made = 0

    async def sealed_tag_keys(self) -> list[tuple[str, bytes]]:
        """No sealing secret was ever exchanged."""
        return []

    def checker(self, **clocks: Any) -> ApiKeyChecker:
        """A checker of these keys, with a memory of signatures of its own."""
        store: Any = self
        return ApiKeyChecker(store, self.vault, MemoryReplays(), **clocks)

    def add(self, *scopes: Scope, user_id: str = "u1", networks: tuple[str, ...] = (), secret: Any = None) -> Signer:
        """A new key."""
        self._made += 1
        key_id = self.vault.make_id(self._made.to_bytes(16, "big"))
        secret = secret or f"secret {self._made}"
        is_public = isinstance(secret, SigningKey)
        self.rows[key_id] = ApiKeyRow(
            key_id=key_id,
            user_id=user_id,
            name="test",
            scopes=frozenset(scopes),
            networks=networks,
            algorithm=Algorithm.ED25519 if is_public else Algorithm.HMAC_SHA256,
            sealed_secret=None if is_public else self.vault.seal(key_id, secret.encode()),
            public_key=bytes(secret.verify_key) if is_public else None,
            version=1,
            created_at=datetime.now(UTC),
        )
        return Signer(key_id, secret)

    def rotate(self, key_id: str, secret: str) -> Signer:
        """Give a key another secret."""
        row = self.rows[key_id]
        self.rows[key_id] = replace(
            row, sealed_secret=self.vault.seal(key_id, secret.encode()), version=row.version + 1
        )
        return Signer(key_id, secret)

    async def get(self, key_id: str) -> ApiKeyRow | None:
        """The row of a key."""
        self.reads += 1
        return self.rows.get(key_id)
