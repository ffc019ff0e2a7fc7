"""Order lists of a core beyond the tables: work is bounded, funds are held once, and nothing is lost or ended twice."""

from collections import Counter

import pytest

from openspot.domain.order import OrderListType, Side, TriggerKind
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import (
    ACTIVATIONS_MAX,
    FLAG_ACTIVE,
    FLAG_LISTED,
    TERMS_AT_OR_BELOW,
    Command,
    CommandKind,
    CreateSymbol,
    Event,
    EventType,
    decode_events,
    decode_results,
)
from openspot.engine.core.records import Result as CoreResult
from tests.support.list_commands import ListStream
from tests.unit.engine.conftest import CoreFactory

BUYER, SELLER = 2, 3
BTC, USD = 1, 2
UNIT = 10**18


def apply(core: MatchingCore, *commands: Command | CreateSymbol) -> tuple[CoreResult, list[Event]]:
    """The last result and all events."""
    results, events = core.apply(b"".join(command.encode() for command in commands))
    return list(decode_results(results))[-1], list(decode_events(events))


def world(core: MatchingCore) -> None:
    """One symbol and two rich accounts."""
    apply(
        core,
        *(Command(CommandKind.CREATE_CURRENCY, symbol=currency) for currency in (BTC, USD)),
        CreateSymbol(1, 0, BTC, USD, 1, 1, 1, 1, 0, 0),
        *(
            Command(CommandKind.DEPOSIT, symbol=currency, account=account, amount=10**6 * UNIT)
            for account in (BUYER, SELLER)
            for currency in (BTC, USD)
        ),
        *(Command(CommandKind.SET_ACCOUNT, account=account, flags=FLAG_ACTIVE) for account in (BUYER, SELLER)),
    )


def member(order_id: int, side: Side, price: int, quantity: int, stop: int = 0) -> list[Command]:
    """An order of a list, with its terms. A stop fires at or below its price."""
    kind = TriggerKind.FIXED if stop else TriggerKind.NONE
    return [
        Command(CommandKind.TERMS, kind, flags=TERMS_AT_OR_BELOW if stop else 0, order_id=order_id, price=stop),
        Command(
            CommandKind.LIST_ORDER,
            side,
            1,
            symbol=1,
            order_id=order_id,
            account=BUYER,
            price=price,
            quantity=quantity,
            amount=price if side == Side.BUY else 0,
        ),
    ]


def place_list(list_id: int, list_type: OrderListType) -> Command:
    """The end of a list."""
    return Command(CommandKind.PLACE_LIST, order_id=list_id, order_type=list_type)


def sell(order_id: int, price: int, quantity: int) -> Command:
    """A sell of the other account."""
    return Command(
        CommandKind.PLACE, Side.SELL, 1, symbol=1, order_id=order_id, account=SELLER, price=price, quantity=quantity
    )


def filled_entries(core: MatchingCore, count: int) -> list[Event]:
    """Fill the entries of `count` OTO lists with one command; return its events."""
    world(core)
    for number in range(1, count + 1):
        entry, stop = member(2 * number, Side.BUY, 100, 3), member(2 * number + 1, Side.SELL, 80, 3, stop=90)
        result, _ = apply(core, *entry, *stop, place_list(number, OrderListType.OTO))
        assert result.code == ResultCode.SUCCESS
    _, events = apply(core, sell(9_999, 100, 3 * count))
    return events


def test_one_command_arms_a_bounded_number_of_lists_and_activate_the_others(core_factory: CoreFactory) -> None:
    core = core_factory()
    events = filled_entries(core, ACTIVATIONS_MAX + 5)
    assert Counter(event.type for event in events)[EventType.WAITING] == ACTIVATIONS_MAX
    assert (core.activations_due(), len(core.order_lists())) == ([1], 5)
    assert [row.unarmed for row in core.order_lists()] == [3] * 5
    successor = core_factory()
    successor.restore(core.snapshot())
    for each in (core, successor):
        _, events = apply(each, Command(CommandKind.ACTIVATE, symbol=1))
        assert Counter(event.type for event in events) == {EventType.WAITING: 5, EventType.LIST_ENDED: 5}
        assert (each.activations_due(), each.order_lists()) == ([], [])
        assert len(each.waiting_orders()) == ACTIVATIONS_MAX + 5


