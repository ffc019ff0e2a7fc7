"""The door: what callers ask becomes commands and notes.

It turns names into numbers, and refuses what cannot become a command at all: an order id or external id that
was used before, a text that is no id, a full queue; and what is beyond limits.py. Such a refusal is in no journal
and makes no event; its answer has the sequence 0. Everything else goes to the core, which refuses with an event.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from openspot.domain.ids import PARTICIPANT_ID_TEXT
from openspot.domain.money import MoneyError, parse_decimal, to_amount
from openspot.domain.order import EngineOrderType, Side
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SYMBOL_TEXT, SymbolSpec
from openspot.engine import metrics
from openspot.engine.core.records import COMMAND, Command, CommandKind, CreateSymbol
from openspot.engine.directory import PARTICIPANT_KINDS, UNKNOWN_ACCOUNT, UNKNOWN_SYMBOL, Note
from openspot.engine.limits import OrderLimits
from openspot.engine.order_memory import RESTING_TYPES
from openspot.engine.sequencer import EngineBusyError, Outcome, Sequencer
from openspot.engine.state_machine import StateMachine

EXTERNAL_ID_LENGTH_MAX = 64
METADATA_LENGTH_MAX = 4096
REFERENCE_LENGTH_MAX = 256

_PLACE, _BUY, _SELL = int(CommandKind.PLACE), int(Side.BUY), int(Side.SELL)
_BUDGET = int(EngineOrderType.FOK_BUDGET)
_PUBLIC_TYPES_MAX = int(EngineOrderType.FOK_BUDGET)
"""POST_ONLY, which comes behind it, is not to be had from outside (Document A 2.8)."""
_LOW = (1 << 64) - 1
_pack = COMMAND.pack


class OrderAsked(Protocol):
    """An order as exchange.v1.PlaceOrderRequest has it."""

    @property
    def order_id(self) -> int: ...

    @property
    def participant_id(self) -> str: ...

    @property
    def symbol(self) -> str: ...

    @property
    def side(self) -> int: ...

    @property
    def type(self) -> int: ...

    @property
    def price(self) -> int: ...

    @property
    def quantity(self) -> int: ...

    @property
    def reserve_price(self) -> int: ...

    @property
    def budget(self) -> str: ...

    @property
    def external_id(self) -> str: ...

    @property
    def metadata(self) -> str: ...


class Refusal(Exception):  # noqa: N818 - a refusal is an ordinary outcome, not an error
    """The door took nothing."""

    def __init__(self, code: ResultCode) -> None:
        super().__init__(code.name)
        self.code = code


class Placed(NamedTuple):
    """What the door made of a call of orders: the refused ones by their index, the ids and the future of the others."""

    refusals: dict[int, ResultCode]
    taken: list[int]
    future: asyncio.Future[Outcome] | None


class Door:
    """Makes commands for one sequencer."""

    def __init__(self, machine: StateMachine, sequencer: Sequencer, limits: OrderLimits | None = None) -> None:
        """Without `limits` the core's own range is the only one."""
        self._machine = machine
        self._sequencer = sequencer
        self._limits = limits or OrderLimits()

    # Orders

    def place(self, asked: Sequence[OrderAsked]) -> Placed:
        """Take orders in the given order, in one commit. Raises EngineStoppedError."""
        try:
            self._sequencer.admit(len(asked))
        except EngineBusyError:
            metrics.REFUSED.labels(ResultCode.ENGINE_BUSY.name).inc(len(asked))
            return Placed(dict.fromkeys(range(len(asked)), ResultCode.ENGINE_BUSY), [], None)
        directory, orders = self._machine.directory, self._machine.orders
        accounts, symbols, entries, ids = directory.accounts, directory.symbols, orders.entries, orders.ids
        time_ns = self._sequencer.now()
        self._limits.begin(time_ns)
        over_limit, open_orders_max = self._limits.refusal, self._limits.open_orders_max
        open_orders = orders.open_orders if open_orders_max else {}
        commands: list[bytes] = []
        notes: list[Note] = []
        taken: list[int] = []
        refusals: dict[int, ResultCode] = {}
        for index, order in enumerate(asked):
            order_id, external_id, metadata = order.order_id, order.external_id, order.metadata
            participant_id, symbol_text = order.participant_id, order.symbol
            side, order_type, price, quantity = order.side, order.type, order.price, order.quantity
            account, spec = accounts.get(participant_id), symbols.get(symbol_text)
            refusal: ResultCode | None = None
            if order_id in entries or external_id in ids:
                refusal = ResultCode.DUPLICATE_ORDER_ID
            elif not order_id or len(external_id) > EXTERNAL_ID_LENGTH_MAX:
                refusal = ResultCode.INVALID_ORDER_ID
            elif len(metadata) > METADATA_LENGTH_MAX:
                refusal = ResultCode.UNSUPPORTED_COMMAND
            elif account is None and not PARTICIPANT_ID_TEXT.fullmatch(participant_id):
                refusal = ResultCode.AUTH_INVALID_USER
            elif spec is None and not SYMBOL_TEXT.fullmatch(symbol_text):
                refusal = ResultCode.INVALID_SYMBOL
            else:
                worth = price * quantity if order_type != _BUDGET or spec is None else _budget_worth(order.budget, spec)
                refusal = over_limit(participant_id, spec, quantity, worth)
                if refusal is None and open_orders_max and order_type in RESTING_TYPES and account and spec:
                    full = open_orders.get((account, spec.symbol_id), 0) >= open_orders_max
                    refusal = ResultCode.MAX_NUM_ORDERS if full else None
            if refusal is not None:
                refusals[index] = refusal
                metrics.REFUSED.labels(refusal.name).inc()
                continue
            if account is None or spec is None:
                notes.append((external_id, metadata, participant_id, symbol_text))
                account = UNKNOWN_ACCOUNT if account is None else account
                symbol = UNKNOWN_SYMBOL if spec is None else spec.symbol_id
            else:
                notes.append((external_id, metadata))
                symbol = spec.symbol_id
            if side != _BUY and side != _SELL:
                side = 0
            if not 0 < order_type <= _PUBLIC_TYPES_MAX:
                order_type = 0
            amount = 0
            if order_type == _BUDGET:
                amount = _budget(order.budget)
            elif side == _BUY:
                amount = order.reserve_price or price
            commands.append(
                _pack(
                    _PLACE,
                    side,
                    order_type,
                    0,
                    symbol,
                    time_ns,
                    order_id,
                    account,
                    price,
                    quantity,
                    amount & _LOW,
                    amount >> 64,
                )
            )
            taken.append(order_id)
            entries[order_id] = (external_id, account, symbol, side, order_type, price, quantity, time_ns)
            if external_id:
                ids[external_id] = order_id
            if open_orders_max and order_type in RESTING_TYPES:
                owner = (account, symbol)
                open_orders[owner] = open_orders.get(owner, 0) + 1
        return Placed(refusals, taken, self._sequencer.submit(b"".join(commands), notes) if notes else None)

    def cancel(
        self, order_id: int, external_id: str, participant_id: str, symbol: str
    ) -> tuple[int, asyncio.Future[Outcome]]:
        """(order id, future) of a cancel by the owner. Raises Refusal, EngineStoppedError."""
        if not order_id and external_id:
            order_id = self._machine.orders.ids.get(external_id, 0)
        account = self._machine.directory.account(participant_id)
        command = Command(CommandKind.CANCEL, symbol=self._symbol(symbol), order_id=order_id, account=account)
        return order_id, self.submit(command, ())

    def cancel_as_administrator(self, order_id: int, symbol: str) -> asyncio.Future[Outcome]:
        """A cancel of anybody's order (Document A 1.4). Raises Refusal, EngineStoppedError."""
        return self.submit(Command(CommandKind.CANCEL, symbol=self._symbol(symbol), order_id=order_id), ())

    def move(self, order_id: int, participant_id: str, symbol: str, price: int) -> asyncio.Future[Outcome]:
        """A new limit. Raises Refusal, EngineStoppedError."""
        self._check_symbol(order_id, symbol)
        self._check_move(order_id, participant_id, price)
        account = self._machine.directory.account(participant_id)
        return self.submit(Command(CommandKind.MOVE, order_id=order_id, account=account, price=price), ())

    def reduce(self, order_id: int, participant_id: str, symbol: str, quantity: int) -> asyncio.Future[Outcome]:
        """A smaller quantity. Raises Refusal, EngineStoppedError."""
        self._check_symbol(order_id, symbol)
        account = self._machine.directory.account(participant_id)
        return self.submit(Command(CommandKind.REDUCE, order_id=order_id, account=account, quantity=quantity), ())

    def _symbol(self, text: str) -> int:
        """The number of a symbol to check an order against; 0, any, for an empty text."""
        spec = self._machine.directory.symbols.get(text)
        return spec.symbol_id if spec else UNKNOWN_SYMBOL if text else 0

    def _check_symbol(self, order_id: int, text: str) -> None:
        """The core's MOVE and REDUCE have no symbol to check, so this does."""
        order = self._machine.orders.entries.get(order_id)
        if text and order is not None and order[2] != self._symbol(text):
            raise Refusal(ResultCode.MATCHING_UNKNOWN_ORDER_ID)

    def _check_move(self, order_id: int, participant_id: str, price: int) -> None:
        order = self._machine.orders.find(order_id)
        spec = self._machine.directory.symbol(order.symbol) if order else None
        self._limits.begin(self._sequencer.now())
        quantity = order.quantity if order else 0
        refusal = self._limits.refusal(participant_id, spec, quantity, price * quantity)
        if refusal is not None:
            metrics.REFUSED.labels(refusal.name).inc()
            raise Refusal(refusal)

    # Money

    def money(
        self, kind: CommandKind, participant_id: str, currency: str, amount: str, reference: str
    ) -> asyncio.Future[Outcome]:
        """A DEPOSIT, WITHDRAW, RESERVE or ADJUST of a decimal text. Raises Refusal, EngineStoppedError."""
        directory = self._machine.directory
        known = directory.currencies.get(currency)
        if known is None:
            raise Refusal(ResultCode.INVALID_CURRENCY)
        if not PARTICIPANT_ID_TEXT.fullmatch(participant_id):
            raise Refusal(ResultCode.AUTH_INVALID_USER)
        units = _amount(amount)
        if units == 0:
            raise Refusal(ResultCode.INVALID_AMOUNT)
        low, high = _reference(reference)
        self._admit()
        new_allowed = kind in PARTICIPANT_KINDS
        account = directory.account_or_new(participant_id) if new_allowed else directory.account(participant_id)
        return self._submit(
            Command(kind, symbol=known.currency_id, account=account, amount=units, price=low, quantity=high),
            (participant_id, reference),
        )

    def end_reservation(
        self, kind: CommandKind, reference: str, participant_id: str = "", currency: str = "", amount: str = ""
    ) -> asyncio.Future[Outcome]:
        """A RELEASE or COMMIT of what was held under a reference; with an amount, if it is that of this participant.

        Raises Refusal, EngineStoppedError.
        """
        low, high = _reference(reference)
        command = Command(kind, price=low, quantity=high)
        if amount:
            directory = self._machine.directory
            known, units = directory.currencies.get(currency), _amount(amount)
            if known is None:
                raise Refusal(ResultCode.INVALID_CURRENCY)
            if units == 0:
                raise Refusal(ResultCode.INVALID_AMOUNT)
            account = directory.account(participant_id)
            command = command._replace(symbol=known.currency_id, account=account, amount=units)
        return self.submit(command, ("", reference))

    # Any command

    def submit(self, command: Command | CreateSymbol, note: Note) -> asyncio.Future[Outcome]:
        """Take one command as it is, stamped with the time. Raises Refusal (ENGINE_BUSY), EngineStoppedError."""
        self._admit()
        return self._submit(command, note)

    def create_account(self, note: Note, command: Command) -> asyncio.Future[Outcome]:
        """A CREATE_ACCOUNT, for which the participant gets its number. Raises Refusal, EngineStoppedError."""
        participant_id = note[0]
        assert command.kind == CommandKind.CREATE_ACCOUNT
        if not PARTICIPANT_ID_TEXT.fullmatch(participant_id):
            raise Refusal(ResultCode.AUTH_INVALID_USER)
        self._admit()
        number = self._machine.directory.account_or_new(participant_id)
        return self._submit(command._replace(account=number), note)

    def _admit(self) -> None:
        try:
            self._sequencer.admit(1)
        except EngineBusyError as error:
            raise Refusal(ResultCode.ENGINE_BUSY) from error

    def _submit(self, command: Command | CreateSymbol, note: Note) -> asyncio.Future[Outcome]:
        stamped = command._replace(timestamp=self._sequencer.now())
        return self._sequencer.submit(stamped.encode(), (note,))


def _budget(text: str) -> int:
    """The budget in amount units; 0, which the core refuses, for what is no amount."""
    try:
        return max(0, to_amount(parse_decimal(text)))
    except MoneyError:
        return 0


def _budget_worth(text: str, spec: SymbolSpec) -> int:
    """The budget in units of the symbol's price × quantity."""
    return _budget(text) // spec.quote_unit


def _amount(text: str) -> int:
    """The amount that a text writes, 0 for what is none."""
    try:
        return to_amount(parse_decimal(text))
    except MoneyError:
        return 0


def _reference(text: str) -> tuple[int, int]:
    """(low, high) half of the 128-bit digest of an external reference, as the record has them; 0 for none."""
    if not text:
        return 0, 0
    if len(text) > REFERENCE_LENGTH_MAX:
        raise Refusal(ResultCode.UNKNOWN_REFERENCE)
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little", signed=True), int.from_bytes(digest[8:], "little", signed=True)
