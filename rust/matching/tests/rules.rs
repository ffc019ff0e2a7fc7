//! The rules of matching, one named case each.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::*;
use openspot_matching::events::{Command, MAKER_COMPLETED, MAKER_REBATE, Status, TAKER_COMPLETED};
use openspot_matching::types::{AMOUNT_MAX, AMOUNT_SCALE, Code, Kind, OrderType, Side, StpMode};

const UNIT: i128 = AMOUNT_SCALE as i128;
/// Type, order, maker order or 0, and quantity of an event.
type Effect = (u8, u64, u64, i64);

const TRADE: u8 = 2;
const REDUCE: u8 = 3;

// spec: A1-02
#[test]
fn the_best_price_fills_first() {
    let mut engine = world((0, 0));
    for (id, price) in [(1, 102), (2, 100), (3, 101)] {
        run(&mut engine, &place(id, ALICE, Side::Sell, OrderType::Gtc, price, 5));
    }
    let (outcome, events) = run(&mut engine, &place(4, BOB, Side::Buy, OrderType::Gtc, 102, 12));
    let fills: Vec<_> =
        events[1..].iter().map(|fill| (fill.maker_order_id, fill.price, fill.quantity)).collect();
    assert_eq!(fills, [(2, 100, 5), (3, 101, 5), (1, 102, 2)]);
    assert_eq!((outcome.filled, outcome.remaining, outcome.notional), (12, 0, 1_209 * UNIT));
    judge(&engine);
}

// spec: A1-03
#[test]
fn at_one_price_the_oldest_fills_first_and_a_moved_order_is_young_again() {
    let mut engine = world((0, 0));
    for id in 1..=3 {
        run(&mut engine, &place(id, ALICE, Side::Sell, OrderType::Gtc, 100, 2));
    }
    run(&mut engine, &change(Kind::Move, 1, ALICE, 100, 0));
    run(&mut engine, &change(Kind::Reduce, 2, ALICE, 0, 1));
    let (_, events) = run(&mut engine, &place(4, BOB, Side::Buy, OrderType::Ioc, 100, 5));
    let fills: Vec<_> = events[1..].iter().map(|fill| (fill.maker_order_id, fill.quantity)).collect();
    assert_eq!(fills, [(2, 1), (3, 2), (1, 2)]);
    judge(&engine);
}

// spec: A1-01
#[test]
fn a_trade_moves_base_and_quote_and_the_fees() {
    let mut engine = world((25, 15));
    run(&mut engine, &place(1, ALICE, Side::Sell, OrderType::Gtc, 1_000, 10));
    let (_, events) = run(&mut engine, &place(2, BOB, Side::Buy, OrderType::Gtc, 1_100, 10));
    assert_eq!(events[1].flags, TAKER_COMPLETED | MAKER_COMPLETED);
    assert_eq!((events[1].amount, events[1].maker_amount), (25 * UNIT, 15 * UNIT));
    assert_eq!(balance(&engine, ALICE, BASE).0, (FUNDS - 10) * UNIT);
    assert_eq!(balance(&engine, ALICE, QUOTE).0, (FUNDS + 10_000 - 15) * UNIT);
    assert_eq!(balance(&engine, BOB, BASE).0, (FUNDS + 10) * UNIT);
    assert_eq!(balance(&engine, BOB, QUOTE).0, (FUNDS - 10_000 - 25) * UNIT);
    assert_eq!(balance(&engine, 1, QUOTE).0, 40 * UNIT);
    judge(&engine);
}

#[test]
fn a_rebate_is_bounded_by_the_takers_fee() {
    let mut engine = world((25, -20));
    let own_fees =
        Command { flags: 1, order_id: 5, price: 5, ..account(Kind::SetAccountFees, BOB, StpMode::None) };
    assert_eq!(run(&mut engine, &own_fees).0.code, Code::Success);
    run(&mut engine, &place(1, ALICE, Side::Sell, OrderType::Gtc, 1_000, 10));
    let (_, events) = run(&mut engine, &place(2, BOB, Side::Buy, OrderType::Gtc, 1_000, 10));
    assert_eq!(events[1].flags & MAKER_REBATE, MAKER_REBATE);
    assert_eq!((events[1].amount, events[1].maker_amount), (5 * UNIT, -5 * UNIT));
    assert_eq!(balance(&engine, 1, QUOTE).0, 0);
    judge(&engine);
}

