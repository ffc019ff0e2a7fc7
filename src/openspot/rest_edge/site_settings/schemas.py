"""Bodies of the settings routes."""

from typing import Literal

from openspot.contracts.messages.message import TimeText
from openspot.domain.order import OrderType, PostOnlyMode, SelfTradePrevention, TimeInForce, TriggerSource
from openspot.domain.order_list import ListType
from openspot.http.validation import ResponseBody
from openspot.rest_edge.orders.schemas import OrderSide


class CountryResponse(ResponseBody):
    """A country of ISO 3166-1."""

    code: str
    alpha3: str
    numeric: str
    name: str


class ProvinceResponse(ResponseBody):
    """A subdivision of ISO 3166-2. `parent` is the code of the subdivision above it."""

    code: str
    name: str
    type: str
    parent: str | None


class SsoResponse(ResponseBody):
    """Sign-in through other parties. The platform has none."""

    enabled: Literal[False]
    providers: list[str]


class ThrottleTierResponse(ResponseBody):
    """At most `requests` in any `seconds`."""

    name: str
    requests: int
    seconds: int


class SystemResponse(ResponseBody):
    """The settings of this edge that concern clients."""

    version: str
    server_time: TimeText
    throttling_enabled: bool
    throttle_tiers: list[ThrottleTierResponse]
    body_bytes_max: int
    list_limit_default: int
    list_limit_max: int
    access_token_seconds: int
    refresh_token_seconds: int
    conversion_spread_bps: int
    conversion_quote_seconds: int
    payment_session_seconds: int
    network_fee_quote_seconds: int


class VolatilityResponse(ResponseBody):
    """When a market is interrupted by an auction of `auction_seconds`: its fair price moved by more than `move_bps`
    basis points within `window_seconds`. The auction goes on once if it would end as far from the fair price. The next
    interruption comes `pause_seconds` after the last one at the earliest."""

    move_bps: int
    window_seconds: int
    auction_seconds: int
    pause_seconds: int


class TradingResponse(ResponseBody):
    """The rules of orders that are on, and what an order may ask for under them.

    `rules` are the specification's or the complete ones. A time in force that is not listed is stored and changes
    nothing. `triggerSources` are the prices that can fire a stop; empty: there are no stops.
    `selfTradePreventionModes` are those that an order may choose; empty: the account's mode applies.
    `orderListTypes` are the lists that can be placed; empty: there are none.
    `icebergs`: a limit order may show a part of its quantity, at least the `icebergSlicesMax`-th one. No market is
    interrupted if `volatilityInterruption` is null.
    `clientOrderIdsUnique`: no two open orders of an account have the same `clientOrderId`. `fillsMax` is how many
    fills the reply to a placement lists; 0: none.
    """

    rules: Literal["specification", "complete"]
    order_types: list[OrderType]
    times_in_force: list[TimeInForce]
    trigger_sources: list[TriggerSource]
    post_only: bool
    post_only_modes: list[PostOnlyMode]
    quote_quantity_sides: list[OrderSide]
    self_trade_prevention_modes: list[SelfTradePrevention]
    order_list_types: list[ListType]
    icebergs: bool
    iceberg_slices_max: int
    volatility_interruption: VolatilityResponse | None
    client_order_ids_unique: bool
    client_order_id_length_max: int
    orders_per_batch_max: int
    fills_max: int
