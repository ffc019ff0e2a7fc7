"""Which processes run, and addresses as they are printed: without what would let a reader in."""

import pytest

from openspot.up import services
from openspot.up.services import SERVICES, SHARING, PlatformSettings, addresses, enabled, grouped, without_password
from openspot.up.supervisor import child_settings
from openspot.web_server.settings import WebServerSettings


def shown(name: str, **settings: str) -> str:
    return addresses(PlatformSettings(**settings))[name]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://db/x", "postgresql://db/x"),
        ("postgresql://openspot@/openspot?host=/a:b@c/d&port=5432", "postgresql://openspot@/openspot?host=/a:b@c/d&port=5432"),
        ("postgresql://me:se%40cr:et@db:5432/x", "postgresql://me:***@db:5432/x"),
        ("postgresql://:secret@db/x", "postgresql://:***@db/x"),
        ("postgresql://db/x?user=me&password=secret&sslmode=require", "postgresql://db/x?user=me&password=***&sslmode=require"),
    ],
)  # fmt: skip
def test_a_database_address_is_shown_without_its_password(url: str, expected: str) -> None:
    assert shown("PostgreSQL", database_url=url) == expected


def test_a_password_is_hidden_in_an_address_that_no_setting_takes() -> None:
    assert without_password("postgresql://me:s@cr/et@db/x") == "postgresql://me:***@db/x"


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
    assert set(enabled(with_one)) - set(enabled(without)) == {"venue"}
    assert set(SERVICES) - set(enabled(with_one)) == {"demo", "operator-alerts"}
    assert "Venue health" not in addresses(without)
    assert addresses(with_one)["Venue health"] == "http://127.0.0.1:3010/health"


def test_the_web_server_is_told_where_every_other_process_says_how_it_is() -> None:
    platform = PlatformSettings(router_port=4006)
    told = child_settings("web", platform, {})
    assert isinstance(told, WebServerSettings)
    assert set(told.watched) == {process.title for process in enabled(platform).values()}
    assert told.watched["Order router"] == "http://127.0.0.1:4006"
    own = child_settings("web", PlatformSettings(watched_services="Ledger=http://ledger:3007"), {})
    assert isinstance(own, WebServerSettings)
    assert own.watched == {"Ledger": "http://ledger:3007"}


def test_the_web_server_is_told_which_services_its_pages_may_use() -> None:
    alone = WebServerSettings().page_config
    assert (alone.positions_url, alone.subscriptions_url) == ("", "")
    platform = PlatformSettings(positions_port=4008, given_subscriptions_url="https://example.org/subscriptions")
    told = child_settings("web", platform, {})
    assert isinstance(told, WebServerSettings)
    assert told.page_config.positions_url == "http://127.0.0.1:4008"
    assert told.page_config.subscriptions_url == "https://example.org/subscriptions"


@pytest.mark.parametrize("process", ["rest-edge", "positions", "subscriptions", "engine"])
@pytest.mark.parametrize(
    ("given", "origins"),
    [
        ({}, "http://127.0.0.1:3000,http://localhost:3000"),
        ({"web_port": 8080}, "http://127.0.0.1:8080,http://localhost:8080"),
        ({"given_web_url": "https://exchange.example/"}, "https://exchange.example"),
        ({"web_host": "::1"}, "http://127.0.0.1:3000,http://localhost:3000,http://[::1]:3000"),
        (
            {"web_port": 8080, "cors_origins": "https://other.example", "console_origins": "https://other.example"},
            "https://other.example",
        ),
        ({"cors_origins": "", "console_origins": ""}, ""),
    ],
)
def test_services_take_calls_of_the_pages_wherever_those_are(
    process: str, given: dict[str, object], origins: str
) -> None:
    told = child_settings(process, PlatformSettings(**given), {}).model_dump()
    assert told["console_origins" if process == "engine" else "cors_origins"] == origins


def test_the_demo_market_runs_only_if_it_is_asked_for() -> None:
    told = {"venue": "binance", "alert_mails": "ada@example.org"}
    without, with_it = PlatformSettings(**told), PlatformSettings(**told, demo=True)
    assert set(enabled(with_it)) - set(enabled(without)) == {"demo"}
    assert set(SERVICES) == set(enabled(with_it))
    assert "Demo market health" not in addresses(without)
    assert addresses(with_it)["Demo market health"] == "http://127.0.0.1:3014/health"
    # It stops before everything that its orders go through.
    assert list(SERVICES)[-1] == "demo"


@pytest.mark.parametrize(
    ("given", "runs"),
    [
        ({}, True),
        ({"reconcile_every_s": 0}, False),
        ({"reconcile_every_s": 0, "backup_every_s": 3600}, True),
        ({"backup_every_s": 3600}, True),
    ],
)
def test_the_timetable_runs_unless_neither_a_backup_nor_a_comparison_is_ever_due(
    given: dict[str, int], runs: bool
) -> None:
    assert ("timetable" in enabled(PlatformSettings(**given))) is runs


def test_operators_alerts_run_only_if_there_is_somebody_to_tell() -> None:
    without = set(enabled(PlatformSettings()))
    for told in ({"alert_mails": "ada@example.org"}, {"alert_webhook_url": "https://hooks.example.org/"}):
        assert set(enabled(PlatformSettings(**told))) - without == {"operator-alerts"}


def test_nobody_is_spared_the_throttle_unless_settings_say_so() -> None:
    assert PlatformSettings().unthrottled_users == frozenset()
    assert PlatformSettings(throttle_exempt_users=" ,").unthrottled_users == frozenset()
    named = PlatformSettings(throttle_exempt_users="bot-1, bot-2,")
    assert named.unthrottled_users == {"bot-1", "bot-2"}
    assert PlatformSettings(demo=True).unthrottled_users == {"demo-maker", "demo-taker"} | {
        f"demo-taker-{number}" for number in range(2, 7)
    }


@pytest.mark.parametrize(
    ("asked", "cores", "shared"),
    [("auto", 1, True), ("auto", 4, True), ("auto", 5, False), ("true", 64, True), ("false", 1, False)],
)
def test_edge_and_router_share_a_process_on_few_cores_or_if_they_are_told_to(
    monkeypatch: pytest.MonkeyPatch, asked: str, cores: int, shared: bool
) -> None:
    monkeypatch.setattr(services, "cores", lambda: cores)
    settings = PlatformSettings(
        one_process=asked, venue="binance", demo=True, backup_every_s=60, alert_mails="ada@example.org"
    )
    groups = grouped(settings)
    assert (SHARING in groups) is shared
    assert sorted(name for names in groups for name in names) == sorted(SERVICES)


def test_services_that_share_a_process_wait_for_each_other_in_no_circle() -> None:
    needs = {name: {*process.after, *process.uses} for name, process in SERVICES.items()}
    reached, new = set[str](), {name for service in SHARING for name in needs[service]} - {*SHARING}
    while new:
        reached |= new
        new = {name for service in reached for name in needs[service]} - reached
    assert not reached & {*SHARING}, "one of them needs a service that needs the other"
    # The first asks the second, so it stops before it.
    assert SHARING[1] in SERVICES[SHARING[0]].uses
