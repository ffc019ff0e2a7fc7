"""Turns a list of orders that depend on each other into commands (docs/protocol/matching.md, Order lists).

All of a list is one submission: a TERMS and a LIST_ORDER for each order, then PLACE_LIST. What cannot become a command
is refused here, without any event; everything else is the core's to refuse.
"""

import asyncio
from collections.abc import Sequence

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.domain.ids import PARTICIPANT_ID_TEXT
from openspot.domain.order import EngineOrderType, Side
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SYMBOL_TEXT
from openspot.engine import metrics
from openspot.engine.core.records import FOK_STEPS_EXPONENT, Command, CommandKind
from openspot.engine.core.reference_order_list import LIST_SIZE_MAX
from openspot.engine.intake.command_intake import (
    CLIENT_ORDER_ID_LENGTH_MAX,
    METADATA_LENGTH_MAX,
    ORDER_ID_LENGTH_MAX,
    CommandIntake,
)
from openspot.engine.intake.order_limits import OrderLimits
from openspot.engine.intake.order_requests import PlacementRequest
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.engine.intake.sequencer import CommandOutcome, EngineBusyError, Sequencer
from openspot.engine.intake.terms import kept_bits, note_of, terms_of
from openspot.engine.state.directory import UNKNOWN_ACCOUNT, UNKNOWN_SYMBOL, Note
from openspot.engine.state.order_memory import add_open, may_stay
from openspot.engine.state.state_machine import StateMachine

_TAKING_TYPES = frozenset({EngineOrderType.GTC, EngineOrderType.IOC, EngineOrderType.FOK})
_NO_TYPE = 255


class RefusedOrderError(IntakeRefusal):
    """A list that cannot become commands. `place` is that of the order that is the reason, from 1; 0 for none."""

    def __init__(self, code: ResultCode, place: int = 0) -> None:
        super().__init__(code)
        self.place = place
        metrics.REFUSED.labels(code.name).inc()


