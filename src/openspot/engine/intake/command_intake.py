"""Command intake: turns requests into commands and notes.

It replaces names with numbers and refuses requests that cannot become a command: a repeated id of an order,
a malformed id, a full queue, or an order beyond the limits of order_limits.py. Such a refusal is not journalled
and emits no event; its response has sequence 0. Everything else goes to the core, which may refuse with an event.
"""

import asyncio
from collections.abc import Collection, Sequence
from itertools import islice

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.domain.ids import PARTICIPANT_ID_TEXT
from openspot.domain.market_phase import MarketPhase, PhaseCause
from openspot.domain.money import MoneyError, parse_decimal, to_amount
from openspot.domain.order import RESTING_TYPES, EngineOrderType, Side
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SYMBOL_TEXT, SymbolSpec
from openspot.engine import metrics
from openspot.engine.core.records import (
    COMMAND,
    FLAG_ALLOW_FAILURE,
    FLAG_BUDGET,
    FLAG_LISTED,
    FLAG_SLIDE,
    FOK_STEPS_EXPONENT,
    Command,
    CommandKind,
    CreateSymbol,
)
from openspot.engine.intake.inactive_owners import InactiveOwners
from openspot.engine.intake.order_limits import OrderLimits
from openspot.engine.intake.order_requests import (
    AmendedOrders,
    AmendmentRequest,
    CancelledOrders,
    PlacedOrders,
    PlacementRequest,
)
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.engine.intake.sequencer import CommandOutcome, EngineBusyError, Sequencer
from openspot.engine.intake.terms import TERMS_COMMAND, kept_bits, note_of, terms_of
from openspot.engine.intake.volatility import VolatilityGuard
from openspot.engine.state.directory import NOTE_ACTION, UNKNOWN_ACCOUNT, UNKNOWN_SYMBOL, Note
from openspot.engine.state.order_memory import ORDER_ID, SYMBOL, OpenOrders, add_open, may_stay
from openspot.engine.state.state_machine import StateMachine
from openspot.kit.clock import NANOSECONDS_PER_MS

ORDER_ID_LENGTH_MAX = 64
METADATA_LENGTH_MAX = 4096
CLIENT_ORDER_ID_LENGTH_MAX = 128
CANCELS_MAX = 500
"""Orders that one bulk cancel takes at most, so that the commands of others come between two."""

_PLACE, _BUY, _SELL = int(CommandKind.PLACE), int(Side.BUY), int(Side.SELL)
_BUDGET, _IOC, _GTC = int(EngineOrderType.FOK_BUDGET), int(EngineOrderType.IOC), int(EngineOrderType.GTC)
_POST_ONLY = int(EngineOrderType.POST_ONLY)
_PUBLIC_TYPES_MAX = int(EngineOrderType.FOK_BUDGET)
"""POST_ONLY has a higher number, and no value of `type` selects it (fact A2.8-06): `post_only` does."""
_LOW = (1 << 64) - 1
_FOK_STEPS = FOK_STEPS_EXPONENT
_POST_ONLY_MAX = int(orders_pb2.SLIDE)
_NO_ORDERS: OpenOrders = ({}, {})
_pack = COMMAND.pack


