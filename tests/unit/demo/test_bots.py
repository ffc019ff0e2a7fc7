"""Maker and taker against a stand-in for the client: failures, refusals, and the end."""

import asyncio
import itertools
import random
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from openspot.client import ApiError, Balance, BulkCancel, OpenSpotError, Order, Page, UnreachableError
from openspot.demo import bot as bot_module
from openspot.demo.bot import Bot, NotReadyError, Surroundings
from openspot.demo.inventory import InventoryTarget
from openspot.demo.maker import Maker
from openspot.demo.market import demo_markets
from openspot.demo.quoting import QuotingRules
from openspot.demo.taker import Taker, Turn
from openspot.domain.market import load_markets
from tests.support.waiting import eventually, stretched

MARKETS = tuple(market for market in demo_markets(load_markets()) if market.symbol in ("BTC-USD", "ETH-USD"))
MIDS = {"BTC-USD": Decimal(60_000), "ETH-USD": Decimal(3000)}
DOLLARS = {"BTC": Decimal(60_000), "ETH": Decimal(3000), "USD": Decimal(1)}
TARGETS = {asset: InventoryTarget(5_000_000 / price, 250_000 / price) for asset, price in DOLLARS.items()}
RULES = QuotingRules(
    levels=3,
    half_spread_bps=Decimal(8),
    gap_bps=Decimal(4),
    shift_bps=Decimal(1),
    tolerance_bps=Decimal(2),
    size_tolerance=Decimal("0.4"),
    age_s_max=1000.0,
)
ALONE = Turn(0, 1)
QUOTES = len(MARKETS) * 2 * RULES.levels


