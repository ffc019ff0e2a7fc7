"""Those who know the honest price: makers, takers, and margin accounts that did nothing wrong."""

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from openspot.domain.accounts import margin_account_id
from openspot.domain.market import MarketLimits
from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS
from openspot.domain.order import Side
from openspot.domain.symbol import SymbolSpec
from openspot.market_data.fair_price_store import PastTrade

if TYPE_CHECKING:
    from tests.simulation.economics.world import EconomicWorld

RICH = 10**9 * AMOUNT_SCALE
INNOCENT_LEVELS = {"ann": 400, "bob": 130, "dan": 120, "cem": 110}
"""Margin levels in percent of accounts that hold the coin and owe dollars."""
SHORT_LEVELS = {"dua": 400, "eli": 130}
"""… and of accounts that hold dollars and owe the coin."""
HELD_DOLLARS = 2_000 * AMOUNT_SCALE
SMALL = frozenset({"dan"})
"""Who holds a tenth of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What happens in a market while nobody attacks. Depths and trades are dollars, a level and a trade."""

    base: str
    price: int
    makers: int
    levels: int
    depth: int
    half_spread_bps: int
    takers: int
    trade: int
    trade_chance: float
    """The chance of a trade in each step."""


def life(kind: str, base: str = "SOL", price: int = 200) -> Life:
    """A market of this kind: deep, usual, thin, or with a single maker whose two sides are far apart."""
    makers, levels, depth, half_spread, takers, trade, chance = {
        "deep": (3, 4, 20_000, 5, 8, 1_500, 0.3),
        "usual": (1, 2, 2_000, 20, 8, 250, 0.1),
        "thin": (1, 2, 1_500, 40, 5, 250, 0.03),
        "wide": (1, 2, 1_500, 200, 5, 150, 0.004),
    }[kind]
    return Life(
        base=base,
        price=price * AMOUNT_SCALE,
        makers=makers,
        levels=levels,
        depth=depth,
        half_spread_bps=half_spread,
        takers=takers,
        trade=trade,
        trade_chance=chance,
    )


def spec_of(symbol: str, number: int) -> SymbolSpec:
    """A market with the fees of the specification's tier Base."""
    base, _, quote = symbol.partition("-")
    return SymbolSpec(
        symbol=symbol,
        symbol_id=number,
        base=base,
        quote=quote,
        base_scale_k=10**6,
        quote_scale_k=10**6,
        tick=1,
        lot=1,
        taker_fee_bps=25,
        maker_fee_bps=15,
    )


def limits_of(symbol: str) -> MarketLimits:
    """Limits that leave attackers much freedom."""
    return MarketLimits(
        symbol=symbol,
        quantity_min=Decimal("0.000001"),
        quantity_max=Decimal(10**7),
        notional_min=Decimal("0.01") if symbol.endswith("-USD") else Decimal("0.000001"),
        notional_max=Decimal(10**8),
        deviation_bps_max=2_000,
        slippage_bps_max=500,
    )


class Traders:
    """Makers and takers. `are_awake` makes markets of the thin hours."""

    def __init__(self, world: "EconomicWorld") -> None:
        self._world = world
        self.makers_are_awake = self.takers_are_awake = True
        for symbol, each in world.lives.items():
            for name in (*_names("maker", symbol, each.makers), *_names("taker", symbol, each.takers)):
                for asset in symbol.split("-"):
                    world.exchange.pay_in(name, asset, RICH)

    def sleep(self) -> None:
        """Everybody honest sleeps."""
        self.makers_are_awake = self.takers_are_awake = False

    def wake(self) -> None:
        """Everybody is back."""
        self.makers_are_awake = self.takers_are_awake = True

    def act(self) -> None:
        """Makers renew their quotes around the honest price, and a taker may trade."""
        for symbol, each in self._world.lives.items():
            self._quote(symbol, each)
            if self.takers_are_awake and self._world.chance.random() < each.trade_chance:
                self._trade(symbol, each)

    def past(self, symbol: str, each: Life, now_ms: int) -> list[PastTrade]:
        """The trades of the last hour, as many as the market usually has."""
        world = self._world
        count = int(each.trade_chance * 1800)
        price = world.honest_price(symbol)
        quote = world.honest[symbol.partition("-")[2]]
        quantity = each.trade * AMOUNT_SCALE * AMOUNT_SCALE // quote * AMOUNT_SCALE // price
        makers, takers = _names("maker", symbol, each.makers), _names("taker", symbol, each.takers)
        return [
            PastTrade(
                now_ms - (number + 1) * 3_600_000 // (count + 1),
                symbol,
                takers[number % len(takers)],
                makers[number % len(makers)],
                price,
                quantity,
            )
            for number in range(count)
        ]

    def _quote(self, symbol: str, each: Life) -> None:
        world, price = self._world, self._world.honest_price(symbol)
        quote = world.honest[symbol.partition("-")[2]]
        for name in _names("maker", symbol, each.makers):
            world.exchange.cancel_all(name, symbol)
            if not self.makers_are_awake:
                continue
            for number in range(1, each.levels + 1):
                distance = each.half_spread_bps * (1 + number) // 2
                quantity = each.depth * AMOUNT_SCALE * AMOUNT_SCALE // quote * AMOUNT_SCALE // price
                world.place(name, symbol, Side.BUY, quantity, price * (BASIS_POINTS - distance) // BASIS_POINTS)
                world.place(name, symbol, Side.SELL, quantity, price * (BASIS_POINTS + distance) // BASIS_POINTS)

    def _trade(self, symbol: str, each: Life) -> None:
        world, price = self._world, self._world.honest_price(symbol)
        quote = world.honest[symbol.partition("-")[2]]
        taker = world.chance.choice(_names("taker", symbol, each.takers))
        side = world.chance.choice((Side.BUY, Side.SELL))
        dollars = each.trade * world.chance.randint(50, 150) // 100
        quantity = dollars * AMOUNT_SCALE * AMOUNT_SCALE // quote * AMOUNT_SCALE // price
        # Takers know the price, too: they pay the spread and no more.
        slack = each.half_spread_bps + 1
        worst = price * (BASIS_POINTS + (slack if side is Side.BUY else -slack)) // BASIS_POINTS
        world.place(taker, symbol, side, quantity, worst, is_immediate=True)


class Innocents:
    """Margin accounts in the first market, with the levels above."""

    def __init__(self, world: "EconomicWorld") -> None:
        self._world = world

    def borrow(self) -> None:
        """Open the accounts."""
        world = self._world
        base = next(iter(world.lives.values())).base
        coins = HELD_DOLLARS * AMOUNT_SCALE // world.honest[base]
        for user, level in INNOCENT_LEVELS.items():
            part = 10 if user in SMALL else 1
            world.exchange.pay_in(user, base, coins // part)
            world.margin.move_in(user, base, coins // part)
            # What was borrowed was spent long ago.
            debt = HELD_DOLLARS // part * 100 // level
            world.margin.lend(user, "USD", debt)
            world.exchange.pay_out(margin_account_id(user, 1), "USD", debt)
        for user, level in SHORT_LEVELS.items():
            world.exchange.pay_in(user, "USD", HELD_DOLLARS)
            world.margin.move_in(user, "USD", HELD_DOLLARS)
            world.margin.lend(user, base, coins * 100 // level)
            world.exchange.pay_out(margin_account_id(user, 1), base, coins * 100 // level)


def _names(what: str, symbol: str, count: int) -> list[str]:
    return [f"{what}-{symbol.lower()}-{number}" for number in range(count)]
