"""The credential that services send to the engine, over HTTP, gRPC and frames (fact A5-21)."""

import hmac
from collections.abc import Iterable

KEY, SECRET, PARTICIPANT_TYPE = "x-api-key", "x-api-secret", "x-participant-type"
SYSTEM = "SYSTEM"


class ServiceCredential:
    """A key and a secret that services share."""

    def __init__(self, key: str, secret: str) -> None:
        """Raises ValueError if the key or the secret is empty: everybody could use it."""
        if not key or not secret:
            raise ValueError("a service key and its secret are needed")
        self._key, self._secret = key.encode(), secret.encode()

    def matches(self, key: str | bytes | None, secret: str | bytes | None) -> bool:
        """Whether these are the key and the secret. The check takes the same time, whichever of them is wrong."""
        key_matches = hmac.compare_digest(_bytes(key), self._key)
        secret_matches = hmac.compare_digest(_bytes(secret), self._secret)
        return key_matches and secret_matches

    def accepts(self, metadata: Iterable[tuple[str, str | bytes]]) -> bool:
        """Whether a call with this gRPC metadata comes from a service."""
        values = dict(metadata)
        return self.matches(values.get(KEY), values.get(SECRET)) and values.get(PARTICIPANT_TYPE) == SYSTEM


def headers(key: str, secret: str) -> dict[str, str]:
    """The HTTP headers, or the gRPC metadata, that a service sends with every call."""
    return {KEY: key, SECRET: secret, PARTICIPANT_TYPE: SYSTEM}


def _bytes(value: str | bytes | None) -> bytes:
    return value.encode("latin-1", "replace") if isinstance(value, str) else value or b""
