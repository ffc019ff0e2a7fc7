"""Bodies of positions, balances, trades, profit and loss, risk and statistics. Amounts are decimal texts."""

from typing import Literal

from pydantic import Field

from openspot.contracts.messages.message import DecimalText
from openspot.http.validation import ResponseBody
from openspot.positions.times import ShownTime

PositionState = Literal["open", "closed"]
TradeSource = Literal["fill", "broker", "close"]


class PositionResponse(ResponseBody):
    """A participant's position in one symbol, with average cost. Money is in the quote asset.

    `quantity` is negative for a short position. Fields that depend on a mark price are null if there is none.
    """

    participant_id: str
    symbol: str
    status: PositionState
    quantity: DecimalText
    cost: DecimalText
    average_price: DecimalText | None
    realised_pnl: DecimalText
    fees: DecimalText
    cash_flow: DecimalText
    trades: int
    mark_price: DecimalText | None
    marked_at: ShownTime | None
    value: DecimalText | None
    unrealised_pnl: DecimalText | None
    opened_at: ShownTime | None
    closed_at: ShownTime | None
    updated_at: ShownTime


class SnapshotResponse(ResponseBody):
    """A position as it was at `takenAt`."""

    taken_at: ShownTime
    participant_id: str
    symbol: str
    quantity: DecimalText
    cost: DecimalText
    realised_pnl: DecimalText
    fees: DecimalText
    mark_price: DecimalText | None
    unrealised_pnl: DecimalText | None


class BalanceResponse(ResponseBody):
    """A balance of an asset after all transfers and trades. `locked` is held for pending withdrawals.

    `available` may be negative after a trade, because trades are never refused.
    """

    participant_id: str
    asset_id: str
    available: DecimalText
    locked: DecimalText
    total: DecimalText
    updated_at: ShownTime | None


class TradeResponse(ResponseBody):
    """A trade that moved a position. `realisedPnl` is the result that it realised."""

    trade_id: str
    participant_id: str
    symbol: str
    side: Literal["buy", "sell"]
    quantity: DecimalText
    notional: DecimalText
    fee: DecimalText
    realised_pnl: DecimalText
    source: TradeSource
    executed_at: ShownTime


class ResultResponse(ResponseBody):
    """Realised, unrealised and total result. The latter two are null if a mark price is missing."""

    realised_pnl: DecimalText
    unrealised_pnl: DecimalText | None
    total_pnl: DecimalText | None
    fees: DecimalText


class QuoteResultResponse(ResultResponse):
    """The result of all symbols with the same quote asset."""

    quote_asset: str


class SymbolResultResponse(ResultResponse):
    """The result of one symbol, in its quote asset."""

    symbol: str
    quantity: DecimalText
    cost: DecimalText
    mark_price: DecimalText | None
    value: DecimalText | None


class PnlResponse(ResponseBody):
    """A participant's results, by quote asset."""

    participant_id: str
    results: list[QuoteResultResponse]


class SymbolPnlResponse(ResponseBody):
    """A participant's results, by symbol."""

    participant_id: str
    results: list[SymbolResultResponse]


class ExposureValue(ResponseBody):
    """The signed value of one position in the reporting currency."""

    symbol: str
    value: DecimalText


class ConcentrationResponse(ResponseBody):
    """The concentration of the gross exposure on few positions. `herfindahl` is the sum of the squared shares."""

    herfindahl: DecimalText
    largest_symbol: str
    largest_share: DecimalText


class RiskResponse(ResponseBody):
    """Exposure at the mark prices, concentration, and value at risk, in the accounting currency.

    `unpriced` names the open positions that no sum includes, because a price is missing. `valueAtRisk` is the loss that
    is exceeded on one day of twenty: 1.645 times the standard deviation of the daily result of the present positions
    over the daily closes of the last year. It is null with fewer than 30 common daily returns.
    """

    participant_id: str
    currency: str
    gross_exposure: DecimalText
    net_exposure: DecimalText
    long_exposure: DecimalText
    short_exposure: DecimalText
    exposures: list[ExposureValue]
    unpriced: list[str]
    concentration: ConcentrationResponse | None
    value_at_risk: DecimalText | None
    value_at_risk_confidence: str = Field(examples=["0.95"])


class ParticipantStatistics(ResponseBody):
    """Counts of one participant."""

    participant_id: str
    symbols: int
    open_positions: int
    trades: int
    updated_at: ShownTime


class SummaryStatistics(ResponseBody):
    """Counts and results over all participants that the caller may see."""

    participants: int
    open_positions: int
    trades: int
    pending_transfers: int
    broker_exceptions: int
    results: list[QuoteResultResponse]
    following_fills: bool
