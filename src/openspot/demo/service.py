"""The composition root of the demo market, and its health."""

import asyncio
import random
import secrets
from decimal import Decimal

from openspot.client import OpenSpotClient, OpenSpotError, RetryPolicy
from openspot.demo.bot import PAUSE_S_MAX, PAUSE_S_MIN, Bot, NotReadyError, Surroundings
from openspot.demo.maker import Maker
from openspot.demo.market import demo_markets
from openspot.demo.prices import SimulatedPrices, usual_prices
from openspot.demo.settings import DemoSettings
from openspot.demo.taker import Taker
from openspot.demo.treasury import Treasury
from openspot.demo.valuation import distances, dollar_prices, targets
from openspot.domain.market import load_markets
from openspot.http.server import serve_health
from openspot.kit.backoff import Backoff, retry
from openspot.kit.bus import Bus
from openspot.kit.clock import system_clock
from openspot.kit.log import get_logger
from openspot.kit.secrets_file import with_secrets
from openspot.kit.service_frame import ServiceFrame
from openspot.kit.tasks import run_until

log = get_logger("demo")

PRICE_STEP_S = 0.25
END_S_MAX = 10.0
"""At a stop, cancelling the orders gets this much time. The next start cancels those that stay."""
SILENCE_ROUNDS = 10
SILENCE_S_MIN = 30.0
ONE_ATTEMPT = RetryPolicy(attempts_max=1)
"""Bots do not repeat a request. They read balances and orders again."""


async def run(settings: DemoSettings, stop: asyncio.Event) -> None:
    """Quote and trade until `stop` is set, then take all orders out of the books.

    Raises PortTakenError or BusError if it cannot start.
    """
    settings = with_secrets(settings)
    async with ServiceFrame("demo", settings, stop) as frame:
        bus = await frame.connect_bus(vital=False)
        clients = [OpenSpotClient(settings.rest_url, retry=ONE_ATTEMPT) for _ in range(2)]
        for client in clients:
            frame.at_end(client.close)
        bots: list[Bot] = []
        silence_s_max = max(SILENCE_S_MIN, SILENCE_ROUNDS * max(settings.demo_refresh_s, settings.demo_take_s))

        async def check_bots() -> None:
            if not bots:
                raise NotReadyError("the market's last prices are not known yet")
            for bot in bots:
                bot.check(silence_s_max)

        frame.health.add("bots", check_bots, vital=True)
        await serve_health(frame, settings.demo_port, "OpenSpot demo market", settings.demo_host)
        log.info("listening", port=settings.demo_port)
        frame.at_end(lambda: _end(bots))
        frame.start("bots", _trade(settings, bus, clients, bots, stop), finishes=True)
        await frame.until_stopped()


async def _trade(
    settings: DemoSettings, bus: Bus, clients: list[OpenSpotClient], bots: list[Bot], stop: asyncio.Event
) -> None:
    """Make the bots, start from the markets' last prices, and let them trade until `stop` is set."""
    configuration = load_markets()
    markets = demo_markets(configuration)
    usual = dollar_prices(markets, usual_prices(configuration.seeds))
    last_prices: dict[str, Decimal] = {}
    await run_until(stop, _read_last_prices(clients[0], last_prices))
    if stop.is_set():
        return
    start = distances(dollar_prices(markets, last_prices), usual)
    prices = SimulatedPrices(configuration.seeds, secrets.randbits(32), settings.demo_quotes_per_s, start)
    aims = targets(settings.demo_funds_dollars, settings.demo_inventory_band, usual, configuration.assets)
    around = Surroundings(markets, prices.mids, usual, aims, Treasury(bus, aims, system_clock))
    rules = settings.quoting
    maker = Maker(
        clients[0],
        settings.demo_password,
        around,
        stop,
        rules,
        level_dollars=settings.demo_level_dollars,
        refresh_s=settings.demo_refresh_s,
    )
    taker = Taker(
        clients[1],
        settings.demo_password,
        around,
        stop,
        take_dollars=settings.demo_take_dollars,
        take_s=settings.demo_take_s,
        # Far enough for the first two levels, wherever they stand within their tolerance.
        reach_bps=rules.half_spread_bps + rules.gap_bps + rules.shift_bps + 2 * rules.tolerance_bps,
        begin=maker.quoting,
        chance=random.Random(),  # noqa: S311  (sides and sizes, not secrets)
    )
    bots += [maker, taker]
    async with asyncio.TaskGroup() as group:
        group.create_task(_play(prices, stop))
        for bot in bots:
            group.create_task(bot.run())


async def _read_last_prices(client: OpenSpotClient, prices: dict[str, Decimal]) -> None:
    """Set the last price of each market that has traded, so that a new start goes on where the last one ended."""
    backoff = Backoff(PAUSE_S_MIN, PAUSE_S_MAX)
    tickers = await retry(
        client.tickers, (OpenSpotError,), backoff, lambda error: log.warning("no tickers yet", reason=str(error))
    )
    prices.update({ticker.symbol: ticker.last_price for ticker in tickers if ticker.last_price is not None})


async def _play(prices: SimulatedPrices, stop: asyncio.Event) -> None:
    clock = asyncio.get_running_loop().time
    began = clock()
    while not stop.is_set():
        prices.advance(clock() - began)
        await asyncio.sleep(PRICE_STEP_S)


async def _end(bots: list[Bot]) -> None:
    for bot in bots:
        try:
            async with asyncio.timeout(END_S_MAX / len(bots)):
                await bot.end()
        except (OpenSpotError, NotReadyError, TimeoutError) as error:
            log.warning("orders may be left; the next start cancels them", bot=bot.name, reason=repr(error))
