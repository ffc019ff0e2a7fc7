"""API keys of a client, and how they sign (docs/guides/api-keys.md).

The signed text is timestamp, METHOD, path with query and raw body, one after the other. An HMAC is sent in hex, an
Ed25519 signature in base64.
"""

import base64
import hmac
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key


def _system_ms() -> int:
    return time.time_ns() // 1_000_000


class RequestSigner(Protocol):
    """Signs requests with an API key."""

    def headers(self, method: str, target: str, body: bytes) -> dict[str, str]:
        """The headers that sign a request. `target` is the path with the query, exactly as it is sent."""

    def set_clock_offset(self, offset_ms: int) -> None:
        """Add this to the time of this machine from now on, because its clock is wrong."""


class _Key(ABC):
    def __init__(self, key_id: str, now_ms: Callable[[], int]) -> None:
        self._key_id = key_id
        self._now_ms = now_ms
        self._last_ms = 0
        self._offset_ms = 0

    def set_clock_offset(self, offset_ms: int) -> None:
        """Add this to the time of this machine from now on, because its clock is wrong."""
        self._offset_ms = offset_ms
        # After a correction back in time, the last timestamp must not keep the new ones too late.
        self._last_ms = 0

    def headers(self, method: str, target: str, body: bytes) -> dict[str, str]:
        """The headers that sign a request. `target` is the path with the query, exactly as it is sent."""
        # Two equal requests within a millisecond would have the same signature, which the platform takes only once.
        self._last_ms = max(self._last_ms + 1, self._now_ms() + self._offset_ms)
        text = f"{self._last_ms}{method}{target}".encode() + body
        return {
            "X-API-Key": self._key_id,
            "X-API-Timestamp": str(self._last_ms),
            "X-API-Signature": self._sign(text),
        }

    @abstractmethod
    def _sign(self, text: bytes) -> str:
        """The signature of `text`, as the header carries it."""


class HmacKey(_Key):
    """A key of the algorithm `hmac-sha256`, with the secret that was shown when it was made.

    `now_ms` returns milliseconds since 1970. The platform takes a timestamp within five seconds of its own time. If it
    refuses one that is further off, the client learns the difference from the refusal.
    """

    def __init__(self, key_id: str, secret: str, *, now_ms: Callable[[], int] = _system_ms) -> None:
        super().__init__(key_id, now_ms)
        self._secret = secret.encode()

    def _sign(self, text: bytes) -> str:
        return hmac.digest(self._secret, text, "sha256").hex()


class Ed25519Key(_Key):
    """A key of the algorithm `ed25519`, with its private key. The platform knows the public key.

    `private_key` is its PEM (`openssl genpkey -algorithm ed25519`) or its seed of 32 bytes. Raises ValueError for
    anything else.
    """

    def __init__(self, key_id: str, private_key: str | bytes, *, now_ms: Callable[[], int] = _system_ms) -> None:
        super().__init__(key_id, now_ms)
        self._key = _read_private_key(private_key)

    def _sign(self, text: bytes) -> str:
        return base64.b64encode(self._key.sign(text)).decode()


def _read_private_key(given: str | bytes) -> Ed25519PrivateKey:
    if isinstance(given, bytes):
        return Ed25519PrivateKey.from_private_bytes(given)
    try:
        key = load_pem_private_key(given.encode(), None)
    except (TypeError, UnsupportedAlgorithm) as error:
        raise ValueError("private_key must be PEM without a password") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("private_key is not an Ed25519 key")
    return key
