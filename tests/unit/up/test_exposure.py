"""A start that would let strangers on the network move money is refused, with what to set instead."""

import socket
from typing import Any

import pytest

from openspot.up.exposure import dangers, is_loopback
from openspot.up.services import SERVICES, PlatformSettings

LONG = "x" * 32


def found(services: list[str] | None = None, **changes: Any) -> list[str]:
    return dangers(PlatformSettings(**changes), services or list(SERVICES))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "127.1.2.3", "::1", "localhost"])
def test_hosts_that_only_this_machine_reaches(host: str) -> None:
    assert is_loopback(host)
    assert found(host=host, jwt_secret="short") == []


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "", "10.0.0.5", "192.168.1.2", "8.8.8.8", "fe80::1", "::ffff:8.8.8.8"]
)
def test_hosts_that_others_reach(host: str) -> None:
    assert not is_loopback(host)
    assert found(host=host)


@pytest.mark.parametrize(
    ("addresses", "loopback"),
    [(["127.0.0.1", "::1"], True), (["127.0.0.1", "10.0.0.5"], False), (["fe80::1%eth0"], False), ([], False)],
)
def test_a_name_is_loopback_if_all_its_addresses_are(
    monkeypatch: pytest.MonkeyPatch, addresses: list[str], loopback: bool
) -> None:
    def resolve(*_: Any, **__: Any) -> list[tuple[Any, ...]]:
        if not addresses:
            raise socket.gaierror("unknown")
        return [(0, 0, 0, "", (address, 0)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert is_loopback("machine.example") is loopback


def test_the_engine_is_refused_with_what_to_set() -> None:
    for services in (list(SERVICES), ["engine"]):
        dangers = found(services, host="0.0.0.0", engine_grpc_port=9091, engine_frames_port=9093)
        for danger, port in zip(dangers, (9091, 9093), strict=True):
            assert f"port {port}" in danger
            assert danger.startswith("OPENSPOT_HOST=0.0.0.0 opens")
            assert "OPENSPOT_ENGINE_HOST=127.0.0.1" in danger
            assert "OPENSPOT_TRUSTED_NETWORK=true" in danger


def test_services_that_ask_for_credentials_may_be_public() -> None:
    assert found(["rest-edge", "ws-edge", "router", "ledger", "ledger-worker"], host="0.0.0.0") == []


def test_a_trusted_network_permits_services_without_credentials() -> None:
    assert found(host="0.0.0.0", trusted_network=True) == []


@pytest.mark.parametrize(
    ("name", "variable", "service", "length"),
    [
        ("jwt_secret", "JWT_SECRET", "rest-edge", 32),
        ("jwt_secret", "JWT_SECRET", "ws-edge", 32),
        ("engine_api_secret", "OPENSPOT_ENGINE_API_SECRET", "engine", 32),
        ("admin_token_secret", "OPENSPOT_ADMIN_TOKEN_SECRET", "engine", 32),
        ("admin_password", "OPENSPOT_ADMIN_PASSWORD", "engine", 12),
    ],
)
def test_secrets_that_strangers_could_guess_are_refused_where_they_are_used(
    name: str, variable: str, service: str, length: int
) -> None:
    def with_secret(secret: str, services: list[str]) -> list[str]:
        return found(services, host="10.0.0.5", trusted_network=True, **{name: secret})

    (danger,) = with_secret("x" * (length - 1), [service])
    assert danger.startswith(f"{variable} has fewer than {length} characters")
    assert with_secret("x" * length, [service]) == []
    assert with_secret("", [service]) == []
    assert with_secret("short", ["ledger"]) == []
