"""The core's records: commands in, results and events out, all of fixed size and little endian.

Both cores, the journal and the replay share one encoding. So a batch can pass from Python to Rust, or from disk to
the core, without a Python object for each command.

Command, 64 bytes: kind u8, side u8, order_type u8, flags u8, symbol u32, timestamp u64 (ns since 1970), then
    order_id u64, account u64, price i64, quantity i64, amount i128            (all kinds but CREATE_SYMBOL)
    base u32, quote u32, base_scale_k i64, quote_scale_k i64, tick i64, lot i64,
    taker_fee_bps i32, maker_fee_bps i32                                       (CREATE_SYMBOL)

The fields that each kind reads (the others are zero):
    PLACE            side, order_type, symbol, order_id, account, price, quantity,
                     amount = reserve price of a BUY (scaled as the price), or the budget of a FOK_BUDGET
                     (amount units of the quote asset, without fees); the core ignores its price;
                     flags bits 0 to 5 = n: the test of a FOK or FOK_BUDGET, and the sizing of an IOC with
                     FLAG_BUDGET, takes at most 2^n steps; 0: any number
                     FLAG_BUDGET of an IOC: amount = the budget (amount units of the quote asset, without fees);
                     FLAG_SLIDE of a POST_ONLY: it goes behind the best opposite price instead of crossing it
    CANCEL           order_id; account = the owner, or 0 for an administrator; symbol, or 0 for any
    MOVE             order_id, account, price = the new limit, which is also a BUY's new reserve price
    REDUCE           order_id, account, quantity = by how much
    AMEND            order_id, account, price = the new limit (as in MOVE), quantity = the new ordered quantity,
                     amount = the new price of a fixed trigger; 0 leaves each as it is;
                     FLAG_LISTED: the order may be one of a list, also one that is planned
    DEPOSIT          symbol = currency, account (added if missing), amount, reference
    WITHDRAW         symbol = currency, account, amount, reference
    RESERVE          symbol = currency, account, amount, reference: held for a withdrawal
    RELEASE          reference: the reservation's amount becomes free again
    COMMIT           reference: the reservation's amount leaves the account
    ADJUST           symbol = currency, account (added if missing), signed amount: an operator's correction
    MOVEMENT         symbol = currency, order_id = the account that pays, account = the account that receives (added
                     if missing), amount: moves nothing until the TRANSFER that follows it
    TRANSFER         order_id = how many MOVEMENTs come directly before it, amount = a digest of them, reference:
                     carries out all of them, or none
    CREATE_CURRENCY  symbol = currency
    DELETE_CURRENCY  symbol = currency
    CREATE_SYMBOL    the second layout; symbol
    UPDATE_SYMBOL    symbol, flags bit 0 = active; order_id = taker fee, account = maker fee
                     (each the two's complement of its basis points); open orders keep their fees
    DELETE_SYMBOL    symbol
    CREATE_ACCOUNT   account, flags bit 0 = active, order_type = StpMode
    SET_ACCOUNT      account, flags bit 0 = active, order_type = StpMode
    SET_ACCOUNT_FEES account, flags bit 0 = the account gets its own fees (else the symbol's apply);
                     order_id, price = taker and maker basis points, two's complement
    SET_OWNER        account, order_id = the account whose user owns this one, too, or 0 for nobody else
    REPLACE          as CANCEL, of the order that the PLACE directly after it, or after its TERMS, replaces; flags
                     bit 0 = the PLACE is carried out even if nothing was cancelled
    TERMS            order_id = that of the PLACE directly after it, for which it counts; side = TriggerKind;
                     order_type = the order's own StpMode + 1, or 0 for the account's; flags bit 0 = the mark price
                     fires it (else the last trade), bit 1 = it fires at or below its trigger (else at or above);
                     price = the trigger, the distance, or the basis points; amount = when the order expires
                     (ns since 1970), or 0; quantity = the quantity that a resting order shows, or 0 for all;
                     symbol and account are 0
    EXPIRE           order_id: ends an order whose expiry has passed
    SET_MARK_PRICE   symbol, price
    ACTIVATE         symbol: activates orders whose triggers have fired, and arms the exits of filled entries
    LIST_ORDER       an order of the PLACE_LIST that follows, in the fields of a PLACE, directly after its TERMS: places
                     nothing yet
    PLACE_LIST       order_id = the list's id, order_type = OrderListType: places the run of orders directly before it,
                     all or none
    CANCEL_LIST      order_id = the list's id; account = the owner, or 0 for an administrator; symbol, or 0 for any
    SET_PHASE        symbol, order_type = MarketPhase, amount = when the phase ends (ns since 1970), or 0
    ADVANCE_PHASE    symbol: ends a phase whose time is over, or goes on trading an auction

A reference is 128 bits (a digest of an external text), in price (low half) and quantity (high half). Zero means
none: then the core does not remember the transfer.

Result, 40 bytes: code u16, status u8, zero u8, events u32 (how many this command emitted),
    filled i64, remaining i64, notional i128 (traded amount units of the quote asset; for transfers, the
    account's total afterwards; 0 for TRANSFER).

Event, 144 bytes: see EVENT. A TRADE names taker and maker; the other types have one order or account, in the
taker's fields. `sequence` counts events from 1 without a gap.
"""

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

