"""The signature of webhooks: a digest of the raw body under a shared secret (fact A5-34). Pure."""

import hmac

DIGEST_HEADER = b"x-payload-digest"


def payload_digest(secret: str, body: bytes) -> str:
    """Hex HMAC-SHA256 of the raw body."""
    return hmac.digest(secret.encode(), body, "sha256").hex()


def is_signed(secret: str, body: bytes, digest: str | None) -> bool:
    """Whether `digest` is the digest of `body`, in any letter case. Takes the same time wherever the two differ."""
    given = (digest or "").lower().encode("latin-1", "replace")
    return hmac.compare_digest(given, payload_digest(secret, body).encode())
