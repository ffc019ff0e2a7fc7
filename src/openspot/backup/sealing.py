"""How an object of a backup is stored: compressed, and sealed with AES-256-GCM if there is a key.

The name of an object follows from its content, so what has not changed is stored once. With a key, the name is made
with the key too: nobody else can find out from names what is inside.
"""

import base64
import hashlib
import hmac
import os
import secrets
import zlib
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from openspot.backup.errors import BackupError

_KEY_BYTES = 32
_NONCE_BYTES = 12
_LEVEL = 6


class Seal:
    """Packs and opens objects, and signs manifests. Without a key: nothing is encrypted, and nothing is signed."""

    def __init__(self, key: bytes = b"") -> None:
        self._cipher = AESGCM(_derived(key, b"content")) if key else None
        self._naming = _derived(key, b"names") if key else b""
        self._signing = _derived(key, b"manifest") if key else b""
        self.key_id = _derived(key, b"identity")[:8].hex() if key else ""
        """Tells keys apart without giving them away; empty without a key."""

    def name_of(self, plain: bytes) -> str:
        """The name of the object with this content."""
        if self._naming:
            return hmac.new(self._naming, plain, hashlib.sha256).hexdigest()
        return hashlib.sha256(plain).hexdigest()

    def pack(self, plain: bytes, name: str) -> bytes:
        """What is stored for this content."""
        packed = zlib.compress(plain, _LEVEL)
        if self._cipher is None:
            return packed
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, packed, name.encode())

    def open(self, stored: bytes, name: str) -> bytes:
        """The content of an object. Raises BackupError if it is damaged, or not the one with this name."""
        try:
            packed = stored
            if self._cipher is not None:
                packed = self._cipher.decrypt(stored[:_NONCE_BYTES], stored[_NONCE_BYTES:], name.encode())
            plain = zlib.decompress(packed)
        except (InvalidTag, ValueError, zlib.error) as error:
            raise BackupError(f"the object {name} is damaged: it cannot be opened") from error
        if self.name_of(plain) != name:
            raise BackupError(f"the object {name} is damaged: it has the content of another")
        return plain

    def signature(self, content: bytes) -> str:
        """The signature of a manifest; empty without a key."""
        return hmac.new(self._signing, content, hashlib.sha256).hexdigest() if self._signing else ""


def read_seal(key_file: str) -> Seal:
    """The seal with the key in a file; an empty name means no key. Raises BackupError."""
    if not key_file:
        return Seal()
    try:
        key = base64.urlsafe_b64decode(Path(key_file).read_text("ascii").strip())
    except (OSError, ValueError) as error:
        raise BackupError(f"OPENSPOT_BACKUP_KEY_FILE: the key {key_file} cannot be read: {error}") from error
    if len(key) != _KEY_BYTES:
        raise BackupError(
            f"OPENSPOT_BACKUP_KEY_FILE: {key_file} holds no key of {_KEY_BYTES} bytes, as `openspot backup key` makes"
        )
    return Seal(key)


def make_key_file(path: Path) -> None:
    """Write a new key, readable by its owner alone. Raises FileExistsError, OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(base64.urlsafe_b64encode(secrets.token_bytes(_KEY_BYTES)).decode() + "\n")
        file.flush()
        os.fsync(file.fileno())


def _derived(key: bytes, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=b"openspot backup " + purpose).derive(key)
