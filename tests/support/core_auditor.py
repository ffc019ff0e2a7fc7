"""An independent check of a matching core, which trusts only its commands and events, never its balances or books.

It keeps books and balances of its own, in the simplest way, and compares them with the core's after every command.
So it proves at each step: events have no gaps, price-time priority holds, limits are kept, quantity is conserved,
fees are exact, trading makes or loses no asset, no free amount is negative, no book is crossed, depth is the sum of
the queues, and a rejected command changes nothing.
"""

from collections import Counter
from dataclasses import dataclass

from openspot.domain.fees import fee_amount
from openspot.domain.market_phase import UNCROSSED_PHASES, MarketPhase
from openspot.domain.money import AMOUNT_MAX, AMOUNT_SCALE, BASIS_POINTS
from openspot.domain.order import EngineOrderType, Side, StpMode, TriggerKind
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import FEE_ACCOUNT, CoreBalance, MatchingCore, Symbol
from openspot.engine.core.records import (
    COMMAND_SIZE,
    EVENT_AUCTION,
    EVENT_ICEBERG,
    EVENT_MAKER_COMPLETED,
    EVENT_MAKER_REBATE,
    EVENT_TAKER_COMPLETED,
    EVENT_WAITS,
    FLAG_ALLOW_FAILURE,
    FLAG_BUDGET,
    Command,
    CommandKind,
    CreateSymbol,
    Event,
    EventType,
    Result,
    ResultStatus,
    decode_commands,
    decode_events,
    decode_results,
)
from openspot.engine.core.snapshot_records import (
    COUNT_32,
    COUNT_64,
    FIRED_ORDER,
    ICEBERG,
    ORDER_TERMS,
    PHASE,
    REFERENCE_PRICES,
    WAITING_ORDER,
)
from tests.support.core_snapshots import NO_LISTS, SEQUENCES_END, without_runs, without_stop
from tests.support.linked_owners import LinkedOwners
from tests.support.waiting_audit import WaitingAudit


@dataclass(slots=True)
class _Order:
    order_id: int
    account: int
    symbol: Symbol
    side: int
    order_type: int
    price: int
    reserve_price: int
    quantity: int
    remaining: int
    fees: tuple[int, int]
    arrival: int
    own_stp: int = 0
    expiry: int = 0
    waits: bool = False
    filled: int = 0
    reduced: int = 0
    display: int = 0
    shown: int | None = None
    """What an iceberg shows; None before it rests."""

    @property
    def visible(self) -> int:
        """What the book shows of it, and what it trades while it rests."""
        return self.remaining if self.shown is None else self.shown

    def may_trade_at(self, price: int) -> bool:
        if self.order_type == EngineOrderType.FOK_BUDGET:
            return True
        return price <= self.price if self.side == Side.BUY else price >= self.price

    @property
    def priority(self) -> tuple[int, int]:
        """Smaller comes first among the orders of one side."""
        return (-self.price if self.side == Side.BUY else self.price, self.arrival)

    @property
    def held_currency(self) -> int:
        return self.symbol.quote if self.side == Side.BUY else self.symbol.base

    def locked(self) -> int:
        if self.side == Side.BUY:
            return _notional(self.symbol, self.price, self.remaining)
        return self.remaining * AMOUNT_SCALE // self.symbol.base_scale_k

    def held(self) -> int:
        if self.side == Side.SELL:
            return self.locked()
        worst = _notional(self.symbol, self.reserve_price, self.remaining)
        return worst + fee_amount(worst, max(*self.fees, 0))