class CommandIntake:
    """Submits commands to one sequencer."""

    def __init__(
        self,
        machine: StateMachine,
        sequencer: Sequencer,
        limits: OrderLimits | None = None,
        volatility: VolatilityGuard | None = None,
    ) -> None:
        """Without `limits`, only the core's own ranges apply. Without `volatility`, no market is interrupted."""
        self._machine = machine
        self._sequencer = sequencer
        self._limits = limits or OrderLimits()
        self._inactive_owners = InactiveOwners(machine)
        self._volatility = volatility

    # Orders

    def place(self, requests: Sequence[PlacementRequest], replaced: Command | None = None) -> PlacedOrders:
        """Submit orders in the given order, in one commit. Raises EngineStoppedError.

        `replaced` is the REPLACE of the order that a single one replaces, and whose client order id it may have.
        """
        replaced_id = replaced.order_id if replaced is not None else 0
        try:
            self._sequencer.admit(len(requests))
        except EngineBusyError:
            metrics.REFUSED.labels(ResultCode.ENGINE_BUSY.name).inc(len(requests))
            return PlacedOrders(dict.fromkeys(range(len(requests)), ResultCode.ENGINE_BUSY), [], None, {})
        directory, orders = self._machine.directory, self._machine.orders
        accounts, symbols, entries, ids = directory.accounts, directory.symbols, orders.entries, orders.ids
        time_ns = self._sequencer.now()
        self._limits.begin(time_ns)
        limit_refusal, open_orders_max = self._limits.refusal, self._limits.open_orders_max
        open_orders, client_ids = orders.open_orders, orders.client_ids
        commands: list[bytes] = []
        notes: list[Note] = []
        submitted_ids: list[int] = []
        refusals: dict[int, ResultCode] = {}
        conflicting_ids: dict[int, str] = {}
        for index, order in enumerate(requests):
            engine_order_id, order_id, metadata = order.order_id, order.external_id, order.metadata
            participant_id, symbol_text = order.participant_id, order.symbol
            side, order_type, price, quantity = order.side, order.type, order.price, order.quantity
            account, spec = accounts.get(participant_id), symbols.get(symbol_text)
            post_only, client_id = order.post_only, order.client_order_id
            is_sized = order_type == _IOC and bool(order.budget)
            refusal: ResultCode | None = None
            if post_only:
                order_type = _POST_ONLY if order_type == _GTC and 0 < post_only <= _POST_ONLY_MAX else 0
            elif not 0 < order_type <= _PUBLIC_TYPES_MAX:
                order_type = 0
            if engine_order_id in entries or order_id in ids:
                refusal = ResultCode.DUPLICATE_ORDER_ID
            elif not engine_order_id or len(order_id) > ORDER_ID_LENGTH_MAX:
                refusal = ResultCode.INVALID_ORDER_ID
            elif len(client_id) > CLIENT_ORDER_ID_LENGTH_MAX:
                refusal = ResultCode.UNSUPPORTED_COMMAND
            elif (
                client_id
                and account is not None
                and (holder := client_ids.holder(account, client_id)) is not None
                # A replacement may take it over, if the order that has it is sure to be cancelled.
                and (holder != replaced_id or spec is None or entries[holder][SYMBOL] != spec.symbol_id)
            ):
                refusal = ResultCode.DUPLICATE_CLIENT_ORDER_ID
                conflicting_ids[index] = entries[holder][ORDER_ID]
            elif len(metadata) > METADATA_LENGTH_MAX:
                refusal = ResultCode.UNSUPPORTED_COMMAND
            elif account is None and not PARTICIPANT_ID_TEXT.fullmatch(participant_id):
                refusal = ResultCode.AUTH_INVALID_USER
            elif spec is None and not SYMBOL_TEXT.fullmatch(symbol_text):
                refusal = ResultCode.INVALID_SYMBOL
            else:
                has_budget = is_sized or order_type == _BUDGET
                worth = price * quantity if not has_budget or spec is None else _budget_worth(order.budget, spec)
                refusal = limit_refusal(participant_id, spec, quantity, worth)
                stays = order_type in RESTING_TYPES or order.trigger
                if refusal is None and open_orders_max and stays and account and spec:
                    sells, buys = open_orders.get((account, spec.symbol_id), _NO_ORDERS)
                    count = len(sells) + len(buys) - (replaced_id in sells or replaced_id in buys)
                    refusal = ResultCode.MAX_NUM_ORDERS if count >= open_orders_max else None
            if refusal is not None:
                refusals[index] = refusal
                metrics.REFUSED.labels(refusal.name).inc()
                continue
            client_note = (client_id,) if client_id else ()
            if account is None or spec is None:
                notes.append((order_id, metadata, participant_id, symbol_text, *client_note))
                account = UNKNOWN_ACCOUNT if account is None else account
                symbol = UNKNOWN_SYMBOL if spec is None else spec.symbol_id
            else:
                notes.append((order_id, metadata, *client_note))
                symbol = spec.symbol_id
            if side != _BUY and side != _SELL:
                side = 0
            kept_type = order_type
            if replaced is not None:
                commands.append(replaced._replace(timestamp=time_ns).encode())
                notes.insert(-1, ())
                submitted_ids.append(TERMS_COMMAND)
            if order.trigger or order.expires_at_ms or order.self_trade_prevention or order.display_quantity:
                commands.append(terms_of(order, engine_order_id, time_ns).encode())
                notes.insert(-1, note_of(order))
                submitted_ids.append(TERMS_COMMAND)
                kept_type |= kept_bits(order)
            amount, flags = 0, _FOK_STEPS
            if is_sized:
                amount, flags = _budget(order.budget), _FOK_STEPS | FLAG_BUDGET
            elif order_type == _BUDGET:
                amount = _budget(order.budget)
            elif side == _BUY:
                amount = order.reserve_price or price
            if post_only == orders_pb2.SLIDE:
                flags |= FLAG_SLIDE
            commands.append(
                _pack(
                    _PLACE,
                    side,
                    order_type,
                    flags,
                    symbol,
                    time_ns,
                    engine_order_id,
                    account,
                    price,
                    quantity,
                    amount & _LOW,
                    amount >> 64,
                )
            )
            submitted_ids.append(engine_order_id)
            entries[engine_order_id] = (order_id, account, symbol, side, kept_type, price, quantity, time_ns)
            if order_id:
                ids[order_id] = engine_order_id
            if may_stay(kept_type):
                add_open(open_orders, engine_order_id, (account, symbol), side)
            if client_id:
                client_ids.hold(account, client_id, engine_order_id)
        future = self._sequencer.submit(b"".join(commands), notes) if notes else None
        return PlacedOrders(refusals, submitted_ids, future, conflicting_ids)

    def cancel(
        self, engine_order_id: int, order_id: str, participant_id: str, symbol: str
    ) -> tuple[int, asyncio.Future[CommandOutcome]]:
        """Cancel an order for its owner: (engine order id, future). Raises IntakeRefusal, EngineStoppedError."""
        if not engine_order_id and order_id:
            engine_order_id = self._machine.orders.ids.get(order_id, 0)
        account = self._machine.directory.account(participant_id)
        command = Command(CommandKind.CANCEL, symbol=self._symbol(symbol), order_id=engine_order_id, account=account)
        return engine_order_id, self.submit(command, ())

    def replace(self, engine_order_id: int, request: PlacementRequest, *, allow_failure: bool) -> PlacedOrders:
        """Cancel an order and place another of the same participant and symbol, in one commit.

        The first of the submitted commands is the REPLACE. If the order is refused here, nothing is submitted: so it
        is for a participant that is not active, whose order would be cancelled for nothing. Raises EngineStoppedError.
        """
        if self._inactive_owners.includes(request.participant_id):
            code = ResultCode.PARTICIPANT_INACTIVE
            metrics.REFUSED.labels(code.name).inc()
            return PlacedOrders({0: code}, [], None, {})
        replaced = Command(
            CommandKind.REPLACE,
            flags=FLAG_ALLOW_FAILURE if allow_failure else 0,
            symbol=self._symbol_or_unknown(request.symbol),
            order_id=engine_order_id,
            account=self._machine.directory.account(request.participant_id),
        )
        return self.place((request,), replaced)

    def _symbol_or_unknown(self, symbol: str) -> int:
        spec = self._machine.directory.symbols.get(symbol)
        return UNKNOWN_SYMBOL if spec is None else spec.symbol_id

    def cancel_open(
        self, participant_id: str, symbol: str, side: int, order_ids: Collection[str] = ()
    ) -> CancelledOrders:
        """Cancel a participant's open orders in one commit, at most CANCELS_MAX; an empty symbol and side 0 mean any.

        With `order_ids`, only those of them. Each order gets a CANCEL of its own, so the journal and the core know
        nothing new.

        Raises IntakeRefusal (AUTH_INVALID_USER, INVALID_SYMBOL, INVALID_SIDE, ENGINE_BUSY), EngineStoppedError.
        """
        directory = self._machine.directory
        account = directory.accounts.get(participant_id)
        if account is None:
            raise IntakeRefusal(ResultCode.AUTH_INVALID_USER)
        spec = directory.symbols.get(symbol)
        if symbol and spec is None:
            raise IntakeRefusal(ResultCode.INVALID_SYMBOL)
        if side not in (0, _BUY, _SELL):
            raise IntakeRefusal(ResultCode.INVALID_SIDE)
        symbols = [known.symbol_id for known in ([spec] if spec else directory.symbols.values())]
        orders = self._machine.orders
        if order_ids:
            named = (orders.ids.get(order_id, 0) for order_id in order_ids)
            fitting = orders.open_among(named, account, symbols, side)
        else:
            fitting = orders.open_engine_order_ids(account, symbols, side)
        found = list(islice(fitting, CANCELS_MAX + 1))
        chosen, more_remain = found[:CANCELS_MAX], len(found) > CANCELS_MAX
        if not chosen:
            return CancelledOrders([], False, None)
        self.admit(len(chosen))
        time_ns = self._sequencer.now()
        commands = [
            Command(CommandKind.CANCEL, timestamp=time_ns, order_id=engine_order_id, account=account).encode()
            for engine_order_id in chosen
        ]
        future = self._sequencer.submit(b"".join(commands), [()] * len(chosen))
        return CancelledOrders(chosen, more_remain, future)

    def cancel_as_administrator(self, engine_order_id: int, action: Note = ()) -> asyncio.Future[CommandOutcome]:
        """Cancel the order of any participant (fact A1.4-07). Raises IntakeRefusal, EngineStoppedError.

        `action` is as in `submit`.
        """
        return self.submit(Command(CommandKind.CANCEL, order_id=engine_order_id), (), action)

    def move(
        self, engine_order_id: int, participant_id: str, symbol: str, price: int
    ) -> asyncio.Future[CommandOutcome]:
        """Give an order a new limit. Raises IntakeRefusal, EngineStoppedError."""
        self._check_symbol(engine_order_id, symbol)
        self._inactive_owners.refuse_move(engine_order_id, participant_id)
        self._check_size(engine_order_id, participant_id, price, 0)
        account = self._machine.directory.account(participant_id)
        return self.submit(Command(CommandKind.MOVE, order_id=engine_order_id, account=account, price=price), ())

    def amend(self, requests: Sequence[AmendmentRequest]) -> AmendedOrders:
        """Give orders another limit, ordered quantity or trigger, in one commit; 0 leaves each as it is.

        The limits are those of a new order of that size. Of a participant that is not active, an order only gets
        smaller where it stands. Raises EngineStoppedError.
        """
        try:
            self.admit(len(requests))
        except IntakeRefusal as refusal:
            return AmendedOrders(dict.fromkeys(range(len(requests)), refusal.code), None)
        time_ns = self._sequencer.now()
        commands: list[bytes] = []
        refusals: dict[int, ResultCode] = {}
        for index, request in enumerate(requests):
            try:
                self._check_symbol(request.order_id, request.symbol)
                self._inactive_owners.refuse_amendment(request)
                self._check_size(request.order_id, request.participant_id, request.price, request.quantity)
            except IntakeRefusal as refusal:
                refusals[index] = refusal.code
                continue
            command = Command(
                CommandKind.AMEND,
                flags=FLAG_LISTED,
                timestamp=time_ns,
                order_id=request.order_id,
                account=self._machine.directory.account(request.participant_id),
                price=request.price,
                quantity=request.quantity,
                amount=request.trigger_price,
            )
            commands.append(command.encode())
        future = self._sequencer.submit(b"".join(commands), [()] * len(commands)) if commands else None
        return AmendedOrders(refusals, future)

    def reduce(
        self, engine_order_id: int, participant_id: str, symbol: str, quantity: int
    ) -> asyncio.Future[CommandOutcome]:
        """Reduce an order by `quantity`. Raises IntakeRefusal, EngineStoppedError."""
        self._check_symbol(engine_order_id, symbol)
        account = self._machine.directory.account(participant_id)
        return self.submit(
            Command(CommandKind.REDUCE, order_id=engine_order_id, account=account, quantity=quantity), ()
        )

    def set_mark_price(
        self, symbol: str, price: int, gap_ms: int | None = None, symbol_id: int = 0
    ) -> asyncio.Future[CommandOutcome]:
        """Set the mark price of a symbol; the one before counted until `gap_ms` ago, if that is known.

        With `symbol_id` the price is for the symbol of that number, and not for another one that got its name since.

        A market whose price moves too fast enters an auction first, so that the price fires no stop into a thin book.
        Raises IntakeRefusal (INVALID_SYMBOL, ENGINE_BUSY), EngineStoppedError.
        """
        spec = self._machine.directory.symbols.get(symbol)
        if spec is None or symbol_id not in (0, spec.symbol_id):
            raise IntakeRefusal(ResultCode.INVALID_SYMBOL)
        self.admit(2)
        interruption = self._volatility.interruption(spec, price, gap_ms) if self._volatility else None
        if interruption is not None:
            self._submit(interruption, (PhaseCause.VOLATILITY.value,))
        return self._submit(Command(CommandKind.SET_MARK_PRICE, symbol=spec.symbol_id, price=price), ())

    def set_phase(
        self, symbol: str, phase: MarketPhase, seconds: int, action: Note = ()
    ) -> asyncio.Future[CommandOutcome]:
        """Let a market enter a phase, for `seconds` from now, or for good if they are 0. `action` is as in `submit`.

        Raises IntakeRefusal (INVALID_SYMBOL, ENGINE_BUSY), EngineStoppedError.
        """
        spec = self._machine.directory.symbols.get(symbol)
        if spec is None:
            raise IntakeRefusal(ResultCode.INVALID_SYMBOL)
        ends = self._sequencer.now() + seconds * 1000 * NANOSECONDS_PER_MS if seconds else 0
        command = Command(CommandKind.SET_PHASE, symbol=spec.symbol_id, order_type=phase, amount=ends)
        return self.submit(command, (), action)

    def _symbol(self, text: str) -> int:
        """The number of a symbol, UNKNOWN_SYMBOL if there is none. 0, which means any symbol, for an empty text."""
        spec = self._machine.directory.symbols.get(text)
        return spec.symbol_id if spec else UNKNOWN_SYMBOL if text else 0

    def _check_symbol(self, engine_order_id: int, text: str) -> None:
        """Check the symbol here, because the MOVE, REDUCE and AMEND of the core carry none."""
        order = self._machine.orders.entries.get(engine_order_id)
        if text and order is not None and order[SYMBOL] != self._symbol(text):
            raise IntakeRefusal(ResultCode.MATCHING_UNKNOWN_ORDER_ID)

    def _check_size(self, engine_order_id: int, participant_id: str, price: int, quantity: int) -> None:
        """Check the limits of an order with its new price and quantity; 0 leaves either as it is."""
        order = self._machine.orders.find(engine_order_id)
        spec = self._machine.directory.symbol(order.symbol) if order else None
        self._limits.begin(self._sequencer.now())
        quantity = quantity or (order.quantity if order else 0)
        price = price or (order.price if order else 0)
        refusal = self._limits.refusal(participant_id, spec, quantity, price * quantity)
        if refusal is not None:
            metrics.REFUSED.labels(refusal.name).inc()
            raise IntakeRefusal(refusal)

    # Any command

    def submit(self, command: Command | CreateSymbol, note: Note, action: Note = ()) -> asyncio.Future[CommandOutcome]:
        """Submit one command with the current time. Raises IntakeRefusal (ENGINE_BUSY), EngineStoppedError.

        `action`, if it is given, is stored with it: the note of a NOTE_ACTION, which says what operator gave it. The
        first result of the outcome is the command's.
        """
        self.admit(2 if action else 1)
        return self._submit(command, note, action)

    def create_account(self, note: Note, command: Command, action: Note = ()) -> asyncio.Future[CommandOutcome]:
        """Submit a CREATE_ACCOUNT and assign the account number. Raises IntakeRefusal, EngineStoppedError.

        `action` is as in `submit`.
        """
        participant_id = note[0]
        assert command.kind == CommandKind.CREATE_ACCOUNT
        if not PARTICIPANT_ID_TEXT.fullmatch(participant_id):
            raise IntakeRefusal(ResultCode.AUTH_INVALID_USER)
        self.admit(2 if action else 1)
        number = self._machine.directory.account_or_new(participant_id)
        return self._submit(command._replace(account=number), note, action)

    def admit(self, count: int = 1) -> None:
        """Raise IntakeRefusal (ENGINE_BUSY), EngineStoppedError unless `count` more commands can be submitted now."""
        try:
            self._sequencer.admit(count)
        except EngineBusyError as error:
            raise IntakeRefusal(ResultCode.ENGINE_BUSY) from error

    def _submit(self, command: Command | CreateSymbol, note: Note, action: Note = ()) -> asyncio.Future[CommandOutcome]:
        now = self._sequencer.now()
        stamped = command._replace(timestamp=now).encode()
        if not action:
            return self._sequencer.submit(stamped, (note,))
        noted = Command(NOTE_ACTION, timestamp=now, order_id=1).encode()
        return self._sequencer.submit(stamped + noted, (note, action))


def _budget(text: str) -> int:
    """The budget in amount units. Returns 0, which the core refuses, if `text` is not an amount."""
    try:
        return max(0, to_amount(parse_decimal(text)))
    except MoneyError:
        return 0


def _budget_worth(text: str, spec: SymbolSpec) -> int:
    """The budget in the symbol's units of price × quantity."""
    return _budget(text) // spec.quote_unit
