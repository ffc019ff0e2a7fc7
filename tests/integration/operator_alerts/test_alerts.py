"""Operators' alerts against a real mail server and a real webhook: told once, tried again, and not lost by a kill."""

import hashlib
import hmac
import re
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import asyncpg
import pytest

from openspot.http.edge_settings import ALERTS_KEY
from openspot.http.operators import OperatorRole
from openspot.kit.process_ends import ProcessEnd, note_end
from openspot.kit.service_credential import headers
from openspot.kit.settings import Settings
from openspot.operator_alerts import book
from openspot.operator_alerts.keeper import FILE_NAME
from tests.support.alert_sinks import Receiver, Watched, alert_surroundings
from tests.support.edge_operators import make_operator
from tests.support.in_process_platform import running
from tests.support.rest_client import running_edge
from tests.support.service_process import ServiceProcess
from tests.support.smtp_sink import Inbox, mail_server
from tests.support.waiting import eventually

SECRET = "webhook-secret-of-at-least-thirty-two-bytes"
DIFFER = "# TYPE openspot_reconcile_differences gauge\nopenspot_reconcile_differences {}\n"
ADA, BOB = "ada@example.org", "bob@example.org"


@pytest.fixture
async def surroundings() -> AsyncIterator[tuple[Receiver, Watched, str]]:
    async with alert_surroundings() as found:
        yield found


@pytest.fixture
async def inbox() -> AsyncIterator[tuple[Inbox, int]]:
    inbox = Inbox()
    async with mail_server(inbox) as port:
        yield inbox, port


@pytest.fixture
def told(settings: Settings, surroundings: tuple[Receiver, Watched, str], inbox: tuple[Inbox, int]) -> Settings:
    """A service that tells two people and a webhook, and looks often."""
    _, _, address = surroundings
    return settings.model_copy(
        update={
            "alert_mails": f"{ADA},{BOB}",
            "alert_webhook_url": f"{address}/hook",
            "alert_webhook_secret": SECRET,
            "alerts_secret": "secret-of-the-edge-of-thirty-two-bytes",
            "alert_check_s": 0.05,
            "alert_disk_free_mib": 0,
            "watched_services": f"Web server={address}",
            "smtp_host": "127.0.0.1",
            "smtp_port": inbox[1],
            "smtp_security": "none",
        }
    )