// spec: A1.4-10, A1.4-11, A1.4-15
#[test]
fn what_is_locked_follows_the_unfilled_remainder() {
    let mut engine = world((100, 0));
    run(&mut engine, &Command { amount: 120, ..place(1, ALICE, Side::Buy, OrderType::Gtc, 100, 10) });
    assert_eq!(balance(&engine, ALICE, QUOTE), (FUNDS * UNIT, 1_212 * UNIT, 1_000 * UNIT));
    run(&mut engine, &place(2, BOB, Side::Sell, OrderType::Ioc, 100, 4));
    assert_eq!(balance(&engine, ALICE, QUOTE).2, 600 * UNIT);
    run(&mut engine, &place(3, BOB, Side::Sell, OrderType::Gtc, 200, 7));
    assert_eq!(balance(&engine, BOB, BASE), ((FUNDS - 4) * UNIT, 7 * UNIT, 7 * UNIT));
    for (id, owner) in [(1, ALICE), (3, 0)] {
        assert_eq!(run(&mut engine, &change(Kind::Cancel, id, owner, 0, 0)).0.code, Code::Success);
    }
    assert_eq!((balance(&engine, ALICE, QUOTE).1, balance(&engine, BOB, BASE).1), (0, 0));
    judge(&engine);
}

// spec: A2.8-01, A2.8-02, A2.8-03, A2.8-05
#[test]
fn each_order_type_treats_its_rest_in_its_way() {
    let cases = [
        (OrderType::Gtc, 12, Code::Success, Status::Accepted, (10, 2)),
        (OrderType::Ioc, 12, Code::Success, Status::Accepted, (10, 0)),
        (OrderType::Fok, 12, Code::FokNotFillable, Status::Cancelled, (0, 0)),
        (OrderType::Fok, 10, Code::Success, Status::Accepted, (10, 0)),
        (OrderType::PostOnly, 12, Code::PostOnlyWouldCross, Status::Rejected, (0, 12)),
    ];
    for (order_type, quantity, code, status, filled_and_remaining) in cases {
        let mut engine = world((0, 0));
        run(&mut engine, &place(1, ALICE, Side::Sell, OrderType::Gtc, 100, 4));
        run(&mut engine, &place(2, ALICE, Side::Sell, OrderType::Gtc, 101, 6));
        let (outcome, _) = run(&mut engine, &place(3, BOB, Side::Buy, order_type, 101, quantity));
        assert_eq!((outcome.code, outcome.status), (code, status), "{order_type:?} {quantity}");
        assert_eq!((outcome.filled, outcome.remaining), filled_and_remaining, "{order_type:?} {quantity}");
        judge(&engine);
    }
}

// spec: A2.8-04
#[test]
fn a_budget_bounds_what_a_buy_pays_and_what_a_sell_gets() {
    let cases = [
        (Side::Buy, 1_005, Code::FokNotFillable),
        (Side::Buy, 1_006, Code::Success),
        (Side::Sell, 1_006, Code::Success),
        (Side::Sell, 1_007, Code::FokNotFillable),
    ];
    for (side, budget, code) in cases {
        let mut engine = world((0, 0));
        run(&mut engine, &place(1, ALICE, side.opposite(), OrderType::Gtc, 100, 4));
        run(&mut engine, &place(2, ALICE, side.opposite(), OrderType::Gtc, 101, 6));
        let order = place(3, BOB, side, OrderType::FokBudget, 0, 10);
        let (outcome, _) = run(&mut engine, &Command { amount: budget * UNIT, ..order });
        assert_eq!(outcome.code, code, "{side:?} {budget}");
        judge(&engine);
    }
}

// spec: A2.6-12, A2.6-13, A2.6-14, A2.6-15, A2.6-16
#[test]
fn the_incoming_orders_mode_decides_when_one_account_meets_itself() {
    let cases: [(StpMode, &[Effect]); 5] = [
        (StpMode::None, &[(TRADE, 3, 1, 4), (TRADE, 3, 2, 3)]),
        (StpMode::CancelResting, &[(REDUCE, 1, 0, 4), (TRADE, 3, 2, 7)]),
        (StpMode::CancelIncoming, &[(REDUCE, 3, 0, 7)]),
        (StpMode::CancelBoth, &[(REDUCE, 1, 0, 4), (REDUCE, 3, 0, 7)]),
        (StpMode::DecrementAndCancel, &[(REDUCE, 1, 0, 4), (REDUCE, 3, 0, 4), (TRADE, 3, 2, 3)]),
    ];
    for (mode, expected) in cases {
        let mut engine = world((25, 15));
        run(&mut engine, &account(Kind::SetAccount, ALICE, mode));
        run(&mut engine, &place(1, ALICE, Side::Sell, OrderType::Gtc, 100, 4));
        run(&mut engine, &place(2, BOB, Side::Sell, OrderType::Gtc, 100, 9));
        let (_, events) = run(&mut engine, &place(3, ALICE, Side::Buy, OrderType::Gtc, 100, 7));
        let found: Vec<_> = events[1..]
            .iter()
            .map(|event| (event.event_type, event.order_id, event.maker_order_id, event.quantity))
            .collect();
        assert_eq!(found, expected, "{mode:?}");
        judge(&engine);
    }
}

