"""Positions and what is computed from them."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from openspot.domain.money import AMOUNT_SCALE, decimal_to_text
from openspot.http.errors import HttpError
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock, utc_datetime
from openspot.kit.database import Pool
from openspot.market_data_client.errors import MarketDataUnavailableError
from openspot.positions.amounts import amount_of, shown, shown_or_none
from openspot.positions.holdings.schemas import (
    BalanceResponse,
    ConcentrationResponse,
    ExposureValue,
    ParticipantStatistics,
    PnlResponse,
    PositionResponse,
    QuoteResultResponse,
    RiskResponse,
    SnapshotResponse,
    SummaryStatistics,
    SymbolPnlResponse,
    SymbolResultResponse,
    TradeResponse,
)
from openspot.positions.holdings.store import HoldingStore
from openspot.positions.holdings.trade_store import NewTrade, PositionKey, book_trades, position_of
from openspot.positions.position import TradeError, closing_trade
from openspot.positions.prices import Prices, closes_in
from openspot.positions.profit_and_loss import (
    QuoteResult,
    SymbolResult,
    results_by_quote,
    results_by_symbol,
    symbol_result,
    value_at,
)
from openspot.positions.risk import concentration, exposure, value_at_risk

CONFIDENCE = "0.95"


class HoldingService:
    """Does the work of the routes of positions, balances, trades, results, risk and statistics. Raises HttpError."""

    def __init__(
        self, pool: Pool, store: HoldingStore, prices: Prices, clock: Clock, currency: str, *, follows_fills: bool
    ) -> None:
        self._pool = pool
        self._prices = prices
        self._clock = clock
        self._currency = currency
        self._follows_fills = follows_fills
        self.store = store

    async def position(self, participant_id: str, symbol: str) -> PositionResponse:
        """One position. Raises HttpError (404) if it never had a trade."""
        row = await self.store.position(participant_id, symbol)
        if row is None:
            raise HttpError(404, f"{participant_id} has no position in {symbol}", "POSITION_NOT_FOUND")
        return position_response(row)

    async def close(self, participant_id: str, symbol: str, operation_id: str) -> PositionResponse:
        """Book the trade that closes a position at its mark price, once for each `operation_id`.

        Raises HttpError: 404 if there is no position; 409 if it is flat, has no mark price, or follows the exchange.
        """
        if self._follows_fills:
            message = "positions follow the fills of the exchange: place an order to close one"
            raise HttpError(409, message, "POSITIONS_FOLLOW_FILLS")
        await self.position(participant_id, symbol)
        trade_id = f"close:{operation_id}"
        async with self._pool.acquire() as connection, connection.transaction():
            key = PositionKey(participant_id, symbol)
            await connection.execute("SELECT FROM positions WHERE (participant_id, symbol) = ($1, $2) FOR UPDATE", *key)
            if not await connection.fetchval("SELECT true FROM position_trades WHERE trade_id = $1", trade_id):
                row = await self.store.position(participant_id, symbol, connection)
                assert row is not None, "a position with a trade never goes away"
                try:
                    trade = closing_trade(
                        position_of(row), _mark_of(row), trade_id, self._clock() // NANOSECONDS_PER_MS
                    )
                except TradeError as error:
                    raise HttpError(409, str(error), "POSITION_NOT_CLOSED") from error
                await book_trades(connection, [NewTrade(key, trade, "close")])
        return await self.position(participant_id, symbol)

    async def balance(self, participant_id: str, asset: str) -> BalanceResponse:
        """One balance. It is zero if the asset never moved."""
        rows = await self.store.balances(participant_id, asset, ("", ""), 1)
        if rows:
            return balance_response(rows[0])
        return BalanceResponse(
            participant_id=participant_id, asset_id=asset, available="0", locked="0", total="0", updated_at=None
        )

    async def results(self, participant_id: str) -> PnlResponse:
        """Results by quote asset."""
        results = results_by_quote(await self._results_by_symbol(participant_id))
        return PnlResponse(participant_id=participant_id, results=[_quote_response(result) for result in results])

    async def results_by_symbol(self, participant_id: str) -> SymbolPnlResponse:
        """Results by symbol."""
        results = await self._results_by_symbol(participant_id)
        return SymbolPnlResponse(
            participant_id=participant_id, results=[_symbol_response(result) for result in results]
        )

    async def risk(self, participant_id: str) -> RiskResponse:
        """Exposure, concentration and value at risk in the accounting currency."""
        marks = await self.store.marks()
        held = {
            row["symbol"]: amount_of(row["quantity"])
            for row in await self.store.positions_of(participant_id)
            if row["quantity"]
        }
        values = {symbol: self._value(symbol, quantity, marks) for symbol, quantity in held.items()}
        exposed = exposure(values)
        shares = concentration(exposed.values)
        at_risk = None if exposed.unpriced else await self._value_at_risk(exposed.values)
        return RiskResponse(
            participant_id=participant_id,
            currency=self._currency,
            gross_exposure=shown(exposed.gross),
            net_exposure=shown(exposed.net),
            long_exposure=shown(exposed.long),
            short_exposure=shown(exposed.short),
            exposures=[ExposureValue(symbol=symbol, value=shown(value)) for symbol, value in exposed.values.items()],
            unpriced=list(exposed.unpriced),
            concentration=None
            if shares is None
            else ConcentrationResponse(
                herfindahl=decimal_to_text(shares.herfindahl),
                largest_symbol=shares.largest,
                largest_share=decimal_to_text(shares.largest_share),
            ),
            value_at_risk=None if at_risk is None else decimal_to_text(at_risk),
            value_at_risk_confidence=CONFIDENCE,
        )

    async def summary(self, participant_id: str | None) -> SummaryStatistics:
        """Counts and results over all participants, or of one."""
        counts = await self.store.summary(participant_id)
        results = [
            symbol_result(row["symbol"], position_of(row), _mark_of(row))
            for row in await self.store.sums_by_symbol(participant_id)
        ]
        return SummaryStatistics(
            participants=counts["participants"],
            open_positions=counts["open_positions"],
            trades=counts["trade_count"],
            pending_transfers=counts["pending_transfers"],
            broker_exceptions=counts["exceptions"],
            results=[_quote_response(result) for result in results_by_quote(results)],
            following_fills=self._follows_fills,
        )

    async def _results_by_symbol(self, participant_id: str) -> list[SymbolResult]:
        rows = await self.store.positions_of(participant_id)
        marks = {row["symbol"]: mark for row in rows if (mark := _mark_of(row)) is not None}
        return results_by_symbol({row["symbol"]: position_of(row) for row in rows}, marks)

    def _value(self, symbol: str, quantity: int, marks: Mapping[str, int]) -> int | None:
        """The value of a position in the accounting currency; None if a mark price is missing."""
        quote = symbol.split("-")[1]
        mark = marks.get(symbol)
        rate = AMOUNT_SCALE if quote == self._currency else marks.get(f"{quote}-{self._currency}")
        return None if mark is None or rate is None else value_at(value_at(quantity, mark), rate)

    async def _value_at_risk(self, values: Mapping[str, int]) -> Decimal | None:
        now = utc_datetime(self._clock)
        symbols = [symbol for symbol, value in values.items() if value]
        quotes = {symbol.split("-")[1] for symbol in symbols} - {self._currency}
        needed = {*symbols, *(f"{quote}-{self._currency}" for quote in quotes)}
        try:
            closes = {symbol: await self._prices.daily_closes(symbol, now) for symbol in sorted(needed)}
        except MarketDataUnavailableError:
            return None
        return value_at_risk(values, closes_in(self._currency, symbols, closes))


def position_response(row: Any) -> PositionResponse:
    """The response for a row of positions with its mark price."""
    position = position_of(row)
    result = symbol_result(row["symbol"], position, _mark_of(row))
    return PositionResponse(
        participant_id=row["participant_id"],
        symbol=row["symbol"],
        status="open" if position.quantity else "closed",
        quantity=shown(position.quantity),
        cost=shown(position.cost),
        average_price=shown_or_none(position.average_price),
        realised_pnl=shown(position.realised),
        fees=shown(position.fees),
        cash_flow=shown(position.cash_flow),
        trades=position.trades,
        mark_price=shown_or_none(_mark_of(row)),
        marked_at=row["priced_at"],
        value=shown_or_none(result.value),
        unrealised_pnl=shown_or_none(result.unrealised),
        opened_at=row["opened_at"],
        closed_at=row["closed_at"],
        updated_at=row["updated_at"],
    )


def snapshot_response(row: Any) -> SnapshotResponse:
    """The response for a row of snapshots."""
    return SnapshotResponse(
        taken_at=row["taken_at"],
        participant_id=row["participant_id"],
        symbol=row["symbol"],
        quantity=shown(amount_of(row["quantity"])),
        cost=shown(amount_of(row["cost"])),
        realised_pnl=shown(amount_of(row["realised"])),
        fees=shown(amount_of(row["fees"])),
        mark_price=shown_or_none(_mark_of(row)),
        unrealised_pnl=None if row["unrealised"] is None else shown(amount_of(row["unrealised"])),
    )


def balance_response(row: Any) -> BalanceResponse:
    """The response for a row of balances."""
    available, locked = amount_of(row["available"]), amount_of(row["locked"])
    return BalanceResponse(
        participant_id=row["participant_id"],
        asset_id=row["asset"],
        available=shown(available),
        locked=shown(locked),
        total=shown(available + locked),
        updated_at=row["updated_at"],
    )


def trade_response(row: Any) -> TradeResponse:
    """The response for a row of trades."""
    return TradeResponse(
        trade_id=row["trade_id"],
        participant_id=row["participant_id"],
        symbol=row["symbol"],
        side=row["side"],
        quantity=shown(amount_of(row["quantity"])),
        notional=shown(amount_of(row["notional"])),
        fee=shown(amount_of(row["fee"])),
        realised_pnl=shown(amount_of(row["realised"])),
        source=row["source"],
        executed_at=row["executed_at"],
    )


def statistics_response(row: Any) -> ParticipantStatistics:
    """The response for the counts of one participant."""
    return ParticipantStatistics(
        participant_id=row["participant_id"],
        symbols=row["symbols"],
        open_positions=row["open_positions"],
        trades=row["trade_count"],
        updated_at=row["updated_at"],
    )


def _mark_of(row: Any) -> int | None:
    return None if row["mark_price"] is None else amount_of(row["mark_price"])


def _quote_response(result: QuoteResult) -> QuoteResultResponse:
    return QuoteResultResponse(
        quote_asset=result.quote,
        realised_pnl=shown(result.realised),
        unrealised_pnl=shown_or_none(result.unrealised),
        total_pnl=shown_or_none(result.total),
        fees=shown(result.fees),
    )


def _symbol_response(result: SymbolResult) -> SymbolResultResponse:
    return SymbolResultResponse(
        symbol=result.symbol,
        quantity=shown(result.position.quantity),
        cost=shown(result.position.cost),
        mark_price=shown_or_none(result.mark),
        value=shown_or_none(result.value),
        realised_pnl=shown(result.position.realised),
        unrealised_pnl=shown_or_none(result.unrealised),
        total_pnl=shown_or_none(result.total),
        fees=shown(result.position.fees),
    )
