"""The markets and assets of the platform, as its services know them.

By default they are the twelve of domain/markets.toml (facts A2.5-07, A2.5-08). With `OPENSPOT_MARKETS=live` a service
asks the engine for its list at the start and follows it, so that it learns of a change within a second. While the
engine does not respond, the list stays as it was. What markets offer is not known before the first list: an operator
may have taken back what the seed offers.
"""

import asyncio
from collections.abc import Awaitable, Callable

import aiohttp
import msgspec

from openspot.contracts.listings import MarketList, MarketTerms
from openspot.domain.market import AssetScale, MarketConfiguration, MarketLimits, load_markets
from openspot.domain.offers import NOTHING, MarketOffers
from openspot.engine_client.errors import EngineError, EngineRefusedError, EngineUnreachableError
from openspot.engine_client.settings import EngineAddressSettings
from openspot.kit.backoff import Backoff
from openspot.kit.log import get_logger
from openspot.kit.service_frame import ServiceFrame

log = get_logger("markets")

WAIT_S = 15
"""The engine answers after this many seconds, if nothing has changed."""
ANSWER_S_MAX = 5.0
"""… and its answer takes at most this much longer."""
PAUSE_S = 0.5
PAUSE_S_MAX = 2.0

Changed = Callable[[], Awaitable[None]]


class LiveMarkets:
    """Follows one engine's list. `configuration` changes in place: its limits, its assets, and what markets offer."""

    def __init__(self, url: str, seed: MarketConfiguration) -> None:
        self._seed_offers = seed.offers
        self._url = f"{url}/api/v1/listings"
        self._version = ""
        self._changed: list[Changed] = []
        self.configuration = MarketConfiguration(dict(seed.limits), seed.seeds, dict(seed.assets), knows_offers=False)

    def on_change(self, changed: Changed) -> None:
        """Call `changed` after each change. It raises EngineError to be called again."""
        self._changed.append(changed)

    async def load(self, session: aiohttp.ClientSession, wait_s: int = 0) -> None:
        """Take the engine's list; with `wait_s`, wait so long for another one. Raises EngineError."""
        query = {"version": self._version, "wait": str(wait_s)}
        timeout = aiohttp.ClientTimeout(total=wait_s + ANSWER_S_MAX)
        try:
            async with session.get(self._url, params=query, timeout=timeout) as response:
                body, status = await response.read(), response.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise EngineUnreachableError(f"no engine at {self._url}: {error!r}") from error
        if status == 204:
            return
        if status != 200:
            raise EngineRefusedError(f"the engine responded with {status} to {self._url}")
        try:
            listed = msgspec.json.decode(body, type=MarketList)
            terms = {market.symbol: market.terms for market in listed.markets if market.terms}
            limits = {symbol: known.limits(symbol) for symbol, known in terms.items()}
            offers = {symbol: self._offers(symbol, known) for symbol, known in terms.items()}
        except (msgspec.MsgspecError, ValueError) as error:
            raise EngineRefusedError(f"the engine's list of markets cannot be read: {error}") from error
        self._take(listed, limits, offers)
        for changed in self._changed:
            await changed()
        # Only now: a change that somebody could not take is taken again.
        self._version = listed.version

    def _take(self, listed: MarketList, limits: dict[str, MarketLimits], offers: dict[str, MarketOffers]) -> None:
        configuration = self.configuration
        configuration.limits.clear()
        configuration.limits.update(limits)
        configuration.offers.clear()
        configuration.offers.update(offers)
        configuration.knows_offers = True
        # An asset stays known, even if the engine has deleted it: rows may name it.
        configuration.assets.update(
            {
                currency.asset: AssetScale(currency.asset, currency.currency_id, currency.places)
                for currency in listed.currencies
            }
        )

    def _offers(self, symbol: str, terms: MarketTerms) -> MarketOffers:
        # An engine of before names no offers.
        return self._seed_offers.get(symbol, NOTHING) if terms.offers is msgspec.UNSET else terms.market_offers

    async def run(self) -> None:
        """Follow the list until cancelled."""
        backoff = Backoff(PAUSE_S, PAUSE_S_MAX)
        async with aiohttp.ClientSession() as session:
            while True:
                try:
                    await self.load(session, WAIT_S if self._version else 0)
                except EngineError as error:
                    log.warning("the list of markets is not read", error=str(error))
                    await asyncio.sleep(backoff.failed())
                else:
                    backoff.succeeded()
                    # An engine that too many wait for answers at once.
                    await asyncio.sleep(PAUSE_S)


async def followed_markets(
    settings: EngineAddressSettings, frame: ServiceFrame, changed: Changed | None = None
) -> MarketConfiguration:
    """The markets and assets of a service, which change in place if the settings say so.

    `changed` is called after each change from now on. Without an engine, they are the platform's own twelve until it
    responds, and offer nothing.
    """
    seed = load_markets()
    if not settings.follows_listings:
        return seed
    live = LiveMarkets(settings.engine_url, seed)
    try:
        async with aiohttp.ClientSession() as session:
            await live.load(session)
    except EngineError as error:
        log.warning("beginning without the engine's list of markets", error=str(error))
    if changed is not None:
        live.on_change(changed)
    frame.start("markets", live.run())
    return live.configuration
