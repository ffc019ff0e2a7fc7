"""Request and response bodies of the fee lookup and of the estimate."""

from typing import Annotated

from openspot.domain.order import OrderType
from openspot.http.validation import Body, LowerCase, PositiveDecimal, ResponseBody, Symbol, example
from openspot.rest_edge.orders.schemas import OrderSide


class EstimateBody(Body):
    """An order to estimate. `price` is used if it is given, else the fixed price of the symbol."""

    model_config = example({"symbol": "BTC-USD", "side": "buy", "type": "market", "quantity": "0.5"})

    symbol: Symbol
    side: Annotated[OrderSide, LowerCase]
    type: Annotated[OrderType, LowerCase] = OrderType.MARKET
    quantity: PositiveDecimal
    price: PositiveDecimal | None = None


class EstimateResponse(ResponseBody):
    """What an order would come to, in the quote asset.

    `total` is what a buy spends (subtotal + fee) or a sell receives (subtotal - fee).
    """

    symbol: str
    side: OrderSide
    price: str
    quantity: str
    subtotal: str
    fee: str
    fee_rate: str
    total: str
    spend_asset: str
    receive_asset: str


class TierResponse(ResponseBody):
    """A tier; rates as decimals of the notional: 0.0016 is 0.16 %."""

    name: str
    volume_min: str
    maker_rate: str
    taker_rate: str


class TradingFeesResponse(ResponseBody):
    """The tier of the fixed 30-day volume, and all tiers. A lookup only: the market's fees are what is charged."""

    tier: str
    volume30d: str
    maker_rate: str
    taker_rate: str
    tiers: list[TierResponse]
