"""Closes a message for one device: Message Encryption for Web Push (RFC 8291, on the content coding of RFC 8188). Pure.

The device made a key pair and a secret when it subscribed. A message is encrypted with a key that is agreed from the
device's public key, a key pair of this message alone, and the secret. It is filled up, so that its size says little.
"""

from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

POINT_LENGTH = 65
SECRET_LENGTH = 16
SALT_LENGTH = 16
_RECORD_LENGTH = 4096
_TAG_LENGTH = 16
_HEADER_LENGTH = SALT_LENGTH + 4 + 1 + POINT_LENGTH
MESSAGE_BYTES_MAX = _RECORD_LENGTH - _HEADER_LENGTH - 1 - _TAG_LENGTH
"""Push services take bodies of up to 4096 bytes (RFC 8030, 7.2): what is left of them for a message."""
_LAST_RECORD = b"\x02"


class BadDeviceKeyError(ValueError):
    """A device's public key is no point of the curve P-256, or its secret has not 16 bytes."""


@dataclass(frozen=True, slots=True)
class DeviceKeys:
    """The keys of a subscription: the device's public key (an uncompressed point) and its secret."""

    public_key: bytes
    secret: bytes

    def point(self) -> ec.EllipticCurvePublicKey:
        """The public key. Raises BadDeviceKeyError."""
        if len(self.secret) != SECRET_LENGTH:
            raise BadDeviceKeyError(f"the secret must have {SECRET_LENGTH} bytes")
        if len(self.public_key) != POINT_LENGTH:
            raise BadDeviceKeyError("the public key must be an uncompressed point")
        try:
            return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), self.public_key)
        except ValueError as error:
            raise BadDeviceKeyError("the public key must be a point of the curve P-256") from error


def public_point(key: ec.EllipticCurvePrivateKey) -> bytes:
    """The uncompressed point of a key's public half."""
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def encrypted(
    message: bytes, keys: DeviceKeys, salt: bytes, message_key: ec.EllipticCurvePrivateKey, filled_to: int = 0
) -> bytes:
    """The body of a push. `salt` and `message_key` are random and of this message alone.

    The message is filled up to `filled_to` bytes. Raises BadDeviceKeyError, ValueError for a message that is too long.
    """
    if max(len(message), filled_to) > MESSAGE_BYTES_MAX:
        raise ValueError(f"a message must have at most {MESSAGE_BYTES_MAX} bytes")
    own_point = public_point(message_key)
    agreed = message_key.exchange(ec.ECDH(), keys.point())
    context = b"WebPush: info\x00" + keys.public_key + own_point
    material = _derived(agreed, keys.secret, context, 32)
    key = _derived(material, salt, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = _derived(material, salt, b"Content-Encoding: nonce\x00", 12)
    plain = message + _LAST_RECORD + bytes(max(0, filled_to - len(message)))
    header = salt + _RECORD_LENGTH.to_bytes(4, "big") + bytes([len(own_point)]) + own_point
    return header + AESGCM(key).encrypt(nonce, plain, None)


def _derived(material: bytes, salt: bytes, purpose: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, purpose).derive(material)
