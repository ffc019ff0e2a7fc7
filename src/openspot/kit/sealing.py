"""Encrypts secrets before they are stored. The key is not in the database, so a copy of it reveals no secret.

What is sealed names its key, so the key can be exchanged: new contents are sealed with the current secret, and those of
a former one stay readable until they are sealed anew. Before contents named a key they were nonce and ciphertext alone;
these are tried with every key.
"""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_KEY_BYTES = 32
_NONCE_BYTES = 12
_VERSION = b"\x01"
_KEY_ID_BYTES = 8
PREFIX_BYTES = len(_VERSION) + _KEY_ID_BYTES
"""So many bytes of a sealed content say which key opens it."""


class UnsealError(ValueError):
    """The sealed bytes were changed, belong to another purpose, or were sealed with another secret."""


def key_id_of(secret: str) -> str:
    """The name of the key that follows from a secret, in hexadecimal. Nothing about the secret follows from it."""
    return _derived(secret, b"openspot sealing key id", _KEY_ID_BYTES).hex()


def prefix_of(key_id: str) -> bytes:
    """The first PREFIX_BYTES of what the key with this name has sealed."""
    return _VERSION + bytes.fromhex(key_id)


class Sealer:
    """Encrypts secrets with AES-256-GCM under a key that is derived from the current secret."""

    def __init__(self, current: str, *former: str) -> None:
        """What was sealed with a `former` secret can be opened, too. Raises ValueError without a secret."""
        if not current or not all(former):
            raise ValueError("a sealing secret is needed")
        self._ciphers = {
            prefix_of(key_id_of(secret)): AESGCM(_derived(secret, b"openspot sealing", _KEY_BYTES))
            for secret in (current, *former)
        }
        self.prefix = prefix_of(key_id_of(current))
        """The first bytes of all that is sealed from now on."""

    def seal(self, plain: bytes, purpose: str) -> bytes:
        """Return `plain`, encrypted for `purpose`, which names the row. `open` needs the same purpose."""
        nonce = os.urandom(_NONCE_BYTES)
        return self.prefix + nonce + self._ciphers[self.prefix].encrypt(nonce, plain, purpose.encode())

    def open(self, sealed: bytes, purpose: str) -> bytes:
        """Return the plain bytes. Raises UnsealError."""
        named = self._ciphers.get(sealed[:PREFIX_BYTES])
        tries = [] if named is None else [(named, sealed[PREFIX_BYTES:])]
        tries += [(cipher, sealed) for cipher in self._ciphers.values()]
        for cipher, content in tries:
            try:
                return cipher.decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], purpose.encode())
            except (InvalidTag, ValueError):
                continue
        raise UnsealError("the sealed secret cannot be opened: is the sealing secret still the same?")


def _derived(secret: str, use: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=use).derive(secret.encode())
