"""Shapes that only the market routes have. Decimals are texts, times are milliseconds since 1970."""

from typing import Annotated

import msgspec

from openspot.contracts.listings import StatusAt
from openspot.contracts.messages.market_data import Level
from openspot.contracts.messages.message import Count, DecimalText, Message, listed
from openspot.domain.listing import MarketStatus
from openspot.domain.market_phase import PhaseCause


class Market(Message, frozen=True):
    """A market: the engine's specification, fees in basis points, and the limits of the pre-trade check.

    A price is a multiple of the tick, a quantity of the lot. The limits are null if the pre-trade check has none for
    the symbol. It then rejects all orders for it.

    The price of a limit order may be `deviation_bps_max` basis points from the reference, and `slippage_bps_max` is the
    most that a market order may have as `maxSlippageBps`. `price_reference` says what the reference is: the last trade,
    or the fair price, which `reference_price` shows. Around a fair price that is not good the present deviation is
    wider than usual. `rules` are the rules of orders (`GET /settings/trading`). `phase` says what the market takes
    (docs/guides/order-rules.md), and `phase_ends_at` when continuous trading begins again, in milliseconds since 1970.
    `phase_cause` says why the exchange itself began an auction, null if it did not.

    `status` says how far the market is between its announcement and its delisting, and `schedule` which statuses follow
    by themselves, and when (docs/guides/markets.md). `name` and `announcement` are texts of the operators for traders,
    `logo` names the picture of the base asset, `quote_logo` that of the quote asset. All four may be empty.

    On a market with `margin` positions can be opened while it is traded, and its two assets are lent and secure debts
    (docs/guides/margin.md).
    """

    symbol: str
    base_asset: str
    quote_asset: str
    active: bool
    tick_size: DecimalText
    lot_size: DecimalText
    taker_fee: int
    maker_fee: int
    base_scale_k: int
    quote_scale_k: int
    quantity_min: DecimalText | None = None
    quantity_max: DecimalText | None = None
    notional_min: DecimalText | None = None
    notional_max: DecimalText | None = None
    deviation_bps_max: Count | None = None
    slippage_bps_max: Count | None = None
    price_reference: Annotated[str, listed("last_trade", "fair_price")] = "last_trade"
    reference_price: DecimalText | None = None
    rules: Annotated[str, listed("specification", "complete")] = "specification"
    phase: Annotated[str, listed("continuous", "halted", "cancel-only", "post-only", "auction", "uncrossing")] = (
        "continuous"
    )
    phase_ends_at: Count | None = None
    phase_cause: Annotated[str, listed(*PhaseCause)] | None = None
    status: Annotated[str, listed(*MarketStatus)] = MarketStatus.OPEN.value
    name: str = ""
    announcement: str = ""
    logo: str = ""
    quote_logo: str = ""
    schedule: list[StatusAt] = msgspec.field(default_factory=list)
    margin: bool = False


class MarketFairPrice(Message, frozen=True):
    """What a market's base is worth in its quote, for every decision about money (docs/protocol/fair-price.md).

    `state` says how sure that is, and `reason` why it is not `good` and what is waited for. What somebody owns is
    valued at `low`, what somebody owes at `high`.
    """

    symbol: str
    price: DecimalText
    low: DecimalText
    high: DecimalText
    state: Annotated[str, listed("good", "thin", "stale", "disputed")]
    reason: str
    timestamp: Count


class AssetFairPrice(Message, frozen=True):
    """What one unit of an asset is worth in US dollars at the fair prices of the markets that connect them.

    `state` is the worst of those markets' states. The dollar's own price is 1.
    """

    asset: str
    price: DecimalText
    state: Annotated[str, listed("good", "thin", "stale", "disputed")]


class OrderBook(Message, frozen=True):
    """Level-2 bids and asks, best first, quantities summed per price. `sequence` is the engine's newest event in it."""

    symbol: str
    bids: list[Level]
    asks: list[Level]
    sequence: Count
    timestamp: Count
