"""From engine events to bus events and rows: every transition, each event with its subjects and ids."""

from decimal import Decimal

import msgspec
import pytest

from openspot.contracts.engine_events import AcceptedEvent, BalanceEvent, EngineEvent
from openspot.contracts.messages import (
    ExecutedTrade,
    IncompleteOrder,
    OrderEvent,
    OrderRecord,
    SideTrade,
    TradeFee,
    TradeFees,
)
from openspot.domain.order import OrderStatus
from openspot.router.tracked_order import TrackedOrder
from openspot.router.trade_row import TradeRow
from openspot.router.translation.order_state_machine import OrderStateMachine, Target, TranslatedEvent
from tests.unit.router.orders import accepted, moved, reduced, rejected, trade, triggered, waiting

MARKET = '{"type":"market","timeInForce":"gtc","clientOrderId":"mine","marginMode":"cross"}'


def machine() -> OrderStateMachine:
    return OrderStateMachine("epoch", [])


def after(*events: EngineEvent) -> tuple[OrderStateMachine, TranslatedEvent]:
    """The machine after `events`, and what the last of them came to."""
    state, translated = machine(), TranslatedEvent()
    for event in events:
        translated = state.apply(event)
    return state, translated


def open_ids(state: OrderStateMachine) -> set[int]:
    """The engine order ids of the open orders."""
    return set(state._orders)


def shown(translated: TranslatedEvent) -> list[str]:
    """Subjects in the order of publishing; the status of the order where there is one."""
    return [
        f"{publication.targets[0].subject} {publication.message.order.status}"
        if isinstance(publication.message, OrderEvent)
        else publication.targets[0].subject
        for publication in translated.publications
    ]


def only_order(translated: TranslatedEvent) -> TrackedOrder:
    (order,) = translated.orders
    return order


def bob_sells(seq: int, engine_order_id: int, **fields: object) -> AcceptedEvent:
    return accepted(seq, engine_order_id, participant_id="bob", side="sell", **fields)


@pytest.mark.spec("A3.1-02", "A6.1-01", "A6.1-29")
def test_accepted_opens_and_publishes_created_in_both_forms() -> None:
    _, translated = after(accepted(7, 1))
    (publication,) = translated.publications
    assert publication.targets == (
        Target("orders.created", "epoch-7-created"),
        Target("orders.created.alice", "epoch-7-created-user"),
    )
    event = publication.message
    assert isinstance(event, OrderEvent)
    assert (event.event, event.sequence, event.timestamp, event.reason) == ("created", 7, 1007, None)
    record = event.order
    assert (record.order_id, record.user_id, record.status) == ("ext1", "alice", "open")
    assert (record.price, record.quantity, record.remaining_quantity, record.filled_quantity) == ("100", "1", "1", "0")
    assert record.created_at == record.updated_at == "1970-01-01T00:00:01.007Z"
    row = only_order(translated)
    assert (row.engine_order_id, row.status, row.last_sequence) == (1, OrderStatus.OPEN, 7)


