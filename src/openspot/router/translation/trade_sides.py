"""A trade as each of its two orders sees it, and its row. Pure."""

from typing import NamedTuple

from openspot.contracts.engine_events import TradeEvent
from openspot.contracts.messages import SideTrade
from openspot.router.trade_row import TradeRow


class TradeSide(NamedTuple):
    """A trade as one of its two orders sees it."""

    role: str
    engine_order_id: str
    order_id: str
    user_id: str
    side: str
    remaining: str
    fee: str
    fee_bps: int
    is_completed: bool


def sides_of(event: TradeEvent) -> tuple[TradeSide, TradeSide]:
    """(taker, maker) of a trade."""
    taker = TradeSide(
        role="taker",
        engine_order_id=event.taker_engine_order_id,
        order_id=shown_id(event.taker_order_id, event.taker_engine_order_id),
        user_id=event.taker_participant_id,
        side=event.taker_side,
        remaining=event.taker_remaining,
        fee=event.taker_fee_amount,
        fee_bps=event.taker_fee_bps,
        is_completed=event.is_taker_completed,
    )
    maker = TradeSide(
        role="maker",
        engine_order_id=event.maker_engine_order_id,
        order_id=shown_id(event.maker_order_id, event.maker_engine_order_id),
        user_id=event.maker_participant_id,
        side="sell" if event.taker_side == "buy" else "buy",
        remaining=event.maker_remaining,
        fee=event.maker_fee_amount,
        fee_bps=event.maker_fee_bps,
        is_completed=event.is_maker_completed,
    )
    return taker, maker


def shown_id(order_id: str, engine_order_id: str) -> str:
    """The platform's id of an order. An order that no router placed may have only the engine's id."""
    return order_id or engine_order_id


def side_trade(event: TradeEvent, side: TradeSide) -> SideTrade:
    return SideTrade(
        trade_id=event.trade_id,
        symbol=event.symbol,
        liquidity=side.role,
        order_id=side.order_id,
        user_id=side.user_id,
        side=side.side,
        price=event.price,
        quantity=event.quantity,
        fee=side.fee,
        fee_bps=side.fee_bps,
        fee_currency=event.fee_currency,
        is_order_completed=side.is_completed,
        sequence=event.seq,
        timestamp=event.timestamp,
    )


def trade_row(event: TradeEvent, taker: TradeSide, maker: TradeSide) -> TradeRow:
    buyer, seller = (taker, maker) if taker.side == "buy" else (maker, taker)
    return TradeRow(
        trade_id=event.trade_id,
        sequence=event.seq,
        symbol=event.symbol,
        price=event.price,
        quantity=event.quantity,
        taker_side=event.taker_side,
        taker_order_id=taker.order_id,
        maker_order_id=maker.order_id,
        buyer_id=buyer.user_id,
        seller_id=seller.user_id,
        taker_fee=taker.fee,
        maker_fee=maker.fee,
        fee_currency=event.fee_currency,
        executed_ms=event.timestamp,
    )
