"""TOTP steps, recovery codes and sealed secrets, without IO."""

from datetime import UTC, datetime

import pyotp
import pytest

from openspot.kit.sealing import Sealer, UnsealError
from openspot.rest_edge.identity.second_factor.recovery_codes import CODE_BYTES, code_hash, code_text, normalised
from openspot.rest_edge.identity.second_factor.totp import matching_step, provisioning_uri

SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
"""The secret of RFC 6238's test vectors, in base32."""


def at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


@pytest.mark.parametrize(
    ("seconds", "code"),
    # RFC 6238, appendix B, SHA-1: the last six of the eight digits.
    [(59, "287082"), (1111111109, "081804"), (1111111111, "050471"), (1234567890, "005924"), (2000000000, "279037")],
)
def test_codes_are_those_of_the_rfc(seconds: int, code: str) -> None:
    assert matching_step(SECRET, code, at(seconds), 0) == seconds // 30


def code_of_step(step: int) -> str:
    return str(pyotp.TOTP(SECRET).generate_otp(step))


@pytest.mark.parametrize(
    ("seconds", "is_right"), [(29_969, False), (29_970, True), (30_000, True), (30_059, True), (30_060, False)]
)
def test_a_clock_may_be_one_step_off(seconds: int, is_right: bool) -> None:
    # Step 1000 begins at 30,000 s and ends before 30,030 s.
    assert (matching_step(SECRET, code_of_step(1000), at(seconds), 0) == 1000) == is_right


def test_a_step_that_was_used_does_not_match_again() -> None:
    code = code_of_step(1000)
    assert matching_step(SECRET, code, at(30_000), 999) == 1000
    assert matching_step(SECRET, code, at(30_000), 1000) is None
    assert matching_step(SECRET, code, at(30_000), 1001) is None


def test_the_uri_names_issuer_and_account() -> None:
    assert provisioning_uri(SECRET, "ada@example.org", "OpenSpot") == (
        f"otpauth://totp/OpenSpot:ada%40example.org?secret={SECRET}&issuer=OpenSpot"
    )


def test_recovery_codes_have_120_bits_and_are_read_however_they_are_typed() -> None:
    code = code_text(bytes(range(CODE_BYTES)))
    assert code == "AAAQ-EAYE-AUDA-OCAJ-BIFQ-YDIO"
    assert normalised(" aaaq eaye-auda ocaj bifq ydio ") == code.replace("-", "")
    assert code_hash(code.lower()) == code_hash(code)
    assert code_hash(code_text(bytes(CODE_BYTES))) != code_hash(code)
    with pytest.raises(ValueError, match="15 random bytes"):
        code_text(bytes(14))


def test_a_sealed_secret_opens_only_for_its_purpose_and_key() -> None:
    sealer = Sealer("a secret")
    sealed = sealer.seal(b"JBSWY3DP", "totp:u1")
    assert b"JBSWY3DP" not in sealed
    assert sealed != sealer.seal(b"JBSWY3DP", "totp:u1")
    assert Sealer("a secret").open(sealed, "totp:u1") == b"JBSWY3DP"
    damaged = sealed[:-1] + bytes([sealed[-1] ^ 1])
    for other, text, purpose in (
        (sealer, sealed, "totp:u2"),
        (Sealer("another"), sealed, "totp:u1"),
        (sealer, damaged, "totp:u1"),
        (sealer, b"", "totp:u1"),
    ):
        with pytest.raises(UnsealError):
            other.open(text, purpose)
    with pytest.raises(ValueError, match="secret is needed"):
        Sealer("")
