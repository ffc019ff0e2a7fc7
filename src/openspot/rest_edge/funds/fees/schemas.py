"""Request and response bodies of the fee lookup and of the estimate."""

from typing import Annotated

from openspot.contracts.messages.message import DecimalText, TimeText
from openspot.domain.order import OrderType
from openspot.http.validation import Body, LowerCase, PositiveDecimal, ResponseBody, Symbol, example
from openspot.rest_edge.orders.schemas import OrderSide


class EstimateBody(Body):
    """An order to estimate. Without a `price`, the estimate uses the fixed price of the symbol."""

    model_config = example({"symbol": "BTC-USD", "side": "buy", "type": "market", "quantity": "0.5"})

    symbol: Symbol
    side: Annotated[OrderSide, LowerCase]
    type: Annotated[OrderType, LowerCase] = OrderType.MARKET
    quantity: PositiveDecimal
    price: PositiveDecimal | None = None


class EstimateResponse(ResponseBody):
    """The estimated result of an order, in the quote asset.

    `total` is what a buy spends (subtotal + fee) or a sell receives (subtotal - fee).
    """

    symbol: str
    side: OrderSide
    price: DecimalText
    quantity: DecimalText
    subtotal: DecimalText
    fee: DecimalText
    fee_rate: DecimalText
    total: DecimalText
    spend_asset: str
    receive_asset: str


class TierResponse(ResponseBody):
    """A tier. Rates are fractions of the notional: 0.0016 is 0.16 %."""

    name: str
    volume_min: DecimalText
    maker_rate: DecimalText
    taker_rate: DecimalText


class TokenHolderResponse(ResponseBody):
    """The base-tier rates of users who hold `minimum` of the platform's token (facts A2.7-19 and A2.7-20).

    `asset` is null if the platform has no such token.
    """

    asset: str | None
    minimum: DecimalText
    maker_rate: DecimalText
    taker_rate: DecimalText
    is_holder: bool


class TradingFeesResponse(ResponseBody):
    """The tier of the fixed 30-day volume, and all tiers. This is a lookup only: the market's own fees are charged.

    `makerRate` and `takerRate` are the tier's, or the token holder's if the caller is one.
    """

    tier: str
    volume30d: DecimalText
    maker_rate: DecimalText
    taker_rate: DecimalText
    token_holder: TokenHolderResponse
    tiers: list[TierResponse]


class NetworkFeeResponse(ResponseBody):
    """The fee of a withdrawal of an asset over a network, and the least amount that may be withdrawn, fee included.

    An amount of the asset may have `places` decimal places. `fiat` says that the network is a bank network. Where
    deposits or withdrawals are not enabled, operators have paused them, and `notice` is what they say of it.
    """

    asset: str
    network: str
    fee: DecimalText
    minimum: DecimalText
    places: int
    fiat: bool
    deposits_enabled: bool
    withdrawals_enabled: bool
    notice: str


class NetworkFeeQuoteResponse(ResponseBody):
    """A pinned fee: withdrawals that name `feeQuoteId` until `expiresAt` have this fee.

    `amount` leaves the account, `netAmount` = amount - fee arrives.
    """

    asset: str
    network: str
    amount: DecimalText
    fee: DecimalText
    minimum: DecimalText
    net_amount: DecimalText
    fee_quote_id: str
    expires_at: TimeText


class PaymentFeeResponse(ResponseBody):
    """The fee of a payment: fixed part + amount * feeBps / 10000, rounded up to the currency's places."""

    route_id: str
    currency: str
    fee_bps: int
    fee_fixed: DecimalText
