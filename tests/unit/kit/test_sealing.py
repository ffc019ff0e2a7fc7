"""What is sealed names its key, and opens with no other one."""

import os

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from openspot.kit.sealing import PREFIX_BYTES, Sealer, UnsealError, key_id_of, prefix_of

OLD, NEW = "o" * 32, "n" * 32


def sealed_without_a_name(secret: str, plain: bytes, purpose: str) -> bytes:
    """What releases before keys had names have stored."""
    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"openspot sealing").derive(secret.encode())
    nonce = os.urandom(12)
    return nonce + AESGCM(key).encrypt(nonce, plain, purpose.encode())


def test_contents_begin_with_the_name_of_their_key() -> None:
    assert key_id_of(OLD) == "e6b170f6e5354177"
    assert prefix_of("00ff00ff00ff00ff") == b"\x01\x00\xff\x00\xff\x00\xff\x00\xff"
    sealer = Sealer(NEW, OLD)
    sealed = sealer.seal(b"plain", "row 1")
    assert sealed[:PREFIX_BYTES] == sealer.prefix == prefix_of(key_id_of(NEW))
    assert len(sealed) == 9 + 12 + 5 + 16
    assert sealer.seal(b"plain", "row 1") != sealed


def test_a_former_secret_opens_what_it_has_sealed_and_seals_nothing_more() -> None:
    rotated = Sealer(NEW, OLD)
    for sealed in (Sealer(OLD).seal(b"plain", "row 1"), sealed_without_a_name(OLD, b"plain", "row 1")):
        assert rotated.open(sealed, "row 1") == b"plain"
        with pytest.raises(UnsealError, match="cannot be opened"):
            Sealer(NEW).open(sealed, "row 1")
        with pytest.raises(UnsealError):
            rotated.open(sealed, "row 2")
    with pytest.raises(UnsealError):
        Sealer(OLD).open(rotated.seal(b"plain", "row 1"), "row 1")


def test_what_begins_like_a_name_by_chance_is_opened_all_the_same() -> None:
    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"openspot sealing").derive(OLD.encode())
    nonce = prefix_of(key_id_of(NEW)) + b"abc"
    sealed = nonce + AESGCM(key).encrypt(nonce, b"plain", b"row 1")
    assert Sealer(NEW, OLD).open(sealed, "row 1") == b"plain"


@pytest.mark.parametrize("sealed", [b"", b"\x01", b"short", bytes(200)])
def test_what_was_never_sealed_is_refused(sealed: bytes) -> None:
    with pytest.raises(UnsealError):
        Sealer(NEW, OLD).open(sealed, "row 1")


def test_a_secret_is_needed() -> None:
    for secrets in (("",), (NEW, "")):
        with pytest.raises(ValueError, match="a sealing secret is needed"):
            Sealer(*secrets)