@pytest.mark.spec("A3.1-05", "A3.1-06", "A6.1-07", "A6.1-10", "A6.1-11", "A2.3-01", "A2.3-02", "A2.3-03")
def test_a_trade_is_published_once_consolidated_and_once_for_each_side() -> None:
    state, translated = after(
        accepted(1, 1, quantity="3"),
        bob_sells(2, 2),
        trade(3, taker=2, maker=1, quantity="1", is_maker_completed=False, maker_remaining="2"),
    )
    assert shown(translated) == [
        "trades.executed",
        "trades.executed.BTC-USD",
        "trades.executed.BTC-USD",
        "orders.filled filled",
        "orders.updated partially_filled",
    ]
    ids = [target.message_id for publication in translated.publications for target in publication.targets]
    assert ids == [
        "epoch-3-trade",
        "epoch-3-trade-taker",
        "epoch-3-trade-maker",
        "epoch-3-taker",
        "epoch-3-taker-user",
        "epoch-3-maker",
        "epoch-3-maker-user",
    ]
    executed = translated.publications[0].message
    assert isinstance(executed, ExecutedTrade)
    assert (executed.id, executed.buyer_id, executed.seller_id) == ("epoch-3", "alice", "bob")
    assert (executed.price, executed.quantity) == ("100", "1")
    assert (executed.base_asset, executed.quote_asset) == ("BTC", "USD")
    assert (executed.fees.buyer.amount, executed.fees.seller.amount) == ("0.15", "0.25")
    assert (executed.taker_order_id, executed.maker_order_id) == ("ext2", "ext1")
    taker, maker = (publication.message for publication in translated.publications[1:3])
    assert isinstance(taker, SideTrade)
    assert isinstance(maker, SideTrade)
    assert taker.trade_id == maker.trade_id == executed.id
    assert (taker.liquidity, taker.order_id, taker.user_id, taker.side) == ("taker", "ext2", "bob", "sell")
    assert (maker.liquidity, maker.order_id, maker.user_id, maker.side) == ("maker", "ext1", "alice", "buy")
    assert (taker.fee, taker.is_order_completed) == ("0.25", True)
    assert (maker.fee, maker.is_order_completed) == ("0.15", False)
    filled, partial = translated.orders
    assert (filled.status, filled.fee, filled.average_price) == (OrderStatus.FILLED, Decimal("0.25"), Decimal(100))
    assert (partial.filled_quantity, partial.remaining_quantity) == (Decimal(1), Decimal(2))
    assert translated.trades[0].trade_id == "epoch-3"
    assert (translated.trades[0].buyer_id, translated.trades[0].seller_id) == ("alice", "bob")
    assert open_ids(state) == {1}


def test_a_taker_that_buys_is_the_buyer_in_the_event_and_in_the_row() -> None:
    sides = {"taker_side": "buy", "taker_participant_id": "alice", "maker_participant_id": "bob"}
    _, translated = after(bob_sells(1, 1), accepted(2, 2), trade(3, taker=2, maker=1, quantity="1", **sides))
    [executed] = [each.message for each in translated.publications if isinstance(each.message, ExecutedTrade)]
    assert (executed.buyer_id, executed.seller_id) == ("alice", "bob")
    assert (executed.fees.buyer.amount, executed.fees.seller.amount) == ("0.25", "0.15")
    [row] = translated.trades
    assert (row.buyer_id, row.seller_id) == ("alice", "bob")
    assert (row.taker_side, row.taker_fee, row.maker_fee) == ("buy", "0.25", "0.15")


@pytest.mark.spec("A3.1-07", "A6.1-08")
def test_fills_add_up_until_one_completes_the_order_be_it_taker_or_maker() -> None:
    events = [
        accepted(1, 1, quantity="3"),
        bob_sells(2, 2),
        trade(3, taker=2, maker=1, quantity="1", is_maker_completed=False, maker_remaining="2"),
        bob_sells(4, 3),
        trade(5, taker=3, maker=1, quantity="1", is_maker_completed=False, maker_remaining="1", price="99",
              taker_fee_amount="0.2475", maker_fee_amount="0.1485"),
        bob_sells(6, 4),
        trade(7, taker=4, maker=1, quantity="1"),
    ]  # fmt: skip
    state, translated = after(*events)
    assert shown(translated)[-1] == "orders.filled filled"
    order = translated.orders[-1]
    assert (order.filled_quantity, order.filled_notional) == (Decimal(3), Decimal(299))
    assert (order.remaining_quantity, order.fee) == (Decimal(0), Decimal("0.4485"))
    assert order.average_price == Decimal("99.666666666666666667")
    assert not translated.faults
    assert open_ids(state) == set()


@pytest.mark.spec("A3.1-08", "A3.1-09", "A6.1-06", "A6.1-31")
@pytest.mark.parametrize("reason", ["CANCELLED_BY_USER", "CANCELLED_BY_ADMIN", "STP_CANCEL_RESTING"])
def test_a_completed_reduce_cancels_an_open_order(reason: str) -> None:
    state, translated = after(accepted(1, 1), reduced(2, 1, reason=reason))
    (publication,) = translated.publications
    assert [target.subject for target in publication.targets] == ["orders.cancelled", "orders.cancelled.alice"]
    assert publication.targets[0].message_id == "epoch-2-cancelled"
    assert isinstance(publication.message, OrderEvent)
    assert (publication.message.reason, publication.message.order.status) == (reason, "cancelled")
    assert publication.message.order.remaining_quantity == "0"
    assert 1 not in open_ids(state)