COMMAND_SIZE = 64
RESULT_SIZE = 40
EVENT_SIZE = 144

COMMAND = struct.Struct("<BBBBIQQQqqQq")
CREATE_SYMBOL = struct.Struct("<BBBBIQIIqqqqii")
RESULT = struct.Struct("<HBBIqqQq")
EVENT = struct.Struct("<BBBBHHIIQQQQQQQqqqqiiQqQq")
assert COMMAND.size == CREATE_SYMBOL.size == COMMAND_SIZE
assert RESULT.size == RESULT_SIZE
assert EVENT.size == EVENT_SIZE

FLAG_ACTIVE = 1
FLAG_BUDGET = 1 << 6
"""PLACE of an IOC: the quantity is the most that the budget in `amount` buys, or that brings at most it."""
FLAG_ALLOW_FAILURE = 1
"""REPLACE: the PLACE is carried out even if nothing was cancelled."""
FLAG_LISTED = 1
"""AMEND: the order may be one of a list. Those of journals of before are without it, and were refused."""
FLAG_SLIDE = 1 << 7
"""PLACE of a POST_ONLY: a price that would match becomes one tick behind the best opposite price."""
STEPS_MASK = FLAG_BUDGET - 1
TERMS_BY_MARK = 1
"""TERMS, WAITING, TRIGGERED: the mark price fires the trigger, not the last trade."""
TERMS_AT_OR_BELOW = 2
"""TERMS, WAITING, TRIGGERED: the trigger fires at or below its price, not at or above."""
TERMS_FLAGS = TERMS_BY_MARK | TERMS_AT_OR_BELOW
ACTIVATIONS_MAX = 32
"""How many fired orders one command activates, and lists it arms. The rest waits for the next one."""
LISTED_PLACE = 256
"""LISTED: what the order's place in its list is multiplied with."""
FOK_STEPS_EXPONENT = 12
"""The flags of every PLACE that the engine makes: a FOK is tested against 4,096 levels or orders at most. Journals of
before have 0 there."""
UNCROSS_STEPS_MAX = 256
"""How often two orders of an auction meet in one command. The rest waits for the next one."""
_LOW = (1 << 64) - 1


class CommandKind(IntEnum):
    """Kinds of command; the numbers are part of the journal and never change."""

    PLACE = 1
    CANCEL = 2
    MOVE = 3
    REDUCE = 4
    DEPOSIT = 5
    WITHDRAW = 6
    RESERVE = 7
    RELEASE = 8
    COMMIT = 9
    ADJUST = 10
    CREATE_CURRENCY = 11
    DELETE_CURRENCY = 12
    CREATE_SYMBOL = 13
    UPDATE_SYMBOL = 14
    DELETE_SYMBOL = 15
    CREATE_ACCOUNT = 16
    SET_ACCOUNT = 17
    SET_ACCOUNT_FEES = 18
    MOVEMENT = 19
    TRANSFER = 20
    SET_OWNER = 21
    TERMS = 22
    EXPIRE = 23
    SET_MARK_PRICE = 24
    ACTIVATE = 25
    AMEND = 26
    LIST_ORDER = 30
    PLACE_LIST = 31
    CANCEL_LIST = 32
    SET_PHASE = 27
    ADVANCE_PHASE = 28
    REPLACE = 29


