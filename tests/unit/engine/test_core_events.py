"""Every field of every type of event (docs/protocol/matching.md, "Events")."""

import pytest

from openspot.domain.order import EngineOrderType, Side, StpMode
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import (
    EVENT_MAKER_COMPLETED,
    EVENT_MAKER_REBATE,
    EVENT_TAKER_COMPLETED,
    FLAG_ACTIVE,
    Command,
    CommandKind,
    CreateSymbol,
    Event,
    EventType,
    decode_events,
)
from tests.support.core_commands import with_reference
from tests.unit.engine.conftest import CoreFactory

BTC, USD = 1, 2
BTC_USD = 7
SELLER, BUYER = 20, 21
WHOLE = 10**18
WORLD: tuple[Command | CreateSymbol, ...] = (
    Command(CommandKind.CREATE_CURRENCY, symbol=BTC),
    Command(CommandKind.CREATE_CURRENCY, symbol=USD),
    CreateSymbol(BTC_USD, 0, BTC, USD, 10, 100, 1, 1, 10, -2),
    Command(CommandKind.DEPOSIT, symbol=BTC, account=SELLER, amount=5 * WHOLE),
    Command(CommandKind.DEPOSIT, symbol=USD, account=BUYER, amount=5_000 * WHOLE),
)
BLANK = Event(*[0] * len(Event._fields))


@pytest.fixture
def core(core_factory: CoreFactory) -> MatchingCore:
    """A core with one symbol of scales 10 (quantity) and 100 (price), and two accounts with funds."""
    core = core_factory()
    core.apply(b"".join(command.encode() for command in WORLD))
    return core


def _events(core: MatchingCore, command: Command) -> list[Event]:
    """The events of `command`. Checks the fields that every event has, and sets them to 0."""
    _, events = core.apply(command._replace(timestamp=1_234).encode())
    decoded = list(decode_events(events))
    for event in decoded:
        assert (event.timestamp, event.command_sequence) == (1_234, core.command_sequence)
    last = core.event_sequence
    assert [event.sequence for event in decoded] == list(range(last - len(decoded) + 1, last + 1))
    return [event._replace(timestamp=0, command_sequence=0, sequence=0) for event in decoded]


def _sell(order_id: int, quantity: int, price: int, **fields: int) -> Command:
    command = Command(
        CommandKind.PLACE, Side.SELL, EngineOrderType.GTC, 0, BTC_USD, 0, order_id, SELLER, price, quantity
    )
    return command._replace(**fields)


def _buy(order_id: int, quantity: int, price: int, **fields: int) -> Command:
    return _sell(order_id, quantity, price, side=Side.BUY, account=BUYER, amount=price)._replace(**fields)


def test_accepted_shows_the_order_and_the_fees_that_it_came_with(core: MatchingCore) -> None:
    assert _events(core, _sell(1, 30, 10_000)) == [
        BLANK._replace(
            type=EventType.ACCEPTED,
            side=Side.SELL,
            order_type=EngineOrderType.GTC,
            symbol=BTC_USD,
            order_id=1,
            account=SELLER,
            price=10_000,
            quantity=30,
            remaining=30,
            fee_bps=10,
            maker_fee_bps=-2,
        )
    ]


def test_reject_shows_the_order_as_it_was_sent(core: MatchingCore) -> None:
    sent = _buy(1, -7, -8, side=9, order_type=77, symbol=5, account=66, amount=4)
    assert _events(core, sent) == [
        BLANK._replace(
            type=EventType.REJECT,
            side=9,
            order_type=77,
            code=ResultCode.INVALID_SIDE,
            symbol=5,
            order_id=1,
            account=66,
            price=-8,
            quantity=-7,
            remaining=-7,
        )
    ]


@pytest.mark.spec("A2.2-02", "A2.2-03", "A2.2-04", "A2.2-05", "A2.2-06", "A2.2-07", "A2.2-08")
def test_trade_shows_both_orders_both_fees_and_their_currency(core: MatchingCore) -> None:
    core.apply(_sell(1, 30, 10_000).encode())
    # 2 BTC at 100 USD cost 200 USD, of which 10 bps are 0.2 and 2 bps are 0.04.
    accepted, trade = _events(core, _buy(2, 20, 10_050, order_type=EngineOrderType.IOC))
    assert accepted.type == EventType.ACCEPTED
    assert trade == BLANK._replace(
        type=EventType.TRADE,
        side=Side.BUY,
        order_type=EngineOrderType.IOC,
        flags=EVENT_TAKER_COMPLETED | EVENT_MAKER_REBATE,
        symbol=BTC_USD,
        currency=USD,
        order_id=2,
        maker_order_id=1,
        account=BUYER,
        maker_account=SELLER,
        price=10_000,
        quantity=20,
        remaining=0,
        maker_remaining=10,
        fee_bps=10,
        maker_fee_bps=-2,
        amount=2 * 10**17,
        maker_amount=-4 * 10**16,
    )
    _, trade = _events(core, _buy(3, 15, 10_000))
    assert (trade.remaining, trade.maker_remaining) == (5, 0)
    assert trade.flags == EVENT_MAKER_COMPLETED | EVENT_MAKER_REBATE


