"""Signatures and public keys of API keys: one spelling of base64, and the reasons of a refusal."""

import base64

import pytest
from nacl.signing import SigningKey

from openspot.http.api_keys.signature import Algorithm, PublicKeyError, read_public_key, timestamp_fault, verified

KEY = SigningKey(b"s" * 32)
PUBLIC = bytes(KEY.verify_key)
INFO = bytes.fromhex("302a300506032b6570032100")


@pytest.mark.parametrize("between", ["!", "\n", " ", "-", "\x00"])
def test_letters_that_base64_does_not_have_are_not_skipped(between: str) -> None:
    genuine = base64.b64encode(KEY.sign(b"text").signature).decode()
    assert verified(Algorithm.ED25519, PUBLIC, b"text", genuine) == KEY.sign(b"text").signature
    assert verified(Algorithm.ED25519, PUBLIC, b"text", f"{genuine[:40]}{between}{genuine[40:]}") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("not base64!", "is not base64"),
        ("A", "is not base64"),
        (f"{base64.b64encode(PUBLIC).decode()}!", "is not base64"),
        ("", "is not an Ed25519 public key"),
        (base64.b64encode(b"short").decode(), "is not an Ed25519 public key"),
        (base64.b64encode(b"\x01" + bytes(31)).decode(), "is not an Ed25519 public key"),
        # The name of another algorithm in front, and a letter too many behind.
        (base64.b64encode(b"\x31" + INFO[1:] + PUBLIC).decode(), "is not an Ed25519 public key"),
        (base64.b64encode(INFO + PUBLIC + b"\x00").decode(), "is not an Ed25519 public key"),
    ],
)
def test_what_is_no_public_key_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(PublicKeyError) as refused:
        read_public_key(text)
    assert str(refused.value) == reason


def test_a_public_key_is_read_from_several_lines() -> None:
    content = base64.b64encode(INFO + PUBLIC).decode()
    lines = "\r\n".join(("-----BEGIN PUBLIC KEY-----", content[:20], content[20:], "-----END PUBLIC KEY-----", ""))
    assert read_public_key(lines) == PUBLIC


def test_a_key_may_itself_begin_like_the_name_of_the_algorithm() -> None:
    key = INFO + b"\x05" + bytes(19)
    assert read_public_key("MCowBQYDK2VwAyEABQAAAAAAAAAAAAAAAAAAAAAAAAA=") == key


def test_a_timestamp_is_refused_with_the_reason() -> None:
    assert timestamp_fault("1e12", 1_800_000_000_000) == "X-API-Timestamp must be milliseconds since 1970"
    assert timestamp_fault("1799999994999", 1_800_000_000_000) == (
        "X-API-Timestamp is more than 5000 ms away from the server's time, 1800000000000"
    )
    assert timestamp_fault("1800000005000", 1_800_000_000_000) is None
