"""Access tokens: who is believed and who is not."""

import base64
import json
from decimal import Decimal
from typing import Any

import jwt
import pytest

from openspot.kit.tokens import ROLES, Claims, InvalidTokenError, sign, verify_access_token

SECRET = "a-secret-of-at-least-sixty-four-bytes-so-that-every-hash-takes-it"
NOW = 1_000_000
CLAIMS = Claims("u1", "user", NOW + 900)


def signed(payload: dict[str, Any], algorithm: str = "HS256", secret: str = SECRET) -> str:
    return jwt.encode(payload, secret, algorithm)


def unsigned(payload: dict[str, Any]) -> str:
    parts = ({"alg": "none", "typ": "JWT"}, payload)
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts) + "."


def test_a_signed_token_says_what_was_put_in() -> None:
    claims = Claims("u1", "admin", NOW + 900, Decimal("100000.5"))
    assert verify_access_token(sign(claims, SECRET, NOW), SECRET, NOW) == claims


def test_a_token_of_another_issuer_needs_a_user_and_an_expiry_only() -> None:
    assert verify_access_token(signed({"sub": "u1", "exp": NOW + 900}), SECRET, NOW) == CLAIMS


@pytest.mark.parametrize(("now", "valid"), [(NOW + 899.999, True), (NOW + 900, False), (NOW + 5000, False)])
def test_a_token_is_valid_until_its_expiry_and_not_from_then_on(now: float, valid: bool) -> None:
    token = sign(CLAIMS, SECRET, NOW)
    if valid:
        assert verify_access_token(token, SECRET, now) == CLAIMS
    else:
        with pytest.raises(InvalidTokenError, match="expired"):
            verify_access_token(token, SECRET, now)


GOOD = {"sub": "u1", "exp": NOW + 900}


@pytest.mark.spec("A5-01", "A5-03", "A5-04")
@pytest.mark.parametrize(
    "token",
    [
        pytest.param(signed(GOOD, secret=SECRET[::-1]), id="another secret"),
        pytest.param(unsigned(GOOD), id="algorithm none"),
        pytest.param(signed(GOOD, "HS512"), id="another algorithm"),
        pytest.param(signed(GOOD)[:-3] + "abc", id="altered signature"),
        pytest.param("", id="empty"),
        pytest.param("a.b.c", id="no token"),
        pytest.param("é" * 20, id="not ASCII"),
        pytest.param("\ud800", id="not even text"),
        pytest.param("a" * 5000, id="too long"),
        pytest.param(signed({"exp": NOW + 900}), id="no user"),
        pytest.param(signed({"sub": "u1"}), id="no expiry"),
        pytest.param(signed({"sub": "u1.>", "exp": NOW + 900}), id="a user that is no subject token"),
        pytest.param(signed({"sub": "", "exp": NOW + 900}), id="an empty user"),
        pytest.param(signed({**GOOD, "exp": NOW + 900.5}), id="a fractional expiry"),
        pytest.param(signed({**GOOD, "role": "root"}), id="an unknown role"),
        pytest.param(signed({**GOOD, "role": ["user"]}), id="a role that is no text"),
        pytest.param(signed({**GOOD, "typ": "mfa"}), id="another kind of token"),
        pytest.param(signed({**GOOD, "stakingBalance": 1.5}), id="a float of money"),
        pytest.param(signed({**GOOD, "stakingBalance": "-1"}), id="a negative balance"),
        pytest.param(signed({**GOOD, "stakingBalance": "lots"}), id="a balance that is no number"),
    ],
)
def test_what_does_not_prove_its_bearer_is_refused_without_being_repeated(token: str) -> None:
    with pytest.raises(InvalidTokenError) as refusal:
        verify_access_token(token, SECRET, NOW)
    assert not token or token not in str(refusal.value)


def test_nothing_is_signed_or_believed_without_a_secret() -> None:
    with pytest.raises(ValueError, match="secret"):
        sign(CLAIMS, "", NOW)
    with pytest.raises(ValueError, match="secret"):
        verify_access_token(sign(CLAIMS, SECRET, NOW), "", NOW)


@pytest.mark.spec("A5-11")
def test_the_roles_are_user_and_admin() -> None:
    for role in ("user", "admin"):
        token = sign(Claims("u1", role, NOW + 60), SECRET, NOW)
        assert verify_access_token(token, SECRET, NOW).role == role
    assert frozenset({"user", "admin"}) == ROLES


@pytest.mark.spec("A5-11")
def test_an_unknown_role_is_not_signed() -> None:
    with pytest.raises(ValueError, match="root"):
        sign(Claims("u1", "root", NOW), SECRET, NOW)
