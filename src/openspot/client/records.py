"""The platform's replies, typed. Decimals are exact; times are aware datetimes or milliseconds since 1970."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from openspot.domain.order import OrderStatus
from openspot.domain.order_naming import OrderName, order_name

Entry = TypeVar("Entry")


class Record(msgspec.Struct, rename="camel", frozen=True):
    """Base of all records. Fields that a newer platform adds are ignored."""


class User(Record, frozen=True):
    """A registered user; `role` is `user` or `admin`."""

    user_id: str
    email: str
    role: str
    created_at: datetime


class Session(Record, frozen=True):
    """The tokens of a login. `expires_in` is the life of the access token in seconds."""

    access_token: str
    refresh_token: str
    expires_in: int
    user_id: str


class MfaChallenge(Record, frozen=True):
    """The password was right and the user has MFA. It takes five codes until `expires_at`.

    `methods` are the kinds of code it takes: `totp`, `recovery_code`.
    """

    challenge_token: str
    methods: list[str]
    expires_at: datetime


class Order(Record, frozen=True):
    """An order (Document A 2.1). `side`, `type`, `time_in_force` and `status` are lower case."""

    order_id: str
    client_order_id: str | None
    user_id: str
    symbol: str
    side: str
    type: str
    time_in_force: str
    margin_mode: str | None
    price: Decimal | None
    quantity: Decimal
    filled_quantity: Decimal
    remaining_quantity: Decimal
    average_price: Decimal | None
    fee: Decimal
    fee_currency: str
    status: str
    reject_reason: str | None
    created_at: datetime
    updated_at: datetime

    @property
    def state_name(self) -> OrderName:
        """Its state under the alternative naming (Document A 3.2), for example PartiallyFilled."""
        return order_name(OrderStatus(self.status), may_rest=self.type != "market")


class OwnTrade(Record, frozen=True):
    """What a trade did to an order of the user. A trade between two of the user's orders is listed once for each.

    `side` is the order's, `role` is `maker` or `taker`, `sequence` the engine's.
    """

    trade_id: str
    order_id: str
    symbol: str
    side: str
    price: Decimal
    quantity: Decimal
    fee: Decimal
    fee_currency: str
    role: str
    sequence: int
    executed_at: datetime


class CancelFailure(Record, frozen=True):
    """An order that a bulk cancel could not cancel."""

    order_id: str
    reason: str


class BatchRefusal(Record, frozen=True):
    """Why an order of a batch was not placed."""

    message: str | list[str]
    code: str
    details: dict[str, Any] | None = None


class BatchEntry(Record, frozen=True):
    """What became of one order of a batch: the HTTP status that it would have had alone, and its order or refusal."""

    status: int
    order: Order | None
    error: BatchRefusal | None


class BulkCancel(Record, frozen=True):
    """What a bulk cancel did: the ids of the cancelled orders, and the failures."""

    cancelled: list[str]
    failed: list[CancelFailure]


class Balance(Record, frozen=True):
    """The balance of one asset: total = available + locked + reserved. An order can use `available`.

    `reserved` is held for fees of open orders and for withdrawals on their way. `source` is `engine`, or `ledger`
    if the engine did not reply. The ledger knows no reserves, so `reserved` is then None.
    """

    asset: str
    total: Decimal
    available: Decimal
    locked: Decimal
    reserved: Decimal | None
    source: str


class Transaction(Record, frozen=True):
    """One entry of the user's ledger accounts; `balance` is the account's total after it."""

    transaction_id: str
    asset: str
    amount: Decimal
    balance: Decimal
    entry_type: str
    reference_type: str
    reference_id: str
    created_at: datetime


class Market(Record, frozen=True):
    """A market. Fees in basis points; a price is a multiple of the tick, a quantity of the lot.

    The limits are None if the pre-trade check has none for the symbol; it then rejects every order.
    """

    symbol: str
    base_asset: str
    quote_asset: str
    active: bool
    tick_size: Decimal
    lot_size: Decimal
    taker_fee: int
    maker_fee: int
    base_scale_k: int
    quote_scale_k: int
    quantity_min: Decimal | None
    quantity_max: Decimal | None
    notional_min: Decimal | None
    notional_max: Decimal | None


class Level(NamedTuple):
    """One price level of an order book."""

    price: Decimal
    quantity: Decimal


class OrderBook(Record, frozen=True):
    """A level-2 book: the best level of each side first. `timestamp` in milliseconds since 1970."""

    symbol: str
    bids: list[Level]
    asks: list[Level]
    sequence: int
    timestamp: int


class MarketTrade(Record, frozen=True):
    """A public trade; `side` is the taker's, `timestamp` milliseconds since 1970, `sequence` the engine's."""

    trade_id: str
    symbol: str
    price: Decimal
    quantity: Decimal
    side: str
    timestamp: int
    sequence: int


class Candle(Record, frozen=True):
    """What traded in one interval. `timestamp` is its begin, in milliseconds since 1970."""

    timestamp: int
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal
    volume: Decimal
    trades: int


class Ticker(Record, frozen=True):
    """A market's last 24 hours; None where nothing was traded or quoted. `timestamp` in milliseconds since 1970."""

    symbol: str
    last_price: Decimal | None
    bid_price: Decimal | None
    ask_price: Decimal | None
    open_price: Decimal | None
    high_price: Decimal | None
    low_price: Decimal | None
    volume: Decimal
    quote_volume: Decimal
    price_change: Decimal | None
    price_change_percent: Decimal | None
    timestamp: int


@dataclass(frozen=True, slots=True)
class Page(Generic[Entry]):
    """A part of a list. Pass `next_cursor` to get the next part; it is None on the last one."""

    entries: list[Entry]
    next_cursor: str | None

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)