#[test]
fn a_fok_order_counts_its_own_accounts_orders_as_its_mode_says() {
    let cases = [
        (StpMode::None, 10, Code::Success),
        (StpMode::CancelResting, 7, Code::FokNotFillable),
        (StpMode::CancelResting, 6, Code::Success),
        (StpMode::CancelIncoming, 3, Code::FokNotFillable),
        (StpMode::CancelIncoming, 2, Code::Success),
        (StpMode::CancelBoth, 3, Code::FokNotFillable),
        (StpMode::DecrementAndCancel, 3, Code::FokNotFillable),
    ];
    for (mode, quantity, code) in cases {
        let mut engine = world((0, 0));
        run(&mut engine, &account(Kind::SetAccount, ALICE, mode));
        run(&mut engine, &place(1, BOB, Side::Sell, OrderType::Gtc, 100, 2));
        run(&mut engine, &place(2, ALICE, Side::Sell, OrderType::Gtc, 100, 4));
        run(&mut engine, &place(3, BOB, Side::Sell, OrderType::Gtc, 101, 4));
        let (outcome, _) = run(&mut engine, &place(4, ALICE, Side::Buy, OrderType::Fok, 101, quantity));
        assert_eq!(outcome.code, code, "{mode:?} {quantity}");
        judge(&engine);
    }
}

#[test]
fn numbers_at_the_edges_are_refused_and_never_wrap() {
    let mut engine = world((1_000, 0));
    let largest = 1 << 62;
    let cases = [
        (place(1, ALICE, Side::Sell, OrderType::Gtc, largest, largest), Code::NotionalTooLarge),
        (place(1, ALICE, Side::Sell, OrderType::Gtc, largest + 1, 1), Code::InvalidPrice),
        (place(1, ALICE, Side::Sell, OrderType::Gtc, 1, i64::MAX), Code::InvalidQuantity),
        (place(1, ALICE, Side::Sell, OrderType::Gtc, i64::MIN, 1), Code::InvalidPrice),
        (place(1, ALICE, Side::Buy, OrderType::Gtc, largest, 2), Code::RiskNsf),
        (place(u64::MAX, ALICE, Side::Buy, OrderType::Gtc, 3, largest), Code::NotionalTooLarge),
        (money(Kind::Deposit, ALICE, BASE, AMOUNT_MAX, 0), Code::InvalidAmount),
        (money(Kind::Deposit, ALICE, BASE, i128::MIN, 0), Code::InvalidAmount),
        (money(Kind::Adjust, ALICE, BASE, i128::MIN, 0), Code::InvalidAmount),
        (money(Kind::Adjust, ALICE, BASE, -AMOUNT_MAX, 0), Code::RiskNsf),
    ];
    for (index, (command, code)) in cases.iter().enumerate() {
        let before = engine.state_hash();
        let (outcome, _) = run(&mut engine, command);
        assert_eq!((outcome.code, outcome.status), (*code, Status::Rejected), "case {index}");
        assert_ne!(engine.state_hash(), before, "a refused command counts");
    }
    let budget = Command { amount: AMOUNT_MAX, ..place(2, ALICE, Side::Buy, OrderType::FokBudget, 0, 1) };
    assert_eq!(run(&mut engine, &budget).0.code, Code::RiskNsf);
    judge(&engine);
}

#[test]
fn a_movement_happens_once_for_its_reference() {
    let mut engine = world((0, 0));
    let deposit = money(Kind::Deposit, ALICE, BASE, 5, 77);
    let (first, events) = run(&mut engine, &deposit);
    assert_eq!((first.code, events.len()), (Code::Success, 1));
    let (again, events) = run(&mut engine, &deposit);
    assert_eq!((again.code, again.notional, events.len()), (Code::Success, first.notional, 0));
    let other = money(Kind::Deposit, ALICE, BASE, 6, 77);
    assert_eq!(run(&mut engine, &other).0.code, Code::ReferenceConflict);

    let reserve = money(Kind::Reserve, ALICE, BASE, 5, 78);
    assert_eq!(run(&mut engine, &reserve).0.code, Code::Success);
    assert_eq!(balance(&engine, ALICE, BASE).1, 5);
    let (commit, release) = (change(Kind::Commit, 0, 0, 78, 0), change(Kind::Release, 0, 0, 78, 0));
    let codes: Vec<_> =
        [commit, commit, release, reserve].iter().map(|step| run(&mut engine, step).0.code).collect();
    assert_eq!(codes, [Code::Success, Code::Success, Code::ReservationClosed, Code::Success]);
    assert_eq!(balance(&engine, ALICE, BASE).1, 0);
    judge(&engine);
}
