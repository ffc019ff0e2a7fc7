"""Recovery codes: each works once in place of a TOTP code. Pure.

A code has 120 random bits, so a plain SHA-256 is enough to store it (ASVS 5, 6.5.2, asks for more below 112 bits).
"""

import base64
import hashlib

CODES = 10
CODE_BYTES = 15
CODE_LENGTH = 24
_GROUP = 4


def code_text(random_bytes: bytes) -> str:
    """Return the code for CODE_BYTES random bytes: base32 in groups of four. Raises ValueError for another length."""
    if len(random_bytes) != CODE_BYTES:
        raise ValueError(f"{CODE_BYTES} random bytes are needed, got {len(random_bytes)}")
    letters = base64.b32encode(random_bytes).decode()
    return "-".join(letters[start : start + _GROUP] for start in range(0, CODE_LENGTH, _GROUP))


def normalised(text: str) -> str:
    """The form in which a code is hashed: no blanks, no hyphens, capital letters."""
    return "".join(text.split()).replace("-", "").upper()


def code_hash(text: str) -> bytes:
    """The hash that the database stores, for any way of typing the code."""
    return hashlib.sha256(normalised(text).encode()).digest()
