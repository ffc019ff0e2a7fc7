"""Results of what users hold on the exchange."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from openspot.domain.money import MoneyError, parse_decimal, to_amount
from openspot.engine_client.errors import EngineError
from openspot.engine_client.queries import EngineQueries
from openspot.http.errors import service_unavailable
from openspot.kit.clock import Clock, utc_datetime
from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.positions.amounts import shown, shown_or_none
from openspot.positions.cost_basis.service import CostBasisService
from openspot.positions.market_results import MarketResult, market_results
from openspot.positions.prices import Prices
from openspot.positions.spot.schemas import (
    FeeResponse,
    RealisedResponse,
    SpotCostResponse,
    SpotMarketResponse,
    SpotMarketsResponse,
    SpotRealisedResponse,
    SpotResultResponse,
    SpotResultsResponse,
    SpotTotalsResponse,
)
from openspot.positions.spot.store import SpotStore, Waiting
from openspot.positions.spot_results import (
    LotSum,
    Realised,
    SpotResult,
    SpotTotals,
    result_of_money,
    spot_result,
    totals_of,
)
from openspot.positions.times import milliseconds_of

WEEK = timedelta(days=7)
MONTH = timedelta(days=30)
NOTHING = LotSum(0, 0)
_HELD_FIELDS = {
    "held_quantity": "quantity",
    "cost": "cost",
    "average_cost": "average_cost",
    "value": "value",
    "unrealised_pnl": "unrealised",
    "unrealised_percent": "unrealised_percent",
}


class SpotService:
    """Does the work of the routes of spot results. Raises HttpError."""

    def __init__(
        self,
        store: SpotStore,
        cost_basis: CostBasisService,
        engine: EngineQueries,
        prices: Prices,
        clock: Clock,
        *,
        followed_until: Callable[[], datetime] | None,
    ) -> None:
        """`followed_until`: until when movements are counted; None if the service does not follow the exchange."""
        self._store = store
        self._cost_basis = cost_basis
        self._engine = engine
        self._fair_prices = prices
        self._clock = clock
        self._followed_until = followed_until

    async def results(self, user_id: str) -> SpotResultsResponse:
        """What the engine says that the user holds, and the results of it.

        Raises HttpError (503) if the engine does not respond, or while the costs are being computed. Without market
        data there are no prices.
        """
        waiting = await self._counted(user_id)
        currency = self._cost_basis.currency
        now = utc_datetime(self._clock)
        held = await self._held(user_id)
        lots = await self._store.lots(user_id, held)
        realised = await self._store.realised(user_id, *_periods(now))
        fees = await self._store.fees(user_id)
        prices = await self._prices(currency)
        results = [
            result_of_money(currency, held.get(currency, 0), realised.get(currency, Realised()), fees.get(currency, {}))
            if asset == currency
            else spot_result(
                asset,
                held.get(asset, 0),
                lots.get(asset, NOTHING),
                prices.get(asset),
                realised.get(asset, Realised()),
                fees.get(asset, {}),
            )
            for asset in sorted({*held, *realised, *fees})
        ]
        shortfalls, _ = await self._cost_basis.reader.shortfalls(user_id, 1)
        return SpotResultsResponse(
            user_id=user_id,
            currency=currency,
            read_at=now,
            costs_as_of=self._costs_as_of(waiting, now),
            unvalued_fills=waiting.fills,
            shortfall_count=shortfalls,
            holdings=[_result_response(result) for result in results],
            totals=_totals_response(totals_of(results)),
        )

    async def cost(self, user_id: str, asset: str) -> SpotCostResponse:
        """What the engine says that the user holds of an asset, and what it cost. Raises HttpError as `results`.

        It reads the asset's open lots alone, so it stays quick however long the user's history is.
        """
        waiting = await self._counted(user_id)
        currency = self._cost_basis.currency
        now = utc_datetime(self._clock)
        quantity = (await self._held(user_id)).get(asset, 0)
        if asset == currency:
            result = result_of_money(currency, quantity, Realised(), {})
        else:
            lots = await self._store.lots(user_id, {asset: quantity}) if quantity else {}
            price = (await self._prices(currency)).get(asset)
            result = spot_result(asset, quantity, lots.get(asset, NOTHING), price, Realised(), {})
        return SpotCostResponse(
            user_id=user_id,
            currency=currency,
            read_at=now,
            costs_as_of=self._costs_as_of(waiting, now),
            **_holding_fields(result),
        )

    async def markets(self, user_id: str) -> SpotMarketsResponse:
        """The results of the user's fills by market. Raises HttpError as `results`."""
        waiting = await self._counted(user_id)
        currency = self._cost_basis.currency
        now = utc_datetime(self._clock)
        lots = await self._store.lots_of_markets(user_id, await self._held(user_id))
        realised = await self._store.realised_by_market(user_id, *_periods(now))
        # Read after what they led to, so that every market of those has its fills.
        fills = await self._store.fills(user_id)
        found = market_results(currency, fills, lots, await self._prices(currency), realised)
        shortfalls, _ = await self._cost_basis.reader.shortfalls(user_id, 1)
        return SpotMarketsResponse(
            user_id=user_id,
            currency=currency,
            read_at=now,
            costs_as_of=self._costs_as_of(waiting, now),
            unvalued_fills=waiting.fills,
            shortfall_count=shortfalls,
            markets=list(map(_market_response, found.markets)),
            other=SpotRealisedResponse(realised_pnl=_realised(found.other)),
            totals=SpotRealisedResponse(realised_pnl=_realised(found.total)),
        )

    async def _counted(self, user_id: str) -> Waiting:
        """Wait until the costs are computed; returns what is not counted in them."""
        # Read first: what is counted after this was not yet counted at the time that is named.
        waiting = await self._store.waiting(user_id, self._followed_until and self._followed_until())
        await self._cost_basis.await_results(user_id)
        return waiting

    def _costs_as_of(self, waiting: Waiting, now: datetime) -> datetime | None:
        return (waiting.since or now) if self._followed_until is not None else None

    async def _held(self, user_id: str) -> dict[str, int]:
        try:
            balances = await self._engine.balances(user_id)
            totals = {balance.asset: to_amount(parse_decimal(balance.total)) for balance in balances}
        except (EngineError, MoneyError) as error:
            raise service_unavailable("the engine cannot tell your balances now", "BALANCES_UNKNOWN") from error
        return {asset: total for asset, total in totals.items() if total > 0}

    async def _prices(self, currency: str) -> dict[str, int]:
        """The fair price of each asset in the accounting currency; none without market data."""
        try:
            return await self._fair_prices.of_assets(currency)
        except MarketDataUnavailableError:
            return {}


