"""The market maker's rules: sizes and prices by inventory, and which orders stay."""

from decimal import Decimal

import pytest

from openspot.demo.inventory import Appetite, InventoryTarget, appetite
from openspot.demo.market import DemoMarket, QuoteSide, demo_markets
from openspot.demo.quoting import Changes, QuotingRules, StandingOrder, WantedOrder, changes, quotes
from openspot.domain.market import load_markets

MARKETS = {market.symbol: market for market in demo_markets(load_markets())}
BITCOIN = MARKETS["BTC-USD"]
MID = Decimal(60_000)
SIZE = Decimal("0.03")
RULES = QuotingRules(
    levels=4,
    half_spread_bps=Decimal(8),
    gap_bps=Decimal(4),
    shift_bps=Decimal(1),
    tolerance_bps=Decimal(2),
    size_tolerance=Decimal("0.4"),
    age_s_max=120.0,
)


def wants(base: str, quote: str = "0") -> Appetite:
    return appetite(Decimal(base), Decimal(quote))


def ladder(
    base: str, quote: str = "0", market: DemoMarket = BITCOIN, mid: Decimal = MID
) -> dict[QuoteSide, list[WantedOrder]]:
    found = quotes(market, mid, wants(base, quote), SIZE, RULES)
    return {side: [quote for quote in found if quote.side is side] for side in QuoteSide}


def test_on_target_both_sides_are_alike_around_the_mid() -> None:
    sides = ladder("0")
    assert [quote.price for quote in sides[QuoteSide.BUY]] == [
        Decimal(text) for text in ("59952", "59928", "59904", "59880")
    ]
    assert [quote.price for quote in sides[QuoteSide.SELL]] == [
        Decimal(text) for text in ("60048", "60072", "60096", "60120")
    ]
    sizes = [SIZE * factor / 4 for factor in (4, 5, 6, 7)]
    assert (
        [quote.quantity for quote in sides[QuoteSide.BUY]]
        == sizes
        == [quote.quantity for quote in sides[QuoteSide.SELL]]
    )


def test_sizes_are_linear_in_the_inventory_from_nothing_to_twice() -> None:
    for imbalance, buy, sell in (("-1", 2, 0), ("-0.5", "1.5", "0.5"), ("0.25", "0.75", "1.25"), ("1", 0, 2)):
        found = wants(imbalance)
        assert (found.buy, found.sell) == (Decimal(buy), Decimal(sell)), imbalance
    # The stricter asset counts: no buying without quote, no selling with too much of it.
    assert (wants("-1", "-1").buy, wants("1", "1").sell) == (0, 0)
    assert ladder("1")[QuoteSide.BUY] == []
    assert ladder("0", "1")[QuoteSide.SELL] == []


def test_too_much_inventory_lowers_both_prices_a_little() -> None:
    neutral, long, short = ladder("0"), ladder("0.8"), ladder("-0.8")
    for side in QuoteSide:
        assert long[side][0].price < neutral[side][0].price < short[side][0].price
    # 0.8 of the band is 0.4 bps with the quote asset on its target.
    assert long[QuoteSide.SELL][0].price == Decimal("60045.60")


def test_an_imbalance_is_bounded() -> None:
    target = InventoryTarget(Decimal(100), Decimal(10))
    totals = (Decimal(text) for text in ("80", "90", "95", "100", "104", "500"))
    assert [str(target.imbalance(total)) for total in totals] == ["-1", "-1", "-0.5", "0", "0.4", "1"]


@pytest.mark.parametrize("symbol", sorted(MARKETS))
def test_prices_and_quantities_fit_every_market(symbol: str) -> None:
    market = MARKETS[symbol]
    limits = load_markets().limits[symbol]
    mid = Decimal("1.0001") if symbol.startswith("USD") else Decimal("0.05") if symbol == "ETH-BTC" else MID
    found = quotes(market, mid, wants("0.1"), Decimal(2000) if mid < 2 else SIZE, RULES)
    bids = [quote.price for quote in found if quote.side is QuoteSide.BUY]
    asks = [quote.price for quote in found if quote.side is QuoteSide.SELL]
    assert len(set(bids)) == len(bids) == len(set(asks)) == len(asks) == RULES.levels
    assert bids == sorted(bids, reverse=True)
    assert asks == sorted(asks)
    assert bids[0] < mid < asks[0]
    for quote in found:
        assert quote.price % market.tick == 0
        assert quote.quantity % market.lot == 0
        assert limits.quantity_min <= quote.quantity <= limits.quantity_max
        assert quote.price * quote.quantity >= limits.notional_min


def test_levels_on_a_coarse_tick_do_not_fall_together() -> None:
    found = ladder("0", market=MARKETS["USDC-USD"], mid=Decimal("0.0100"))
    assert [str(quote.price) for quote in found[QuoteSide.BUY]] == []
    coarse = DemoMarket("A-B", "A", "B", *(Decimal(text) for text in ("1", "0.01", "0.01", "100", "0.01")))
    found = ladder("0", market=coarse, mid=Decimal("3.5"))
    # The bids end at the smallest price.
    assert [int(quote.price) for quote in found[QuoteSide.BUY]] == [3, 2, 1]
    assert [int(quote.price) for quote in found[QuoteSide.SELL]] == [4, 5, 6, 7]


def standing(order_id: str, side: QuoteSide, price: str, quantity: str = "0.03", age_s: float = 1.0) -> StandingOrder:
    return StandingOrder(order_id, side, Decimal(price), Decimal(quantity), age_s)


WANTED = (WantedOrder(QuoteSide.BUY, Decimal(59_952), SIZE), WantedOrder(QuoteSide.SELL, Decimal(60_048), SIZE))


@pytest.mark.parametrize(
    "order",
    [
        standing("far", QuoteSide.BUY, "59939.99"),
        standing("mostly filled", QuoteSide.BUY, "59952", "0.0179"),
        standing("too large", QuoteSide.BUY, "59952", "0.0421"),
        standing("old", QuoteSide.BUY, "59952", age_s=120.0),
        standing("other side", QuoteSide.SELL, "59952"),
    ],
    ids=lambda order: order.order_id,
)
def test_an_order_beyond_tolerance_is_replaced(order: StandingOrder) -> None:
    ask = standing("ask", QuoteSide.SELL, "60048")
    assert changes(MID, WANTED, [order, ask], RULES) == Changes((order.order_id,), WANTED[:1])


def test_orders_within_tolerance_stay_and_surplus_ones_go() -> None:
    near = [
        standing("bid", QuoteSide.BUY, "59940", "0.018"),
        standing("ask", QuoteSide.SELL, "60060", "0.042", age_s=119.0),
    ]
    assert changes(MID, WANTED, near, RULES) == Changes((), ())
    twice = [*near, standing("closer bid", QuoteSide.BUY, "59950")]
    assert changes(MID, WANTED, twice, RULES) == Changes(("bid",), ())
    assert changes(MID, (), near, RULES) == Changes(("bid", "ask"), ())
