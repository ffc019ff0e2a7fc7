"""Says to a push service who sends: Voluntary Application Server Identification (RFC 8292). Pure.

A browser subscribes with the public key, and its push service then takes messages only with signatures of this key. So
nobody else can push to a device, even one who has read its subscription.
"""

import base64
import binascii
from email.utils import parseaddr
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from openspot.rest_edge.push.encryption import public_point

TOKEN_LIFE_S = 12 * 3600
"""RFC 8292 allows a day; a clock may be wrong by some hours."""
_KEY_LENGTH = 32


class BadPushKeyError(ValueError):
    """The setting `push_key` is no private key. The message names the setting and the reason."""


def without_padding(data: bytes) -> str:
    """Base64url as Web Push writes it."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def read_without_padding(text: str) -> bytes:
    """Read base64url, with or without padding. Raises ValueError for anything else."""
    try:
        return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError("is not base64url") from error


class PushKey:
    """The key of this exchange at push services."""

    def __init__(self, text: str, contact: str) -> None:
        """`text` is the setting `push_key`, `contact` the operator's address. Raises BadPushKeyError."""
        try:
            data = read_without_padding(text)
            if len(data) != _KEY_LENGTH:
                raise ValueError(f"has {len(data)} bytes instead of {_KEY_LENGTH}")
            self._key = ec.derive_private_key(int.from_bytes(data, "big"), ec.SECP256R1())
        except ValueError as error:
            raise BadPushKeyError(f"OPENSPOT_PUSH_KEY is no private key of the curve P-256: {error}") from error
        self._contact = contact
        self.public_key = without_padding(public_point(self._key))
        """The public key as browsers take it: an uncompressed point in base64url."""

    def authorization(self, endpoint: str, now_s: int) -> str:
        """The header `Authorization` of a push to `endpoint`."""
        parts = urlsplit(endpoint)
        claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": now_s + TOKEN_LIFE_S, "sub": self._contact}
        token = jwt.encode(claims, self._key, algorithm="ES256")
        return f"vapid t={token}, k={self.public_key}"


def contact_of(push_contact: str, mail_from: str) -> str:
    """The operator's address: what is set, or the sender of mails."""
    return push_contact or f"mailto:{parseaddr(mail_from)[1]}"
