"""How long an access token is valid, as far as a client can see."""

import base64
import binascii

import msgspec


class _Claims(msgspec.Struct):
    exp: float


def expiry_of(token: str) -> float | None:
    """When a token ends, in seconds since 1970; None if it does not say. The signature is the platform's to check."""
    try:
        payload = token.split(".")[1]
        claims = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
        return msgspec.json.decode(claims, type=_Claims).exp
    except (IndexError, binascii.Error, ValueError, msgspec.MsgspecError, RecursionError):
        return None
