"""Session tokens of AdminService: HS256 JWTs, signed with the engine's own secret (facts A5-28, A5-29).

A token contains its participant (`sub`), its id (`jti`), the epoch of the journal for which it is valid (`aud`), and
its issue and expiry times in milliseconds since 1970. The engine stores no sessions, only logouts, as commands in the
journal (state/participants.py). So tokens and logouts survive a restart, and a token is invalid for an engine with
another journal. Time and ids are arguments.
"""

from typing import Any, NamedTuple

import jwt

from openspot.kit.tokens import is_time

ALGORITHM = "HS256"
TOKEN_LENGTH_MAX = 4096
_CLAIMS = ("sub", "jti", "aud", "issuedAt", "expiresAt")
# The times are checked below, because they are in milliseconds and `now_ms` is an argument.
_CHECKS = {
    "require": list(_CLAIMS),
    "verify_exp": False,
    "verify_iat": False,
    "verify_nbf": False,
    "verify_sub": False,
    "verify_jti": False,
}


class TokenError(Exception):
    """The token is invalid or expired; the message says why and never contains the token."""


class TokenClaims(NamedTuple):
    """The claims of a token. Times are milliseconds since 1970."""

    participant_id: str
    token_id: str
    issued_ms: int
    expires_ms: int


def sign_token(claims: TokenClaims, secret: str, epoch: str) -> str:
    """Sign a token with these claims, valid for the journal with this epoch."""
    payload = {
        "sub": claims.participant_id,
        "jti": claims.token_id,
        "aud": epoch,
        "issuedAt": claims.issued_ms,
        "expiresAt": claims.expires_ms,
    }
    return jwt.encode(payload, secret, ALGORITHM)


def read_token(token: str, secret: str, epoch: str, now_ms: int) -> TokenClaims:
    """The claims of a token. Raises TokenError unless this engine signed it and it is valid at `now_ms`."""
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