@pytest.mark.spec("A3.1-10", "A3.1-11")
def test_a_completed_reduce_cancels_a_partially_filled_order_and_keeps_its_fills() -> None:
    _, translated = after(
        accepted(1, 1, quantity="3"),
        bob_sells(2, 2),
        trade(3, taker=2, maker=1, quantity="1", is_maker_completed=False, maker_remaining="2"),
        reduced(4, 1),
    )
    order = only_order(translated)
    assert (order.status, order.filled_quantity) == (OrderStatus.CANCELLED, Decimal(1))
    assert shown(translated) == ["orders.cancelled cancelled", "orders.incomplete.alice"]
    incomplete = translated.publications[1]
    assert incomplete.targets == (Target("orders.incomplete.alice", "epoch-4-cancelled-incomplete"),)
    assert incomplete.message == IncompleteOrder(
        "ext1", "alice", "BTC-USD", "buy", "3", "1", "100", "CANCELLED_BY_USER", 1004
    )


def test_a_fired_order_that_ends_without_a_fill_is_incomplete_unless_its_owner_cancelled_it() -> None:
    fired = (waiting(1, 1), triggered(2, 1, price="98"))
    for reason in ("IOC_REMAINDER", "ORDER_EXPIRED", "CANCELLED_BY_ADMIN", "LIST_EXIT_TRADED"):
        _, translated = after(*fired, reduced(3, 1, reason=reason))
        assert shown(translated) == ["orders.cancelled cancelled", "orders.incomplete.alice"]
        message = translated.publications[1].message
        assert isinstance(message, IncompleteOrder)
        assert (message.filled_quantity, message.reason) == ("0", reason)
    _, translated = after(*fired, rejected(3, 1, reason="MARKET_HALTED"))
    assert shown(translated) == ["orders.rejected rejected", "orders.incomplete.alice"]
    for reason in ("CANCELLED_BY_USER", "REDUCED_BY_USER"):
        assert shown(after(*fired, reduced(3, 1, reason=reason))[1]) == ["orders.cancelled cancelled"]
    assert shown(after(fired[0], reduced(2, 1, reason="ORDER_EXPIRED"))[1]) == ["orders.cancelled cancelled"]


def test_an_incomplete_order_of_an_account_that_no_subject_can_name_is_not_told() -> None:
    _, translated = after(
        accepted(1, 1, quantity="3", participant_id="a b"),
        bob_sells(2, 2),
        trade(3, taker=2, maker=1, quantity="1", is_maker_completed=False, maker_remaining="2"),
        reduced(4, 1, participant_id="a b"),
    )
    assert shown(translated) == ["orders.cancelled cancelled"]


def test_a_reduce_that_leaves_something_updates_the_order() -> None:
    state, translated = after(accepted(1, 1), reduced(2, 1, remaining="0.4", reason="STP_DECREMENT"))
    assert shown(translated) == ["orders.updated open"]
    (publication,) = translated.publications
    assert isinstance(publication.message, OrderEvent)
    assert (publication.message.event, publication.message.reason) == ("updated", "STP_DECREMENT")
    assert only_order(translated).remaining_quantity == Decimal("0.4")
    assert 1 in open_ids(state)


def test_a_move_changes_the_price_and_updates_the_order() -> None:
    _, translated = after(accepted(1, 1), moved(2, 1, "101.5"))
    assert shown(translated) == ["orders.updated open"]
    assert only_order(translated).price == Decimal("101.5")


