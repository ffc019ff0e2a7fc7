"""Reads from an access token when it expires."""

import base64
import binascii

import msgspec


class _Claims(msgspec.Struct):
    exp: float


def expiry_of(token: str) -> float | None:
    """When a token expires, in seconds since 1970, None if it does not say. Does not check the signature."""
    try:
        payload = token.split(".")[1]
        claims = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
        return msgspec.json.decode(claims, type=_Claims).exp
    except (IndexError, binascii.Error, ValueError, msgspec.MsgspecError, RecursionError):
        return None
