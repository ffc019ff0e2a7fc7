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
from openspot.demo.taker import Taker, Turn
from openspot.demo.treasury import HouseFunding, Treasury, house_fundings
from openspot.demo.valuation import distances, dollar_prices, targets
from openspot.domain.market import load_markets
from openspot.http.server import serve_health
from openspot.kit.backoff import Backoff, retry
from openspot.kit.bus import Bus, BusError
from openspot.kit.clock import system_clock
from openspot.kit.log import get_logger
from openspot.kit.secrets_file import with_secrets
from openspot.kit.service_frame import ServiceFrame
from openspot.kit.tasks import run_until
from openspot.rest_edge.common.demo_account_names import DEMO_ACCOUNTS, DEMO_TAKERS

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
        clients = [OpenSpotClient(settings.rest_url, retry=ONE_ATTEMPT) for _ in DEMO_ACCOUNTS]
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
    assets = configuration.assets
    aims = targets(settings.demo_funds_dollars, settings.demo_inventory_band, usual, assets)
    treasury = Treasury(bus, aims, system_clock)
    around = Surroundings(markets, prices.mids, usual, aims, treasury)
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
    takers = [
        Taker(
            client,
            settings.demo_password,
            around,
            stop,
            turn=Turn(place, len(DEMO_TAKERS)),
            take_dollars=settings.demo_take_dollars,
            take_s=settings.demo_take_s,
            # Far enough for the first two levels, wherever they stand within their tolerance.
            reach_bps=rules.half_spread_bps + rules.gap_bps + rules.shift_bps + 2 * rules.tolerance_bps,
            begin=maker.quoting,
            chance=random.Random(),  # noqa: S311  (sides and sizes, not secrets)
        )
        for place, client in enumerate(clients[1:])
    ]
    bots += [maker, *takers]
    async with asyncio.TaskGroup() as group:
        group.create_task(_play(prices, stop))
        group.create_task(run_until(stop, _fund_house(treasury, house_fundings(settings.house_dollars, usual, assets))))
        for bot in bots:
            group.create_task(bot.run())


async def _read_last_prices(client: OpenSpotClient, prices: dict[str, Decimal]) -> None:
    """Set the last price of each market that has traded, so that a new start goes on where the last one ended."""
    backoff = Backoff(PAUSE_S_MIN, PAUSE_S_MAX)
    tickers = await retry(
        client.tickers, (OpenSpotError,), backoff, lambda error: log.warning("no tickers yet", reason=str(error))
    )
    prices.update({ticker.symbol: ticker.last_price for ticker in tickers if ticker.last_price is not None})


async def _fund_house(treasury: Treasury, fundings: list[HouseFunding]) -> None:
    """Fund the accounts of the house. The platform credits each deposit once, at whichever start it arrives."""
    await retry(
        lambda: treasury.fund_house(fundings),
        (BusError,),
        Backoff(PAUSE_S_MIN, PAUSE_S_MAX),
        lambda error: log.warning("the house has no funds yet", reason=str(error)),
    )


async def _play(prices: SimulatedPrices, stop: asyncio.Event) -> None:
    clock = asyncio.get_running_loop().time
    began = clock()
    while not stop.is_set():
        prices.advance(clock() - began)
        await asyncio.sleep(PRICE_STEP_S)


async def _end(bots: list[Bot]) -> None:
    await asyncio.gather(*(_end_one(bot) for bot in bots))


async def _end_one(bot: Bot) -> None:
    try:
        async with asyncio.timeout(END_S_MAX):
            await bot.end()
    except (OpenSpotError, NotReadyError, TimeoutError) as error:
        log.warning("orders may be left; the next start cancels them", bot=bot.name, reason=repr(error))