def test_an_amendment_changes_the_ordered_quantity_and_keeps_what_is_filled() -> None:
    more = msgspec.structs.replace(moved(2, 1, "101.5"), remaining="1.5", quantity="1.5", previous_remaining="1")
    _, translated = after(accepted(1, 1), more)
    assert shown(translated) == ["orders.updated open"]
    order = only_order(translated)
    assert (order.price, order.quantity, order.remaining_quantity) == (Decimal("101.5"), Decimal("1.5"), Decimal("1.5"))
    less = reduced(3, 1, remaining="0.4", quantity="1.1", reason="AMENDED_BY_USER")
    _, translated = after(accepted(1, 1), more, less)
    assert shown(translated) == ["orders.updated open"]
    order = only_order(translated)
    assert (order.quantity, order.remaining_quantity) == (Decimal("0.4"), Decimal("0.4"))


def test_a_trailing_order_that_is_made_smaller_shows_where_its_limit_is_now() -> None:
    less = reduced(2, 1, remaining="0.4", quantity="0.6", reason="AMENDED_BY_USER")
    _, translated = after(waiting(1, 1), msgspec.structs.replace(less, price="103.5"))
    order = only_order(translated)
    assert (order.price, order.quantity, order.remaining_quantity) == (Decimal("103.5"), Decimal("0.4"), Decimal("0.4"))
    market = waiting(1, 1, metadata='{"type":"trailing_stop_market","timeInForce":"gtc","triggerBy":"last"}')
    _, translated = after(market, msgspec.structs.replace(less, price="103.5"))
    assert only_order(translated).price is None


def test_a_quantity_that_was_removed_otherwise_stays_part_of_the_order() -> None:
    _, translated = after(accepted(1, 1), reduced(2, 1, remaining="0.4", quantity="0.6", reason="STP_DECREMENT"))
    order = only_order(translated)
    assert (order.quantity, order.remaining_quantity) == (Decimal("1"), Decimal("0.4"))


@pytest.mark.spec("A3.1-04", "A6.1-02", "A6.1-30")
def test_a_reject_publishes_rejected_with_the_engine_reason() -> None:
    state, translated = after(rejected(5, 1))
    (publication,) = translated.publications
    assert publication.targets == (
        Target("orders.rejected", "epoch-5-rejected"),
        Target("orders.rejected.alice", "epoch-5-rejected-user"),
    )
    assert isinstance(publication.message, OrderEvent)
    assert (publication.message.reason, publication.message.order.reject_reason) == ("RISK_NSF", "RISK_NSF")
    assert only_order(translated).status is OrderStatus.REJECTED
    assert open_ids(state) == set()


@pytest.mark.spec("A6.1-03")
def test_a_late_reject_takes_an_open_order_back() -> None:
    state, translated = after(accepted(1, 1), rejected(2, 1, reason="MARKET_HALTED"))
    assert shown(translated) == ["orders.rejected rejected"]
    order = only_order(translated)
    assert (order.status, order.reject_reason, order.created_ms) == (OrderStatus.REJECTED, "MARKET_HALTED", 1001)
    assert 1 not in open_ids(state)


@pytest.mark.spec("A6.1-05")
def test_an_immediate_order_that_fills_nothing_is_cancelled_and_never_created() -> None:
    state = machine()
    first = state.apply(accepted(1, 1, order_type="IOC", metadata=MARKET))
    assert first.publications == []
    assert only_order(first).status is OrderStatus.PENDING
    second = state.apply(reduced(2, 1, reason="IOC_REMAINDER"))
    assert shown(second) == ["orders.cancelled cancelled"]
    assert second.publications[0].message.reason == "IOC_REMAINDER"
    assert not second.faults


@pytest.mark.spec("A6.1-01", "A6.1-05")
def test_an_immediate_order_that_fills_in_part_is_created_updated_and_cancelled() -> None:
    state = machine()
    state.apply(accepted(1, 1, quantity="1"))
    assert state.apply(bob_sells(2, 2, quantity="3", order_type="IOC", metadata=MARKET)).publications == []
    fill = state.apply(trade(3, taker=2, maker=1, quantity="1", is_taker_completed=False, taker_remaining="2"))
    assert shown(fill)[3:] == ["orders.created open", "orders.updated partially_filled", "orders.filled filled"]
    created = fill.publications[3]
    assert [target.message_id for target in created.targets] == ["epoch-2-created", "epoch-2-created-user"]
    assert (created.message.sequence, created.message.order.filled_quantity) == (2, "0")
    end = state.apply(reduced(4, 2, reason="IOC_REMAINDER", participant_id="bob"))
    assert shown(end) == ["orders.cancelled cancelled", "orders.incomplete.bob"]
    assert only_order(end).filled_quantity == Decimal(1)
    assert open_ids(state) == set()


