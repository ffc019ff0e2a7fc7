"""What an API key signs, and whether a signature is right: rules without IO.

The signed text is timestamp, METHOD, path with query and raw body, one after the other (fact A5-17). An HMAC is sent
in hex, an Ed25519 signature in base64. The stored key names the algorithm, never the request: otherwise a public key
could be used as an HMAC secret.
"""

import base64
import binascii
import hmac
import re
from enum import StrEnum

from nacl.bindings import crypto_core_ed25519_is_valid_point
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

WINDOW_MS = 5_000
"""How far a request's timestamp may be from the server's time, to either side."""
REPLAY_S = 2 * WINDOW_MS // 1000
"""How long a used signature is remembered: its timestamp may be ahead of the clock by a whole window."""

PUBLIC_KEY_BYTES = 32
_SIGNATURE_BYTES = 64
_TIMESTAMP = re.compile(r"[0-9]{1,16}")
_PEM_LINE = re.compile(r"-----(?:BEGIN|END) PUBLIC KEY-----")
# The algorithm's name in front of a key that OpenSSL writes (RFC 8410, SubjectPublicKeyInfo).
_KEY_INFO = bytes.fromhex("302a300506032b6570032100")


class Algorithm(StrEnum):
    """How a key signs."""

    HMAC_SHA256 = "hmac-sha256"
    ED25519 = "ed25519"


class PublicKeyError(ValueError):
    """A text is not an Ed25519 public key; the message says why."""


def signed_text(timestamp: str, method: str, target: bytes, body: bytes) -> bytes:
    """The bytes that are signed; `target` is the path with the query, as they are sent."""
    return b"%s%s%s%s" % (timestamp.encode("latin-1"), method.encode(), target, body)


def timestamp_fault(timestamp: str, now_ms: int) -> str | None:
    """Why a timestamp is refused at `now_ms` (milliseconds since 1970); None if it is accepted."""
    if not _TIMESTAMP.fullmatch(timestamp):
        return "X-API-Timestamp must be milliseconds since 1970"
    if abs(now_ms - int(timestamp)) > WINDOW_MS:
        return f"X-API-Timestamp is more than {WINDOW_MS} ms away from the server's time, {now_ms}"
    return None


def verified(algorithm: Algorithm, key: bytes, text: bytes, signature: str) -> bytes | None:
    """The bytes of `signature` if it is a signature of `text`, else None. `key` is the secret, or the public key.

    A signature has many spellings but one value, so repetitions are found by these bytes.
    """
    try:
        if algorithm is Algorithm.HMAC_SHA256:
            given = binascii.unhexlify(signature)
            return given if hmac.compare_digest(given, hmac.digest(key, text, "sha256")) else None
        given = base64.b64decode(signature, validate=True)
        if len(given) != _SIGNATURE_BYTES:
            return None
        VerifyKey(key).verify(text, given)
    except (ValueError, BadSignatureError):
        return None
    return given


def read_public_key(text: str) -> bytes:
    """The 32 bytes of an Ed25519 public key, given as PEM, or as base64 of the key or of its PEM content.

    Raises PublicKeyError.
    """
    try:
        content = base64.b64decode("".join(_PEM_LINE.sub("", text).split()), validate=True)
    except ValueError as error:
        raise PublicKeyError("is not base64") from error
    content = content.removeprefix(_KEY_INFO) if len(content) == len(_KEY_INFO) + PUBLIC_KEY_BYTES else content
    if len(content) != PUBLIC_KEY_BYTES or not crypto_core_ed25519_is_valid_point(content):
        raise PublicKeyError("is not an Ed25519 public key")
    return content