def test_a_list_that_waits_to_be_armed_can_be_cancelled_and_is_armed_no_more(core_factory: CoreFactory) -> None:
    core = core_factory()
    filled_entries(core, ACTIVATIONS_MAX + 2)
    (first, second) = core.order_lists()
    result, events = apply(core, Command(CommandKind.CANCEL_LIST, order_id=first.list_id, account=BUYER))
    ended = [EventType.REDUCE, EventType.LIST_ENDED]
    assert (result.code, [event.type for event in events]) == (ResultCode.SUCCESS, ended)
    assert [(event.order_id, event.quantity) for event in events[:1]] == [(first.planned_exits[0], 3)]
    _, events = apply(core, Command(CommandKind.ACTIVATE, symbol=1))
    assert [event.order_id for event in events if event.type == EventType.WAITING] == list(second.planned_exits)


def test_an_exit_that_waits_to_be_armed_is_compared_with_the_present_price(core_factory: CoreFactory) -> None:
    core = core_factory()
    filled_entries(core, ACTIVATIONS_MAX + 1)
    (order_id,) = core.order_lists()[0].planned_exits
    amend = Command(CommandKind.AMEND, flags=FLAG_LISTED, order_id=order_id, account=BUYER)
    refused, _ = apply(core, amend._replace(amount=100))
    taken, events = apply(core, amend._replace(amount=95))
    assert (refused.code, taken.code) == (ResultCode.TRIGGER_WOULD_FIRE, ResultCode.SUCCESS)
    assert [(event.type, event.maker_remaining) for event in events] == [(EventType.MOVED, 95)]


def test_funds_that_were_spent_before_the_arming_leave_the_list_unarmed(core_factory: CoreFactory) -> None:
    core = core_factory()
    filled_entries(core, ACTIVATIONS_MAX + 1)
    (row,) = core.balances(BUYER)[:1]
    free = row.total - row.locked - row.reserved
    apply(core, Command(CommandKind.WITHDRAW, symbol=BTC, account=BUYER, amount=free))
    _, events = apply(core, Command(CommandKind.ACTIVATE, symbol=1))
    assert [(event.type, event.code) for event in events] == [
        (EventType.UNARMED, ResultCode.RISK_NSF),
        (EventType.REDUCE, ResultCode.LIST_NOT_ARMED),
        (EventType.LIST_ENDED, ResultCode.LIST_NOT_ARMED),
    ]


def test_nothing_is_armed_on_an_inactive_symbol_which_cannot_be_deleted_meanwhile(core_factory: CoreFactory) -> None:
    core = core_factory()
    filled_entries(core, ACTIVATIONS_MAX + 1)
    apply(core, Command(CommandKind.UPDATE_SYMBOL, symbol=1))
    result, _ = apply(core, Command(CommandKind.ACTIVATE, symbol=1))
    assert (result.code, core.activations_due()) == (ResultCode.SYMBOL_INACTIVE, [])
    open_orders = core.open_orders()
    apply(core, *(Command(CommandKind.CANCEL, order_id=order.order_id) for order in open_orders))
    result, _ = apply(core, Command(CommandKind.DELETE_SYMBOL, symbol=1))
    assert (result.code, len(core.order_lists())) == (ResultCode.SYMBOL_HAS_OPEN_ORDERS, 1)
    apply(
        core, Command(CommandKind.UPDATE_SYMBOL, symbol=1, flags=FLAG_ACTIVE), Command(CommandKind.ACTIVATE, symbol=1)
    )
    assert core.order_lists() == []


