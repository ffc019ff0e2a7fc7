"""The pages that a payment may send its user back to: rules without IO."""

import re
from urllib.parse import urlsplit

_PLAIN = re.compile(r"[\x21-\x5b\x5d-\x7e]+")
"""Visible ASCII without the backslash, which browsers read as a slash."""


def origins_of(text: str) -> frozenset[str]:
    """Read the allowed origins of a setting, which separates them with commas."""
    return frozenset(origin.strip().rstrip("/").lower() for origin in text.split(",") if origin.strip())


def is_allowed(url: str, origins: frozenset[str]) -> bool:
    """Whether `url` lies at one of `origins`: the same scheme, host and port, and no credentials in it."""
    if not _PLAIN.fullmatch(url):
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or "@" in parts.netloc or not parts.hostname:
        return False
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    origin = f"{parts.scheme}://{host}"
    return (f"{origin}:{port}" if port is not None else origin) in origins