class StandIn:
    """The client's calls that bots make, on a book of one user. `faults` are raised once, by call."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.faults: dict[str, list[OpenSpotError]] = {}
        self.open: dict[str, Order] = {}
        self.client_order_ids: list[str] = []
        self.history: list[str] = []
        self.funded = True
        self.refused_markets: dict[str, str] = {}
        """Market → the code with which it refuses orders."""
        self.refused: list[float] = []
        """When it refused each."""

    def _called(self, name: str) -> None:
        self.calls[name] += 1
        self.history.append(name)
        if waiting := self.faults.get(name):
            raise waiting.pop(0)

    async def login(self, email: str, password: str) -> None:
        self._called("login")

    async def logout(self) -> None:
        self._called("logout")

    async def balances(self) -> list[Balance]:
        self._called("balances")
        share = Decimal(1 if self.funded else 0)
        return [
            Balance(asset, target.amount * share, target.amount * share, Decimal(0), Decimal(0), "engine")
            for asset, target in TARGETS.items()
        ]

    async def orders(self, *, status: str, limit: int = 100, cursor: str | None = None) -> Page[Order]:
        self._called("orders")
        assert status == "pending,open,partially_filled"
        return Page(list(self.open.values())[:limit], None)

    async def place_order(self, symbol: str, side: str, **fields: Any) -> Order:
        self._called("place_order")
        if code := self.refused_markets.get(symbol):
            self.refused.append(asyncio.get_running_loop().time())
            raise ApiError(409, code, "refused")
        now, quantity = datetime.now(UTC), fields["quantity"]
        self.client_order_ids.append(fields["client_order_id"])
        order = Order(
            f"o{len(self.client_order_ids)}", fields["client_order_id"], "bot", symbol, str(side), "limit", "gtc", None,
            fields["price"], quantity, Decimal(0), quantity, None, Decimal(0), "USD", "open", None, now, now,
        )  # fmt: skip
        self.open[order.order_id] = order
        return order

    async def cancel_order(self, order_id: str) -> None:
        self._called("cancel_order")
        del self.open[order_id]

    async def cancel_orders(self) -> BulkCancel:
        self._called("cancel_orders")
        cancelled = list(self.open)
        self.open.clear()
        return BulkCancel(cancelled, [])


class NoTreasury:
    """Funds that need no deposit."""

    def __init__(self) -> None:
        self.asked = 0

    async def fund(self, user_id: str, totals: dict[str, Decimal]) -> None:
        self.asked += 1

    def is_funded(self, totals: dict[str, Decimal]) -> bool:
        return all(totals.values())


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_module, "PAUSE_S_MIN", 0.001)
    monkeypatch.setattr(bot_module, "FUNDS_PAUSE_S", 0.001)


def maker(client: StandIn, stop: asyncio.Event) -> Maker:
    around = Surroundings(MARKETS, MIDS, DOLLARS, TARGETS, NoTreasury())  # type: ignore[arg-type]
    return Maker(
        client, "secret", around, stop, RULES, level_dollars=Decimal(2000), refresh_s=0.01  # type: ignore[arg-type]
    )  # fmt: skip


def taker(
    client: StandIn, stop: asyncio.Event, begin: asyncio.Event, turn: Turn = ALONE, take_s: float = 0.01
) -> Taker:
    around = Surroundings(MARKETS, MIDS, DOLLARS, TARGETS, NoTreasury())  # type: ignore[arg-type]
    return Taker(
        client,  # type: ignore[arg-type]
        "secret",
        around,
        stop,
        turn=turn,
        take_dollars=Decimal(100),
        take_s=take_s,
        reach_bps=Decimal(17),
        begin=begin,
        chance=random.Random(1),
    )


async def ended(bot: Bot, stop: asyncio.Event, running: asyncio.Task[None]) -> None:
    stop.set()
    await asyncio.wait_for(running, stretched(30))
    await bot.end()


def refusal(status: int, code: str) -> ApiError:
    return ApiError(status, code, "refused")


async def test_the_maker_quotes_keeps_its_orders_and_takes_them_out_at_the_end() -> None:
    client, stop = StandIn(), asyncio.Event()
    bot = maker(client, stop)
    with pytest.raises(NotReadyError, match="demo-maker: it has not traded yet"):
        bot.check(60.0)
    running = asyncio.create_task(bot.run())
    await eventually(lambda: client.calls["balances"] > 5)
    # Prices stood still, so the first quotes are the only ones.
    assert len(client.open) == QUOTES == client.calls["place_order"]
    assert bot.quoting.is_set()
    bot.check(60.0)
    assert len(set(client.client_order_ids)) == QUOTES
    assert all(name.startswith("demo-maker-") for name in client.client_order_ids)
    await ended(bot, stop, running)
    assert client.open == {}
    assert client.history[-1] == "logout"


@pytest.mark.parametrize(
    ("call", "fault", "logins"),
    [
        ("place_order", UnreachableError("cut off"), 1),
        ("place_order", refusal(504, "ORDER_STATUS_UNKNOWN"), 1),
        ("orders", refusal(503, "SERVICE_UNAVAILABLE"), 1),
        ("balances", refusal(429, "TOO_MANY_REQUESTS"), 1),
        ("balances", refusal(401, "UNAUTHENTICATED"), 2),
        ("login", UnreachableError("not there yet"), 2),
    ],
)
async def test_after_a_failure_it_clears_its_orders_before_it_quotes_again(
    call: str, fault: OpenSpotError, logins: int
) -> None:
    client, stop = StandIn(), asyncio.Event()
    client.faults[call] = [fault]
    bot = maker(client, stop)
    running = asyncio.create_task(bot.run())
    await eventually(lambda: bot.quoting.is_set() and len(client.open) == QUOTES)
    assert client.calls["login"] == logins
    failed = client.history.index(call)
    later = client.history[failed + 1 :]
    assert later.index("cancel_orders") < len(later) - 1 - later[::-1].index("place_order")
    await ended(bot, stop, running)


@pytest.mark.parametrize("code", ["PHASE_HALTED", "PHASE_UNCROSSING"])
async def test_a_market_whose_phase_refuses_orders_is_left_alone_and_tried_again_with_one_order(
    monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    monkeypatch.setattr(bot_module, "CLOSED_S", 0.2)
    client, stop = StandIn(), asyncio.Event()
    client.refused_markets = {"BTC-USD": code}
    bot = maker(client, stop)
    running = asyncio.create_task(bot.run())
    half = QUOTES // 2
    await eventually(lambda: len(client.refused) > half)
    # After the first quotes, one order at a time asks whether the market takes orders again.
    assert all(later - earlier >= 0.2 for earlier, later in itertools.pairwise(client.refused[half - 1 :]))
    assert client.calls["login"] == 1, "the bot did not begin again"
    assert {order.symbol for order in client.open.values()} == {"ETH-USD"}

    client.refused_markets = {}
    await eventually(lambda: len(client.open) == QUOTES)
    await ended(bot, stop, running)


async def test_a_refused_order_or_cancel_ends_nothing() -> None:
    client, stop = StandIn(), asyncio.Event()
    client.faults["place_order"] = [refusal(400, "ORDER_REJECTED")]
    bot = maker(client, stop)
    running = asyncio.create_task(bot.run())
    # The quote that was refused is tried again in the next round.
    await eventually(lambda: len(client.open) == QUOTES)
    client.faults["cancel_order"] = [refusal(409, "ORDER_NOT_OPEN")]
    MIDS["BTC-USD"] = Decimal(61_000)
    try:
        await eventually(lambda: client.calls["place_order"] > QUOTES + RULES.levels)
    finally:
        MIDS["BTC-USD"] = Decimal(60_000)
    assert (client.calls["login"], client.calls["cancel_orders"]) == (1, 1)
    await ended(bot, stop, running)


async def test_without_an_account_it_says_what_to_set_and_goes_on_trying() -> None:
    client, stop = StandIn(), asyncio.Event()
    client.faults["login"] = [refusal(401, "UNAUTHENTICATED")] * 1_000_000
    bot = maker(client, stop)
    running = asyncio.create_task(bot.run())
    await eventually(lambda: client.calls["login"] >= 3)
    with pytest.raises(NotReadyError, match="OPENSPOT_DEMO_PASSWORD"):
        bot.check(60.0)
    client.faults.clear()
    await eventually(bot.quoting.is_set)
    await ended(bot, stop, running)


async def test_it_waits_for_its_funds_and_can_be_stopped_meanwhile() -> None:
    client, stop = StandIn(), asyncio.Event()
    client.funded = False
    bot = maker(client, stop)
    running = asyncio.create_task(bot.run())
    await eventually(lambda: client.calls["balances"] > 3)
    with pytest.raises(NotReadyError, match="it waits for its funds"):
        bot.check(60.0)
    assert client.calls["place_order"] == 0
    await ended(bot, stop, running)


async def test_the_taker_waits_for_quotes_and_leaves_no_order_behind() -> None:
    client, stop, begin = StandIn(), asyncio.Event(), asyncio.Event()
    bot = taker(client, stop, begin)
    running = asyncio.create_task(bot.run())
    await eventually(lambda: client.calls["balances"] > 0)
    assert client.calls["place_order"] == 0
    begin.set()
    # Nobody fills here, so each order is cancelled by itself.
    await eventually(lambda: client.calls["cancel_order"] >= 4)
    assert len(client.open) <= 1
    await ended(bot, stop, running)
    assert client.open == {}


async def test_takers_take_turns_under_their_own_names() -> None:
    client, stop, begin = StandIn(), asyncio.Event(), asyncio.Event()
    begin.set()
    first, later = taker(client, stop, begin, Turn(0, 6)), taker(client, stop, begin, Turn(1, 6), take_s=3600)
    running = [asyncio.create_task(bot.run()) for bot in (first, later)]
    await eventually(lambda: client.calls["place_order"] >= 4)
    # The other one takes its first turn after one usual pause, here an hour.
    assert {name.rpartition("-")[0].rpartition("-")[0] for name in client.client_order_ids} == {"demo-taker"}
    assert later.name == "demo-taker-2"
    for bot, task in zip((first, later), running, strict=True):
        await ended(bot, stop, task)


async def test_a_failure_waits_for_the_orders_that_are_on_their_way() -> None:
    client, stop, slow = StandIn(), asyncio.Event(), asyncio.Event()
    place = client.place_order

    async def place_slowly(symbol: str, side: str, **fields: Any) -> Order:
        if not client.calls["place_order"]:
            return await place(symbol, side, **fields)
        await slow.wait()
        return await place(symbol, side, **fields)

    client.place_order = place_slowly  # type: ignore[method-assign]
    client.faults["place_order"] = [UnreachableError("cut off")]
    bot = maker(client, stop)
    running = asyncio.create_task(bot.run())
    await eventually(lambda: client.calls["place_order"] == 1)
    stop.set()
    # The others of the round are under way: it does not end before they have.
    done, _ = await asyncio.wait({running}, timeout=0.05)
    assert not done
    slow.set()
    await asyncio.wait_for(running, stretched(30))
    assert client.open
    await bot.end()
    assert client.open == {}
