"""The ways out: which addresses are taken, how a call is signed, what a mail says, what is read of a service."""

import hashlib
import hmac

import pytest

from openspot.http.operator_alerts import AlertKind, Severity
from openspot.kit.settings import SettingsError, load
from openspot.operator_alerts.book import AlertMessage
from openspot.operator_alerts.destinations import subject_of, text_of
from openspot.operator_alerts.observer import reason_of, samples_of
from openspot.operator_alerts.outbox import Batch
from openspot.operator_alerts.rules import Sample
from openspot.operator_alerts.settings import OperatorAlertSettings
from openspot.operator_alerts.webhook import signature
from openspot.operator_alerts.webhook_url import shown_url, url_fault


@pytest.mark.parametrize(
    "url", ["https://hooks.example.org/a?b=c", "http://127.0.0.1:9/x", "http://localhost/", "http://[::1]/"]
)
def test_these_urls_are_taken(url: str) -> None:
    assert url_fault(url) == ""


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.org/", "http://10.0.0.1/", "ftp://example.org/", "example.org", "https://", "https://a:b@c/",
        "https://example.org/#x", "https://[", "https://example.org:99999/",
    ],
)  # fmt: skip
def test_these_urls_are_not(url: str) -> None:
    assert url_fault(url) != ""
    with pytest.raises(SettingsError, match="OPENSPOT_ALERT_WEBHOOK_URL"):
        load(OperatorAlertSettings, alert_webhook_url=url)


@pytest.mark.parametrize(
    "mails", ["ada", "Ada <ada@example.org>", "a@b@c", "a@b\nBcc: x@y", ",".join(f"{n}@b.c" for n in range(11))]
)
def test_mail_addresses_are_plain_and_few(mails: str) -> None:
    with pytest.raises(SettingsError, match="OPENSPOT_ALERT_MAILS"):
        load(OperatorAlertSettings, alert_mails=mails)


def test_addresses_are_told_once_each() -> None:
    settings = load(OperatorAlertSettings, alert_mails=" ada@example.org, bob@example.org,ada@example.org,")
    assert settings.alert_addresses == ["ada@example.org", "bob@example.org"]


def test_the_signature_is_of_time_and_body() -> None:
    expected = hmac.new(b"secret", b'17.{"id":"x"}', hashlib.sha256).hexdigest()
    assert signature("secret", 17, b'{"id":"x"}') == f"t=17,v1={expected}"


def test_the_console_does_not_show_the_path_of_the_webhook() -> None:
    assert shown_url("https://hooks.example.org/services/T0/secret") == "https://hooks.example.org"


def alert(event: str, severity: Severity = Severity.PAGE, title: str = "The books differ") -> AlertMessage:
    return AlertMessage(
        "id", AlertKind.BOOKS_DIFFER, event, severity, title, "why", "look", 1_800_000_060_000, 1_800_000_000_000
    )


def test_a_mail_begins_with_the_most_urgent_and_says_everything() -> None:
    messages = [alert("over"), alert("raised", Severity.TICKET, "A market is interrupted"), alert("repeated")]
    assert subject_of(messages, "OpenSpot") == "[OpenSpot page] The books differ (lasts) and 2 more"
    assert text_of(Batch("id", messages[:2], left_out=3)) == (
        "The books differ (page)\nIt is over: why\nSince 2027-01-15 08:00:00 UTC, told at 2027-01-15 08:01:00 UTC\n\n"
        "A market is interrupted (ticket)\nIt begins: why\nFirst: look\n"
        "Since 2027-01-15 08:00:00 UTC, told at 2027-01-15 08:01:00 UTC\n\n"
        "3 earlier messages could not be sent and are left out.\n"
    )


METRICS = """
# HELP openspot_bus_breaker_open_total Publishes refused by an open circuit breaker
# TYPE openspot_bus_breaker_open_total counter
openspot_bus_breaker_open_total{subject="a.b"} 3.0
# HELP openspot_custody_large_withdrawal_usd Worth
# TYPE openspot_custody_large_withdrawal_usd gauge
# HELP openspot_engine_events_total Events emitted
# TYPE openspot_engine_events_total counter
openspot_engine_events_total 7.0
"""


def test_of_a_service_only_what_rules_ask_for_is_read_and_a_metric_without_a_value_is_there() -> None:
    names, samples = samples_of(METRICS)
    assert names == {"openspot_bus_breaker_open_total", "openspot_custody_large_withdrawal_usd"}
    assert samples == (Sample("openspot_bus_breaker_open_total", {"subject": "a.b"}, 3.0),)


def test_the_reasons_of_a_service_that_is_not_ready_are_told() -> None:
    body = b'{"details": {"bus": {"status": "down", "message": "away"}, "disk": {"status": "degraded"}}}'
    assert reason_of(body) == "bus away"
    for bad in (b"[]", b"{}", b"no"):
        with pytest.raises(ValueError):
            reason_of(bad)


def test_the_bounds_are_those_that_were_decided() -> None:
    settings = load(OperatorAlertSettings)
    assert (settings.alert_disk_free_mib, settings.alert_consumer_lag, settings.alert_failed_logins) == (
        5120, 10_000, 50,
    )  # fmt: skip
    assert (settings.alert_check_s, settings.alert_repeat_s, settings.alert_messages_per_hour) == (10.0, 3600, 20)


def test_the_service_listens_where_it_is_told_and_the_edge_finds_it_there_or_where_a_proxy_is() -> None:
    own = load(OperatorAlertSettings, alerts_host="127.0.0.2", alerts_port=3999)
    assert own.alerts_url == "http://127.0.0.2:3999"
    assert (
        load(OperatorAlertSettings, given_alerts_url="https://alerts.internal/").alerts_url == "https://alerts.internal"
    )
