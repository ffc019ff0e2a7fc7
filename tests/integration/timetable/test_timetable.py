"""The timetable on a platform: what it finds and what it cannot do is told, and told as over once it is mended."""

import json
from collections.abc import AsyncIterator
from types import MappingProxyType

import asyncpg
import pytest

from openspot.http.operator_alerts import AlertKind
from openspot.kit.backup_outcome import backup_outcome
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from openspot.operator_alerts import book
from openspot.operator_alerts.kinds import ABOUT
from openspot.reconcile.rebuild import rebuild
from tests.support.alert_sinks import Receiver, alert_surroundings
from tests.support.in_process_platform import running
from tests.support.mirrored_market import WAIT_S, MirroredMarket, mirrored_market
from tests.support.waiting import eventually

pytestmark = pytest.mark.proof

PROGRAM_S = 120
"""A program of the timetable starts an interpreter, on a machine that may be busy."""


@pytest.fixture
async def receiver(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Receiver, str]]:
    """A webhook and its address. Alerts begin and end without a pause."""
    monkeypatch.setattr(book, "QUIET_S", 0.1)
    at_once = {kind: about._replace(lasts_s=0) for kind, about in ABOUT.items()}
    monkeypatch.setattr(book, "ABOUT", MappingProxyType(at_once))
    async with alert_surroundings() as (found, _, address):
        yield found, address


@pytest.fixture
async def market(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, receiver: tuple[Receiver, str]
) -> AsyncIterator[MirroredMarket]:
    """Engine, router and ledger, with web server and alerts beside them. No run of the timetable is due."""
    told = settings.model_copy(
        update={
            "alert_mails": "",
            "alert_webhook_url": f"{receiver[1]}/hook",
            "alert_webhook_secret": "webhook-secret-of-at-least-thirty-two-bytes",
            "alerts_secret": "secret-of-the-edge-of-thirty-two-bytes",
            "alert_check_s": 0.1,
            "alert_disk_free_mib": 0,
            "reconcile_every_s": 0,
            "backup_every_s": 0,
            "watched_services": f"Web server=http://127.0.0.1:{settings.web_port}",
        }
    )
    async with mirrored_market(told, bus, pool) as made:
        await made.fund()
        await made.trade()
        async with running(told, "web", "operator-alerts"):
            yield made


def told_of(receiver: Receiver, kind: AlertKind) -> list[str]:
    """What was told of one alert."""
    return [event for name, event in receiver.events if name == kind]


async def test_the_timed_comparison_finds_a_difference_and_tells_it_until_it_is_repaired(
    market: MirroredMarket, receiver: tuple[Receiver, str]
) -> None:
    found, _ = receiver
    data_dir = market.settings.data_dir
    await market.pool.execute("DELETE FROM ledger_entries WHERE transaction_id = 'tx-1'")
    async with running(market.settings.model_copy(update={"reconcile_every_s": 1}), "timetable"):
        await eventually(lambda: told_of(found, AlertKind.BOOKS_DIFFER) == ["raised"], PROGRAM_S)
        kept = json.loads((data_dir / "reconcile.json").read_bytes())
        assert kept["startedBy"] == "timetable"
        assert 0 < kept["startedAt"] <= kept["at"]
        assert "entry tx-1" in {f"{each['kind']} {each['name']}" for each in kept["report"]["differences"]}
        await rebuild(market.settings, is_plan=False, wait_s=WAIT_S)
        await eventually(lambda: told_of(found, AlertKind.BOOKS_DIFFER) == ["raised", "over"], PROGRAM_S)
    assert told_of(found, AlertKind.COMPARISON_FAILS) == []


async def test_a_comparison_whose_outcome_cannot_be_kept_is_told_with_the_reason_until_one_is_made(
    market: MirroredMarket, receiver: tuple[Receiver, str]
) -> None:
    found, _ = receiver
    in_the_way = market.settings.data_dir / "reconcile.json"
    in_the_way.mkdir()
    async with running(market.settings.model_copy(update={"reconcile_every_s": 1}), "timetable"):
        await eventually(lambda: told_of(found, AlertKind.COMPARISON_FAILS) == ["raised"], PROGRAM_S)
        message = next(each for each in found.messages if each["kind"] == AlertKind.COMPARISON_FAILS)
        assert "the outcome cannot be kept in" in message["text"]
        in_the_way.rmdir()
        await eventually(lambda: told_of(found, AlertKind.COMPARISON_FAILS) == ["raised", "over"], PROGRAM_S)
    assert told_of(found, AlertKind.BOOKS_DIFFER) == []


async def test_a_backup_folder_that_cannot_be_written_is_told_until_it_can(
    market: MirroredMarket, receiver: tuple[Receiver, str]
) -> None:
    found, _ = receiver
    folder = market.settings.data_dir.with_name("backups-of-a-test")
    folder.write_text("a file where a folder should be", "utf-8")
    # One database stands for both.
    changes = {
        "backup_every_s": 1, "backup_dir": str(folder), "subscriptions_database_url": market.settings.database_url,
    }  # fmt: skip
    async with running(market.settings.model_copy(update=changes), "timetable"):
        await eventually(lambda: told_of(found, AlertKind.BACKUP_FAILS) == ["raised"], PROGRAM_S)
        message = next(each for each in found.messages if each["kind"] == AlertKind.BACKUP_FAILS)
        assert str(folder) in message["text"]
        assert backup_outcome(market.settings.data_dir).made_at is None
        folder.unlink()
        await eventually(lambda: told_of(found, AlertKind.BACKUP_FAILS) == ["raised", "over"], PROGRAM_S)
    assert backup_outcome(market.settings.data_dir).made_at is not None
