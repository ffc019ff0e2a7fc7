"""Whether an address leads to this computer alone. Pure."""

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit


def is_private(addresses: Iterable[str]) -> bool:
    """Whether all of these hosts or URLs lead to this computer alone."""
    return all(_is_loopback(urlsplit(address).hostname if "://" in address else address) for address in addresses)


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address((host or "").strip("[]")).is_loopback
    except ValueError:
        return False
