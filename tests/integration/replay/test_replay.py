"""A replay through real services: every figure of its report, and every difference that it has to find."""

import io
from collections.abc import AsyncIterator

import asyncpg
import pytest
from rich.console import Console

from openspot.kit.settings import Settings
from openspot.reconcile.store import EngineReader, EngineUnavailableError, MirrorReader
from openspot.replay.agreement import Acknowledged, check_agreement
from openspot.replay.report import ReplayReport, format_report
from openspot.replay.run import THROTTLE_ADVICE, ReplayError, ReplayOptions, replay
from openspot.replay.source import read_events
from tests.support.in_process_platform import running
from tests.support.shared_data import BITSTAMP, needs_bitstamp

SERVICES = ("engine", "ledger", "router", "rest-edge")
NOTHING = Acknowledged(frozenset(), frozenset())


@pytest.fixture
async def platform(settings: Settings) -> AsyncIterator[Settings]:
    async with running(settings, *SERVICES):
        yield settings


def assert_sound(report: ReplayReport) -> None:
    """What must hold of any replay."""
    counts, text = report.statistics, format_report(report)
    assert report.agrees, text
    assert counts.orders_sent == counts.orders_accepted + sum(counts.orders_rejected.values()), text
    assert not counts.orders_unclear, text
    assert not counts.cancels_failed, text
    assert counts.cancels_sent == counts.cancels_done + counts.cancels_too_late, text
    assert len(counts.latencies_s) == counts.orders_sent, text
    assert report.trades_compared == report.trades, text
    assert report.orders_compared >= counts.orders_accepted, text


@pytest.mark.spec("A1.2-04", "A1.2-05", "A1.2-06")
async def test_a_sample_flow_leaves_no_difference(platform: Settings) -> None:
    output = io.StringIO()
    options = ReplayOptions(platform, users=4, events_max=400, catch_up_s=30, console=Console(file=output))
    report = await replay(options)
    assert_sound(report)
    assert (report.events, report.users, report.symbol) == (400, 4, "BTC-USD")
    assert report.statistics.orders_rejected
    assert report.trades > 20
    assert report.volume > 0
    # Two assets of each user, and the fees.
    assert report.accounts_compared == 9
    assert "comparing engine, ledger and rows" in output.getvalue()


@needs_bitstamp
async def test_a_real_flow_leaves_no_difference_and_shows_the_venues_trades(platform: Settings) -> None:
    report = await replay(ReplayOptions(platform, path=BITSTAMP, users=8, events_max=600, catch_up_s=30))
    assert_sound(report)
    assert report.source == BITSTAMP.name
    assert report.venue is not None
    assert report.venue.trades > 0
    created = {event.venue_id for event in list(read_events(BITSTAMP))[:600] if event.action == "created"}
    assert report.statistics.orders_sent == len(created)
    assert report.statistics.cancels_without_order > 0


@pytest.mark.proof
async def test_each_kind_of_damage_is_named(platform: Settings, pool: asyncpg.Pool) -> None:
    assert_sound(await replay(ReplayOptions(platform, users=2, events_max=150, catch_up_s=30)))
    users = [row["user_id"] for row in await pool.fetch("SELECT user_id FROM users")]
    async with EngineReader(platform) as engine:

        async def kinds(acknowledged: Acknowledged = NOTHING) -> dict[str, set[str]]:
            agreement = await check_agreement(engine, MirrorReader(pool), users, acknowledged, 1, timeout_s=0)
            assert agreement.caught_up
            found: dict[str, set[str]] = {}
            for difference in agreement.differences:
                found.setdefault(difference.kind, set()).add(difference.field)
            return found

        assert await kinds() == {}
        assert await kinds(Acknowledged({"no-such-order"}, frozenset())) == {"order": {"order"}}

        await pool.execute(
            "UPDATE ledger_accounts SET available = available + 0.000000000000000001 WHERE user_id = $1", users[0]
        )
        assert await kinds() == {"balance": {"total"}}
        await pool.execute(
            "UPDATE orders SET fee = fee + 0.01, status = 'open' WHERE order_id IN"
            " (SELECT order_id FROM orders WHERE status = 'filled' LIMIT 1)"
        )
        assert await kinds() == {
            "balance": {"total"},
            "order": {"fee", "status"},
            "fills": {"fee (sum of the trades)"},
        }
        await pool.execute(
            "UPDATE trades SET price = price + 0.01 WHERE trade_id IN (SELECT trade_id FROM trades LIMIT 1)"
        )
        assert (await kinds())["trade"] == {"price"}


@pytest.mark.proof
async def test_mirrors_that_lack_rows_have_not_caught_up(platform: Settings, pool: asyncpg.Pool) -> None:
    assert_sound(await replay(ReplayOptions(platform, users=2, events_max=100, catch_up_s=30)))
    users = [row["user_id"] for row in await pool.fetch("SELECT user_id FROM users")]
    await pool.execute("DELETE FROM trades WHERE trade_id IN (SELECT trade_id FROM trades LIMIT 1)")
    async with EngineReader(platform) as engine:
        agreement = await check_agreement(engine, MirrorReader(pool), users, NOTHING, 1, timeout_s=0)
    assert not agreement.caught_up
    assert {difference.kind for difference in agreement.differences} == {"trade", "fills"}


async def test_a_throttled_edge_is_waited_for_and_remarked_once(settings: Settings) -> None:
    throttled = settings.model_copy(update={"throttle_enabled": True})
    output = io.StringIO()
    async with running(throttled, *SERVICES):
        console = Console(file=output, width=200)
        report = await replay(ReplayOptions(throttled, users=2, events_max=60, catch_up_s=30, console=console))
    assert_sound(report)
    assert report.statistics.throttle_waits > 0
    assert output.getvalue().count(THROTTLE_ADVICE) == 1
    assert "throttled" in format_report(report)


async def test_a_platform_that_is_not_running_is_named(settings: Settings) -> None:
    with pytest.raises(ReplayError, match="event stream"):
        await replay(ReplayOptions(settings, events_max=10))
    with pytest.raises(ReplayError, match="database"):
        await replay(ReplayOptions(settings.model_copy(update={"database_url": ""}), events_max=10))


async def test_an_engine_that_does_not_know_the_key_is_named(platform: Settings) -> None:
    stranger = platform.model_copy(update={"engine_api_secret": "another"})
    async with EngineReader(stranger) as engine:
        with pytest.raises(EngineUnavailableError, match="401"):
            await engine.balances([])
        with pytest.raises(EngineUnavailableError, match="event stream"):
            await engine.position()
    async with EngineReader(platform) as engine:
        last = (await engine.position()).last_seq
        assert [batch async for batch in engine.events(last + 1)] == []
