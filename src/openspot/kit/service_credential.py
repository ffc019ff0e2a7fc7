"""The credential that services show the engine, over HTTP and gRPC alike (Document B 4.4)."""

import hmac
from collections.abc import Iterable

KEY, SECRET, PARTICIPANT_TYPE = "x-api-key", "x-api-secret", "x-participant-type"
SYSTEM = "SYSTEM"


class ServiceCredential:
    """A key and a secret that services share."""

    def __init__(self, key: str, secret: str) -> None:
        """Raises ValueError without a key or a secret: an empty one would let everybody in."""
        if not key or not secret:
            raise ValueError("a service key and its secret are needed")
        self._key, self._secret = key.encode(), secret.encode()

    def matches(self, key: str | bytes | None, secret: str | bytes | None) -> bool:
        """Whether these are the key and the secret. Takes the same time whichever of them is wrong."""
        key_matches = hmac.compare_digest(_bytes(key), self._key)
        secret_matches = hmac.compare_digest(_bytes(secret), self._secret)
        return key_matches and secret_matches

    def accepts(self, metadata: Iterable[tuple[str, str | bytes]]) -> bool:
        """Whether a call with this gRPC metadata comes from a service."""
        values = dict(metadata)
        return self.matches(values.get(KEY), values.get(SECRET)) and values.get(PARTICIPANT_TYPE) == SYSTEM


def headers(key: str, secret: str) -> dict[str, str]:
    """What a service sends with every call: HTTP headers, or gRPC metadata."""
    return {KEY: key, SECRET: secret, PARTICIPANT_TYPE: SYSTEM}


def _bytes(value: str | bytes | None) -> bytes:
    return value.encode("latin-1", "replace") if isinstance(value, str) else value or b""
