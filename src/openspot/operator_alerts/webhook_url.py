"""The address of the webhook: what is taken, and what of it is shown. Pure."""

from ipaddress import ip_address
from urllib.parse import urlsplit


def url_fault(url: str) -> str:
    """Why alerts must not be sent to a URL; empty if they may."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "must be a URL"
    if not host or parts.scheme not in ("http", "https"):
        return "must begin with https:// and name a host"
    if parts.username is not None or parts.password is not None or parts.fragment:
        return "must have no user, password or fragment"
    if parts.scheme == "http" and not _is_loopback(host):
        return "must begin with https://: only on this computer itself http is enough"
    return ""


def shown_url(url: str) -> str:
    """The URL without path and query, which may hold a secret of the receiver."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
