"""Which processes run, and addresses as they are printed: without what would let a reader in."""

import pytest

from openspot.up.services import SERVICES, PlatformSettings, addresses, enabled


def shown(name: str, **settings: str) -> str:
    return addresses(PlatformSettings(**settings))[name]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://db/x", "postgresql://db/x"),
        ("postgresql://openspot@/openspot?host=/a:b@c/d&port=5432", "postgresql://openspot@/openspot?host=/a:b@c/d&port=5432"),
        ("postgresql://me:se%40cr:et@db:5432/x", "postgresql://me:***@db:5432/x"),
        ("postgresql://me:s@cr/et@db/x", "postgresql://me:***@db/x"),
        ("postgresql://:secret@db/x", "postgresql://:***@db/x"),
        ("postgresql://db/x?user=me&password=secret&sslmode=require", "postgresql://db/x?user=me&password=***&sslmode=require"),
    ],
)  # fmt: skip
def test_a_database_address_is_shown_without_its_password(url: str, expected: str) -> None:
    assert shown("PostgreSQL", database_url=url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("nats://one:4222", "nats://one:4222"),
        ("nats://me:secret@one:4222,tls://me:other@two:4222", "nats://me:***@one:4222,tls://me:***@two:4222"),
        ("nats://token@one:4222,nats://two:4222", "nats://***@one:4222,nats://two:4222"),
    ],
)
def test_a_bus_address_is_shown_without_password_and_token(url: str, expected: str) -> None:
    assert shown("NATS", nats_url=url) == expected


def test_the_venue_adapter_runs_only_if_a_venue_is_named() -> None:
    without, with_one = PlatformSettings(venue=""), PlatformSettings(venue="binance")
    assert set(SERVICES) - set(enabled(without)) == {"venue"}
    assert enabled(with_one) == SERVICES
    assert "Venue health" not in addresses(without)
    assert addresses(with_one)["Venue health"] == "http://127.0.0.1:3010/health"