class ResultStatus(IntEnum):
    """Outcome of a command. CANCELLED: the order was accepted, and ended at once without resting or filling."""

    ACCEPTED = 1
    REJECTED = 2
    CANCELLED = 3


class EventType(IntEnum):
    """Types of event.

    ACCEPTED: an order passed every check (before its trades). REJECT: an order was rejected. TRADE: one
    fill. REDUCE: an order lost quantity without a trade. MOVED: an order has a new price, a larger quantity
    or both, and a new place. BALANCE: a transfer credited, debited or held an account's money. TRANSFER: a movement
    between two accounts.
    WAITING: an order with a trigger passed every check, and waits. TRIGGERED: its trigger has fired.
    LISTED: an order of a list passed every check. LIST_ENDED: the orders of a list no longer depend on each other.
    UNARMED: the exits of a list could not be placed for a quantity that its entry has filled.
    PHASE: a market entered a phase, or got a price for its auction.
    SHOWN: a resting order that shows a part of its quantity shows a new one, at the end of its queue.
    """

    ACCEPTED = 1
    TRADE = 2
    REDUCE = 3
    REJECT = 4
    MOVED = 5
    BALANCE = 6
    TRANSFER = 7
    WAITING = 8
    TRIGGERED = 9
    LISTED = 13
    LIST_ENDED = 14
    UNARMED = 15
    PHASE = 10
    SHOWN = 11


EVENT_TAKER_COMPLETED = 1
"""TRADE: the taker order is filled entirely. REDUCE: nothing of the order remains."""
EVENT_MAKER_COMPLETED = 2
EVENT_MAKER_REBATE = 4
EVENT_WAITS = 8
"""REDUCE, MOVED: the order waits for its trigger, or to be armed, so no book changes."""
EVENT_LISTED = 16
"""ACCEPTED, WAITING: the order is one of a list, so what its sender said stands in its LISTED."""
EVENT_ICEBERG = 32
"""REDUCE, MOVED: the order rests and shows a part of its quantity, so the book loses only what it showed."""
EVENT_AUCTION = 64
"""TRADE: an auction's. Both orders rested, each at a limit of its own, and `price` is the auction's."""


class Command(NamedTuple):
    """A decoded command of every kind but CREATE_SYMBOL."""

    kind: int
    side: int = 0
    order_type: int = 0
    flags: int = 0
    symbol: int = 0
    timestamp: int = 0
    order_id: int = 0
    account: int = 0
    price: int = 0
    quantity: int = 0
    amount: int = 0

    def encode(self) -> bytes:
        """The 64 bytes of the record."""
        return COMMAND.pack(*self[:10], self.amount & _LOW, self.amount >> 64)

    @property
    def reference(self) -> int:
        """The 128-bit external reference, or 0 for none."""
        return (self.price & _LOW) | (self.quantity & _LOW) << 64


class CreateSymbol(NamedTuple):
    """A decoded CREATE_SYMBOL command."""

    symbol: int
    timestamp: int
    base: int
    quote: int
    base_scale_k: int
    quote_scale_k: int
    tick: int
    lot: int
    taker_fee_bps: int
    maker_fee_bps: int

    def encode(self) -> bytes:
        """The 64 bytes of the record."""
        return CREATE_SYMBOL.pack(CommandKind.CREATE_SYMBOL, 0, 0, 0, *self)


class Result(NamedTuple):
    """A decoded result; the header of this module gives the meaning of each field."""

    code: int
    status: int
    events: int
    filled: int
    remaining: int
    notional: int


