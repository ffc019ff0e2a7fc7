"""Session tokens of AdminService."""

import jwt
import pytest

from openspot.engine.admin.tokens import TokenClaims, TokenError, read_token, sign_token

SECRET = "a secret that is long enough for each of the algorithms of this test"
CLAIMS = TokenClaims("alice", "token-1", 1_000_000, 2_000_000)


def test_a_token_contains_the_signed_claims() -> None:
    token = sign_token(CLAIMS, SECRET, "epoch")
    assert read_token(token, SECRET, "epoch", 1_000_000) == CLAIMS


@pytest.mark.spec("A5-29")
def test_a_token_is_valid_until_the_millisecond_before_it_expires() -> None:
    token = sign_token(CLAIMS, SECRET, "epoch")
    assert read_token(token, SECRET, "epoch", 1_999_999) == CLAIMS
    for now_ms in (2_000_000, 3_000_000):
        with pytest.raises(TokenError, match="has expired"):
            read_token(token, SECRET, "epoch", now_ms)


def test_another_secret_journal_or_algorithm_is_refused() -> None:
    payload = jwt.decode(sign_token(CLAIMS, SECRET, "epoch"), options={"verify_signature": False})
    good = jwt.encode(payload, SECRET, "HS256")
    assert read_token(good, SECRET, "epoch", 0) == CLAIMS
    for token, secret, epoch in (
        (good, SECRET + "!", "epoch"),
        (good, SECRET, "another"),
        (jwt.encode(payload, SECRET, "HS384"), SECRET, "epoch"),
        (jwt.encode(payload, None, "none"), SECRET, "epoch"),
        (jwt.encode(payload | {"aud": ["epoch", 1]}, SECRET, "HS256"), SECRET, "epoch"),
    ):
        with pytest.raises(TokenError, match="the token is not valid"):
            read_token(token, secret, epoch, 0)


@pytest.mark.parametrize(
    "change",
    [
        {"sub": 1},
        {"jti": 1},
        {"jti": None},
        {"issuedAt": "0"},
        {"issuedAt": True},
        {"expiresAt": 2_000_000.5},
        {"expiresAt": None},
    ],
)
def test_a_claim_of_the_wrong_type_is_refused(change: dict[str, object]) -> None:
    payload = jwt.decode(sign_token(CLAIMS, SECRET, "epoch"), options={"verify_signature": False})
    with pytest.raises(TokenError, match="the token is not valid"):
        read_token(jwt.encode(payload | change, SECRET, "HS256"), SECRET, "epoch", 0)


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "é.é.é", "." * 1000, "x" * 5000, "\ud800"])
def test_malformed_tokens_are_refused(token: str) -> None:
    with pytest.raises(TokenError):
        read_token(token, SECRET, "epoch", 0)
