"""Which addresses a push may go to. A browser names its push service, so a user may claim any address: none inside.

The host must be one that the operator takes. Its addresses are resolved when the push is sent, and the connection goes
to what was checked: a name that resolves to another address a moment later gains nothing.
"""

import re
import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult

ENDPOINT_LENGTH_MAX = 2048
_EVERY_HOST = "*"

_NAME = re.compile(r"[a-z0-9.-]{1,253}")
_TRANSLATED = IPv6Network("64:ff9b::/96")
"""Addresses of the old internet behind a translator (RFC 6052)."""


class PrivateAddressError(OSError):
    """A push service's name leads to an address that is not public."""


def endpoint_fault(endpoint: str, hosts: str, *, allows_private: bool) -> str | None:
    """What is wrong with an endpoint, None if nothing is. `hosts` and `allows_private` are settings. Pure."""
    if len(endpoint) > ENDPOINT_LENGTH_MAX or not endpoint.isascii() or not endpoint.isprintable() or " " in endpoint:
        return f"must be an address of at most {ENDPOINT_LENGTH_MAX} ASCII characters"
    try:
        parts = urlsplit(endpoint)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return "must be an address"
    if parts.scheme != "https" or not host:
        return "must begin with https:// and a host"
    if parts.username is not None or parts.password is not None or parts.fragment or "\\" in endpoint:
        return "must have no user, no fragment and no backslash"
    if not allows_private and port not in {None, 443}:
        return "must have no port"
    if not allows_private and (is_address(host) or "." not in host or not _NAME.fullmatch(host)):
        return "must have the name of a public host"
    if not _is_taken(host, hosts):
        return "is not of a push service that this exchange sends to"
    return None


def is_address(host: str) -> bool:
    """Whether a host is an IP address, in any way of writing that systems understand."""
    if ":" in host:
        return True
    try:
        # Takes what connecting takes: 127.1, 0x7f000001, 2130706433.
        socket.inet_aton(host)
    except OSError:
        return False
    return True


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet."""
    try:
        read: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(read, IPv6Address):
        # An address of the old internet in the clothes of the new one counts as what it leads to.
        inner = read.ipv4_mapped or read.sixtofour or (read.teredo[1] if read.teredo else None)
        if inner is not None:
            read = inner
        elif read in _TRANSLATED:
            read = IPv4Address(int(read) & 0xFFFFFFFF)
    return read.is_global and not read.is_multicast


def _is_taken(host: str, hosts: str) -> bool:
    for pattern in (part.strip().lower() for part in hosts.split(",")):
        if pattern == _EVERY_HOST or (pattern and host == pattern):
            return True
        if pattern.startswith("*.") and host.endswith(pattern[1:]):
            return True
    return False


class PublicResolver(AbstractResolver):
    """Resolves names with `inner` to public addresses only: one that is not public refuses the name."""

    def __init__(self, inner: AbstractResolver) -> None:
        self._inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a name. Raises PrivateAddressError, OSError if it has none."""
        found = await self._inner.resolve(host, port, family)
        if not all(is_public(entry["host"]) for entry in found):
            raise PrivateAddressError(f"{host} has an address that is not public")
        return found

    async def close(self) -> None:
        """End the inner resolver."""
        await self._inner.close()