def _periods(now: datetime) -> tuple[int, int, int]:
    """Since when the results of today, of the week and of the month count, in milliseconds."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return milliseconds_of(midnight), milliseconds_of(now - WEEK), milliseconds_of(now - MONTH)


def _fees(fees: Mapping[str, int]) -> list[FeeResponse]:
    return [FeeResponse(asset=asset, amount=shown(amount)) for asset, amount in sorted(fees.items())]


def _realised(realised: Realised) -> RealisedResponse:
    return RealisedResponse(**{name: shown(amount) for name, amount in realised._asdict().items()})


def _holding_fields(result: SpotResult) -> dict[str, Any]:
    return {
        "asset": result.asset,
        "quantity": shown(result.quantity),
        "known_quantity": shown(result.known),
        "estimated_quantity": shown(result.estimated),
        "price": shown_or_none(result.price),
        "value": shown_or_none(result.value),
        "cost": shown_or_none(result.cost),
        "average_cost": shown_or_none(result.average_cost),
        "unrealised_pnl": shown_or_none(result.unrealised),
        "unrealised_percent": shown_or_none(result.unrealised_percent),
        "unknown_value": shown_or_none(result.unknown_value),
    }


def _result_response(result: SpotResult) -> SpotResultResponse:
    return SpotResultResponse(
        realised_pnl=_realised(result.realised), fees=_fees(result.fees), **_holding_fields(result)
    )


def _market_response(result: MarketResult) -> SpotMarketResponse:
    sums = result.sums
    return SpotMarketResponse(
        symbol=result.symbol,
        fills=sums.fills,
        bought_quantity=shown(sums.bought),
        bought_notional=shown(sums.bought_notional),
        average_buy_price=shown_or_none(sums.average_buy_price),
        sold_quantity=shown(sums.sold),
        sold_notional=shown(sums.sold_notional),
        average_sell_price=shown_or_none(sums.average_sell_price),
        fees=shown(sums.fees),
        **_held_fields(result.held),
        realised_pnl=_realised(result.realised),
    )


def _held_fields(held: SpotResult | None) -> dict[str, Any]:
    return {
        name: None if held is None else shown_or_none(getattr(held, attribute))
        for name, attribute in _HELD_FIELDS.items()
    }


def _totals_response(totals: SpotTotals) -> SpotTotalsResponse:
    return SpotTotalsResponse(
        value=shown(totals.value),
        cost=shown(totals.cost),
        priced_cost=shown(totals.priced_cost),
        unrealised_pnl=shown(totals.unrealised),
        unrealised_percent=shown_or_none(totals.unrealised_percent),
        unknown_value=shown(totals.unknown_value),
        realised_pnl=_realised(totals.realised),
        fees=_fees(totals.fees),
        unpriced=list(totals.unpriced),
    )
