"""What came of a user's fills by market. Pure. Amounts are integers at 18 places.

A disposal belongs to the market whose fill made it, whatever asset left: a buy on BTC-EUR disposes of euros if these
are not the accounting currency. Conversions, payments and recorded transactions are of no market: their disposals are
in `other`.

Money is shown in whole cents, cut towards zero, as in `spot_results`, and the total is that of the assets. The cents
that were cut differ by market and by asset, so `other` is the total less the markets: it also holds that difference,
which is less than a cent for each market, each asset and the rest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from openspot.domain.money import AMOUNT_SCALE
from openspot.positions.spot_results import LotSum, Realised, SpotResult, cents, spot_result


class FillSums(NamedTuple):
    """A user's fills on one market: quantities in the base asset, the rest in the quote asset. Rebates are negative."""

    fills: int
    bought: int
    bought_notional: int
    sold: int
    sold_notional: int
    fees: int

    @property
    def average_buy_price(self) -> int | None:
        """What was paid for one unit without fees, cut to 18 places; None if nothing was bought."""
        return self.bought_notional * AMOUNT_SCALE // self.bought if self.bought else None

    @property
    def average_sell_price(self) -> int | None:
        """What one unit brought without fees, cut to 18 places; None if nothing was sold."""
        return self.sold_notional * AMOUNT_SCALE // self.sold if self.sold else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketResult:
    """One market. `held` is what is still held of what was bought there.

    It is None if the base asset is the accounting currency, which has no cost of its own.
    """

    symbol: str
    sums: FillSums
    held: SpotResult | None
    realised: Realised


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketResults:
    """All markets. The realised results of these and `other` are `total`, the sum of those of the assets."""

    markets: tuple[MarketResult, ...]
    other: Realised
    total: Realised


def market_results(
    currency: str,
    fills: Mapping[str, FillSums],
    lots: Mapping[str, LotSum],
    prices: Mapping[str, int],
    realised: Mapping[tuple[str, str | None], Realised],
) -> MarketResults:
    """The results by symbol. `fills` and `lots` are by symbol, `prices` by asset.

    `realised` is by the asset that left and the symbol of the fill; None is the symbol of what no fill disposed of.
    """
    by_asset: dict[str, list[Realised]] = {}
    by_market: dict[str, list[Realised]] = {}
    for (asset, symbol), amounts in realised.items():
        by_asset.setdefault(asset, []).append(amounts)
        if symbol is not None:
            by_market.setdefault(symbol, []).append(amounts)
    markets = tuple(
        MarketResult(
            symbol=symbol,
            sums=sums,
            held=_held(symbol.split("-")[0], currency, lots.get(symbol, LotSum(0, 0)), prices),
            realised=_in_cents(_sum(by_market.get(symbol, ()))),
        )
        for symbol, sums in sorted(fills.items())
    )
    total = _sum(_in_cents(_sum(amounts)) for amounts in by_asset.values())
    shown = _sum(market.realised for market in markets)
    other = Realised(*(whole - part for whole, part in zip(total, shown, strict=True)))
    return MarketResults(markets=markets, other=other, total=total)


def _held(asset: str, currency: str, lots: LotSum, prices: Mapping[str, int]) -> SpotResult | None:
    if asset == currency:
        return None
    return spot_result(asset, lots.quantity, lots, prices.get(asset), Realised(), {})


def _sum(amounts: Iterable[Realised]) -> Realised:
    rows = list(amounts)
    return Realised(*(sum(column) for column in zip(*rows, strict=True))) if rows else Realised()


def _in_cents(realised: Realised) -> Realised:
    return Realised(*map(cents, realised))