@pytest.mark.spec("A2.1-03", "A2.1-09", "A1.2-11")
def test_what_the_router_gave_with_the_order_comes_back() -> None:
    _, translated = after(accepted(1, 1, order_type="IOC", metadata=MARKET))
    order = only_order(translated)
    assert (order.type, order.time_in_force) == ("market", "gtc")
    assert (order.client_order_id, order.margin_mode, order.price) == ("mine", "cross", None)


@pytest.mark.parametrize("metadata", ["", "{", "[]", '{"type":"x","timeInForce":"gtc"}', '{"type":"limit"}', "null"])
def test_an_order_placed_past_the_router_is_shown_by_what_the_engine_knows(metadata: str) -> None:
    _, translated = after(accepted(1, 77, order_id="", order_type="FOK", metadata=metadata))
    order = only_order(translated)
    assert (order.order_id, order.type, order.time_in_force, order.price) == ("77", "limit", "fok", Decimal(100))


def test_an_order_of_a_type_that_only_a_newer_engine_knows_is_shown_as_gtc() -> None:
    _, translated = after(accepted(1, 77, order_type="NEW_TYPE", metadata=""))
    assert (only_order(translated).type, only_order(translated).time_in_force) == ("limit", "gtc")


def test_an_order_placed_twice_changes_nothing() -> None:
    state, translated = after(accepted(1, 1), rejected(2, 1, reason="DUPLICATE_ORDER_ID"))
    assert (translated.publications, translated.orders) == ([], [])
    assert [fault.kind for fault in translated.faults] == ["duplicate_order"]
    assert 1 in open_ids(state)


@pytest.mark.spec("A3.1-12", "A3.1-13", "A3.1-14")
@pytest.mark.parametrize(
    "ending",
    [
        [accepted(1, 1), bob_sells(2, 2), trade(3, taker=2, maker=1, quantity="1")],
        [accepted(1, 1), reduced(3, 1)],
        [rejected(3, 1)],
    ],
)
@pytest.mark.parametrize("late", [reduced(4, 1), moved(4, 1, "90"), reduced(4, 1, remaining="0.5")])
def test_no_event_changes_an_order_that_has_ended(ending: list[EngineEvent], late: EngineEvent) -> None:
    _, translated = after(*ending, late)
    assert (translated.publications, translated.orders) == ([], [])
    assert [fault.kind for fault in translated.faults] == ["unknown_order"]


def test_a_trade_of_unknown_orders_is_still_published_for_settlement() -> None:
    _, translated = after(trade(3, taker=2, maker=1, quantity="1"))
    assert shown(translated) == ["trades.executed", "trades.executed.BTC-USD", "trades.executed.BTC-USD"]
    assert [fault.kind for fault in translated.faults] == ["unknown_order", "unknown_order"]
    assert len(translated.trades) == 1


def test_a_fill_without_transition_is_a_fault_and_changes_nothing() -> None:
    # The table has no way from pending by a partial fill of a maker that was never opened: a row cut short.
    order = only_order(after(accepted(1, 1))[1])
    state = OrderStateMachine("epoch", [msgspec.structs.replace(order, status=OrderStatus.FILLED)])
    translated = state.apply(reduced(2, 1))
    assert [(fault.kind, fault.text) for fault in translated.faults] == [
        ("illegal_transition", "order ext1: no transition from filled by cancel")
    ]
    assert (translated.publications, translated.orders) == ([], [])


