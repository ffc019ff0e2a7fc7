"""A session with the venue that breaks, falls silent or never comes about is begun again."""

import functools

import pytest

from openspot.venue import ccxt_venue
from openspot.venue.settings import VenueSettings
from openspot.venue_simulator.faults import Faults
from openspot.venue_simulator.generator import Generator
from openspot.venue_simulator.server import Simulator
from tests.support.ports import free_port
from tests.support.venue import (
    SEEDS,
    BusTicks,
    Counts,
    of,
    playing,
    quote,
    running_adapter,
    running_simulator,
    send,
    subscribed,
    trade,
)
from tests.support.waiting import eventually


@pytest.mark.proof
@pytest.mark.spec("A6.1-28")
async def test_after_a_cut_connection_ticks_come_again_and_missed_ones_stay_missed(
    venue_settings: VenueSettings, simulator: Simulator, ticks: BusTicks
) -> None:
    async with running_adapter(of(venue_settings, simulator)):
        await subscribed(simulator)
        counts = Counts()
        await send(simulator, quote(1), trade(1))
        await eventually(lambda: len(ticks.heard) == 2)
        old = set(simulator.connections)
        for connection in old:
            connection.cut()
        # Sent at once: later the adapter may already be back, and nothing would be missed.
        await send(simulator, quote(2), trade(2))
        await eventually(lambda: not old & simulator.connections)
        await subscribed(simulator)
        await send(simulator, quote(3), trade(3))
        await eventually(lambda: len(ticks.heard) == 4)
        assert counts("openspot_venue_reconnects_total", reason="closed") == 1
    assert ticks.trade_ids == [1, 3]
    assert ticks.bid_quantities == ["1.00000000", "3.00000000"]


async def test_one_lost_connection_of_a_session_begins_the_whole_session_again(
    venue_settings: VenueSettings, simulator: Simulator, ticks: BusTicks
) -> None:
    async with running_adapter(of(venue_settings, simulator)):
        await subscribed(simulator)
        old = set(simulator.connections)
        next(connection for connection in old if "btcusdt@trade" in connection.streams).cut()
        await eventually(lambda: not old & simulator.connections)
        await subscribed(simulator)
        await send(simulator, quote(1), trade(1))
        await eventually(lambda: len(ticks.heard) == 2)


async def test_a_venue_that_says_goodbye_is_followed_again_when_it_is_back(
    venue_settings: VenueSettings, ticks: BusTicks
) -> None:
    port = free_port()
    async with running_simulator(port=port) as venue, running_adapter(of(venue_settings, venue)):
        await subscribed(venue)
        await venue.stop()
        async with running_simulator(port=port) as again:
            await subscribed(again)
            await send(again, trade(1))
            await eventually(lambda: ticks.trade_ids == [1])


async def test_a_venue_that_is_away_at_the_start_is_followed_once_it_is_there(
    venue_settings: VenueSettings, ticks: BusTicks
) -> None:
    counts, port = Counts(), free_port()
    config = Simulator(Generator(seed=1), port=port).adapter_config
    async with running_adapter(venue_settings.model_copy(update={"venue_config": config})):
        await eventually(lambda: counts("openspot_venue_reconnects_total", reason="failed") >= 2)
        assert counts("openspot_venue_sessions_total") == 0
        async with running_simulator(port=port) as venue:
            await subscribed(venue)
            await send(venue, trade(1))
            await eventually(lambda: ticks.trade_ids == [1])


async def test_a_venue_without_one_market_of_the_platform_is_asked_again(
    venue_settings: VenueSettings, simulator: Simulator, ticks: BusTicks
) -> None:
    counts = Counts()
    pairs = ",".join(f"{symbol}=NO/{symbol[:3]}" for symbol in SEEDS)
    async with running_adapter(of(venue_settings, simulator, venue_symbols=pairs)) as adapter:
        await eventually(lambda: counts("openspot_venue_reconnects_total", reason="failed") >= 2)
        assert not adapter.done()
        assert simulator.connections_taken == 0


async def test_connections_that_stay_open_and_send_nothing_are_replaced(
    venue_settings: VenueSettings, simulator: Simulator, ticks: BusTicks
) -> None:
    async def hears_more_than(heard: int) -> bool:
        await send(simulator, trade(1 + simulator.sent["btcusdt@trade"]))
        return len(ticks.trade_ids) > heard

    async with running_adapter(of(venue_settings, simulator, venue_stale_s=1.0)):
        await eventually(lambda: hears_more_than(0))
        counts, old = Counts(), set(simulator.connections)
        simulator.faults = Faults(is_silent=True)
        await eventually(lambda: counts("openspot_venue_reconnects_total", reason="silent") >= 3)
        # The venue did not answer a goodbye, and yet its connections are gone.
        assert not old & simulator.connections
        assert len(simulator.connections) <= 4
        simulator.faults = Faults()
        await eventually(functools.partial(hears_more_than, len(ticks.trade_ids)))


