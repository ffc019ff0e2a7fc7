"""The API key of the commands about orders: where it comes from, and which files are not trusted with it."""

import json
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from openspot.cli.trader_key import FILE_BYTES_MAX, TraderKeyError, read_key
from openspot.client.signing import Ed25519Key, HmacKey

KEY = {"id": "k1", "secret": "s1"}


def written(path: Path, held: object = KEY, mode: int = 0o600) -> Path:
    path.write_text(held if isinstance(held, str) else json.dumps(held), "utf-8")
    path.chmod(mode)
    return path


def id_of(signer: object) -> str:
    assert isinstance(signer, HmacKey | Ed25519Key)
    return signer.headers("GET", "/", b"")["X-API-Key"]


def test_the_named_file_comes_before_the_variables_and_those_before_the_file_that_they_name(tmp_path: Path) -> None:
    named = written(tmp_path / "named.json", KEY | {"id": "of-the-option"})
    other = written(tmp_path / "other.json", KEY | {"id": "of-the-variable"})
    both = {"OPENSPOT_API_KEY": "of-the-environment", "OPENSPOT_API_SECRET": "s", "OPENSPOT_API_KEY_FILE": str(other)}
    assert id_of(read_key(named, both)) == "of-the-option"
    assert id_of(read_key(None, both)) == "of-the-environment"
    assert id_of(read_key(None, {"OPENSPOT_API_KEY_FILE": str(other)})) == "of-the-variable"


def test_a_private_key_signs_with_ed25519(tmp_path: Path) -> None:
    pem = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    assert isinstance(read_key(written(tmp_path / "key", KEY | {"secret": pem.decode()}), {}), Ed25519Key)
    assert isinstance(read_key(written(tmp_path / "key", KEY), {}), HmacKey)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o601, 0o620, 0o666])
def test_a_file_that_others_can_use_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(TraderKeyError, match=f"mode {mode:04o}.*chmod 600"):
        read_key(written(tmp_path / "key", mode=mode), {})
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "key")
    with pytest.raises(TraderKeyError, match="chmod 600"):
        read_key(link, {})


@pytest.mark.parametrize(
    ("held", "reason"),
    [
        ("{", "is no JSON"),
        ("[" * 100_000, "bytes"),
        ("[" * 10_000, "is no JSON"),
        ([], "no object"),
        ({"id": "k1"}, "no text named secret"),
        ({"id": 5, "secret": "s"}, "no text named id"),
        ({"id": "", "secret": "s"}, "no text named id"),
        ({"id": "k\n1", "secret": "s"}, "characters"),
        ({"id": "k1", "secret": "-----BEGIN PRIVATE KEY-----"}, "PEM"),
        (" " * (FILE_BYTES_MAX + 1), "more than 16384 bytes"),
    ],
)
def test_a_file_that_holds_no_key_is_refused_without_telling_the_secret(
    tmp_path: Path, held: object, reason: str
) -> None:
    with pytest.raises(TraderKeyError, match=reason) as refused:
        read_key(written(tmp_path / "key", held), {})
    assert "BEGIN" not in str(refused.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path, reason in (
        (tmp_path / "nothing", "No such file"),
        (tmp_path, "cannot be read"),
        (tmp_path / "pipe", "is no regular file"),
    ):
        with pytest.raises(TraderKeyError, match=reason):
            read_key(path, {})


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({}, "no API key: set OPENSPOT_API_KEY and OPENSPOT_API_SECRET"),
        ({"OPENSPOT_API_KEY": "k"}, "OPENSPOT_API_SECRET is not set"),
        ({"OPENSPOT_API_SECRET": "s"}, "OPENSPOT_API_KEY is not set"),
    ],
)
def test_a_missing_key_says_what_to_set(environment: dict[str, str], reason: str) -> None:
    with pytest.raises(TraderKeyError, match=reason):
        read_key(None, environment)
