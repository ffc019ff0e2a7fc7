"""Encrypts secrets before they are stored. The key is not in the database, so a copy of it reveals no secret."""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_KEY_BYTES = 32
_NONCE_BYTES = 12


class UnsealError(ValueError):
    """The sealed bytes were changed, belong to another purpose, or were sealed with another secret."""


class Sealer:
    """Encrypts short secrets with AES-256-GCM under a key that is derived from one setting."""

    def __init__(self, secret: str) -> None:
        """Raises ValueError without a secret."""
        if not secret:
            raise ValueError("a sealing secret is needed")
        derivation = HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=b"openspot sealing")
        self._cipher = AESGCM(derivation.derive(secret.encode()))

    def seal(self, plain: bytes, purpose: str) -> bytes:
        """Return `plain`, encrypted for `purpose`, which names the row. `open` needs the same purpose."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, plain, purpose.encode())

    def open(self, sealed: bytes, purpose: str) -> bytes:
        """Return the plain bytes. Raises UnsealError."""
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], purpose.encode())
        except (InvalidTag, ValueError) as error:
            raise UnsealError("the sealed secret cannot be opened: is the sealing secret still the same?") from error