async def test_one_half_open_connection_is_noticed_while_the_other_one_has_ticks(
    venue_settings: VenueSettings, simulator: Simulator, ticks: BusTicks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ccxt_venue, "KEEP_ALIVE_MS", 1000)
    async with running_adapter(of(venue_settings, simulator)):
        await subscribed(simulator)
        trades = next(each for each in simulator.connections if "btcusdt@trade" in each.streams)
        trades._faults = lambda: Faults(is_silent=True)
        sent = 0

        async def is_replaced() -> bool:
            nonlocal sent
            sent += 1
            await send(simulator, quote(sent))
            return trades not in simulator.connections

        await eventually(is_replaced)

        async def hears_trades_again() -> bool:
            nonlocal sent
            sent += 1
            await send(simulator, trade(sent))
            return bool(ticks.trade_ids)

        await eventually(hears_trades_again)


@pytest.mark.parametrize(
    "faults",
    [
        Faults(gap_rate=0.3),
        Faults(duplicate_rate=0.5),
        Faults(garbage_rate=0.3),
        Faults(unknown_market_rate=0.3),
        Faults(pause_s=0.002),
        Faults(),
    ],
    ids=["gaps", "duplicates", "garbage", "unknown markets", "slow", "none"],
)
async def test_a_faulty_stream_ends_no_session_no_trade_comes_twice_and_no_quote_is_lost_uncounted(
    venue_settings: VenueSettings, ticks: BusTicks, faults: Faults
) -> None:
    sent: list[int] = []
    quotes = "btcusdt@bookTicker"
    source = Generator(seed=3, markets=[SEEDS["BTC-USDT"]], quotes_per_s=200.0)
    async with (
        running_simulator(
            source, faults=faults, seed=5, on_sent=lambda _, data: sent.append(data["t"]) if "t" in data else None
        ) as venue,
        running_adapter(of(venue_settings, venue)),
    ):
        await subscribed(venue)
        counts = Counts()
        async with playing(venue):
            await eventually(lambda: len(ticks.trade_ids) >= 50)

        def quotes_accounted_for() -> float:
            published = counts("openspot_venue_ticks_total", kind="bookTicker")
            return published + counts.dropped("bookTicker", "unchanged")

        if not faults.gap_rate:
            await eventually(lambda: quotes_accounted_for() >= venue.sent[quotes])
            await eventually(lambda: len(ticks.trade_ids) >= len(sent))
        # Only duplicates make more of them.
        assert faults.duplicate_rate or quotes_accounted_for() <= venue.sent[quotes]
        assert counts("openspot_venue_sessions_total") == 0
        assert counts("openspot_venue_reconnects_total") == 0
    heard = ticks.trade_ids
    if not faults.gap_rate:
        assert heard == sent
    assert heard == [trade_id for trade_id in sent if trade_id in set(heard)]
    if faults.duplicate_rate:
        assert counts.dropped("trade", "repeated") > 10
        assert counts.dropped("bookTicker", "unchanged") > 10
    if faults.garbage_rate:
        assert counts("openspot_venue_unreadable_frames_total") > 10
    if faults.unknown_market_rate:
        assert counts.dropped("trade", "unknown_symbol") > 10
    if faults.gap_rate:
        assert len(heard) < len(sent)


@pytest.mark.proof
async def test_a_venue_that_cuts_every_connection_is_followed_in_one_session_after_the_other(
    venue_settings: VenueSettings, ticks: BusTicks
) -> None:
    source = Generator(seed=3, markets=[SEEDS["BTC-USDT"]], quotes_per_s=200.0)
    counts = Counts()
    async with (
        running_simulator(source, faults=Faults(disconnect_after=40)) as venue,
        running_adapter(of(venue_settings, venue)),
        playing(venue),
    ):
        await eventually(lambda: counts("openspot_venue_reconnects_total", reason="closed") >= 3, timeout_s=60)
        venue.faults = Faults()
        heard = len(ticks.trade_ids)
        await eventually(lambda: len(ticks.trade_ids) >= heard + 50, timeout_s=60)
    assert ticks.trade_ids == sorted(set(ticks.trade_ids))
