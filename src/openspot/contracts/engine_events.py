"""Messages of the engine's event stream `/ws/events` (facts A2.2-01 to A2.2-09, A6.4-02 to A6.4-05).

One JSON object for each event; `type` tells them apart. Decimals are text, times are milliseconds since 1970, and `seq`
counts from 1 without gaps. The first message of a connection is a `hello`.

An order has two ids. `order_id` is the id that clients know; the caller gave it with the order (empty if it gave none).
`engine_order_id` is the engine's number, as text. On the wire they are `externalId` and `orderId`: there, the names
are the engine's (fact A2.2-02).
"""

import msgspec
from msgspec import UNSET, UnsetType, field

from openspot.domain.result_code import ResultCode

_AMENDED = ResultCode.AMENDED_BY_USER.name


class StreamMessage(msgspec.Struct, rename="camel", frozen=True):
    """The base of all messages of the stream."""


class Hello(StreamMessage, tag="hello", frozen=True):
    """First message: the epoch of the engine's journal, and the range of sequences that can be requested."""

    epoch: str
    first_seq: int
    last_seq: int


class SkippedEvents(StreamMessage, tag="skipped", frozen=True):
    """Only to consumers of a partition: the events from `first_seq` to `last_seq` belong to other partitions."""

    first_seq: int
    last_seq: int


class OrderStreamEvent(StreamMessage, frozen=True):
    """What every event of one order begins with."""

    seq: int
    timestamp: int
    symbol: str
    engine_order_id: str = field(name="orderId")
    order_id: str = field(name="externalId")
    participant_id: str
    side: str


class AcceptedEvent(OrderStreamEvent, tag="accepted", frozen=True):
    """An order passed every check of the engine. Its trades follow, if there are any.

    `display_quantity` is only there for an order that shows that much of its quantity at a time: an iceberg. Its levels
    get what its `shown` events say, and nothing else.
    """

    order_type: str
    price: str
    quantity: str
    metadata: str
    display_quantity: str | UnsetType = UNSET


class ShownEvent(OrderStreamEvent, tag="shown", frozen=True):
    """An iceberg that rests shows `quantity` more, at the end of its queue. `remaining` is that of the whole order.

    Trades as the maker, and what `reduce` and `moved` say, take from what it shows.
    """

    price: str
    quantity: str
    remaining: str


class WaitingEvent(OrderStreamEvent, tag="waiting", frozen=True):
    """An order with a trigger passed every check of the engine, and waits beside the book.

    `price` is its limit. `trigger_kind` is a domain.order.TriggerKind, `trigger_source` last or mark,
    `trigger_direction` atOrAbove or atOrBelow. `expires_at` is in milliseconds since 1970, 0 for never.
    """

    order_type: str
    price: str
    quantity: str
    metadata: str
    trigger_kind: str
    trigger_source: str
    trigger_direction: str
    trigger_price: str
    expires_at: int


class TriggeredEvent(OrderStreamEvent, tag="triggered", frozen=True):
    """The trigger of a waiting order has fired. Its trades follow, if there are any.

    `price` is its limit now, `fired_price` the last trade or the mark price, as `trigger_source` says.
    """

    order_type: str
    price: str
    quantity: str
    remaining: str
    trigger_source: str
    trigger_price: str
    fired_price: str


class ListedEvent(OrderStreamEvent, tag="listed", frozen=True):
    """An order of a list passed every check of the engine. `accepted` or `waiting` follows once it is placed.

    `list_type` is a domain.order.OrderListType, `list_place` the order's place in the list, from 1: an entry comes
    first. The trigger is as in WaitingEvent; of an order without one, `trigger_kind` is NONE. A `reduce` ends an exit
    that is never placed.
    """

    list_id: str
    list_type: str
    list_place: int
    order_type: str
    price: str
    quantity: str
    metadata: str
    trigger_kind: str
    trigger_source: str
    trigger_direction: str
    trigger_price: str
    expires_at: int


class ListEvent(StreamMessage, frozen=True):
    """What an event about a list as a whole has."""

    seq: int
    timestamp: int
    symbol: str
    list_id: str
    list_type: str
    participant_id: str
    reason: str


class ListEndedEvent(ListEvent, tag="listEnded", frozen=True):
    """The orders of a list no longer depend on each other. Those that are still open go on alone."""


class UnarmedEvent(ListEvent, tag="unarmed", frozen=True):
    """The exits of a list could not be placed for a quantity that its entry has filled. No exit covers it."""

    quantity: str