class Auditor:
    """Applies commands to a core, and raises AssertionError at the first result that is wrong."""

    def __init__(self, core: MatchingCore) -> None:
        self.core = core
        self._orders: dict[int, _Order] = {}
        self._totals: Counter[tuple[int, int]] = Counter()
        self._reserved: Counter[tuple[int, int]] = Counter()
        self._arrivals = 0
        self._stopped = False
        """Whether a PLACE that comes next is not attempted."""
        self._waiting = 0
        """Movements that wait for their TRANSFER."""
        self._without_list: bytes | None = None
        """The state without the orders that wait for their PLACE_LIST; None if there are none."""
        self._owners = LinkedOwners()
        self._triggers = WaitingAudit()
        self._phases: dict[int, Event] = {}
        """The PHASE event of each symbol that is not in continuous trading."""
        self._command_sequence = core.command_sequence
        self._event_sequence = core.event_sequence
        # A symbol of an order may be deleted later, so the symbols are looked up before each command.
        self._symbols: dict[int, Symbol] = {}

    def apply(self, record: bytes) -> tuple[Result, list[Event]]:
        """Apply one record and check its effects."""
        assert len(record) == COMMAND_SIZE
        (command,) = decode_commands(record)
        self._symbols = {symbol.symbol: symbol for symbol in self.core.symbols()}
        before, rest, terms = self._snapshot(), self._rest_of_snapshot(), self._triggers.terms
        kind = getattr(command, "kind", CommandKind.CREATE_SYMBOL)
        was_stopped, self._stopped = self._stopped, False
        self._triggers.begin()
        results, event_bytes = self.core.apply(record)
        (result,), events = decode_results(results), list(decode_events(event_bytes))
        self._check_sequences(command, result, events)
        if kind == CommandKind.REPLACE:
            self._stopped = (
                result.status == ResultStatus.REJECTED and not getattr(command, "flags", 0) & FLAG_ALLOW_FAILURE
            )
            rest = rest if self._triggers.tracks else _UNKNOWN
            self._triggers.tracks = True
        if kind == CommandKind.TERMS:
            self._stopped = was_stopped
        is_not_attempted = result.code == ResultCode.REPLACEMENT_NOT_ATTEMPTED
        assert is_not_attempted == (kind == CommandKind.PLACE and was_stopped), "a placement was stopped, or was not"
        expected = self._without_list
        if expected is None and rest is not _UNKNOWN:
            expected = without_runs(before, self._waiting, len(self._owners.links), rest, terms is not None)
        if result.status == ResultStatus.REJECTED:
            assert expected in (None, self._snapshot()[SEQUENCES_END:]), "a refusal changed the state"
        elif isinstance(command, Command) and command.kind == CommandKind.SET_OWNER:
            self._owners.take(command)
        is_movement = command.kind == CommandKind.MOVEMENT if isinstance(command, Command) else False
        if kind == CommandKind.LIST_ORDER and result.status == ResultStatus.ACCEPTED:
            self._without_list = expected
        elif kind != CommandKind.TERMS:
            self._without_list = None
        taken = is_movement and result.status == ResultStatus.ACCEPTED
        self._waiting = self._waiting + 1 if taken else 0
        if isinstance(command, Command) and result.status != ResultStatus.REJECTED:
            self._triggers.tracks |= command.kind in _KINDS_THAT_TRACK
            if command.kind == CommandKind.SET_MARK_PRICE:
                self._triggers.meet(command.symbol, command.price, by_mark=True)
        activates = self._activated_symbol(command, result)
        for event in events:
            self._follow(command, event)
        activates = None if activates in self._phases else activates
        if isinstance(command, Command) and command.kind == CommandKind.TRANSFER:
            figures = [(event.quantity, event.remaining) for event in events]
            whole = [(len(events), following) for following in reversed(range(len(events)))]
            assert figures == whole, "a transfer was carried out in part"
            assert not events or len(events) == command.order_id, "a transfer was carried out in part"
        if isinstance(command, Command) and command.kind == CommandKind.AMEND:
            self._check_amend(command, result, events)
        if isinstance(command, Command) and command.kind == CommandKind.PLACE:
            self._check_place(command, result, events)
        self._triggers.check_end(activates)
        is_terms = isinstance(command, Command) and command.kind == CommandKind.TERMS
        self._triggers.terms = command if is_terms and isinstance(command, Command) else None
        if command.kind == CommandKind.DELETE_SYMBOL if isinstance(command, Command) else False:
            self._forget_prices(command.symbol, result)
        self._orders = {number: order for number, order in self._orders.items() if order.remaining}
        self._check_balances()
        self._check_books()
        self._check_waiting()
        assert self.core.owner_links() == sorted(self._owners.links.items())
        return result, events

    def _snapshot(self) -> bytes:
        """The core's snapshot, without the memory of a placement that is not attempted."""
        return without_stop(self.core.snapshot(), self._icebergs, len(self._phases), stopped=self._stopped)

    @property
    def _icebergs(self) -> int:
        return sum(order.shown is not None for order in self._orders.values())

    def _rest_of_snapshot(self) -> int | None:
        """How many bytes of that snapshot follow the terms; None if the core does not track prices."""
        triggers = self._triggers
        if not triggers.tracks:
            return None
        own = sum(not order.waits and bool(order.own_stp or order.expiry) for order in self._orders.values())
        fired = sum(len(queue) for queue in triggers.queues.values())
        priced = len(triggers.last.keys() | triggers.mark.keys())
        icebergs = self._icebergs
        extras = NO_LISTS + COUNT_32.size + COUNT_64.size + ICEBERG.size * icebergs
        return sum(
            (
                extras if icebergs else 0,
                *(COUNT_64.size + ORDER_TERMS.size * own, COUNT_64.size + WAITING_ORDER.size * len(triggers.waiters)),
                *(COUNT_64.size + FIRED_ORDER.size * fired, COUNT_32.size + REFERENCE_PRICES.size * priced),
                COUNT_32.size + PHASE.size * len(self._phases) if self._phases or icebergs else 0,
            )
        )

    def _activated_symbol(self, command: Command | CreateSymbol, result: Result) -> int | None:
        """The symbol whose fired orders a command activates."""
        if not isinstance(command, Command) or result.status == ResultStatus.REJECTED:
            return None
        if command.kind == CommandKind.MOVE:
            order = self._orders[command.order_id]
            return None if order.waits else order.symbol.symbol
        if command.kind == CommandKind.AMEND:
            order = self._orders[command.order_id]
            keeps_place = command.price in (0, order.price) and command.quantity <= order.quantity
            return None if order.waits or keeps_place else order.symbol.symbol
        if command.kind == CommandKind.PLACE:
            has_trigger = self._triggers.terms is not None and self._triggers.terms.side != TriggerKind.NONE
            return None if has_trigger else command.symbol
        return command.symbol if command.kind in (CommandKind.SET_MARK_PRICE, CommandKind.ACTIVATE) else None

    def _enter_phase(self, command: Command, event: Event) -> None:
        """Follow a PHASE event. Only a command of an operator, or the end of a phase, changes it."""
        assert command.kind in (CommandKind.SET_PHASE, CommandKind.ADVANCE_PHASE)
        if command.kind == CommandKind.ADVANCE_PHASE and event.order_type != MarketPhase.UNCROSSING:
            before = self._phases[event.symbol]
            is_over = 0 < before.maker_order_id <= command.timestamp
            assert before.order_type == MarketPhase.UNCROSSING or is_over, "a phase ended too early"
        if event.order_type == MarketPhase.CONTINUOUS:
            self._phases.pop(event.symbol, None)
        else:
            self._phases[event.symbol] = event

    def _phase_of(self, symbol: int) -> int:
        return self._phases[symbol].order_type if symbol in self._phases else MarketPhase.CONTINUOUS

    def _forget_prices(self, symbol: int, result: Result) -> None:
        if result.status != ResultStatus.REJECTED:
            self._triggers.last.pop(symbol, None)
            self._triggers.mark.pop(symbol, None)
            self._phases.pop(symbol, None)

    def _check_waiting(self) -> None:
        triggers = self._triggers
        shown = {row.order_id: row for row in self.core.waiting_orders()}
        assert list(shown) == list(triggers.waiters)
        fired = dict(pair for queue in triggers.queues.values() for pair in queue)
        for order_id, waiter in triggers.waiters.items():
            row = shown[order_id]
            assert (row.trigger_price, row.limit) == (waiter.trigger, waiter.present_limit)
            assert row.fired_price == fired.get(order_id, 0)
        expiries = sorted((order.order_id, order.expiry) for order in self._orders.values() if order.expiry)
        assert self.core.expiries() == expiries
        active = {symbol.symbol for symbol in self.core.symbols() if symbol.active}
        due = sorted(
            symbol for symbol, queue in triggers.queues.items() if queue and symbol in active - self._phases.keys()
        )
        assert self.core.activations_due() == due, "a fired order is not handled, and nothing says so"

    def _check_sequences(self, command: Command | CreateSymbol, result: Result, events: list[Event]) -> None:
        self._command_sequence += 1
        assert self.core.command_sequence == self._command_sequence
        assert result.events == len(events)
        for event in events:
            self._event_sequence += 1
            assert event.sequence == self._event_sequence, "the events have a gap"
            assert event.command_sequence == self._command_sequence
            assert event.timestamp == command.timestamp
        assert self.core.event_sequence == self._event_sequence
        ResultCode(result.code)
        assert (result.status == ResultStatus.ACCEPTED) == (result.code == ResultCode.SUCCESS)

    def _follow(self, command: Command | CreateSymbol, event: Event) -> None:
        """Apply an event to the own books, and check that the rules allow it."""
        assert isinstance(command, Command), "CREATE_SYMBOL emits nothing"
        match event.type:
            case EventType.ACCEPTED:
                self._accept(command, event)
            case EventType.TRADE:
                self._trade(event)
            case EventType.REDUCE:
                order = self._orders[event.order_id]
                assert 0 < event.quantity <= order.remaining
                order.remaining -= event.quantity
                self._reduce_shown(order, event)
                if event.code == ResultCode.AMENDED_BY_USER:
                    assert command.kind == CommandKind.AMEND
                    assert order.remaining, "an amendment ended an order"
                    order.quantity -= event.quantity
                else:
                    order.reduced += event.quantity
                if order.waits and not order.remaining:
                    self._triggers.end_order(order.order_id)
                if event.code == ResultCode.ORDER_EXPIRED:
                    assert command.kind == CommandKind.EXPIRE
                    assert 0 < order.expiry <= command.timestamp, "an order expired too early"
                assert event.remaining == order.remaining
                assert bool(event.flags & EVENT_TAKER_COMPLETED) == (order.remaining == 0)
            case EventType.MOVED:
                order = self._orders[event.order_id]
                assert command.kind == CommandKind.AMEND or not event.amount, "a move changed a quantity"
                waiter = self._triggers.waiters.get(event.order_id)
                before = waiter.present_limit if waiter else order.price
                changes = event.price != before or event.amount > 0 or (waiter is not None and event.maker_remaining)
                assert changes or command.kind == CommandKind.MOVE
                if waiter and event.maker_remaining:
                    assert event.maker_remaining == command.amount != waiter.value
                    waiter.value = event.maker_remaining
                elif waiter is None:
                    shown = order.shown or 0
                    assert bool(event.flags & EVENT_ICEBERG) == (order.shown is not None)
                    assert (event.maker_remaining, event.maker_amount) == (order.display, shown)
                    order.shown = None
                order.quantity += event.amount
                order.remaining += event.amount
                assert (event.quantity, event.remaining) == (order.quantity, order.remaining)
                order.price = event.price
                order.reserve_price = event.price if order.side == Side.BUY else 0
                order.arrival = self._next_arrival()
                assert (waiter is not None) == order.waits == bool(event.flags & EVENT_WAITS)
                if waiter:
                    waiter.limit = event.price
                    waiter.anchor = 0 if waiter.kind == TriggerKind.FIXED else waiter.trigger
            case EventType.WAITING:
                self._accept(command, event)
                self._orders[event.order_id].waits = True
                self._triggers.wait(event, self._symbols[event.symbol].tick)
            case EventType.TRIGGERED:
                order = self._orders[event.order_id]
                assert order.waits, "an order is activated that does not wait"
                assert event.remaining == order.remaining
                self._triggers.trigger(event)
                order.waits, order.price, order.arrival = False, event.price, self._next_arrival()
            case EventType.BALANCE:
                self._balance(event)
            case EventType.TRANSFER:
                assert command.kind == CommandKind.TRANSFER
                assert event.account != event.maker_account
                assert event.amount > 0
                self._totals[event.account, event.currency] -= event.amount
                self._totals[event.maker_account, event.currency] += event.amount
            case EventType.SHOWN:
                order = self._orders[event.order_id]
                assert order.display
                assert not order.shown, "an order shows more before all that it showed is gone"
                assert (event.quantity, event.price) == (min(order.display, order.remaining), order.price)
                assert event.remaining == order.remaining
                order.shown, order.arrival = event.quantity, self._next_arrival()
            case EventType.PHASE:
                self._enter_phase(command, event)
            case EventType.REJECT:
                assert command.kind == CommandKind.PLACE
                assert event.code not in (ResultCode.SUCCESS, *range(60, 80))

    @staticmethod
    def _reduce_shown(order: _Order, event: Event) -> None:
        """What is hidden of an iceberg goes first."""
        assert bool(event.flags & EVENT_ICEBERG) == (order.shown is not None)
        if order.shown is not None:
            before, order.shown = order.shown, min(order.shown, order.remaining)
            assert event.maker_remaining == before - order.shown

    def _accept(self, command: Command, event: Event) -> None:
        assert event.order_id not in self._orders, "an order id is live twice"
        bounded = event.order_type != EngineOrderType.FOK_BUDGET
        # An order that slid, or that was sized for a budget, reserves at the price that it got.
        is_own = event.price == command.price and not _is_sized(command)
        reserve_price = command.amount if is_own else event.price
        self._orders[event.order_id] = _Order(
            order_id=event.order_id,
            account=event.account,
            symbol=self._symbols[event.symbol],
            side=event.side,
            order_type=event.order_type,
            price=event.price,
            reserve_price=reserve_price if bounded and event.side == Side.BUY else 0,
            quantity=event.quantity,
            remaining=event.remaining,
            fees=(event.fee_bps, event.maker_fee_bps),
            arrival=self._next_arrival(),
            own_stp=self._triggers.terms.order_type if self._triggers.terms else 0,
            expiry=event.amount,
            display=event.maker_remaining if event.type == EventType.ACCEPTED else 0,
        )
        assert self._orders[event.order_id].display == (self._triggers.terms.quantity if self._triggers.terms else 0)
        assert event.amount == (self._triggers.terms.amount if self._triggers.terms else 0)

    def _next_arrival(self) -> int:
        self._arrivals += 1
        return self._arrivals

    def _trade(self, event: Event) -> None:
        taker, maker = self._orders[event.order_id], self._orders[event.maker_order_id]
        assert (taker.account, maker.account) == (event.account, event.maker_account)
        assert taker.side == event.side
        assert taker.side != maker.side
        settings = self.core.account(taker.account)
        assert settings is not None
        if (taker.own_stp - 1 if taker.own_stp else settings.stp_mode) != StpMode.NONE:
            assert self._owners.owner_of(taker.account) != self._owners.owner_of(maker.account), (
                "an owner traded with itself"
            )
        opposite = (
            order
            for order in self._orders.values()
            if order.symbol.symbol == event.symbol and order.side == maker.side and order.remaining and not order.waits
        )
        assert min(opposite, key=lambda order: order.priority) is maker, "another order had priority"
        in_auction = self._phase_of(event.symbol) == MarketPhase.UNCROSSING
        if in_auction:
            assert event.price == self._phases[event.symbol].price, "an auction has one price"
            assert maker.may_trade_at(event.price), "the maker's limit was broken"
        else:
            assert self._phase_of(event.symbol) == MarketPhase.CONTINUOUS, "a market traded in a phase that does not"
            assert event.price == maker.price, "a trade is at the resting price"
        assert taker.may_trade_at(event.price), "the taker's limit was broken"
        assert event.quantity == min(taker.visible, maker.visible) > 0
        for order in (taker, maker):
            order.remaining -= event.quantity
            order.filled += event.quantity
            if order.shown is not None:
                order.shown -= event.quantity
        assert (event.remaining, event.maker_remaining) == (taker.remaining, maker.remaining)
        assert event.flags == (
            EVENT_TAKER_COMPLETED * (taker.remaining == 0)
            | EVENT_MAKER_COMPLETED * (maker.remaining == 0)
            | EVENT_MAKER_REBATE * (event.maker_amount < 0)
            | EVENT_AUCTION * in_auction
        )
        self._settle(event, taker, maker)
        self._triggers.meet(event.symbol, event.price, by_mark=False)

    def _settle(self, event: Event, taker: _Order, maker: _Order) -> None:
        symbol = taker.symbol
        notional = _notional(symbol, event.price, event.quantity)
        base_amount = event.quantity * AMOUNT_SCALE // symbol.base_scale_k
        assert event.currency == symbol.quote
        assert event.fee_bps == taker.fees[0]
        assert event.maker_fee_bps == max(maker.fees[1], -event.fee_bps)
        assert event.amount == fee_amount(notional, event.fee_bps)
        assert event.maker_amount == fee_amount(notional, event.maker_fee_bps)
        assert event.amount + event.maker_amount >= 0, "the fee account paid net"
        buyer, seller = (taker, maker) if taker.side == Side.BUY else (maker, taker)
        self._totals[buyer.account, symbol.base] += base_amount
        self._totals[seller.account, symbol.base] -= base_amount
        self._totals[buyer.account, symbol.quote] -= notional
        self._totals[seller.account, symbol.quote] += notional
        self._totals[taker.account, symbol.quote] -= event.amount
        self._totals[maker.account, symbol.quote] -= event.maker_amount
        self._totals[FEE_ACCOUNT, symbol.quote] += event.amount + event.maker_amount

    def _balance(self, event: Event) -> None:
        kind, key = CommandKind(event.order_type), (event.account, event.currency)
        if kind in (CommandKind.RESERVE, CommandKind.RELEASE):
            self._reserved[key] += event.amount if kind == CommandKind.RESERVE else -event.amount
        else:
            self._totals[key] += event.amount
        if kind == CommandKind.COMMIT:
            self._reserved[key] += event.amount
        assert event.maker_amount == self._totals[key]

    def _check_place(self, command: Command, result: Result, events: list[Event]) -> None:
        if result.status == ResultStatus.REJECTED:
            assert [event.type for event in events] == [EventType.REJECT]
            assert (result.filled, result.remaining, result.notional) == (0, command.quantity, 0)
            return
        assert events[0].type in (EventType.ACCEPTED, EventType.WAITING)
        order = self._orders[command.order_id]
        later = next((place for place, event in enumerate(events) if event.type == EventType.TRIGGERED), len(events))
        if later < len(events):
            # What activated orders did to this one is no part of its own result.
            self._check_own_part(command, result, events[:later])
            return
        assert order.quantity == order.filled + order.reduced + order.remaining, "quantity was made or lost"
        traded = [event for event in events if event.type == EventType.TRADE]
        assert result.filled == order.filled == sum(event.quantity for event in traded)
        assert result.remaining == order.remaining
        assert result.notional == sum(_notional(order.symbol, event.price, event.quantity) for event in traded)
        if order.order_type in (EngineOrderType.FOK, EngineOrderType.FOK_BUDGET):
            assert order.filled in (0, order.quantity), "a fill-or-kill was filled in part"
        if order.order_type == EngineOrderType.FOK_BUDGET and order.filled:
            assert (result.notional <= command.amount) if order.side == Side.BUY else True
            assert (result.notional >= command.amount) if order.side == Side.SELL else True
        if _is_sized(command):
            assert result.notional <= command.amount, "a budget was exceeded"
            assert 0 < order.filled == order.quantity <= command.quantity, "a sized order was not filled"
        if order.order_type == EngineOrderType.POST_ONLY:
            assert not traded, "a post-only order took"
        if order.remaining and not order.waits:
            assert order.order_type in (EngineOrderType.GTC, EngineOrderType.POST_ONLY)

    def _check_amend(self, command: Command, result: Result, events: list[Event]) -> None:
        """An amendment that was taken leaves what it asked for, so its repeat changes nothing."""
        if result.status == ResultStatus.REJECTED:
            return
        order = self._orders[command.order_id]
        assert command.account == order.account
        waiter = self._triggers.waiters.get(order.order_id)
        price = waiter.present_limit if waiter else order.price
        assert price == (command.price or price)
        assert order.quantity == (command.quantity or order.quantity)
        assert order.quantity == order.filled + order.reduced + order.remaining, "quantity was made or lost"
        if all(event.type != EventType.TRIGGERED for event in events):
            # What activated orders did to this one is no part of its own result.
            assert result.remaining == order.remaining

    def _check_own_part(self, command: Command, result: Result, events: list[Event]) -> None:
        traded = [event for event in events if event.type == EventType.TRADE]
        symbol = self._symbols[command.symbol]
        assert result.filled == sum(event.quantity for event in traded)
        assert result.notional == sum(_notional(symbol, event.price, event.quantity) for event in traded)
        own = [event for event in events if event.order_id == command.order_id]
        assert result.remaining == own[-1].remaining

    def _check_balances(self) -> None:
        locked: Counter[tuple[int, int]] = Counter()
        held = Counter(self._reserved)
        for order in self._orders.values():
            locked[order.account, order.held_currency] += order.locked()
            held[order.account, order.held_currency] += order.held()
        expected = [
            CoreBalance(*key, total, locked[key], held[key] - locked[key])
            for key, total in sorted(self._totals.items())
            if total
        ]
        assert self.core.balances() == expected
        assert all(self._totals[key] >= amount for key, amount in held.items()), "a free amount is negative"
        for currency in {currency for _, currency in self._totals}:
            assert 0 <= sum(self._totals[key] for key in self._totals if key[1] == currency) <= AMOUNT_MAX

    def _check_books(self) -> None:
        shown = {order.order_id: order for order in self.core.open_orders()}
        assert list(shown) == sorted(self._orders)
        sides: dict[tuple[int, int], dict[int, tuple[int, int]]] = {}
        for order in self._orders.values():
            row = shown[order.order_id]
            assert (row.account, row.symbol, row.side) == (order.account, order.symbol.symbol, order.side)
            assert (row.price, row.reserve_price) == (order.price, order.reserve_price)
            assert (row.quantity, row.remaining) == (order.quantity, order.remaining)
            assert order.quantity == order.filled + order.reduced + order.remaining, "quantity was made or lost"
            if order.waits:
                continue
            levels = sides.setdefault((order.symbol.symbol, order.side), {})
            total, count = levels.get(order.price, (0, 0))
            levels[order.price] = (total + order.visible, count + 1)
            iceberg = self.core.iceberg(order.order_id)
            assert iceberg == (None if order.shown is None else (order.display, order.shown))
        for symbol in self.core.symbols():
            bids, asks = (
                [(price, *figures) for price, figures in sides.get((symbol.symbol, side), {}).items()]
                for side in (Side.BUY, Side.SELL)
            )
            assert self.core.depth(symbol.symbol, 0) == (sorted(bids, reverse=True), sorted(asks))
            if bids and asks and self._phase_of(symbol.symbol) in UNCROSSED_PHASES:
                assert max(bids)[0] < min(asks)[0], "the book is crossed"


_UNKNOWN = -1
_KINDS_THAT_TRACK = (CommandKind.TERMS, CommandKind.SET_MARK_PRICE, CommandKind.SET_PHASE)


def _is_sized(command: Command) -> bool:
    return command.order_type == EngineOrderType.IOC and bool(command.flags & FLAG_BUDGET)


def _notional(symbol: Symbol, price: int, quantity: int) -> int:
    amount, rest = divmod(price * quantity * AMOUNT_SCALE, symbol.base_scale_k * symbol.quote_scale_k)
    assert rest == 0
    assert amount % BASIS_POINTS == 0, "a symbol's scales must leave room for basis points"
    return amount
