"""Random tokens that a database keeps only as hashes."""

import hashlib
import secrets

TOKEN_BYTES = 32


def new_token() -> str:
    """A text of 256 random bits."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def token_hash(token: str) -> bytes:
    """What the database keeps of a token. It has 256 random bits, so a plain hash gives nothing away."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
