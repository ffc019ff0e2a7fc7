"""Access tokens of users: HS256 JWTs (facts A5-01 to A5-08), with the same rules at every edge.

Claims: `sub` (the user id), `role` (`user` or `admin`; absent means `user`), `iat` and `exp` in seconds since
1970, and optionally `nbf` (not valid before, in seconds since 1970), `sid` (the session that a logout ends), `jti`
(this token) and `stakingBalance` as decimal text. A token of another kind (claim `typ` other than `access`) is
refused. Callers pass the time, in seconds since 1970.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import jwt

from openspot.domain.ids import PARTICIPANT_ID_TEXT
from openspot.domain.money import MoneyError, parse_decimal

ALGORITHM = "HS256"
ROLES = frozenset({"user", "admin"})
TOKEN_LENGTH_MAX = 4096
TIME_MAX = 253_402_300_799
"""The last second of the year 9999. Claims with a later time are refused: clocks and timers cannot handle it."""

_KIND = "access"
# `verify_access_token` checks `exp` and `nbf` itself, by the caller's clock instead of PyJWT's.
_CHECKS = {
    "require": ["sub", "exp"],
    "verify_exp": False,
    "verify_iat": False,
    "verify_nbf": False,
    "verify_aud": False,
    "verify_iss": False,
}


class InvalidTokenError(Exception):
    """A token is not valid. The message gives the reason, and never the token."""


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a valid access token. `expires_at` is in seconds since 1970.

    `session_id` and `token_id` are empty if the token names none.
    """

    user_id: str
    role: str
    expires_at: int
    staking_balance: Decimal | None = None
    session_id: str = ""
    token_id: str = ""


def sign(claims: Claims, secret: str, now: int) -> str:
    """Return an access token with these claims, issued at `now` (seconds since 1970).

    Raises ValueError without a secret, or for an unknown role.
    """
    if not secret:
        raise ValueError("a signing secret is needed")
    if claims.role not in ROLES:
        raise ValueError(f"role {claims.role!r} is not one of {sorted(ROLES)}")
    payload: dict[str, Any] = {
        "sub": claims.user_id,
        "role": claims.role,
        "typ": _KIND,
        "iat": now,
        "exp": claims.expires_at,
    }
    if claims.session_id:
        payload["sid"] = claims.session_id
    if claims.token_id:
        payload["jti"] = claims.token_id
    if claims.staking_balance is not None:
        payload["stakingBalance"] = str(claims.staking_balance)
    return jwt.encode(payload, secret, ALGORITHM)


def verify_access_token(token: str, secret: str, now: float) -> Claims:
    """Return the claims of `token`, checked at `now` (seconds since 1970).

    Raises InvalidTokenError for a wrong signature, another algorithm (`none` included), a missing or malformed claim,
    a token of another kind, a `now` before `nbf`, and a `now` at or after `exp`. Raises ValueError without a secret.
    """
    if not secret:
        raise ValueError("a signing secret is needed")
    if len(token) > TOKEN_LENGTH_MAX:
        raise InvalidTokenError("the token is too long")
    try:
        payload = jwt.decode(token, secret, algorithms=[ALGORITHM], options=_CHECKS)  # type: ignore[arg-type]
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise InvalidTokenError("the token is not valid") from error
    return _claims(payload, now)


def _claims(payload: dict[str, Any], now: float) -> Claims:
    user_id, expires_at, role = payload["sub"], payload["exp"], payload.get("role", "user")
    if payload.get("typ", _KIND) != _KIND:
        raise InvalidTokenError("the token is not an access token")
    if not isinstance(user_id, str) or not PARTICIPANT_ID_TEXT.fullmatch(user_id):
        raise InvalidTokenError("the claim sub is not a user id")
    if not is_time(expires_at):
        raise InvalidTokenError("the claim exp is not a whole number of seconds")
    if now >= expires_at:
        raise InvalidTokenError("the token has expired")
    not_before = payload.get("nbf", 0)
    if not is_time(not_before):
        raise InvalidTokenError("the claim nbf is not a whole number of seconds")
    if now < not_before:
        raise InvalidTokenError("the token is not valid yet")
    if not isinstance(role, str) or role not in ROLES:
        raise InvalidTokenError("the claim role is not known")
    session_id, token_id = payload.get("sid", ""), payload.get("jti", "")
    if not isinstance(session_id, str) or not isinstance(token_id, str):
        raise InvalidTokenError("the claims sid and jti are texts")
    return Claims(user_id, role, expires_at, _staking_balance(payload.get("stakingBalance")), session_id, token_id)


def is_time(value: Any) -> bool:
    """Whether a claim is a whole number of seconds since 1970, at most TIME_MAX."""
    # In Python True is an int; in a token it is not a number.
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= TIME_MAX


def _staking_balance(value: Any) -> Decimal | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InvalidTokenError("the claim stakingBalance is not a decimal text")
    try:
        balance = parse_decimal(str(value))
    except MoneyError as error:
        raise InvalidTokenError(f"the claim stakingBalance {error}") from error
    if balance < 0:
        raise InvalidTokenError("the claim stakingBalance is negative")
    return balance
