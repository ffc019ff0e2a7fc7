//! The rules of matching, one named case each.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::*;
use openspot_matching::records::{Command, MAKER_COMPLETED, MAKER_REBATE, ResultStatus, TAKER_COMPLETED};
use openspot_matching::types::{AMOUNT_MAX, AMOUNT_SCALE, CommandKind, OrderType, ResultCode, Side, StpMode};

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
    let (result, events) = run(&mut engine, &place(4, BOB, Side::Buy, OrderType::Gtc, 102, 12));
    let fills: Vec<_> =
        events[1..].iter().map(|fill| (fill.maker_order_id, fill.price, fill.quantity)).collect();
    assert_eq!(fills, [(2, 100, 5), (3, 101, 5), (1, 102, 2)]);
    assert_eq!((result.filled, result.remaining, result.notional), (12, 0, 1_209 * UNIT));
    check_invariants(&engine);
}

// spec: A1-03
#[test]
fn at_one_price_the_oldest_fills_first_and_a_moved_order_is_young_again() {
    let mut engine = world((0, 0));
    for id in 1..=3 {
        run(&mut engine, &place(id, ALICE, Side::Sell, OrderType::Gtc, 100, 2));
    }
    run(&mut engine, &change(CommandKind::Move, 1, ALICE, 100, 0));
    run(&mut engine, &change(CommandKind::Reduce, 2, ALICE, 0, 1));
    let (_, events) = run(&mut engine, &place(4, BOB, Side::Buy, OrderType::Ioc, 100, 5));
    let fills: Vec<_> = events[1..].iter().map(|fill| (fill.maker_order_id, fill.quantity)).collect();
    assert_eq!(fills, [(2, 1), (3, 2), (1, 2)]);
    check_invariants(&engine);
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
    check_invariants(&engine);
}

#[test]
fn a_rebate_is_bounded_by_the_takers_fee() {
    let mut engine = world((25, -20));
    let own_fees = Command {
        flags: 1,
        order_id: 5,
        price: 5,
        ..account(CommandKind::SetAccountFees, BOB, StpMode::None)
    };
    assert_eq!(run(&mut engine, &own_fees).0.code, ResultCode::Success);
    run(&mut engine, &place(1, ALICE, Side::Sell, OrderType::Gtc, 1_000, 10));
    let (_, events) = run(&mut engine, &place(2, BOB, Side::Buy, OrderType::Gtc, 1_000, 10));
    assert_eq!(events[1].flags & MAKER_REBATE, MAKER_REBATE);
    assert_eq!((events[1].amount, events[1].maker_amount), (5 * UNIT, -5 * UNIT));
    assert_eq!(balance(&engine, 1, QUOTE).0, 0);
    check_invariants(&engine);
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
        assert_eq!(
            run(&mut engine, &change(CommandKind::Cancel, id, owner, 0, 0)).0.code,
            ResultCode::Success
        );
    }
    assert_eq!((balance(&engine, ALICE, QUOTE).1, balance(&engine, BOB, BASE).1), (0, 0));
    check_invariants(&engine);
}

// spec: A2.8-01, A2.8-02, A2.8-03, A2.8-05
#[test]
fn each_order_type_treats_its_rest_in_its_way() {
    let cases = [
        (OrderType::Gtc, 12, ResultCode::Success, ResultStatus::Accepted, (10, 2)),
        (OrderType::Ioc, 12, ResultCode::Success, ResultStatus::Accepted, (10, 0)),
        (OrderType::Fok, 12, ResultCode::FokNotFillable, ResultStatus::Cancelled, (0, 0)),
        (OrderType::Fok, 10, ResultCode::Success, ResultStatus::Accepted, (10, 0)),
        (OrderType::PostOnly, 12, ResultCode::PostOnlyWouldCross, ResultStatus::Rejected, (0, 12)),
    ];
    for (order_type, quantity, code, status, filled_and_remaining) in cases {
        let mut engine = world((0, 0));
        run(&mut engine, &place(1, ALICE, Side::Sell, OrderType::Gtc, 100, 4));
        run(&mut engine, &place(2, ALICE, Side::Sell, OrderType::Gtc, 101, 6));
        let (result, _) = run(&mut engine, &place(3, BOB, Side::Buy, order_type, 101, quantity));
        assert_eq!((result.code, result.status), (code, status), "{order_type:?} {quantity}");
        assert_eq!((result.filled, result.remaining), filled_and_remaining, "{order_type:?} {quantity}");
        check_invariants(&engine);
    }
}

// spec: A2.8-04
#[test]
fn a_budget_bounds_what_a_buy_pays_and_what_a_sell_gets() {
    let cases = [
        (Side::Buy, 1_005, ResultCode::FokNotFillable),
        (Side::Buy, 1_006, ResultCode::Success),
        (Side::Sell, 1_006, ResultCode::Success),
        (Side::Sell, 1_007, ResultCode::FokNotFillable),
    ];
    for (side, budget, code) in cases {
        let mut engine = world((0, 0));
        run(&mut engine, &place(1, ALICE, side.opposite(), OrderType::Gtc, 100, 4));
        run(&mut engine, &place(2, ALICE, side.opposite(), OrderType::Gtc, 101, 6));
        let order = place(3, BOB, side, OrderType::FokBudget, 0, 10);
        let (result, _) = run(&mut engine, &Command { amount: budget * UNIT, ..order });
        assert_eq!(result.code, code, "{side:?} {budget}");
        check_invariants(&engine);
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
        run(&mut engine, &account(CommandKind::SetAccount, ALICE, mode));
        run(&mut engine, &place(1, ALICE, Side::Sell, OrderType::Gtc, 100, 4));
        run(&mut engine, &place(2, BOB, Side::Sell, OrderType::Gtc, 100, 9));
        let (_, events) = run(&mut engine, &place(3, ALICE, Side::Buy, OrderType::Gtc, 100, 7));
        let found: Vec<_> = events[1..]
            .iter()
            .map(|event| (event.event_type, event.order_id, event.maker_order_id, event.quantity))
            .collect();
        assert_eq!(found, expected, "{mode:?}");
        check_invariants(&engine);
    }
}

