"""Random tokens. The database stores only their hashes."""

import hashlib
import secrets

TOKEN_BYTES = 32


def new_token() -> str:
    """A text of 256 random bits."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def token_hash(token: str) -> bytes:
    """The hash of a token, for the database. A token has 256 random bits, so nobody can guess it from a plain hash."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
