"""The rules of orders that the running edge follows, as clients read them."""

from openspot.domain.order import (
    FILLS_LISTED_MAX,
    ICEBERG_SLICES_MAX,
    OrderType,
    PostOnlyMode,
    SelfTradePrevention,
    TimeInForce,
    TriggerSource,
)
from openspot.domain.order_list import ListType
from openspot.domain.volatility import VolatilityRules
from openspot.kit.clock import NANOSECONDS_PER_S
from openspot.kit.settings import OrderRulesSettings
from openspot.rest_edge.orders.schemas import BATCH_MAX, CLIENT_ORDER_ID_LENGTH_MAX, OrderSide
from openspot.rest_edge.site_settings.schemas import TradingResponse, VolatilityResponse


def _volatility(rules: VolatilityRules | None) -> VolatilityResponse | None:
    if rules is None:
        return None
    return VolatilityResponse(
        move_bps=rules.move_bps,
        window_seconds=rules.window_ns // NANOSECONDS_PER_S,
        auction_seconds=rules.auction_ns // NANOSECONDS_PER_S,
        pause_seconds=rules.pause_ns // NANOSECONDS_PER_S,
    )


def trading_rules(settings: OrderRulesSettings) -> TradingResponse:
    """What an order may ask for under `settings`."""
    is_complete = settings.has_complete_rules
    return TradingResponse(
        rules=settings.rules,
        order_types=list(OrderType) if is_complete else [OrderType.LIMIT, OrderType.MARKET],
        times_in_force=[
            time_in_force
            for time_in_force in (TimeInForce if settings.honours_time_in_force else [TimeInForce.GTC])
            if is_complete or time_in_force is not TimeInForce.GTD
        ],
        trigger_sources=list(TriggerSource) if is_complete else [],
        post_only=is_complete,
        post_only_modes=list(PostOnlyMode) if is_complete else [],
        quote_quantity_sides=list(OrderSide) if is_complete else [OrderSide.BUY],
        self_trade_prevention_modes=list(SelfTradePrevention) if is_complete else [],
        order_list_types=list(ListType) if is_complete else [],
        icebergs=is_complete,
        iceberg_slices_max=ICEBERG_SLICES_MAX if is_complete else 0,
        volatility_interruption=_volatility(settings.volatility_rules),
        client_order_ids_unique=is_complete,
        client_order_id_length_max=CLIENT_ORDER_ID_LENGTH_MAX,
        orders_per_batch_max=BATCH_MAX,
        fills_max=FILLS_LISTED_MAX if is_complete else 0,
    )
