"""Results by market: what they show adds up to the results by asset, to the cent, and nothing is made up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.money import AMOUNT_SCALE
from openspot.positions.market_results import FillSums, market_results
from openspot.positions.spot_results import CENT, LotSum, Realised, cents, result_of_money, spot_result, totals_of

ONE = AMOUNT_SCALE
SIGNED = st.integers(-(10**24), 10**24)
NO_FILLS = FillSums(0, 0, 0, 0, 0, 0)
SYMBOLS = ("BTC-EUR", "BTC-USD", "ETH-BTC")
NOTHING = LotSum(0, 0)

REALISED = st.dictionaries(
    st.tuples(st.sampled_from(("BTC", "ETH", "EUR", "USD")), st.none() | st.sampled_from(SYMBOLS)),
    st.builds(Realised, SIGNED, SIGNED, SIGNED, SIGNED),
    max_size=6,
)


@given(REALISED, st.sets(st.sampled_from(SYMBOLS)))
def test_markets_and_what_is_of_none_are_the_totals_by_asset(
    realised: dict[tuple[str, str | None], Realised], traded: set[str]
) -> None:
    found = market_results("USD", dict.fromkeys(traded, NO_FILLS), {}, {}, realised)
    by_asset: dict[str, list[Realised]] = {}
    for (asset, _), amounts in realised.items():
        by_asset.setdefault(asset, []).append(amounts)
    rows = []
    for asset, parts in by_asset.items():
        whole = Realised(*(sum(column) for column in zip(*parts, strict=True)))
        is_money = asset == "USD"
        rows.append(
            result_of_money(asset, 0, whole, {}) if is_money else spot_result(asset, 0, NOTHING, None, whole, {})
        )
    assert found.total == totals_of(rows).realised
    for place in range(4):
        shown = [market.realised[place] for market in found.markets]
        assert sum(shown) + found.other[place] == found.total[place]
        assert all(amount % CENT == 0 for amount in (*shown, found.other[place]))
        for market in found.markets:
            own = sum(amounts[place] for (_, symbol), amounts in realised.items() if symbol == market.symbol)
            assert market.realised[place] == cents(own)
        # What `other` holds beside its own is less than a cent for each market, each asset and the rest.
        own = sum(amounts[place] for (_, symbol), amounts in realised.items() if symbol not in traded)
        assert abs(found.other[place] - own) < CENT * (len(found.markets) + len(by_asset) + 1)


def test_cents_that_are_cut_by_market_and_not_by_asset_are_in_other() -> None:
    half_a_cent = Realised(all=CENT // 2)
    fills = {"BTC-EUR": NO_FILLS, "BTC-USD": NO_FILLS}
    found = market_results("USD", fills, {}, {}, {("BTC", symbol): half_a_cent for symbol in fills})
    assert [market.realised.all for market in found.markets] == [0, 0]
    assert (found.other.all, found.total.all) == (CENT, CENT)
    # And the other way round: two assets that left by fills of one market.
    left = {("BTC", "BTC-EUR"): half_a_cent, ("EUR", "BTC-EUR"): half_a_cent}
    found = market_results("USD", {"BTC-EUR": NO_FILLS}, {}, {}, left)
    assert (found.markets[0].realised.all, found.other.all, found.total.all) == (CENT, -CENT, 0)


def test_what_is_held_of_a_market_has_the_price_of_its_base_asset_and_none_without_one() -> None:
    fills = {"BTC-USD": NO_FILLS, "ETH-USD": NO_FILLS, "SOL-USD": NO_FILLS, "USD-BRL": NO_FILLS}
    lots = {"BTC-USD": LotSum(2 * ONE, 100 * ONE), "ETH-USD": LotSum(ONE, 7 * ONE), "USD-BRL": LotSum(ONE, ONE)}
    bitcoin, ether, solana, dollar = market_results("USD", fills, lots, {"BTC": 75 * ONE, "USD": ONE}, {}).markets
    assert bitcoin.held is not None
    assert (bitcoin.held.quantity, bitcoin.held.cost, bitcoin.held.average_cost) == (2 * ONE, 100 * ONE, 50 * ONE)
    assert (bitcoin.held.value, bitcoin.held.unrealised) == (150 * ONE, 50 * ONE)
    assert ether.held is not None
    assert (ether.held.cost, ether.held.value, ether.held.unrealised) == (7 * ONE, None, None)
    # What was sold again is worth nothing, whatever its price.
    assert solana.held is not None
    assert (solana.held.quantity, solana.held.cost, solana.held.value, solana.held.unrealised) == (0, 0, 0, 0)
    # The accounting currency costs what it is, wherever it was bought.
    assert dollar.held is None


@pytest.mark.parametrize(
    ("sums", "buy", "sell"),
    [
        (FillSums(2, 3 * ONE, 10 * ONE, 2 * ONE, 9 * ONE, ONE), 3_333_333_333_333_333_333, 45 * ONE // 10),
        (FillSums(1, ONE, 10 * ONE, 0, 0, -ONE), 10 * ONE, None),
        (FillSums(1, 0, 0, ONE, 10 * ONE, -ONE), None, 10 * ONE),
    ],
)
def test_an_average_price_is_cut_to_its_last_place_and_missing_without_a_fill(
    sums: FillSums, buy: int | None, sell: int | None
) -> None:
    assert (sums.average_buy_price, sums.average_sell_price) == (buy, sell)
