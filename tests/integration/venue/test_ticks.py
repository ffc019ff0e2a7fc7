"""What the venue sends is what the bus gets: every tick, every digit."""

from collections import Counter
from typing import Any

import nats
import nats.js.errors
import pytest
from nats.aio.client import Client

from openspot.kit.bus import Bus
from openspot.venue.settings import VenueSettings
from openspot.venue_simulator.generator import Generator
from openspot.venue_simulator.recording import Recording
from openspot.venue_simulator.server import Simulator
from tests.support.shared_data import BINANCE, needs_binance
from tests.support.venue import (
    ALL_STREAMS,
    PROBE,
    SEEDS,
    BusTicks,
    Counts,
    ScriptedSource,
    of,
    playing,
    quote,
    running_adapter,
    running_simulator,
    send,
    subscribed,
    trade,
)
from tests.support.waiting import eventually, stretched


@pytest.mark.proof
@needs_binance
@pytest.mark.spec("A6.1-21", "A6.1-22", "A6.1-23", "A6.1-24")
async def test_every_recorded_tick_is_published_once_with_every_digit(
    venue_settings: VenueSettings, ticks: BusTicks
) -> None:
    sent: list[tuple[str, dict[str, Any]]] = []
    recording = Recording(BINANCE)
    async with (
        running_simulator(recording, speed=0, on_sent=lambda *message: sent.append(message)) as venue,
        # The test is about exactness, not about pace: nothing is dropped for the sake of the queue.
        running_adapter(of(venue_settings, venue, venue_queue_max=len(recording))),
    ):
        await subscribed(venue)
        await venue.play()
        trades = [data for stream, data in sent if stream == "btcusdt@trade"]
        quotes = [data for stream, data in sent if stream == "btcusdt@bookTicker"]
        await eventually(lambda: len(ticks.heard) >= len(trades) + len(quotes), timeout_s=120)
    assert (len(trades), len(quotes)) == (9757, 28040)
    assert ticks.of_kind("trade") == [
        {
            "venue": "binance",
            "symbol": "BTC-USDT",
            "price": data["p"],
            "quantity": data["q"],
            "tradeId": str(data["t"]),
            "timestamp": data["T"],
            "buyerIsMaker": data["m"],
        }
        for data in trades
    ]
    published = ticks.of_kind("bookTicker")
    assert [[p["bidPrice"], p["bidQty"], p["askPrice"], p["askQty"]] for p in published] == [
        [data["b"], data["B"], data["a"], data["A"]] for data in quotes
    ]
    assert len(ticks.heard) == len(trades) + len(quotes)


@pytest.mark.spec("A6.1-21", "A6.1-22", "A6.1-25")
async def test_every_market_of_the_platform_gets_ticks_under_its_own_name(
    venue_settings: VenueSettings, ticks: BusTicks
) -> None:
    async with (
        running_simulator(Generator(seed=7, quotes_per_s=40.0)) as venue,
        running_adapter(of(venue_settings, venue)),
    ):
        await subscribed(venue, ALL_STREAMS)
        wanted = {f"venue.binance.{kind}.{symbol}" for kind in ("bookTicker", "trade") for symbol in SEEDS}
        async with playing(venue):
            await eventually(lambda: wanted <= {subject for subject, _ in ticks.heard})
    assert {subject for subject, _ in ticks.heard} == wanted
    assert all(subject.endswith(f".{payload['symbol']}") for subject, payload in ticks.heard)


@pytest.mark.spec("A6.1-23")
async def test_a_book_ticker_has_the_fields_of_the_specification(
    venue_settings: VenueSettings, simulator: Simulator, ticks: BusTicks
) -> None:
    async with running_adapter(of(venue_settings, simulator)):
        await subscribed(simulator)
        await send(simulator, quote(7, bid="100.12345678"))
        await eventually(lambda: ticks.heard)
    [(subject, payload)] = ticks.heard
    assert subject == "venue.binance.bookTicker.BTC-USDT"
    assert payload.pop("timestamp") > 1_700_000_000_000
    assert payload == {
        "venue": "binance",
        "symbol": "BTC-USDT",
        "bidPrice": "100.12345678",
        "bidQty": "7.00000000",
        "askPrice": "101.00000000",
        "askQty": "2.50000000",
    }


@pytest.mark.spec("A6.1-24")
@pytest.mark.parametrize("buyer_is_maker", [True, False])
async def test_a_trade_says_who_was_the_maker(
    venue_settings: VenueSettings, simulator: Simulator, ticks: BusTicks, buyer_is_maker: bool
) -> None:
    async with running_adapter(of(venue_settings, simulator)):
        await subscribed(simulator)
        await send(simulator, trade(3_735_683_259, m=buyer_is_maker))
        await eventually(lambda: ticks.heard)
    [(_, payload)] = ticks.heard
    assert payload["buyerIsMaker"] is buyer_is_maker
    assert payload["tradeId"] == "3735683259"


