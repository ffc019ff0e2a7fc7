"""Bodies of spot results. Amounts are decimal texts; money is in the accounting currency, in whole cents."""

from openspot.contracts.messages.message import DecimalText
from openspot.http.validation import ResponseBody
from openspot.positions.times import ShownTime


class FeeResponse(ResponseBody):
    """Fees in the asset in which they were paid; negative if they were rebates."""

    asset: str
    amount: DecimalText


class RealisedResponse(ResponseBody):
    """Gains less losses of disposals: since midnight UTC, in the last 7 and 30 times 24 hours, and of all time."""

    today: DecimalText
    week: DecimalText
    month: DecimalText
    all: DecimalText


class SpotHoldingResponse(ResponseBody):
    """One asset. `knownQuantity` of the quantity has a known cost; `cost`, `averageCost` and `unrealisedPnl` are its.

    `estimatedQuantity` of it came from elsewhere, and has the price of that moment as its cost.

    What depends on a fair price is null without one. What depends on a cost is null if the cost is unknown.
    `unknownValue` is the value of the quantity whose cost is unknown.
    """

    asset: str
    quantity: DecimalText
    known_quantity: DecimalText
    estimated_quantity: DecimalText
    price: DecimalText | None
    value: DecimalText | None
    cost: DecimalText | None
    average_cost: DecimalText | None
    unrealised_pnl: DecimalText | None
    unrealised_percent: DecimalText | None
    unknown_value: DecimalText | None


class SpotResultResponse(SpotHoldingResponse):
    """One asset with what its disposals realised and its fees. The other fields are those of `SpotHoldingResponse`."""

    realised_pnl: RealisedResponse
    fees: list[FeeResponse]


class SpotCostResponse(SpotHoldingResponse):
    """One asset as the engine held it at `readAt`, without a look at what was sold. `costsAsOf` as in the results."""

    user_id: str
    currency: str
    read_at: ShownTime
    costs_as_of: ShownTime | None


class SpotTotalsResponse(ResponseBody):
    """The sums of the results. `unpriced` assets have no price, and their value is in no sum.

    `value` is `pricedCost` + `unrealisedPnl` + `unknownValue`; `cost` also has the cost of assets without a price.
    """

    value: DecimalText
    cost: DecimalText
    priced_cost: DecimalText
    unrealised_pnl: DecimalText
    unrealised_percent: DecimalText | None
    unknown_value: DecimalText
    realised_pnl: RealisedResponse
    fees: list[FeeResponse]
    unpriced: list[str]


class SpotResultsResponse(ResponseBody):
    """Holdings of an account on the exchange with their results.

    The engine held these quantities at `readAt`. Costs and realised results count what happened until `costsAsOf`: the
    same time, unless fills wait to be counted; null if the service does not follow the exchange, and then knows nothing
    but what the user has recorded for the account `exchange`. `shortfallCount` transactions took more than that account
    held in the records, and count in no result.
    """

    user_id: str
    currency: str
    read_at: ShownTime
    costs_as_of: ShownTime | None
    unvalued_fills: int
    shortfall_count: int
    holdings: list[SpotResultResponse]
    totals: SpotTotalsResponse


class SpotMarketResponse(ResponseBody):
    """A user's fills on one market and their results.

    Bought and sold quantities and `heldQuantity` are in the base asset; notionals, average prices and `fees` in the
    quote asset. Average prices are without fees, and null without a fill. `fees` are negative if they were rebates.

    `realisedPnl` is of the disposals that fills of this market made, also of the quote asset. `heldQuantity` is what is
    still held of what was bought on this market, with its cost and its value at the fair price; what depends on that is
    null without one. All of it is null if the base asset is the accounting currency, which has no cost of its own.
    """

    symbol: str
    fills: int
    bought_quantity: DecimalText
    bought_notional: DecimalText
    average_buy_price: DecimalText | None
    sold_quantity: DecimalText
    sold_notional: DecimalText
    average_sell_price: DecimalText | None
    fees: DecimalText
    held_quantity: DecimalText | None
    cost: DecimalText | None
    average_cost: DecimalText | None
    value: DecimalText | None
    unrealised_pnl: DecimalText | None
    unrealised_percent: DecimalText | None
    realised_pnl: RealisedResponse


class SpotRealisedResponse(ResponseBody):
    """A realised result that is of no single market."""

    realised_pnl: RealisedResponse


class SpotMarketsResponse(ResponseBody):
    """Results by market. The realised results of `markets` and `other` are those of `totals`, which `/spot` has, too.

    `other` is of what no fill disposed of: conversions, payments and recorded transactions. It also holds the
    difference of the cents that are cut by market and by asset. The other fields are those of the results by asset.
    """

    user_id: str
    currency: str
    read_at: ShownTime
    costs_as_of: ShownTime | None
    unvalued_fills: int
    shortfall_count: int
    markets: list[SpotMarketResponse]
    other: SpotRealisedResponse
    totals: SpotRealisedResponse
