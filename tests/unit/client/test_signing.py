"""How the client signs: against the platform's own check of signatures."""

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from openspot.client import Ed25519Key, HmacKey, OpenSpotClient, Session
from openspot.http.api_keys.signature import Algorithm, signed_text, verified
from tests.support.fake_rest_edge import running_fake

NOW_MS = 1_800_000_000_000


def pem_of(key: object) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()  # type: ignore[attr-defined]


def test_an_hmac_signature_is_right_for_its_request_alone() -> None:
    headers = HmacKey("k1", "secret", now_ms=lambda: NOW_MS).headers("POST", "/api/v1/orders?a=b", b"{}")
    assert (headers["X-API-Key"], headers["X-API-Timestamp"]) == ("k1", str(NOW_MS))
    text = signed_text(str(NOW_MS), "POST", b"/api/v1/orders?a=b", b"{}")
    assert verified(Algorithm.HMAC_SHA256, b"secret", text, headers["X-API-Signature"])
    assert not verified(Algorithm.HMAC_SHA256, b"secret", text + b" ", headers["X-API-Signature"])


@pytest.mark.parametrize("as_pem", [True, False])
def test_an_ed25519_signature_is_right_for_a_pem_and_for_a_seed(as_pem: bool) -> None:
    private = Ed25519PrivateKey.generate()
    key = Ed25519Key("k1", pem_of(private) if as_pem else private.private_bytes_raw(), now_ms=lambda: NOW_MS)
    signature = key.headers("GET", "/", b"")["X-API-Signature"]
    public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    assert verified(Algorithm.ED25519, public, signed_text(str(NOW_MS), "GET", b"/", b""), signature)


def test_what_is_no_ed25519_key_is_refused() -> None:
    other = pem_of(generate_private_key(SECP256R1()))
    for given in ("", "no key", b"too short", other, base64.b64encode(bytes(32)).decode()):
        with pytest.raises(ValueError):
            Ed25519Key("k1", given)


def test_equal_requests_at_one_time_have_different_signatures() -> None:
    key = HmacKey("k1", "secret", now_ms=lambda: NOW_MS)
    stamps = [key.headers("GET", "/", b"")["X-API-Timestamp"] for _ in range(3)]
    assert stamps == [str(NOW_MS), str(NOW_MS + 1), str(NOW_MS + 2)]


async def test_a_client_with_a_key_has_no_session() -> None:
    async with running_fake() as fake, OpenSpotClient(fake.url, api_key=HmacKey("k1", "secret")) as client:
        with pytest.raises(RuntimeError):
            await client.login("ada@example.org", "a long pass phrase")
        with pytest.raises(RuntimeError):
            client.resume(Session("a", "r", 1, "u1"))
        assert not fake.asked