@pytest.mark.spec("A6.1-26")
async def test_ticks_of_a_symbol_that_the_platform_does_not_know_are_dropped_and_counted(
    venue_settings: VenueSettings, simulator: Simulator, ticks: BusTicks
) -> None:
    async with running_adapter(of(venue_settings, simulator)):
        await subscribed(simulator)
        counts = Counts()
        unknown = [quote(1, s="ZZZQQQ"), trade(1, s="ZZZQQQ")]
        await send(simulator, *unknown, quote(2), trade(2))
        await eventually(lambda: len(ticks.heard) == 2)
        await eventually(lambda: counts.dropped("trade", "unknown_symbol") == 1)
        assert counts.dropped("bookTicker", "unknown_symbol") == 1
    assert {payload["symbol"] for _, payload in ticks.heard} == {"BTC-USDT"}


async def test_ticks_that_cannot_be_used_are_dropped_and_counted_one_by_one(
    venue_settings: VenueSettings, simulator: Simulator, ticks: BusTicks
) -> None:
    async with running_adapter(of(venue_settings, simulator)):
        await subscribed(simulator)
        counts = Counts()
        await send(simulator, quote(1, b="0.00000000"), quote(2, a="none"), trade(1, p=""), trade(2, q="-1"), quote(3))
        await eventually(lambda: ticks.bid_quantities == ["3.00000000"])
        await eventually(lambda: counts.dropped("trade", "unusable") == 2)
        assert counts.dropped("bookTicker", "unusable") == 2
        await send(simulator, trade(3))
        await eventually(lambda: ticks.trade_ids == [3])


async def test_a_market_of_another_name_serves_the_symbols_that_are_paired_with_it(
    venue_settings: VenueSettings, ticks: BusTicks
) -> None:
    async with running_simulator(ScriptedSource(symbols=("BTC-USDT", "ETH-USDT"))) as venue:
        settings = of(venue_settings, venue, venue_symbols="BTC-USD=BTC/USDT")
        async with running_adapter(settings):
            await subscribed(venue)
            await send(venue, quote(1))
            await eventually(lambda: len(ticks.heard) == 2)
    assert {subject for subject, _ in ticks.heard} == {
        "venue.binance.bookTicker.BTC-USD",
        "venue.binance.bookTicker.BTC-USDT",
    }


@pytest.mark.spec("A1.1-18")
async def test_the_adapter_subscribes_to_no_subject_of_the_platform(
    venue_settings: VenueSettings, simulator: Simulator, ticks: BusTicks, monkeypatch: pytest.MonkeyPatch
) -> None:
    subscriptions: Counter[str] = Counter()
    subscribe = Client.subscribe

    async def note(client: Client, subject: str, *arguments: Any, **options: Any) -> Any:
        subscriptions[subject.partition(".")[0]] += 1
        return await subscribe(client, subject, *arguments, **options)

    monkeypatch.setattr(Client, "subscribe", note)
    async with running_adapter(of(venue_settings, simulator)):
        await subscribed(simulator)
        await send(simulator, quote(1), trade(1))
        await eventually(lambda: len(ticks.heard) == 2)
    # Inboxes are replies to itself.
    assert set(subscriptions) == {"_INBOX"}


@pytest.mark.spec("A6.1-27")
async def test_no_stream_keeps_a_tick_and_a_late_listener_gets_none(
    venue_settings: VenueSettings, simulator: Simulator, ticks: BusTicks
) -> None:
    bus = await Bus.connect(venue_settings, "test")
    await bus.ensure_streams()
    await bus.close()
    async with running_adapter(of(venue_settings, simulator)):
        await subscribed(simulator)
        await send(simulator, quote(1), trade(1))
        await eventually(lambda: len(ticks.heard) == 2)
        late = await nats.connect(venue_settings.nats_url)
        subscription = await late.subscribe("venue.>")
        await late.publish(PROBE, b"")
        assert (await subscription.next_msg(timeout=stretched(30))).subject == PROBE
        await send(simulator, quote(2))
        first = await subscription.next_msg(timeout=stretched(30))
        await late.close()
    assert b'"bidQty":"2.00000000"' in first.data
    jetstream = ticks.client.jetstream()
    streams = await jetstream.streams_info()
    assert len(streams) > 0
    assert sum(stream.state.messages for stream in streams) == 0
    for subject in ("venue.binance.bookTicker.BTC-USDT", "venue.binance.trade.BTC-USDT"):
        with pytest.raises(nats.js.errors.NotFoundError):
            await jetstream.find_stream_name_by_subject(subject)
