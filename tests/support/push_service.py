"""A push service and a device for tests: checks signatures and opens messages with code of its own.

The service speaks RFC 8030 over HTTPS. It verifies who sends (RFC 8292) and keeps what it takes; the device opens a
message as a browser does (RFC 8291).
"""

import asyncio
import base64
import json
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import jwt
import trustme
from aiohttp import web
from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HOST = "localhost"


def encoded(data: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """The bytes of base64url without padding."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Device:
    """A browser's side of a subscription."""

    def __init__(self, private_key: ec.EllipticCurvePrivateKey | None = None, secret: bytes = b"") -> None:
        self._key = private_key or ec.generate_private_key(ec.SECP256R1())
        self.secret = secret or os.urandom(16)
        self.public_key = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def body(self, endpoint: str) -> dict[str, Any]:
        """What the page of this device sends to the exchange."""
        return {"endpoint": endpoint, "keys": {"p256dh": encoded(self.public_key), "auth": encoded(self.secret)}}

    def opened(self, body: bytes) -> bytes:
        """The message in the body of a push."""
        salt, key_length = body[:16], body[20]
        sender = body[21 : 21 + key_length]
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
        agreed = self._key.exchange(ec.ECDH(), point)
        material = _expanded(_hash(self.secret, agreed), b"WebPush: info\x00" + self.public_key + sender, 32)
        extracted = _hash(salt, material)
        key = _expanded(extracted, b"Content-Encoding: aes128gcm\x00", 16)
        nonce = _expanded(extracted, b"Content-Encoding: nonce\x00", 12)
        message, mark, filling = AESGCM(key).decrypt(nonce, body[21 + key_length :], None).rpartition(b"\x02")
        assert mark == b"\x02"
        assert not filling.strip(b"\x00")
        return message


def _hash(key: bytes, data: bytes) -> bytes:
    code = hmac.HMAC(key, hashes.SHA256())
    code.update(data)
    return code.finalize()


def _expanded(key: bytes, purpose: bytes, length: int) -> bytes:
    return _hash(key, purpose + b"\x01")[:length]


@dataclass(frozen=True)
class Pushed:
    """A message that the service took."""

    path: str
    headers: dict[str, str]
    body: bytes

    def shown_by(self, device: Device) -> dict[str, Any]:
        """What a device reads in it."""
        read: dict[str, Any] = json.loads(device.opened(self.body))
        return read


@dataclass
class PushService:
    """What the service took, and how it replies: `replies` are used up before the usual 201."""

    origin: str
    verifies_with: ssl.SSLContext
    taken: list[Pushed] = field(default_factory=list)
    replies: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    hangs: bool = False

    def endpoint(self, name: str) -> str:
        """The address of one device."""
        return f"{self.origin}/push/{name}"


@asynccontextmanager
async def running_push_service() -> AsyncIterator[PushService]:
    """A service at `localhost`, which an exchange takes that allows private addresses."""
    authority = trustme.CA()
    served, trusted = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert(HOST).configure_cert(served)
    authority.configure_trust(trusted)
    service = PushService("", trusted)

    async def take(request: web.Request) -> web.Response:
        if service.hangs:
            await asyncio.sleep(3600)
        _verify(request.headers["Authorization"], service.origin)
        assert int(request.headers["TTL"]) > 0
        assert request.headers["Content-Encoding"] == "aes128gcm"
        body = await request.read()
        assert len(body) <= 4096
        status, headers = service.replies.pop(0) if service.replies else (201, {})
        if status == 201:
            service.taken.append(Pushed(request.path, dict(request.headers), body))
        return web.Response(status=status, headers=headers)

    application = web.Application()
    application.router.add_post("/push/{name}", take)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=served)
    await site.start()
    service.origin = f"https://{HOST}:{runner.addresses[0][1]}"
    try:
        yield service
    finally:
        await runner.cleanup()


def _verify(authorization: str, origin: str) -> None:
    scheme, _, parameters = authorization.partition(" ")
    assert scheme == "vapid"
    given = dict(part.strip().split("=", 1) for part in parameters.split(","))
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(given["k"]))
    claims = jwt.decode(given["t"], key, algorithms=["ES256"], audience=origin)
    assert claims["sub"].startswith(("mailto:", "https:"))


def new_device(endpoint: str = "https://updates.push.services.mozilla.com/wpush/v2/abc") -> dict[str, Any]:
    """The request of a device that nobody will push to."""
    return Device().body(endpoint)