class Event(NamedTuple):
    """A decoded event.

    TRADE: `order_id`, `account`, `remaining`, `side` and `amount` (fee) are the taker's; the maker_ fields
    the maker's; `maker_amount` is negative for a rebate; fees are in the symbol's quote asset.
    ACCEPTED, MOVED: `price`, `quantity` (ordered), `remaining`, `order_type`. `maker_remaining` = the displayed
    quantity of an order that shows a part of its own, else 0. ACCEPTED: `amount` = the expiry, or 0. MOVED of such an
    order: `maker_amount` = what it showed before. A SHOWN follows if it rests.
    MOVED: `amount` = the signed change of the quantity, scaled, which an AMEND made. Of an order that waits,
    `maker_remaining` = the trigger price that the AMEND gave it, or 0.
    SHOWN: `price`, `quantity` = what the order shows now, `remaining` of the whole order, `order_type`.
    WAITING, TRIGGERED: as ACCEPTED, `price` is the limit; `flags` as in TERMS, `maker_order_id` = the TriggerKind,
    `maker_remaining` = the trigger price. WAITING: `maker_account` = the distance or basis points of a trailing
    trigger. TRIGGERED: `amount` = the price that fired it.
    LISTED: as WAITING; `maker_amount` = the list's id, `currency` = its OrderListType + 256 × the order's place in the
    list, from 1.
    LIST_ENDED, UNARMED: `order_id` = the list's id, `order_type` = its OrderListType, `code` the reason.
    UNARMED: `quantity` = what the entry has filled and no exit covers.
    REDUCE: `quantity` is the quantity removed, `remaining` the rest, `code` the reason. With EVENT_ICEBERG,
    `maker_remaining` = by how much less the order shows.
    REJECT: `code` is the reason, `quantity` the quantity of the command.
    BALANCE: `account`, `currency`, `order_type` = the CommandKind, `order_id` and `maker_order_id` = low and
    high half of the reference, `maker_amount` = the account's total afterwards, `amount` = the signed change
    of the total; RESERVE and RELEASE do not change the total, so `amount` is the amount held or released.
    TRANSFER: `account` pays `amount` of `currency` to `maker_account`; `order_id` and `maker_order_id` = the
    reference as above, `quantity` = how many movements the transfer has, `remaining` = how many follow this one.
    PHASE: `order_type` = the MarketPhase, `maker_order_id` = when it ends, or 0, `quantity` = the reference price of an
    auction, or 0. UNCROSSING: `side` = the MarketPhase that follows, `price` = the price of the auction, `amount` = the
    scaled quantity that it trades.
    """

    type: int
    side: int
    order_type: int
    flags: int
    code: int
    symbol: int
    currency: int
    sequence: int
    timestamp: int
    command_sequence: int
    order_id: int
    maker_order_id: int
    account: int
    maker_account: int
    price: int
    quantity: int
    remaining: int
    maker_remaining: int
    fee_bps: int
    maker_fee_bps: int
    amount: int
    maker_amount: int


def decode_commands(batch: bytes) -> Iterator[Command | CreateSymbol]:
    """The commands of `batch` in order. Raises struct.error unless it is a whole number of records."""
    for fields in COMMAND.iter_unpack(batch):
        if fields[0] == CommandKind.CREATE_SYMBOL:
            yield CreateSymbol(*CREATE_SYMBOL.unpack(COMMAND.pack(*fields))[4:])
        else:
            yield Command._make((*fields[:10], fields[10] | fields[11] << 64))


def encode_result(result: Result) -> bytes:
    """The 40 bytes of a result."""
    code, status, events, filled, remaining, notional = result
    return RESULT.pack(code, status, 0, events, filled, remaining, notional & _LOW, notional >> 64)


def decode_results(batch: bytes) -> Iterator[Result]:
    """The results of a batch, one for each of its commands, in order."""
    for code, status, _, events, filled, remaining, low, high in RESULT.iter_unpack(batch):
        yield Result(code, status, events, filled, remaining, low | high << 64)


def encode_event(event: Event) -> bytes:
    """The 144 bytes of an event."""
    *head, amount, maker_amount = event
    return EVENT.pack(*head[:5], 0, *head[5:], amount & _LOW, amount >> 64, maker_amount & _LOW, maker_amount >> 64)


def decode_events(batch: bytes) -> Iterator[Event]:
    """The events of a batch, in order."""
    for fields in EVENT.iter_unpack(batch):
        amount = fields[21] | fields[22] << 64
        maker_amount = fields[23] | fields[24] << 64
        yield Event._make((*fields[:5], *fields[6:21], amount, maker_amount))
