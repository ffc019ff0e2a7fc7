"""The networks that an API key may be used from: rules without IO."""

import ipaddress
from collections.abc import Iterable

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

NETWORKS_MAX = 32
WITHDRAW_PREFIX_MIN = {4: 16, 6: 32}
"""The widest networks of a key that may withdraw. A list that admits the whole internet protects nothing."""
_ADMITTED_MAX = 64


def read_network(text: str) -> Network:
    """The network of a CIDR notation or of a single address. Raises ValueError."""
    return ipaddress.ip_network(text.strip())


def too_wide_to_withdraw(network: Network) -> bool:
    """Whether a network is wider than those of a key that may withdraw."""
    return network.prefixlen < WITHDRAW_PREFIX_MIN[network.version]


class AllowedNetworks:
    """The addresses that a key may be used from. Without networks, any address may use it."""

    def __init__(self, networks: Iterable[str]) -> None:
        self._networks = tuple(ipaddress.ip_network(text) for text in networks)
        # Admitted addresses are remembered: reading one takes longer than checking a signature.
        self._admitted: set[str] = set()

    def admit(self, address: str) -> bool:
        """Whether the key may be used from `address`."""
        if not self._networks or address in self._admitted:
            return True
        try:
            read = ipaddress.ip_address(address)
        except ValueError:
            return False
        if isinstance(read, ipaddress.IPv6Address) and read.ipv4_mapped is not None:
            read = read.ipv4_mapped
        if not any(read in network for network in self._networks):
            return False
        if len(self._admitted) < _ADMITTED_MAX:
            self._admitted.add(address)
        return True