@pytest.mark.spec("A2.2-09")
def test_reduce_shows_what_left_what_is_left_and_why(core: MatchingCore) -> None:
    core.apply(_sell(1, 30, 10_000).encode())
    expected = BLANK._replace(
        type=EventType.REDUCE,
        side=Side.SELL,
        order_type=EngineOrderType.GTC,
        code=ResultCode.REDUCED_BY_USER,
        symbol=BTC_USD,
        order_id=1,
        account=SELLER,
        price=10_000,
        quantity=20,
        remaining=10,
    )
    reduce = Command(CommandKind.REDUCE, order_id=1, account=SELLER, quantity=20)
    assert _events(core, reduce) == [expected]
    assert _events(core, Command(CommandKind.CANCEL, order_id=1)) == [
        expected._replace(flags=EVENT_TAKER_COMPLETED, code=ResultCode.CANCELLED_BY_ADMIN, quantity=10, remaining=0)
    ]


def test_reduce_of_an_incoming_order_shows_that_order(core: MatchingCore) -> None:
    core.apply(Command(CommandKind.SET_ACCOUNT, 0, StpMode.CANCEL_BOTH, FLAG_ACTIVE, account=SELLER).encode())
    core.apply(_sell(1, 30, 10_000).encode())
    core.apply(Command(CommandKind.DEPOSIT, symbol=USD, account=SELLER, amount=5_000 * WHOLE).encode())
    _, resting, incoming = _events(core, _buy(2, 5, 10_010, account=SELLER))
    assert resting == BLANK._replace(
        type=EventType.REDUCE,
        side=Side.SELL,
        order_type=EngineOrderType.GTC,
        flags=EVENT_TAKER_COMPLETED,
        code=ResultCode.STP_CANCEL_BOTH,
        symbol=BTC_USD,
        order_id=1,
        account=SELLER,
        price=10_000,
        quantity=30,
    )
    assert incoming == resting._replace(side=Side.BUY, order_id=2, price=10_010, quantity=5)


def test_a_budget_order_has_no_price_in_its_events(core: MatchingCore) -> None:
    budget = _buy(1, 30, 77, order_type=EngineOrderType.FOK_BUDGET, amount=WHOLE)
    accepted, reduce = _events(core, budget)
    assert (accepted.type, accepted.price) == (EventType.ACCEPTED, 0)
    assert (reduce.type, reduce.price, reduce.code) == (EventType.REDUCE, 0, ResultCode.FOK_NOT_FILLABLE)


def test_moved_shows_the_new_price(core: MatchingCore) -> None:
    core.apply(_sell(1, 30, 10_000).encode())
    core.apply(Command(CommandKind.REDUCE, order_id=1, account=SELLER, quantity=20).encode())
    assert _events(core, Command(CommandKind.MOVE, order_id=1, account=SELLER, price=9_000)) == [
        BLANK._replace(
            type=EventType.MOVED,
            side=Side.SELL,
            order_type=EngineOrderType.GTC,
            symbol=BTC_USD,
            order_id=1,
            account=SELLER,
            price=9_000,
            quantity=30,
            remaining=10,
        )
    ]


def test_an_amendment_shows_by_how_much_it_changed_the_quantity(core: MatchingCore) -> None:
    core.apply(_sell(1, 30, 10_000).encode())
    amend = Command(CommandKind.AMEND, order_id=1, account=SELLER)
    (moved,) = _events(core, amend._replace(quantity=35))
    assert (moved.type, moved.quantity, moved.remaining, moved.amount) == (EventType.MOVED, 35, 35, 5)
    (moved,) = _events(core, amend._replace(quantity=20, price=10_010))
    assert (moved.type, moved.price, moved.remaining, moved.amount) == (EventType.MOVED, 10_010, 20, -15)
    (reduce,) = _events(core, amend._replace(quantity=15))
    assert (reduce.type, reduce.code, reduce.quantity, reduce.remaining) == (
        *(EventType.REDUCE, ResultCode.AMENDED_BY_USER),
        *(5, 15),
    )
    assert _events(core, amend._replace(quantity=15)) == []


def test_balance_shows_account_change_total_and_reference(core: MatchingCore) -> None:
    low, high = 2**63 + 5, 2**64 - 1
    command = with_reference(Command(CommandKind.RESERVE, symbol=USD, account=BUYER, amount=WHOLE), low + (high << 64))
    reserved = BLANK._replace(
        type=EventType.BALANCE,
        order_type=CommandKind.RESERVE,
        currency=USD,
        order_id=low,
        maker_order_id=high,
        account=BUYER,
        amount=WHOLE,
        maker_amount=5_000 * WHOLE,
    )
    assert _events(core, command) == [reserved]
    # A COMMIT contains only the reference. The event gets account and currency from the reservation.
    commit = Command(CommandKind.COMMIT, price=command.price, quantity=command.quantity)
    assert _events(core, commit) == [
        reserved._replace(order_type=CommandKind.COMMIT, amount=-WHOLE, maker_amount=4_999 * WHOLE)
    ]


def test_commands_that_change_no_order_and_no_money_emit_nothing(core: MatchingCore) -> None:
    for command in (
        Command(CommandKind.CREATE_CURRENCY, symbol=9),
        Command(CommandKind.DELETE_CURRENCY, symbol=9),
        Command(CommandKind.CREATE_ACCOUNT, flags=FLAG_ACTIVE, account=30),
        Command(CommandKind.SET_ACCOUNT, flags=FLAG_ACTIVE, account=30),
        Command(CommandKind.SET_ACCOUNT_FEES, account=30),
        Command(CommandKind.UPDATE_SYMBOL, symbol=BTC_USD, flags=FLAG_ACTIVE),
        Command(CommandKind.DELETE_SYMBOL, symbol=BTC_USD),
    ):
        assert _events(core, command) == []
