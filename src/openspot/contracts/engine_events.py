"""Messages of the engine's event stream `/ws/events` (Document A 2.2, 6.4; design section 6).

One JSON object an event, told apart by `type`. Decimals are strings, order ids are the engine's numeric ids
as strings, times milliseconds since 1970, `seq` counts from 1 without a gap. `…ExternalId` is the id that
the caller gave with the order. The first message of a connection is a `hello`.
"""

import msgspec


class StreamMessage(msgspec.Struct, rename="camel", frozen=True):
    """Base of all messages of the stream."""


class Hello(StreamMessage, tag="hello", frozen=True):
    """First message: which journal this is, and the sequences that can be asked for."""

    epoch: str
    first_seq: int
    last_seq: int


class AcceptedEvent(StreamMessage, tag="accepted", frozen=True):
    """An order passed every check of the engine; its trades, if any, follow."""

    seq: int
    timestamp: int
    symbol: str
    order_id: str
    external_id: str
    participant_id: str
    side: str
    order_type: str
    price: str
    quantity: str
    metadata: str


class TradeEvent(StreamMessage, tag="trade", frozen=True):
    """One fill. Negative `maker_fee_amount` and `maker_fee_bps` with `maker_is_rebate` are a rebate."""

    seq: int
    timestamp: int
    symbol: str
    trade_id: str
    taker_order_id: str
    maker_order_id: str
    taker_external_id: str
    maker_external_id: str
    taker_participant_id: str
    maker_participant_id: str
    taker_side: str
    price: str
    quantity: str
    is_taker_completed: bool
    is_maker_completed: bool
    taker_remaining: str
    maker_remaining: str
    taker_fee_amount: str
    taker_fee_bps: int
    maker_fee_amount: str
    maker_fee_bps: int
    maker_is_rebate: bool
    fee_currency: str


class ReduceEvent(StreamMessage, tag="reduce", frozen=True):
    """Quantity left an order without a trade; `reason` is a result code's name."""

    seq: int
    timestamp: int
    symbol: str
    order_id: str
    external_id: str
    participant_id: str
    side: str
    price: str
    quantity: str
    remaining: str
    is_order_completed: bool
    reason: str


class RejectEvent(StreamMessage, tag="reject", frozen=True):
    """An order was refused; `reason` is a result code's name."""

    seq: int
    timestamp: int
    symbol: str
    order_id: str
    external_id: str
    participant_id: str
    side: str
    order_type: str
    price: str
    quantity: str
    reason: str
    metadata: str


class MovedEvent(StreamMessage, tag="moved", frozen=True):
    """An open order has a new limit price."""

    seq: int
    timestamp: int
    symbol: str
    order_id: str
    external_id: str
    participant_id: str
    side: str
    price: str
    remaining: str


class BalanceEvent(StreamMessage, tag="balance", frozen=True):
    """Money entered, left or was held for an account other than by a trade.

    `kind` is DEPOSIT, WITHDRAW, RESERVE, RELEASE, COMMIT or ADJUST. `amount` is the signed change of the
    total; for RESERVE and RELEASE, which leave it as it is, what was held or set free.
    """

    seq: int
    timestamp: int
    kind: str
    participant_id: str
    currency: str
    amount: str
    total: str
    reference: str


EngineEvent = AcceptedEvent | TradeEvent | ReduceEvent | RejectEvent | MovedEvent | BalanceEvent
StreamEntry = Hello | EngineEvent