@pytest.mark.spec("A2.2-10", "A2.2-11")
def test_a_fee_that_differs_from_ours_is_named_and_published_as_the_engine_says() -> None:
    _, translated = after(
        accepted(1, 1), bob_sells(2, 2), trade(3, taker=2, maker=1, quantity="1", taker_fee_amount="0.26")
    )
    assert [fault.kind for fault in translated.faults] == ["fee_mismatch"]
    executed = translated.publications[0].message
    assert isinstance(executed, ExecutedTrade)
    assert executed.fees.seller.amount == "0.26"
    assert translated.trades[0].taker_fee == "0.26"


@pytest.mark.spec("A2.2-11")
@pytest.mark.parametrize("fee", ["0.250000000000000001", "0.249999999999999999", "0.2500000000000000001", "0.3", "0"])
def test_the_smallest_difference_of_a_fee_is_named_and_none_is_rounded_away(fee: str) -> None:
    _, translated = after(
        accepted(1, 1), bob_sells(2, 2), trade(3, taker=2, maker=1, quantity="1", taker_fee_amount=fee)
    )
    assert [(fault.kind, fault.text) for fault in translated.faults] == [
        ("fee_mismatch", f"event 3: taker fee {fee} is not 25 bps of the trade")
    ]


@pytest.mark.spec("A2.2-11")
def test_the_fee_of_the_widest_numbers_is_checked_to_the_last_place() -> None:
    numbers = {"price": "99999999.99", "quantity": "0.00000003", "maker_fee_amount": "0.00449999999955"}
    for fee, faults in (("0.00749999999925", []), ("0.007499999999250001", ["fee_mismatch"])):
        _, translated = after(
            accepted(1, 1), bob_sells(2, 2), trade(3, taker=2, maker=1, taker_fee_amount=fee, **numbers)
        )
        assert [fault.kind for fault in translated.faults] == faults


@pytest.mark.spec("A2.2-11")
def test_a_rebate_is_a_negative_fee_and_agrees_with_its_basis_points() -> None:
    _, translated = after(
        accepted(1, 1),
        bob_sells(2, 2),
        trade(3, taker=2, maker=1, quantity="1", maker_fee_bps=-2, maker_fee_amount="-0.02", maker_is_rebate=True),
    )
    assert not translated.faults
    assert translated.orders[-1].fee == Decimal("-0.02")


def test_money_that_moves_without_a_trade_publishes_nothing() -> None:
    _, translated = after(BalanceEvent(1, 1, "DEPOSIT", "alice", "USD", "5", "5", "tx"))
    assert (translated.publications, translated.orders, translated.faults) == ([], [], [])


def test_a_user_id_that_is_no_subject_token_is_published_in_the_bare_form_only() -> None:
    _, translated = after(accepted(1, 1, participant_id="a.b"))
    assert [target.subject for target in translated.publications[0].targets] == ["orders.created"]


@pytest.mark.spec("A2.3-03", "A6.4-06")
def test_the_same_events_translate_to_the_same_bytes_and_ids() -> None:
    events = [accepted(1, 1, quantity="2"), bob_sells(2, 2), trade(3, 2, 1, "1", maker_remaining="1"), reduced(4, 1)]
    runs = []
    for _ in range(2):
        state = machine()
        publications = [publication for event in events for publication in state.apply(event).publications]
        runs.append([(publication.targets, msgspec.json.encode(publication.message)) for publication in publications])
    assert runs[0] == runs[1]
    ids = [target.message_id for targets, _ in runs[0] for target in targets]
    assert len(set(ids)) == len(ids)


