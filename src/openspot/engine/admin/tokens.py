"""Tokens of administration sessions: HS256 JWTs of the engine's own, with its own secret (Document A 5).

A token names its participant (`sub`), itself (`jti`), the journal that it is good for (`aud`, the epoch) and, in
milliseconds since 1970, when it was issued and when it expires. Nothing is kept of a session but its end: a
logout is a command of the journal (participants.py). So tokens and logouts both outlive a restart of the engine,
and a token means nothing to an engine with another journal. Time and ids are passed in.
"""

from typing import Any, NamedTuple

import jwt

from openspot.kit.tokens import is_time

ALGORITHM = "HS256"
TOKEN_LENGTH_MAX = 4096
_CLAIMS = ("sub", "jti", "aud", "issuedAt", "expiresAt")
# The time is the caller's and in milliseconds: `expiresAt` is checked below.
_CHECKS = {
    "require": list(_CLAIMS),
    "verify_exp": False,
    "verify_iat": False,
    "verify_nbf": False,
    "verify_sub": False,
    "verify_jti": False,
}


class TokenError(Exception):
    """A text is no token of this engine, or no longer; the message says why, and never shows the token."""


class TokenClaims(NamedTuple):
    """What a token says."""

    participant_id: str
    token_id: str
    issued_ms: int
    expires_ms: int


def sign_token(claims: TokenClaims, secret: str, epoch: str) -> str:
    """The token that says `claims`, good for the journal of `epoch`."""
    payload = {
        "sub": claims.participant_id,
        "jti": claims.token_id,
        "aud": epoch,
        "issuedAt": claims.issued_ms,
        "expiresAt": claims.expires_ms,
    }
    return jwt.encode(payload, secret, ALGORITHM)


def read_token(token: str, secret: str, epoch: str, now_ms: int) -> TokenClaims:
    """What a token says. Raises TokenError unless it is one of this engine and has not expired at `now_ms`."""
    if len(token) > TOKEN_LENGTH_MAX:
        raise TokenError("the token is too long")
    try:
        payload = jwt.decode(
            token,
            secret,
            algorithms=[ALGORITHM],
            audience=epoch,
            options=_CHECKS,  # type: ignore[arg-type]
        )
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise TokenError("the token is not valid") from error
    not_before = payload.get("nbf", 0)
    if not is_time(not_before) or now_ms < not_before * 1000:
        raise TokenError("the token is not valid yet")
    claims = _claims(payload)
    if now_ms >= claims.expires_ms:
        raise TokenError("the token has expired")
    return claims


def _claims(payload: dict[str, Any]) -> TokenClaims:
    texts, times = (payload["sub"], payload["jti"]), (payload["issuedAt"], payload["expiresAt"])
    if not all(isinstance(text, str) for text in texts) or not all(type(time) is int for time in times):
        raise TokenError("the token is not valid")
    return TokenClaims(*texts, *times)
