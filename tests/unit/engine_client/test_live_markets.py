"""A service's list of markets: it changes in place, stays while the engine is away, and is taken whole."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp import web

from openspot.contracts.listings import ListedAsset, ListedMarket, MarketList, terms_of
from openspot.domain.market import AssetScale, MarketLimits, load_markets
from openspot.domain.offers import EVERYTHING, NOTHING, EarlyRedemption, Offer, StakingTerms
from openspot.engine_client.errors import EngineRefusedError, EngineUnreachableError
from openspot.engine_client.live_markets import LiveMarkets

SEED = load_markets()
DOGE_LIMITS = MarketLimits("DOGE-USD", Decimal(1), Decimal(1000), Decimal(1), Decimal(5000), 2000, 500)
BTC = ListedAsset(asset="BTC", currency_id=3, name="Bitcoin", places=8)
USD = ListedAsset(asset="USD", currency_id=1, name="US dollar", places=2)
DOGE = ListedAsset(asset="DOGE", currency_id=8, name="Dogecoin", places=5, logo="doge")


def listed(limits: MarketLimits) -> ListedMarket:
    return ListedMarket(symbol=limits.symbol, terms=terms_of(limits), taker_fee=25, maker_fee=15)


FIRST = MarketList(version="one", currencies=[USD, BTC], markets=[listed(SEED.limits["BTC-USD"])])
SECOND = MarketList(
    version="two", currencies=[USD, BTC, DOGE], markets=[listed(SEED.limits["BTC-USD"]), listed(DOGE_LIMITS)]
)


class Engine:
    """Answers with `reply`; remembers what it was asked."""

    def __init__(self) -> None:
        self.reply: Any = FIRST
        self.status = 200
        self.asked: list[dict[str, str]] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(dict(request.query))
        if isinstance(self.reply, MarketList) and self.reply.version == request.query["version"]:
            return web.Response(status=204)
        body = msgspec.json.encode(self.reply) if isinstance(self.reply, MarketList) else self.reply
        return web.Response(status=self.status, body=body, content_type="application/json")


@pytest.fixture
async def engine() -> AsyncIterator[tuple[Engine, str]]:
    served = Engine()
    application = web.Application()
    application.router.add_get("/api/v1/listings", served.answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    yield served, f"http://127.0.0.1:{port}"
    await runner.cleanup()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def test_the_list_changes_in_place_and_an_asset_once_known_stays(
    engine: tuple[Engine, str], session: aiohttp.ClientSession
) -> None:
    served, url = engine
    live = LiveMarkets(url, SEED)
    limits, assets = live.configuration.limits, live.configuration.assets
    served.reply = SECOND
    await live.load(session)
    assert limits == {"BTC-USD": SEED.limits["BTC-USD"], "DOGE-USD": DOGE_LIMITS}
    assert assets == SEED.assets | {"DOGE": AssetScale("DOGE", 8, 5)}
    served.reply = FIRST
    await live.load(session, 7)
    assert limits == {"BTC-USD": SEED.limits["BTC-USD"]}
    assert "DOGE" in assets
    assert served.asked == [{"version": "", "wait": "0"}, {"version": "two", "wait": "7"}]
    assert "DOGE" not in SEED.assets and len(SEED.limits) == 12, "the seed itself stays as it is"


async def test_what_markets_offer_is_followed_and_a_market_that_says_nothing_offers_nothing(
    engine: tuple[Engine, str], session: aiohttp.ClientSession
) -> None:
    served, url = engine
    live = LiveMarkets(url, SEED)
    offers = live.configuration.offers
    assert (offers, live.configuration.knows_offers) == ({}, False)
    staking = {"apr": "0.04", "lockDays": 0, "unbondingDays": 1, "earlyRedemption": "allowed", "minimum": "1",
               "maximum": "10", "capacity": "100"}  # fmt: skip
    document = msgspec.to_builtins(SECOND)
    document["markets"][1]["terms"] |= {"offers": ["staking", "a later service"], "staking": staking}
    served.reply = msgspec.json.encode(document)
    await live.load(session)
    assert live.configuration.knows_offers
    assert offers["BTC-USD"] == NOTHING
    assert offers["DOGE-USD"].names == frozenset({Offer.STAKING})
    assert offers["DOGE-USD"].staking == StakingTerms(
        apr=Decimal("0.04"), lock_days=0, unbonding_days=1, early_redemption=EarlyRedemption.ALLOWED,
        minimum=Decimal(1), maximum=Decimal(10), capacity=Decimal(100),
    )  # fmt: skip
    # An engine of before names no offers: those of the seed count.
    for row in document["markets"]:
        row["terms"].pop("offers", None)
    served.reply = msgspec.json.encode(document)
    await live.load(session)
    assert offers == {"BTC-USD": EVERYTHING, "DOGE-USD": NOTHING}
    served.reply = FIRST
    await live.load(session)
    assert offers == {"BTC-USD": NOTHING}
    assert set(SEED.offers.values()) == {EVERYTHING}, "the seed itself stays as it is"


async def test_a_symbol_without_terms_is_no_market(engine: tuple[Engine, str], session: aiohttp.ClientSession) -> None:
    served, url = engine
    bare = ListedMarket(symbol="BTC-USD", terms=None, taker_fee=25, maker_fee=15)
    served.reply = MarketList(version="bare", currencies=[], markets=[bare])
    live = LiveMarkets(url, SEED)
    await live.load(session)
    assert live.configuration.limits == {}


@pytest.mark.parametrize(("status", "reply"), [(200, b"{}"), (200, b"\xff"), (500, b"{}"), (404, b"")])
async def test_an_answer_that_cannot_be_read_changes_nothing(
    engine: tuple[Engine, str], session: aiohttp.ClientSession, status: int, reply: bytes
) -> None:
    served, url = engine
    live = LiveMarkets(url, SEED)
    served.status, served.reply = status, reply
    with pytest.raises(EngineRefusedError):
        await live.load(session)
    assert live.configuration.limits == SEED.limits
    assert not live.configuration.knows_offers


async def test_without_an_engine_the_list_stays_and_nothing_is_offered(session: aiohttp.ClientSession) -> None:
    live = LiveMarkets("http://127.0.0.1:1", SEED)
    with pytest.raises(EngineUnreachableError):
        await live.load(session)
    assert live.configuration.limits == SEED.limits
    # An operator may have taken back what the seed offers.
    assert (live.configuration.offers, live.configuration.knows_offers) == ({}, False)
    assert SEED.knows_offers, "without a list to follow, the seed is all there is"


async def test_whoever_could_not_take_a_change_gets_it_again(
    engine: tuple[Engine, str], session: aiohttp.ClientSession
) -> None:
    served, url = engine
    live = LiveMarkets(url, SEED)
    calls: list[int] = []

    async def changed() -> None:
        calls.append(len(live.configuration.limits))
        if len(calls) == 1:
            raise EngineUnreachableError("away")

    live.on_change(changed)
    served.reply = SECOND
    with pytest.raises(EngineUnreachableError):
        await live.load(session)
    await live.load(session)
    await live.load(session)
    assert calls == [2, 2]
    assert [query["version"] for query in served.asked] == ["", "", "two"]


async def test_following_goes_on_after_a_failure(engine: tuple[Engine, str]) -> None:
    served, url = engine
    served.status = 500
    live = LiveMarkets(url, SEED)
    heard = asyncio.Event()

    async def changed() -> None:
        heard.set()

    live.on_change(changed)
    following = asyncio.create_task(live.run())
    while not served.asked:
        await asyncio.sleep(0)
    served.status, served.reply = 200, SECOND
    await asyncio.wait_for(heard.wait(), 60)
    following.cancel()
    assert "DOGE-USD" in live.configuration.limits
