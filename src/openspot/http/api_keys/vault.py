"""Ids and secrets of API keys. Secrets are sealed, so that a copy of the database gives none away."""

import hmac

from openspot.domain.ids import short_id
from openspot.kit.sealing import Sealer

KEY_ID_LENGTH = 24
_RANDOM_LENGTH = 16
_TAG_LENGTH = KEY_ID_LENGTH - _RANDOM_LENGTH


class Vault:
    """Seals the secrets of keys, and makes ids of keys."""

    def __init__(self, secret: str) -> None:
        """Raises ValueError without a secret."""
        self._sealer = Sealer(secret)
        self._tag_key = hmac.digest(secret.encode(), b"ids of API keys", "sha256")

    def seal(self, key_id: str, secret: bytes) -> bytes:
        """Encrypt the secret of a key. The result can be opened for that key only."""
        return self._sealer.seal(secret, _purpose(key_id))

    def open(self, key_id: str, sealed: bytes) -> bytes:
        """Decrypt the secret of a key. Raises UnsealError."""
        return self._sealer.open(sealed, _purpose(key_id))

    def make_id(self, random_bytes: bytes) -> str:
        """An id for a new key: random letters, and letters that only this vault can make of them."""
        letters = short_id(random_bytes, _RANDOM_LENGTH)
        return letters + self._tag(letters)

    def made(self, key_id: str) -> bool:
        """Whether `make_id` made this id. Any other id needs no look-up, so strangers cannot cause one."""
        if len(key_id) != KEY_ID_LENGTH or not key_id.isascii():
            return False
        return hmac.compare_digest(key_id[_RANDOM_LENGTH:], self._tag(key_id[:_RANDOM_LENGTH]))

    def _tag(self, letters: str) -> str:
        return short_id(hmac.digest(self._tag_key, letters.encode(), "sha256"), _TAG_LENGTH)


def _purpose(key_id: str) -> str:
    return f"api-key:{key_id}"