def test_an_exit_whose_price_was_reached_while_its_entry_filled_fires_at_once(core_factory: CoreFactory) -> None:
    core = core_factory()
    world(core)
    for number, price in ((1, 100), (2, 85)):
        entry, stop = (
            member(10 * number, Side.BUY, price, 2),
            member(10 * number + 1, Side.SELL, 70, 2, stop=price - 10),
        )
        apply(core, *entry, *stop, place_list(number, OrderListType.OTO))
    _, events = apply(core, sell(9_999, 85, 3))
    triggered = [event.order_id for event in events if event.type == EventType.TRIGGERED]
    # The sell went through the entry at 100 and on to 85, below the stop of the first list.
    assert triggered == [11]
    assert core.order(11) is not None


def test_a_state_without_lists_has_the_bytes_that_it_had_before_there_were_any(core_factory: CoreFactory) -> None:
    core, plain = core_factory(), core_factory()
    world(core)
    world(plain)
    orders = [*member(1, Side.SELL, 110, 1), *member(2, Side.SELL, 80, 1, stop=90)]
    apply(core, *orders, place_list(7, OrderListType.OCO), Command(CommandKind.CANCEL_LIST, order_id=7))
    # As many commands and events, none of them about lists, and prices are remembered.
    other = Command(CommandKind.TERMS, order_id=1)
    apply(plain, *[other] * 5, Command(CommandKind.CREATE_CURRENCY, symbol=BTC))
    assert core.snapshot()[40 + 24 :] == plain.snapshot()[40 + 24 :]


@pytest.mark.parametrize("seed", range(6))
def test_random_lists_keep_their_exits_equal_hold_funds_once_and_end_once(core_factory: CoreFactory, seed: int) -> None:
    core, stream = core_factory(), ListStream(70_000 + seed)
    begun: Counter[int] = Counter()
    ended: Counter[int] = Counter()
    for _ in range(300):
        _, events = core.apply(stream.next(core))
        for event in decode_events(events):
            begun[event.maker_amount] += event.type == EventType.LISTED and event.currency >> 8 == 1
            ended[event.order_id] += event.type == EventType.LIST_ENDED
        lists = core.order_lists()
        for row in lists:
            exits = [core.order(order_id) for order_id in row.armed_exits]
            assert len({order.remaining for order in exits if order}) <= 1, "one exit covers more than the other"
            assert all(exits), "an armed exit is not open"
            assert (core.order(row.entry) is not None) == (row.entry != 0)
            assert not any(core.order(order_id) for order_id in row.planned_exits)
        assert not +begun - +ended - Counter(row.list_id for row in lists), "a list ended without saying so"
        assert +ended + Counter(row.list_id for row in lists) == +begun, "a list ended twice"
        _check_holds(core)


def _check_holds(core: MatchingCore) -> None:
    """What is locked is what the open orders need, of each pair of exits only the one that needs more."""
    symbols = {symbol.symbol: symbol for symbol in core.symbols()}
    spared = set()
    for row in core.order_lists():
        if len(row.armed_exits) > 1:
            first, second = (core.order(order_id) for order_id in row.armed_exits)
            assert first is not None and second is not None
            spared.add((second if first.reserve_price >= second.reserve_price else first).order_id)
    locked: Counter[tuple[int, int]] = Counter()
    for order in core.open_orders():
        symbol = symbols[order.symbol]
        if order.order_id in spared:
            continue
        if order.side == Side.SELL:
            locked[order.account, symbol.base] += order.remaining * UNIT // symbol.base_scale_k
        else:
            amount = order.price * order.remaining * UNIT // (symbol.base_scale_k * symbol.quote_scale_k)
            locked[order.account, symbol.quote] += amount
    for row in core.balances():
        assert row.locked == locked[row.account, row.currency]
        assert row.total - row.locked - row.reserved >= 0