def test_a_trade_is_told_in_exactly_these_messages_and_rows() -> None:
    _, translated = after(
        accepted(1, 1, quantity="3"),
        bob_sells(2, 2),
        trade(3, taker=2, maker=1, quantity="1", is_maker_completed=False, maker_remaining="2"),
    )
    of_both = {"trade_id": "epoch-3", "symbol": "BTC-USD", "price": "100", "quantity": "1", "fee_currency": "USD"}
    assert [publication.message for publication in translated.publications[:3]] == [
        ExecutedTrade(
            id="epoch-3",
            symbol="BTC-USD",
            base_asset="BTC",
            quote_asset="USD",
            buyer_id="alice",
            seller_id="bob",
            price="100",
            quantity="1",
            fees=TradeFees(TradeFee("alice", "0.15", "USD"), TradeFee("bob", "0.25", "USD")),
            taker_side="sell",
            taker_order_id="ext2",
            maker_order_id="ext1",
            is_taker_completed=True,
            is_maker_completed=False,
            sequence=3,
            timestamp=1003,
        ),
        SideTrade(
            **of_both,
            liquidity="taker",
            order_id="ext2",
            user_id="bob",
            side="sell",
            fee="0.25",
            fee_bps=25,
            is_order_completed=True,
            sequence=3,
            timestamp=1003,
        ),
        SideTrade(
            **of_both,
            liquidity="maker",
            order_id="ext1",
            user_id="alice",
            side="buy",
            fee="0.15",
            fee_bps=15,
            is_order_completed=False,
            sequence=3,
            timestamp=1003,
        ),
    ]
    assert translated.trades == [
        TradeRow(
            **of_both,
            sequence=3,
            taker_side="sell",
            taker_order_id="ext2",
            maker_order_id="ext1",
            buyer_id="alice",
            seller_id="bob",
            taker_fee="0.25",
            maker_fee="0.15",
            executed_ms=1003,
        )
    ]
    assert translated.orders[1] == TrackedOrder(
        order_id="ext1",
        engine_order_id=1,
        client_order_id=None,
        user_id="alice",
        symbol="BTC-USD",
        side="buy",
        type="limit",
        time_in_force="gtc",
        margin_mode=None,
        price=Decimal(100),
        quantity=Decimal(3),
        filled_quantity=Decimal(1),
        filled_notional=Decimal(100),
        remaining_quantity=Decimal(2),
        fee=Decimal("0.15"),
        fee_currency="USD",
        status=OrderStatus.PARTIALLY_FILLED,
        reject_reason=None,
        last_sequence=3,
        created_ms=1001,
        updated_ms=1003,
    )
    assert translated.publications[3].message == OrderEvent(
        event="filled",
        sequence=3,
        timestamp=1003,
        order=OrderRecord(
            order_id="ext2",
            client_order_id=None,
            user_id="bob",
            symbol="BTC-USD",
            side="sell",
            type="limit",
            time_in_force="gtc",
            margin_mode=None,
            price="100",
            quantity="1",
            filled_quantity="1",
            remaining_quantity="0",
            average_price="100",
            fee="0.25",
            fee_currency="USD",
            status="filled",
            reject_reason=None,
            created_at="1970-01-01T00:00:01.002Z",
            updated_at="1970-01-01T00:00:01.003Z",
        ),
        reason=None,
    )


@pytest.mark.parametrize("order_type", ["limit", "market"])
@pytest.mark.parametrize("time_in_force", ["gtc", "ioc", "fok"])
def test_each_type_and_time_in_force_of_the_metadata_comes_back(order_type: str, time_in_force: str) -> None:
    metadata = f'{{"type":"{order_type}","timeInForce":"{time_in_force}","clientOrderId":"mine"}}'
    order = only_order(after(accepted(1, 1, order_type="GTC", metadata=metadata))[1])
    assert (order.type, order.time_in_force, order.client_order_id) == (order_type, time_in_force, "mine")


def test_an_order_that_waits_is_open_and_follows_its_trigger() -> None:
    state, translated = after(waiting(1, 1))
    assert shown(translated) == ["orders.created open"]
    assert open_ids(state) == {1}
    translated = state.apply(triggered(2, 1, price="98"))
    assert shown(translated) == ["orders.updated open"]
    assert only_order(translated).price == Decimal(98)
    translated = state.apply(reduced(3, 1, quantity="1", remaining="0", is_order_completed=True))
    assert shown(translated)[-1] == "orders.cancelled cancelled"
    assert not open_ids(state)


def test_a_trigger_of_an_order_that_is_not_open_here_is_a_fault() -> None:
    _, translated = after(triggered(1, 9))
    assert [fault.kind for fault in translated.faults] == ["unknown_order"]
