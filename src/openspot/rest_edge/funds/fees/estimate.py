"""The estimate: fixed rates, and fixed prices for six symbols (facts A2.7-21 to A2.7-23). Rules without IO."""

from dataclasses import dataclass
from decimal import Decimal

from openspot.domain.money import EXACT, decimal_to_text
from openspot.domain.order import OrderType
from openspot.rest_edge.funds.fees.schemas import EstimateBody, EstimateResponse
from openspot.rest_edge.orders.schemas import OrderSide

MAKER_RATE = Decimal("0.001")
TAKER_RATE = Decimal("0.002")
PRICES = {
    "BTC-USD": Decimal(65_000),
    "ETH-USD": Decimal(3_500),
    "SOL-USD": Decimal(150),
    "BTC-USDT": Decimal(65_000),
    "ETH-USDT": Decimal(3_500),
    "SOL-USDT": Decimal(150),
}
"""The fixed price map. Fact A2.7-23 gives its size, not its figures."""


@dataclass(frozen=True, slots=True)
class UnknownPriceError(Exception):
    """There is no price for a symbol: neither the request nor the map has one."""

    symbol: str


def estimate(order: EstimateBody) -> EstimateResponse:
    """Return the cost or the proceeds of `order`. Raises UnknownPriceError."""
    price = Decimal(order.price) if order.price is not None else PRICES.get(order.symbol)
    if price is None:
        raise UnknownPriceError(order.symbol)
    limited = order.type in (OrderType.LIMIT, OrderType.STOP_LIMIT)
    rate = MAKER_RATE if limited else TAKER_RATE
    subtotal = EXACT.multiply(price, Decimal(order.quantity))
    fee = EXACT.multiply(subtotal, rate)
    base, _, quote = order.symbol.partition("-")
    buys = order.side is OrderSide.BUY
    return EstimateResponse(
        symbol=order.symbol,
        side=order.side,
        price=decimal_to_text(price),
        quantity=order.quantity,
        subtotal=decimal_to_text(subtotal),
        fee=decimal_to_text(fee),
        fee_rate=decimal_to_text(rate),
        total=decimal_to_text(EXACT.add(subtotal, fee) if buys else EXACT.subtract(subtotal, fee)),
        spend_asset=quote if buys else base,
        receive_asset=base if buys else quote,
    )