class TradeEvent(StreamMessage, tag="trade", frozen=True):
    """One fill. A rebate has `maker_is_rebate` and negative `maker_fee_amount` and `maker_fee_bps`.

    In an auction both orders rested: `price` is the auction's, and each order has a limit of its own, `taker_limit` and
    `maker_limit`, which are there only then.
    """

    seq: int
    timestamp: int
    symbol: str
    trade_id: str
    taker_engine_order_id: str = field(name="takerOrderId")
    maker_engine_order_id: str = field(name="makerOrderId")
    taker_order_id: str = field(name="takerExternalId")
    maker_order_id: str = field(name="makerExternalId")
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
    taker_limit: str | UnsetType = UNSET
    maker_limit: str | UnsetType = UNSET


class PhaseEvent(StreamMessage, tag="phase", frozen=True, omit_defaults=True):
    """A market entered a phase, or got the price of its auction.

    `phase` is the text of a domain.market_phase.MarketPhase, `ends_at` when it ends (milliseconds since 1970), 0 for
    never. `reference_price` decides between prices that are equal for an auction, "0" if there is none. Of uncrossing,
    `following` is the phase that comes next, `price` that of the auction and `volume` what it trades; else they are
    empty. `cause` is only there for a phase that the engine itself began: a domain.market_phase.PhaseCause.
    """

    seq: int
    timestamp: int
    symbol: str
    phase: str
    ends_at: int
    tick_size: str
    reference_price: str
    following: str
    price: str
    volume: str
    cause: str = ""


class ReduceEvent(OrderStreamEvent, tag="reduce", frozen=True):
    """Quantity left an order without a trade. `reason` is the name of a result code.

    `is_waiting` is only there for an order that waits for its trigger, `shown_quantity` only for an iceberg that rests:
    by how much less it shows.
    """

    price: str
    quantity: str
    remaining: str
    is_order_completed: bool
    reason: str
    is_waiting: bool | UnsetType = UNSET
    shown_quantity: str | UnsetType = UNSET

    @property
    def is_amendment(self) -> bool:
        """Whether the owner amended the order, so that its ordered quantity is smaller by `quantity`, too."""
        return self.reason == _AMENDED


class RejectEvent(OrderStreamEvent, tag="reject", frozen=True):
    """An order was refused. `reason` is the name of a result code."""

    order_type: str
    price: str
    quantity: str
    reason: str
    metadata: str


class MovedEvent(OrderStreamEvent, tag="moved", frozen=True, omit_defaults=True):
    """An open order has a new limit price, another ordered quantity or both, and the last place in its queue.

    `quantity` and `previous_remaining` are there only if an amendment changed the ordered quantity: the new one, and
    what remained before. `is_waiting` is only there for an order that waits for its trigger, and keeps its place;
    `trigger_price` if it has another trigger now. `previous_shown` is only there for an iceberg: what it showed before.
    A `shown` follows if it rests.
    """

    price: str
    remaining: str
    quantity: str = ""
    previous_remaining: str = ""
    is_waiting: bool | UnsetType = UNSET
    trigger_price: str | UnsetType = UNSET
    previous_shown: str | UnsetType = UNSET


class BalanceEvent(StreamMessage, tag="balance", frozen=True):
    """Money entered or left an account, or was held or released, other than by a trade.

    `kind` is DEPOSIT, WITHDRAW, RESERVE, RELEASE, COMMIT or ADJUST. `amount` is the signed change of `total`; for
    RESERVE and RELEASE, which do not change the total, it is the amount held or released.
    """

    seq: int
    timestamp: int
    kind: str
    participant_id: str
    asset: str = msgspec.field(name="currency")
    amount: str
    total: str
    reference: str


class TransferEvent(StreamMessage, tag="transfer", frozen=True):
    """One movement of a transfer: `amount` of `asset` went from `source` to `destination`.

    The events of a transfer's `count` movements follow one another directly, with `index` from 1 to `count`. `kind` is
    a domain.transfer.TransferKind.
    """

    seq: int
    timestamp: int
    kind: str
    reference: str
    index: int
    count: int
    source: str = msgspec.field(name="fromParticipantId")
    destination: str = msgspec.field(name="toParticipantId")
    asset: str = msgspec.field(name="currency")
    amount: str


EngineEvent = (
    AcceptedEvent
    | TradeEvent
    | ReduceEvent
    | RejectEvent
    | MovedEvent
    | BalanceEvent
    | TransferEvent
    | WaitingEvent
    | TriggeredEvent
    | ListedEvent
    | ListEndedEvent
    | UnarmedEvent
    | PhaseEvent
    | ShownEvent
)
StreamEntry = Hello | SkippedEvents | EngineEvent


def symbol_of(event: EngineEvent) -> str:
    """The symbol of an event; empty for an event of no symbol: a balance event or a movement of a transfer."""
    return "" if isinstance(event, BalanceEvent | TransferEvent) else event.symbol
