"""Order requests and events to begin from: each test changes what it is about."""

from decimal import Decimal
from typing import Any

import msgspec

from openspot.contracts.engine_events import (
    AcceptedEvent,
    MovedEvent,
    ReduceEvent,
    RejectEvent,
    TradeEvent,
    TriggeredEvent,
    WaitingEvent,
)
from openspot.contracts.messages import OrderRequest, SubmitOrder
from openspot.domain.market import MarketLimits
from openspot.domain.symbol import SymbolSpec
from openspot.router.orders.draft import draft_of
from openspot.router.orders.pre_trade import Candidate, MarketRules, Reference

SPEC = SymbolSpec(
    symbol="BTC-USD",
    symbol_id=1,
    base="BTC",
    quote="USD",
    base_scale_k=10**4,
    quote_scale_k=10**2,
    tick=5,
    lot=10,
    taker_fee_bps=25,
    maker_fee_bps=15,
)
LIMITS = MarketLimits(
    symbol="BTC-USD",
    quantity_min=Decimal("0.01"),
    quantity_max=Decimal("10"),
    notional_min=Decimal("10"),
    notional_max=Decimal("1000"),
    deviation_bps_max=1000,
    slippage_bps_max=200,
)
MARKETS = {"BTC-USD": MarketRules(LIMITS, SPEC)}


def submission(**fields: Any) -> SubmitOrder:
    """A limit buy of 1 BTC at 100 USD, but for `fields`."""
    user_id, is_immediate = fields.pop("user_id", "u1"), fields.pop("is_immediate", False)
    given = {"order_id": "o1", "symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1", "price": "100"}
    return SubmitOrder(user_id, OrderRequest(**(given | fields)), is_immediate=is_immediate)


def candidate(reference: str | None = None, **fields: Any) -> Candidate:
    """That order on its way through the check, with the last trade at `reference`."""
    return Candidate(
        draft_of(submission(**fields)), MARKETS, Reference(None if reference is None else Decimal(reference))
    )


def accepted(seq: int, engine_order_id: int, **fields: Any) -> AcceptedEvent:
    """A GTC buy of 1 at 100 by alice was taken."""
    event = AcceptedEvent(
        seq=seq,
        timestamp=1_000 + seq,
        symbol="BTC-USD",
        engine_order_id=str(engine_order_id),
        order_id=f"ext{engine_order_id}",
        participant_id="alice",
        side="buy",
        order_type="GTC",
        price="100",
        quantity="1",
        metadata='{"type":"limit","timeInForce":"gtc"}',
    )
    return msgspec.structs.replace(event, **fields)


def rejected(seq: int, engine_order_id: int, **fields: Any) -> RejectEvent:
    """A GTC buy of 1 at 100 by alice was refused for lack of funds."""
    event = RejectEvent(
        seq=seq,
        timestamp=1_000 + seq,
        symbol="BTC-USD",
        engine_order_id=str(engine_order_id),
        order_id=f"ext{engine_order_id}",
        participant_id="alice",
        side="buy",
        order_type="GTC",
        price="100",
        quantity="1",
        reason="RISK_NSF",
        metadata='{"type":"limit","timeInForce":"gtc"}',
    )
    return msgspec.structs.replace(event, **fields)


def trade(seq: int, taker: int, maker: int, quantity: str, **fields: Any) -> TradeEvent:
    """Bob's sell order `taker` filled `quantity` at 100 against alice's `maker`; nothing remains of either."""
    notional = Decimal(quantity) * 100
    event = TradeEvent(
        seq=seq,
        timestamp=1_000 + seq,
        symbol="BTC-USD",
        trade_id=f"epoch-{seq}",
        taker_engine_order_id=str(taker),
        maker_engine_order_id=str(maker),
        taker_order_id=f"ext{taker}",
        maker_order_id=f"ext{maker}",
        taker_participant_id="bob",
        maker_participant_id="alice",
        taker_side="sell",
        price="100",
        quantity=quantity,
        is_taker_completed=True,
        is_maker_completed=True,
        taker_remaining="0",
        maker_remaining="0",
        taker_fee_amount=str(notional * 25 / 10_000),
        taker_fee_bps=25,
        maker_fee_amount=str(notional * 15 / 10_000),
        maker_fee_bps=15,
        maker_is_rebate=False,
        fee_currency="USD",
    )
    return msgspec.structs.replace(event, **fields)


def reduced(seq: int, engine_order_id: int, remaining: str = "0", **fields: Any) -> ReduceEvent:
    """Quantity left alice's order by her own cancel."""
    event = ReduceEvent(
        seq=seq,
        timestamp=1_000 + seq,
        symbol="BTC-USD",
        engine_order_id=str(engine_order_id),
        order_id=f"ext{engine_order_id}",
        participant_id="alice",
        side="buy",
        price="100",
        quantity="1",
        remaining=remaining,
        is_order_completed=remaining == "0",
        reason="CANCELLED_BY_USER",
    )
    return msgspec.structs.replace(event, **fields)


def moved(seq: int, engine_order_id: int, price: str) -> MovedEvent:
    """Alice's order has a new limit."""
    return MovedEvent(
        seq=seq,
        timestamp=1_000 + seq,
        symbol="BTC-USD",
        engine_order_id=str(engine_order_id),
        order_id=f"ext{engine_order_id}",
        participant_id="alice",
        side="buy",
        price=price,
        remaining="1",
    )


def waiting(seq: int, engine_order_id: int, **fields: Any) -> WaitingEvent:
    """A GTC buy of 1 at 100 by alice waits for a trade at 105."""
    event = WaitingEvent(
        seq=seq,
        timestamp=1_000 + seq,
        symbol="BTC-USD",
        engine_order_id=str(engine_order_id),
        order_id=f"ext{engine_order_id}",
        participant_id="alice",
        side="buy",
        order_type="GTC",
        price="100",
        quantity="1",
        metadata='{"type":"limit","timeInForce":"gtc"}',
        trigger_kind="FIXED",
        trigger_source="last",
        trigger_direction="atOrAbove",
        trigger_price="105",
        expires_at=0,
    )
    return msgspec.structs.replace(event, **fields)


def triggered(seq: int, engine_order_id: int, **fields: Any) -> TriggeredEvent:
    """The trigger of that order has fired."""
    event = TriggeredEvent(
        seq=seq,
        timestamp=1_000 + seq,
        symbol="BTC-USD",
        engine_order_id=str(engine_order_id),
        order_id=f"ext{engine_order_id}",
        participant_id="alice",
        side="buy",
        order_type="GTC",
        price="100",
        quantity="1",
        remaining="1",
        trigger_source="last",
        trigger_price="105",
        fired_price="105",
    )
    return msgspec.structs.replace(event, **fields)
