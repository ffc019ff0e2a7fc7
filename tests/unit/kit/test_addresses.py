"""An address whose password could be read in two ways is refused before a library quotes a part of it."""

import asyncio
import traceback
from pathlib import Path

import asyncpg
import psycopg
import pytest

from openspot.backup.errors import BackupError
from openspot.backup.postgres import connected
from openspot.doctor.servers import database_findings
from openspot.http.api_keys.settings import ApiKeySettings
from openspot.kit.addresses import address_fault
from openspot.kit.settings import Settings, SettingsError, load
from openspot.subscriptions.settings import SubscriptionSettings

SECRET = "geheim"
"""No other word of an error is or has this one."""
BAD = (
    "postgresql://user:se/geheim@localhost/db",
    "postgresql://user:geheim/se@localhost/db",
    "postgresql://user:se#geheim@localhost/db",
    "postgresql://user:geheim?se@localhost:5432/db",
    "postgresql://user:se?geheim@localhost:5432/db",
    "postgresql://user:se%zzgeheim@localhost/db",
    "postgresql://user:geheim%@localhost/db",
    "postgresql://user:se geheim@localhost/db",
    "postgresql://user:se\ngeheim@localhost/db",
    "postgresql://user:se[geheim@localhost/db",
    "postgresql://user:se@geheim@localhost/db",
    "postgresql://user:se@geheim/x@localhost/db",
    "postgresql://user:se@x?geheim@localhost/db",
    "postgresql://user:se,geheim@localhost/db",
    "postgresql://user:se@x?w=geheim@localhost/db",
    "postgresql://user:se\\geheim@localhost/db",
    "postgresql://user@localhost:geheim/db",
    "postgresql://user:x@localhost:65536/geheim",
    "postgresql://localhost/db?user=x&password=se&geheim",
    "postgresql:/user:geheim@localhost/db",
    "user:geheim@localhost/db",
    "host=localhost password=geheim",
)
GOOD = (
    "postgresql://user:p%40ss@db.example.org:5432/spot?sslmode=require",
    "postgresql://openspot@/openspot?host=/run/a%20b&port=5432",
    "postgresql:///openspot?host=/run/postgresql",
    "postgresql://openspot@/openspot?host=/a:b@c/d&port=5432",
    "postgresql://user:a:b!$&'()*+;=~@[2001:db8::1]:5432/db",
    "postgresql://user:x@one:5432,two:5433/db?target_session_attrs=read-write",
    "postgresql://%2Fvar%2Frun/db",
    "postgresql://localhost",
)


@pytest.mark.parametrize("address", BAD)
def test_an_address_that_could_be_misread_is_refused_by_name_and_without_a_part_of_it(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind, variable in ((Settings, "DATABASE_URL"), (SubscriptionSettings, "OPENSPOT_SUBSCRIPTIONS_DATABASE_URL")):
        monkeypatch.setenv(variable, address)
        with pytest.raises(SettingsError) as caught:
            load(kind)
        # With its causes, as a process that dies of it shows it.
        shown = "".join(traceback.format_exception(caught.value))
        assert f"{variable}: " in str(caught.value) and SECRET not in shown, shown
        monkeypatch.delenv(variable)


@pytest.mark.parametrize("address", GOOD)
def test_what_both_libraries_read_alike_is_taken(address: str) -> None:
    assert address_fault(address, ("postgresql",)) == ""
    assert Settings(database_url=address).database_url == address
    parsed = psycopg.conninfo.conninfo_to_dict(address)

    async def told() -> str:
        try:
            await asyncpg.connect(address, timeout=0.01, host="/nowhere")
        except (OSError, asyncpg.PostgresError) as error:
            return str(error)
        return ""

    assert parsed and "invalid" not in asyncio.run(told())


@pytest.mark.parametrize(
    "address", ["nats://user:se/geheim@bus", "geheim:se@x@bus", "nats://u:se,geheim@bus", "a:geheim"]
)
def test_an_address_of_the_bus_is_refused_without_a_part_of_it(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NATS_URL", address)
    with pytest.raises(SettingsError) as caught:
        load(Settings)
    assert "NATS_URL: " in str(caught.value) and SECRET not in "".join(traceback.format_exception(caught.value))


def test_addresses_of_the_bus_may_leave_out_their_scheme_and_be_several() -> None:
    given = "nats://u:p%40ss@one:4222, tls://token@two, three:4222,ws://[::1]:80"
    assert Settings(nats_url=given).nats_url == given


@pytest.mark.parametrize("address", ["redi://:geheim@store", "redis://:se/geheim@store", "redis://:x@store:geheim/0"])
def test_an_address_of_the_throttles_store_is_refused_without_a_part_of_it(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENSPOT_THROTTLE_STORAGE", address)
    with pytest.raises(SettingsError) as caught:
        load(ApiKeySettings)
    assert "OPENSPOT_THROTTLE_STORAGE: " in str(caught.value)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert ApiKeySettings(throttle_storage="redis+unix://:a%2Fb@/run/redis.sock").throttle_storage


@pytest.mark.parametrize("address", ["postgresql://user:se%zzgeheim@localhost/db", "user:geheim@localhost/db"])
def test_a_command_that_gets_such_an_address_all_the_same_quotes_nothing(address: str, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="cannot be read") as caught:
        connected(address)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    findings = list(database_findings(address, Settings(data_dir=tmp_path)))
    assert len(findings) == 1 and SECRET not in str(findings) and "cannot be read" in str(findings)


def test_the_short_scheme_that_some_hosts_print_is_taken_for_the_whole_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://user:postgres%3A%2F%2F@localhost/db")
    assert Settings().database_url == "postgresql://user:postgres%3A%2F%2F@localhost/db"