class ListIntake:
    """Submits order lists to one sequencer."""

    def __init__(
        self, machine: StateMachine, sequencer: Sequencer, intake: CommandIntake, limits: OrderLimits | None = None
    ) -> None:
        """Without `limits`, only the core's own ranges apply."""
        self._machine = machine
        self._sequencer = sequencer
        self._intake = intake
        self._limits = limits or OrderLimits()

    def place(self, list_id: int, list_type: int, orders: Sequence[PlacementRequest]) -> asyncio.Future[CommandOutcome]:
        """Submit a list in one commit; its last result is that of PLACE_LIST.

        Raises RefusedOrderError, EngineStoppedError.
        """
        if not 0 < len(orders) <= LIST_SIZE_MAX or not 0 <= list_type < _NO_TYPE:
            raise RefusedOrderError(ResultCode.INVALID_ORDER_LIST)
        if len({order.participant_id for order in orders}) > 1 or len({order.symbol for order in orders}) > 1:
            # Names that are not known would look like one to the core.
            raise RefusedOrderError(ResultCode.INVALID_ORDER_LIST)
        try:
            self._sequencer.admit(2 * len(orders) + 1)
        except EngineBusyError:
            raise RefusedOrderError(ResultCode.ENGINE_BUSY) from None
        time_ns = self._sequencer.now()
        self._limits.begin(time_ns)
        self._check(orders)
        directory = self._machine.directory
        participant_id, symbol_text = orders[0].participant_id, orders[0].symbol
        spec = directory.symbols.get(symbol_text)
        account = directory.accounts.get(participant_id, UNKNOWN_ACCOUNT)
        symbol = UNKNOWN_SYMBOL if spec is None else spec.symbol_id
        commands: list[Command] = []
        notes: list[Note] = []
        described: list[str] = []
        for order in orders:
            commands.append(terms_of(order, order.order_id, time_ns))
            commands.append(_list_order(order, account, symbol, time_ns))
            client_note = (order.client_order_id,) if order.client_order_id else ()
            notes += (note_of(order), (order.external_id, "", *client_note))
            described += (order.external_id, order.metadata)
            self._remember(order, commands[-1])
        commands.append(Command(CommandKind.PLACE_LIST, timestamp=time_ns, order_id=list_id, order_type=list_type))
        notes.append((participant_id, symbol_text, *described))
        return self._sequencer.submit(b"".join(command.encode() for command in commands), notes)

    def cancel(self, list_id: int, participant_id: str, symbol: str) -> asyncio.Future[CommandOutcome]:
        """Cancel a list for its owner. Raises IntakeRefusal, EngineStoppedError."""
        directory = self._machine.directory
        spec = directory.symbols.get(symbol)
        command = Command(
            CommandKind.CANCEL_LIST,
            symbol=spec.symbol_id if spec else UNKNOWN_SYMBOL if symbol else 0,
            order_id=list_id,
            account=directory.account(participant_id),
        )
        return self._intake.submit(command, ())

    def _check(self, orders: Sequence[PlacementRequest]) -> None:
        """Check what only the intake knows of each order, and that the orders of a list have ids of their own."""
        memory, directory = self._machine.orders, self._machine.directory
        ids: set[int] = set()
        names: set[str] = set()
        client_ids: set[str] = set()
        for place, order in enumerate(orders, 1):
            account, spec = directory.accounts.get(order.participant_id), directory.symbols.get(order.symbol)
            client_id = order.client_order_id
            code: ResultCode | None = None
            is_known = order.order_id in memory.entries or order.external_id in memory.ids
            if is_known or order.order_id in ids or order.external_id in names:
                code = ResultCode.DUPLICATE_ORDER_ID
            elif not order.order_id or len(order.external_id) > ORDER_ID_LENGTH_MAX:
                code = ResultCode.INVALID_ORDER_ID
            elif len(client_id) > CLIENT_ORDER_ID_LENGTH_MAX or len(order.metadata) > METADATA_LENGTH_MAX:
                code = ResultCode.UNSUPPORTED_COMMAND
            elif client_id and (client_id in client_ids or self._is_held(account, client_id)):
                code = ResultCode.DUPLICATE_CLIENT_ORDER_ID
            elif account is None and not PARTICIPANT_ID_TEXT.fullmatch(order.participant_id):
                code = ResultCode.AUTH_INVALID_USER
            elif spec is None and not SYMBOL_TEXT.fullmatch(order.symbol):
                code = ResultCode.INVALID_SYMBOL
            elif order.budget or order.post_only == orders_pb2.SLIDE:
                code = ResultCode.INVALID_ORDER_LIST
            else:
                code = self._limits.refusal(order.participant_id, spec, order.quantity, order.price * order.quantity)
                if code is None and account and spec and self._limits.open_orders_max:
                    sells, buys = memory.open_orders.get((account, spec.symbol_id), ((), ()))
                    if len(sells) + len(buys) + place > self._limits.open_orders_max:
                        code = ResultCode.MAX_NUM_ORDERS
            if code is not None:
                raise RefusedOrderError(code, place)
            ids.add(order.order_id)
            client_ids.add(client_id)
            if order.external_id:
                names.add(order.external_id)

    def _is_held(self, account: int | None, client_id: str) -> bool:
        return account is not None and self._machine.orders.client_ids.holder(account, client_id) is not None

    def _remember(self, order: PlacementRequest, command: Command) -> None:
        memory = self._machine.orders
        kept_type = command.order_type | kept_bits(order)
        memory.entries[order.order_id] = (
            order.external_id,
            command.account,
            command.symbol,
            command.side,
            kept_type,
            command.price,
            command.quantity,
            command.timestamp,
        )
        if order.external_id:
            memory.ids[order.external_id] = order.order_id
        if may_stay(kept_type):
            add_open(memory.open_orders, order.order_id, (command.account, command.symbol), command.side)
        if order.client_order_id:
            memory.client_ids.hold(command.account, order.client_order_id, order.order_id)


def _list_order(order: PlacementRequest, account: int, symbol: int, time_ns: int) -> Command:
    order_type = order.type if order.type in _TAKING_TYPES else _NO_TYPE
    if order.post_only:
        order_type = EngineOrderType.POST_ONLY if order.type == EngineOrderType.GTC else _NO_TYPE
    side = order.side if order.side in frozenset(Side) else 0
    return Command(
        CommandKind.LIST_ORDER,
        side=side,
        order_type=order_type,
        flags=FOK_STEPS_EXPONENT,
        symbol=symbol,
        timestamp=time_ns,
        order_id=order.order_id,
        account=account,
        price=order.price,
        quantity=order.quantity,
        amount=(order.reserve_price or order.price) if side == Side.BUY else 0,
    )