async def test_an_alert_goes_to_everybody_signed_and_says_when_it_is_over(
    told: Settings,
    surroundings: tuple[Receiver, Watched, str],
    inbox: tuple[Inbox, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(book, "QUIET_S", 0.1)
    receiver, watched, _ = surroundings
    mails, _ = inbox
    watched.metrics = DIFFER.format("2")
    async with running(told, "operator-alerts"):
        await eventually(lambda: receiver.events == [("books_differ", "raised")] and len(mails.mails) == 2)
        watched.metrics = DIFFER.format("0")
        await eventually(lambda: receiver.events[1:] == [("books_differ", "over")] and len(mails.mails) == 4)
    sent, body = receiver.calls[0]
    found = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", sent["OpenSpot-Signature"])
    assert found is not None
    assert found[2] == hmac.new(SECRET.encode(), f"{found[1]}.".encode() + body, hashlib.sha256).hexdigest()
    assert sent["OpenSpot-Message-Id"] == receiver.messages[0]["id"]
    assert receiver.messages[0]["text"] == "the newest comparison found 2 differences"
    assert sorted(str(mail["To"]) for mail in mails.mails) == [ADA, ADA, BOB, BOB]
    assert {str(mail["Subject"]) for mail in mails.mails} == {
        "[OpenSpot page] The books differ", "[OpenSpot page] The books differ (is over)",
    }  # fmt: skip


async def test_a_way_that_fails_is_tried_again_and_delays_no_other(
    told: Settings,
    surroundings: tuple[Receiver, Watched, str],
    inbox: tuple[Inbox, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("openspot.operator_alerts.outbox.FIRST_PAUSE_S", 0.1)
    receiver, watched, _ = surroundings
    mails, _ = inbox
    mails.refusal, receiver.status = "451 later", 307
    watched.metrics = DIFFER.format("1")
    async with running(told, "operator-alerts"):
        await eventually(lambda: len(receiver.calls) >= 3)
        assert len({sent["OpenSpot-Message-Id"] for sent, _ in receiver.calls}) == 1, "one message, however often"
        receiver.status = 204
        answered = len(receiver.calls)
        await eventually(lambda: len(receiver.calls) == answered + 1)
        assert not mails.mails
        mails.refusal = ""
        await eventually(lambda: len(mails.mails) == 2)


async def test_an_end_of_a_process_is_told_with_its_cause_while_bus_and_database_are_away(
    told: Settings, surroundings: tuple[Receiver, Watched, str]
) -> None:
    receiver, watched, _ = surroundings
    watched.details = {"bus": {"status": "up"}}
    away = told.model_copy(update={"nats_url": "nats://127.0.0.1:1", "database_url": "postgresql://127.0.0.1:1/x"})
    async with running(away, "operator-alerts"):
        at_ms = time.time_ns() // 1_000_000
        note_end(told.data_dir, ProcessEnd("ledger", "Ledger", at_ms, "signal SIGKILL"))
        await eventually(lambda: receiver.events == [("service_restarted", "raised")])
        note_end(told.data_dir, ProcessEnd("router", "Order router", at_ms, "exit code 1: no space"))
        await eventually(lambda: receiver.events[1:] == [("service_restarted", "grew")])
    assert "Order router ended at" in receiver.messages[1]["text"]
    assert "exit code 1: no space" in receiver.messages[1]["text"]


@pytest.mark.proof
async def test_a_kill_loses_no_message_and_repeats_at_most_the_one_on_its_way(
    told: Settings, surroundings: tuple[Receiver, Watched, str]
) -> None:
    receiver, watched, _ = surroundings
    alone = told.model_copy(update={"alert_mails": ""})
    code = (
        "from openspot.operator_alerts.service import run\n"
        "from openspot.operator_alerts.settings import OperatorAlertSettings\n"
        "sys.exit(run_service('operator-alerts', run, OperatorAlertSettings()))"
    )
    child = ServiceProcess(alone, code, "alerts.log")
    receiver.may_answer.clear()
    watched.metrics = DIFFER.format("1")
    child.start()
    try:
        # Killed while the receiver has the call and has not answered; something more waits behind it.
        await eventually(lambda: len(receiver.calls) == 1, 60)
        watched.metrics = DIFFER.format("3")
        await eventually(lambda: '"grew"' in (told.data_dir / FILE_NAME).read_text())
        child.kill()
        receiver.may_answer.set()
        child.start()
        await eventually(lambda: len(receiver.calls) == 3, 60)
        ids = [message["id"] for message in receiver.messages]
        assert receiver.events == [("books_differ", "raised"), ("books_differ", "raised"), ("books_differ", "grew")]
        assert ids[0] == ids[1] != ids[2], "the receiver knows the repeated one by its id"
        # A kill between two messages repeats nothing.
        child.kill()
        child.start()
        watched.metrics = DIFFER.format("4")
        await eventually(lambda: len(receiver.calls) == 4, 60)
        assert receiver.events[3] == ("books_differ", "grew")
    finally:
        child.kill()


async def test_a_damaged_file_is_put_aside_and_what_lasts_is_told_again(
    told: Settings, surroundings: tuple[Receiver, Watched, str]
) -> None:
    receiver, watched, _ = surroundings
    watched.metrics = DIFFER.format("1")
    (told.data_dir / FILE_NAME).write_text("{")
    async with running(told, "operator-alerts"):
        await eventually(lambda: receiver.events == [("books_differ", "raised")])
    assert (told.data_dir / FILE_NAME).with_suffix(".damaged").exists()


async def test_a_try_goes_the_real_way_and_stands_in_the_trail(
    told: Settings, surroundings: tuple[Receiver, Watched, str], inbox: tuple[Inbox, int], pool: asyncpg.Pool, bus: Any
) -> None:
    receiver, _, _ = surroundings
    mails, _ = inbox
    receiver.status = 500
    wanted = {"kind": "disk_low", "reason": "a new address for the night"}
    limited = told.model_copy(update={"alert_messages_per_hour": 1})
    async with running_edge(limited) as edge:
        await make_operator(edge, pool, "olga@example.org", OperatorRole.MARKET_OPERATIONS)
        silent = await edge("POST", "/operator/alerts/tries", wanted)
        assert (silent.status, silent.code) == (503, "ALERTS_SILENT")
        async with running(limited, "operator-alerts"):
            tried = (await edge("POST", "/operator/alerts/tries", wanted)).body["destinations"]
            faults = {each["name"].split(" ")[0]: each["fault"] for each in tried}
            assert faults == {"mail": "", "webhook": "the receiver answered 500"}
            alerts = [str(mail["Subject"]) for mail in mails.mails if str(mail["Subject"]).startswith("[")]
            assert alerts == ["[OpenSpot page] The disk is nearly full (a test)"] * 2
            again = (await edge("POST", "/operator/alerts/tries", wanted)).body["destinations"]
            assert all("of this hour are used up" in each["fault"] for each in again)
            assert len(receiver.calls) == 1, "tries do not flood anybody"
            listed = (await edge("GET", "/operator/alerts")).body
            assert [each["state"] for each in listed["alerts"] if each["kind"] == "disk_low"] == ["fine"]
            assert {each["name"] for each in listed["destinations"]} == {
                f"mail {ADA}", f"mail {BOB}", f"webhook http://{limited.alert_webhook_url.split('/')[2]}",
            }  # fmt: skip
            bad = await edge("POST", "/operator/alerts/tries", wanted | {"kind": "nonsense"})
            assert (bad.status, "kind" in str(bad.body)) == (400, True)
    entries = await pool.fetch("SELECT subject_id, reason FROM operator_actions WHERE action = 'alert.tried'")
    assert [tuple(entry) for entry in entries] == [("disk_low", wanted["reason"])] * 3


async def test_only_the_edge_may_call_the_service(told: Settings) -> None:
    async with running(told, "operator-alerts"), aiohttp.ClientSession() as client:
        url = f"http://127.0.0.1:{told.alerts_port}"
        for given in ({}, headers(ALERTS_KEY, "wrong"), headers("other", told.alerts_secret)):
            async with client.get(f"{url}/alerts", headers=given) as response:
                assert response.status == 401
            async with client.post(f"{url}/tries", headers=given, json={"kind": "disk_low"}) as response:
                assert response.status == 401
        async with client.get(f"{url}/alerts", headers=headers(ALERTS_KEY, told.alerts_secret)) as response:
            assert response.status == 200
