"""A user's portfolio over time, and its return: the present at fair prices, the past at the last trades of its time."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.money import amount_to_text, decimal_to_text
from openspot.http.errors import validation_error
from openspot.kit.clock import Clock, datetime_from_ms, ms_from_datetime, utc_datetime
from openspot.rest_edge.funds.accounts.portfolio import (
    DOLLAR,
    INTERVALS,
    POINTS_MAX,
    PortfolioHolding,
    holdings_at,
    points_of,
    total_value,
)
from openspot.rest_edge.funds.accounts.portfolio_return import PERIODS, PeriodReturn, ValuedFlow, period_return
from openspot.rest_edge.funds.accounts.portfolio_store import PortfolioStore
from openspot.rest_edge.funds.accounts.return_store import PeriodRecord, ReturnStore
from openspot.rest_edge.funds.accounts.schemas import (
    HoldingResponse,
    PortfolioFlowsResponse,
    PortfolioMovementResponse,
    PortfolioPointResponse,
    PortfolioReturnResponse,
)

POINTS_DEFAULT = 30
MOVEMENTS_MAX = 366
"""So many of the newest movements of a period are shown."""


class FairAssetPrices(Protocol):
    """The present fair prices."""

    def of_assets(self, valuation_asset: str) -> Mapping[str, AssetPrice]:
        """The price of each asset in `valuation_asset`."""


class PortfolioService:
    """Handles the requests to the routes of the portfolio."""

    def __init__(self, store: PortfolioStore, returns: ReturnStore, fair_prices: FairAssetPrices, clock: Clock) -> None:
        self._store = store
        self._returns = returns
        self._fair_prices = fair_prices
        self._clock = clock

    async def history(
        self, user_id: str, interval: str, start_ms: int | None, end_ms: int | None
    ) -> list[PortfolioPointResponse]:
        """The portfolio at each point, oldest first. Raises HttpError (400) for a wrong or too long range."""
        step = INTERVALS[interval]
        now = utc_datetime(self._clock)
        # There are no balances of the future.
        end = min(now, datetime_from_ms(end_ms)) if end_ms is not None else now
        start = datetime_from_ms(start_ms) if start_ms is not None else end - (POINTS_DEFAULT - 1) * step
        if start > end:
            raise validation_error(["from must not be later than to"])
        if (end - start) // step + 1 > POINTS_MAX:
            raise validation_error([f"from and to must be at most {POINTS_MAX} points of {interval} apart"])
        points = points_of(start, end, step)
        balances = await self._store.balances(user_id, points)
        assets = [asset for asset in balances if asset != DOLLAR]
        prices = await self._store.prices(assets, DOLLAR, points) if assets else {}
        if end == now:
            with_present_prices(prices, assets, self._fair_prices.of_assets(DOLLAR), len(points))
        return [_point(point, holdings_at(index, balances, prices)) for index, point in enumerate(points)]

    async def period_return(self, user_id: str, period: str) -> PortfolioReturnResponse:
        """What the portfolio gained in the period that ends now."""
        now = utc_datetime(self._clock)
        length = PERIODS[period]
        record = await self._returns.period(user_id, None if length is None else now - length, now)
        prices = {asset: list(series) for asset, series in record.prices.items()}
        assets = [asset for asset in record.balances if asset != DOLLAR]
        count = len(record.points)
        with_present_prices(prices, assets, self._fair_prices.of_assets(DOLLAR), count)
        return _return(period, record, period_return(record.balances, prices, record.flows, count))


def with_present_prices(
    prices: dict[str, list[Decimal | None]], assets: list[str], fair: Mapping[str, AssetPrice], count: int
) -> None:
    """Put the fair price of each of `assets` that has one in place of its last trade at the last of `count` points."""
    for asset in assets:
        if asset in fair:
            prices.setdefault(asset, [None] * count)[-1] = Decimal(amount_to_text(fair[asset].price))


def _point(time: datetime, holdings: list[PortfolioHolding]) -> PortfolioPointResponse:
    return PortfolioPointResponse(
        timestamp=ms_from_datetime(time),
        value=decimal_to_text(total_value(holdings)),
        unpriced=[holding.asset for holding in holdings if holding.price is None],
        holdings=[
            HoldingResponse(
                asset=holding.asset,
                balance=decimal_to_text(holding.balance),
                price=None if holding.price is None else decimal_to_text(holding.price),
                value=None if holding.value is None else decimal_to_text(holding.value),
            )
            for holding in holdings
        ],
    )


def _return(period: str, record: PeriodRecord, figures: PeriodReturn) -> PortfolioReturnResponse:
    return PortfolioReturnResponse(
        period=period,
        begins_at=ms_from_datetime(record.points[0]),
        ends_at=ms_from_datetime(record.points[-1]),
        start_value=decimal_to_text(figures.start),
        end_value=decimal_to_text(figures.end),
        flows=PortfolioFlowsResponse(**{f"{kind}s": decimal_to_text(value) for kind, value in figures.flows.items()}),
        result=decimal_to_text(figures.result),
        income=decimal_to_text(figures.income),
        percent=None if figures.percent is None else decimal_to_text(figures.percent),
        unpriced=list(figures.unpriced),
        grouped=record.is_grouped,
        movement_count=len(figures.movements),
        movements=[_movement(movement) for movement in figures.movements[-MOVEMENTS_MAX:]],
    )


def _movement(movement: ValuedFlow) -> PortfolioMovementResponse:
    flow = movement.flow
    return PortfolioMovementResponse(
        timestamp=ms_from_datetime(flow.time),
        kind=flow.kind.value,
        asset=flow.asset,
        amount=decimal_to_text(flow.amount),
        value=None if movement.value is None else decimal_to_text(movement.value),
    )