#[test]
fn a_fok_order_counts_its_own_accounts_orders_as_its_mode_says() {
    let cases = [
        (StpMode::None, 10, ResultCode::Success),
        (StpMode::CancelResting, 7, ResultCode::FokNotFillable),
        (StpMode::CancelResting, 6, ResultCode::Success),
        (StpMode::CancelIncoming, 3, ResultCode::FokNotFillable),
        (StpMode::CancelIncoming, 2, ResultCode::Success),
        (StpMode::CancelBoth, 3, ResultCode::FokNotFillable),
        (StpMode::DecrementAndCancel, 3, ResultCode::FokNotFillable),
    ];
    for (mode, quantity, code) in cases {
        let mut engine = world((0, 0));
        run(&mut engine, &account(CommandKind::SetAccount, ALICE, mode));
        run(&mut engine, &place(1, BOB, Side::Sell, OrderType::Gtc, 100, 2));
        run(&mut engine, &place(2, ALICE, Side::Sell, OrderType::Gtc, 100, 4));
        run(&mut engine, &place(3, BOB, Side::Sell, OrderType::Gtc, 101, 4));
        let (result, _) = run(&mut engine, &place(4, ALICE, Side::Buy, OrderType::Fok, 101, quantity));
        assert_eq!(result.code, code, "{mode:?} {quantity}");
        check_invariants(&engine);
    }
}

#[test]
fn numbers_at_the_edges_are_refused_and_never_wrap() {
    let mut engine = world((1_000, 0));
    let largest = 1 << 62;
    let cases = [
        (place(1, ALICE, Side::Sell, OrderType::Gtc, largest, largest), ResultCode::NotionalTooLarge),
        (place(1, ALICE, Side::Sell, OrderType::Gtc, largest + 1, 1), ResultCode::InvalidPrice),
        (place(1, ALICE, Side::Sell, OrderType::Gtc, 1, i64::MAX), ResultCode::InvalidQuantity),
        (place(1, ALICE, Side::Sell, OrderType::Gtc, i64::MIN, 1), ResultCode::InvalidPrice),
        (place(1, ALICE, Side::Buy, OrderType::Gtc, largest, 2), ResultCode::RiskNsf),
        (place(u64::MAX, ALICE, Side::Buy, OrderType::Gtc, 3, largest), ResultCode::NotionalTooLarge),
        (money(CommandKind::Deposit, ALICE, BASE, AMOUNT_MAX, 0), ResultCode::InvalidAmount),
        (money(CommandKind::Deposit, ALICE, BASE, i128::MIN, 0), ResultCode::InvalidAmount),
        (money(CommandKind::Adjust, ALICE, BASE, i128::MIN, 0), ResultCode::InvalidAmount),
        (money(CommandKind::Adjust, ALICE, BASE, -AMOUNT_MAX, 0), ResultCode::RiskNsf),
    ];
    for (index, (command, code)) in cases.iter().enumerate() {
        let before = engine.state_hash();
        let (result, _) = run(&mut engine, command);
        assert_eq!((result.code, result.status), (*code, ResultStatus::Rejected), "case {index}");
        assert_ne!(engine.state_hash(), before, "a refused command counts");
    }
    let budget = Command { amount: AMOUNT_MAX, ..place(2, ALICE, Side::Buy, OrderType::FokBudget, 0, 1) };
    assert_eq!(run(&mut engine, &budget).0.code, ResultCode::RiskNsf);
    check_invariants(&engine);
}

#[test]
fn a_movement_happens_once_for_its_reference() {
    let mut engine = world((0, 0));
    let deposit = money(CommandKind::Deposit, ALICE, BASE, 5, 77);
    let (first, events) = run(&mut engine, &deposit);
    assert_eq!((first.code, events.len()), (ResultCode::Success, 1));
    let (again, events) = run(&mut engine, &deposit);
    assert_eq!((again.code, again.notional, events.len()), (ResultCode::Success, first.notional, 0));
    let other = money(CommandKind::Deposit, ALICE, BASE, 6, 77);
    assert_eq!(run(&mut engine, &other).0.code, ResultCode::ReferenceConflict);

    let reserve = money(CommandKind::Reserve, ALICE, BASE, 5, 78);
    assert_eq!(run(&mut engine, &reserve).0.code, ResultCode::Success);
    assert_eq!(balance(&engine, ALICE, BASE).1, 5);
    let (commit, release) =
        (change(CommandKind::Commit, 0, 0, 78, 0), change(CommandKind::Release, 0, 0, 78, 0));
    let codes: Vec<_> =
        [commit, commit, release, reserve].iter().map(|step| run(&mut engine, step).0.code).collect();
    assert_eq!(
        codes,
        [ResultCode::Success, ResultCode::Success, ResultCode::ReservationClosed, ResultCode::Success]
    );
    assert_eq!(balance(&engine, ALICE, BASE).1, 0);
    check_invariants(&engine);
}
