"""Secrets at rest: encrypted with a key that is not in the database, so that a copy of the database gives none away."""

import hashlib
import hmac

from nacl.exceptions import CryptoError
from nacl.secret import Aead

from openspot.domain.ids import short_id

KEY_ID_LENGTH = 24
_RANDOM_LENGTH = 16
_TAG_LENGTH = KEY_ID_LENGTH - _RANDOM_LENGTH


class VaultError(Exception):
    """A stored secret cannot be decrypted: it was encrypted under another `OPENSPOT_API_KEY_SECRET`, or changed."""


class Vault:
    """Encrypts the secrets of keys, and makes ids of keys."""

    def __init__(self, secret: str) -> None:
        """Raises ValueError without a secret."""
        if not secret:
            raise ValueError("a secret is needed to encrypt the secrets of API keys")
        self._box = Aead(_derived(secret, b"secrets"))
        self._tag_key = _derived(secret, b"ids")

    def seal(self, key_id: str, secret: bytes) -> bytes:
        """Encrypt the secret of a key. The result can be opened for that key only."""
        return bytes(self._box.encrypt(secret, key_id.encode()))

    def open(self, key_id: str, sealed: bytes) -> bytes:
        """Decrypt the secret of a key. Raises VaultError."""
        try:
            return self._box.decrypt(sealed, key_id.encode())
        except (CryptoError, ValueError) as error:
            raise VaultError(f"the secret of API key {key_id} cannot be decrypted") from error

    def make_id(self, random_bytes: bytes) -> str:
        """An id for a new key: random letters, and letters that only this vault can make of them."""
        letters = short_id(random_bytes, _RANDOM_LENGTH)
        return letters + self._tag(letters)

    def made(self, key_id: str) -> bool:
        """Whether `make_id` made this id. Otherwise nobody need look for it: strangers cannot cause look-ups."""
        if len(key_id) != KEY_ID_LENGTH or not key_id.isascii():
            return False
        return hmac.compare_digest(key_id[_RANDOM_LENGTH:], self._tag(key_id[:_RANDOM_LENGTH]))

    def _tag(self, letters: str) -> str:
        return short_id(hmac.digest(self._tag_key, letters.encode(), "sha256"), _TAG_LENGTH)


def _derived(secret: str, purpose: bytes) -> bytes:
    return hashlib.blake2b(secret.encode(), digest_size=Aead.KEY_SIZE, person=b"api-key-" + purpose).digest()
