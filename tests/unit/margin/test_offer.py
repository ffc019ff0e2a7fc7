"""What margin offers is what the platform began with, whatever operators list later."""

from dataclasses import replace
from typing import Any

import pytest

from openspot.contracts.refusals import InvalidRequestError
from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.margin_offer import margin_offer
from openspot.domain.market import AssetScale, MarketConfiguration, load_markets
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.domain.symbol import SymbolSpec
from openspot.margin.dependencies import Dependencies
from openspot.margin.liquidation import LiquidationOrder
from openspot.margin.liquidator import Liquidator
from openspot.margin.settings import MarginSettings
from tests.support.marks import marks_of

LISTED_LATER = ("DOGE-USD", "SOL-BTC", "ADA-BRL")
NOT_TRADED = {"ETH-BRL", "ADA-BRL"}


def spec_of(symbol: str) -> SymbolSpec:
    """A market of the engine."""
    base, quote = symbol.split("-")
    return SymbolSpec(
        symbol=symbol, symbol_id=1, base=base, quote=quote, base_scale_k=1, quote_scale_k=1, tick=1, lot=1,
        taker_fee_bps=0, maker_fee_bps=0, active=symbol not in NOT_TRADED,
    )  # fmt: skip


class Engine:
    """An engine that knew its markets when they were asked for first."""

    def __init__(self, *symbols: str) -> None:
        self.specs = {symbol: spec_of(symbol) for symbol in symbols}

    async def symbols(self) -> dict[str, SymbolSpec]:
        return self.specs


class KnownMarks:
    """Prices that are sure, of every asset."""

    @staticmethod
    def current() -> dict[str, AssetPrice]:
        return marks_of(USD=AMOUNT_SCALE, BRL=AMOUNT_SCALE, BTC=100 * AMOUNT_SCALE, ETH=100 * AMOUNT_SCALE)


def dependencies_of(configuration: MarketConfiguration, *symbols: str) -> Dependencies:
    """Those of a service that follows this list, at an engine with these symbols."""
    unused: Any = None
    queries: Any = Engine(*symbols)
    return Dependencies(
        settings=unused, pool=unused, bus=unused, commands=unused, queries=queries, marks=unused,
        markets=configuration, clock=lambda: 0,
    )  # fmt: skip


def with_later_markets() -> MarketConfiguration:
    """The platform's own markets and three that were listed later, one of them between two of its own assets."""
    seed = load_markets()
    limits = {symbol: replace(seed.limits["BTC-USD"], symbol=symbol) for symbol in LISTED_LATER}
    later = {asset: AssetScale(asset, 100, 8) for asset in ("DOGE", "ADA")}
    return MarketConfiguration(seed.limits | limits, seed.seeds, seed.assets | later)


def test_the_offer_is_the_twelve_markets_and_seven_assets_of_the_file() -> None:
    offer, seed = margin_offer(), load_markets()
    assert (offer.markets, offer.assets) == (frozenset(seed.limits), frozenset(seed.assets))
    assert (len(offer.markets), len(offer.assets)) == (12, 7)


@pytest.mark.parametrize(
    ("symbol", "reason"),
    [
        ("DOGE-USD", "symbol is not offered on margin: DOGE-USD was listed later"),
        ("SOL-BTC", "symbol is not offered on margin: SOL-BTC was listed later"),
        # It is not traded either; but when it is, margin will not offer it.
        ("ADA-BRL", "symbol is not offered on margin: ADA-BRL was listed later"),
        # It was created alone, and has no terms.
        ("M1-USD", "symbol is not offered on margin: M1-USD was listed later"),
        ("ETH-BRL", "symbol is not traded now: ETH-BRL takes no orders"),
        ("XRP-USD", "symbol is not a market of the platform"),
    ],
)
async def test_a_position_is_refused_with_the_field_and_the_reason(symbol: str, reason: str) -> None:
    configuration = with_later_markets()
    dependencies = dependencies_of(configuration, *configuration.limits, "M1-USD")
    assert (await dependencies.symbol_on_margin("BTC-USD")).symbol == "BTC-USD"
    with pytest.raises(InvalidRequestError) as refused:
        await dependencies.symbol_on_margin(symbol)
    assert refused.value.refusal.message == reason


async def test_a_market_that_was_listed_a_moment_ago_is_not_called_unknown() -> None:
    configuration = with_later_markets()
    dependencies = dependencies_of(configuration, *load_markets().limits)
    await dependencies.symbols()
    with pytest.raises(InvalidRequestError, match="is not offered on margin"):
        await dependencies.symbol_on_margin("DOGE-USD")


async def test_a_position_of_before_is_closed_where_margin_offers_nothing_new() -> None:
    configuration = with_later_markets()
    dependencies = dependencies_of(configuration, *configuration.limits)
    assert (await dependencies.traded_symbol("SOL-BTC")).symbol == "SOL-BTC"
    # One whose closing is under way ends there too, when its market takes no orders any more.
    assert (await dependencies.symbol("ETH-BRL")).symbol == "ETH-BRL"
    with pytest.raises(InvalidRequestError, match="ETH-BRL takes no orders"):
        await dependencies.traded_symbol("ETH-BRL")


async def test_liquidations_use_the_markets_alone_that_margin_offers_and_that_are_traded() -> None:
    configuration = with_later_markets()
    dependencies = dependencies_of(configuration, *configuration.limits)
    assert set(await dependencies.symbols_on_margin()) == margin_offer().markets - {"ETH-BRL"}


async def test_what_is_kept_of_the_engines_symbols_is_asked_for_anew_when_the_list_changes() -> None:
    configuration = load_markets()
    dependencies = dependencies_of(configuration, *configuration.limits)
    assert (await dependencies.traded_symbol("BTC-USD")).active
    engine: Any = dependencies.queries
    engine.specs = engine.specs | {"BTC-USD": replace(engine.specs["BTC-USD"], active=False)}
    assert (await dependencies.traded_symbol("BTC-USD")).active
    dependencies.markets_changed.set()
    with pytest.raises(InvalidRequestError, match="BTC-USD takes no orders"):
        await dependencies.traded_symbol("BTC-USD")


@pytest.mark.parametrize(("symbol", "is_placed"), [("BTC-USD", True), ("ETH-BRL", False), ("XRP-USD", False)])
async def test_a_planned_order_whose_market_takes_no_orders_any_more_does_not_hold_the_liquidation_up(
    symbol: str, is_placed: bool
) -> None:
    configuration = load_markets()
    dependencies: Any = dependencies_of(configuration, *configuration.limits)
    dependencies.settings = MarginSettings()
    dependencies.marks = KnownMarks()
    order = LiquidationOrder(symbol, Side.SELL, AMOUNT_SCALE, 100 * AMOUNT_SCALE)
    assert await Liquidator(dependencies)._may_be_placed(order) is is_placed
