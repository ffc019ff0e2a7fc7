"""Names, addresses and percentages."""

import pytest

from openspot.engine.admin.authority import network_of
from openspot.engine.admin.dispatch import METHODS, snake_case
from openspot.engine.admin.grpc_transport import peer_address
from openspot.engine.admin.handlers import Handlers
from openspot.engine.admin.reports import utilisation_percent


def test_every_method_of_the_protocol_has_its_handler() -> None:
    assert len(METHODS) == 18
    assert all(callable(getattr(Handlers, snake_case(method))) for method in METHODS)
    assert snake_case("GetExchangeStats") == "get_exchange_stats"


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:10.0.0.1:5000", "10.0.0.1"),
        ("ipv6:%5B2001:db8::1%5D:5000", "2001:db8::1"),
        ("ipv6:[::1]:5000", "::1"),
        ("unix:/run/engine", "unix:/run/engine"),
        ("", ""),
    ],
)
def test_the_address_of_a_peer(peer: str, address: str) -> None:
    assert peer_address(peer) == address


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("::1", "::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::FFFF:c000:0201", "192.0.2.1"),
        ("unix:/run/engine", "unix:/run/engine"),
    ],
)
def test_logins_are_counted_by_the_network_of_one_client(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    ("locked", "total", "percent"),
    [(0, 0, "0.00"), (0, 5, "0.00"), (1, 3, "33.33"), (2, 3, "66.66"), (5, 5, "100.00"), (1, 10**30, "0.00")],
)
def test_utilisation(locked: int, total: int, percent: str) -> None:
    assert utilisation_percent(locked, total) == percent
