//! PLACE: the checks of a new order in their order, then it matches, and rests or ends, or waits for its trigger.

use crate::amount::{add, with_fee_rounded_up};
use crate::book_side::RANK_ANY;
use crate::engine::Engine;
use crate::matching::{IncomingOrder, flag};
use crate::order::{Order, Terms};
use crate::order_book::OrderBook;
use crate::records::{Command, CommandResult, Event, EventType, LISTED, ResultStatus};
use crate::sizing::{Sizing, StepCount};
use crate::terms::{check_terms, checked_trigger, expiry_of};
use crate::types::{
    AMOUNT_MAX, FLAG_BUDGET, FLAG_SLIDE, ICEBERG_SLICES_MAX, NIL, OrderType, ResultCode, SCALED_MAX, Side,
    StpMode, TriggerKind,
};
use crate::waiting::{Trigger, WaitingOrder};

/// Check 5 of PLACE, also of AMEND: the quantity is in range and a multiple of the lot.
pub(crate) fn check_quantity(book: &OrderBook, quantity: i64) -> Result<(), ResultCode> {
    if !(1..=SCALED_MAX).contains(&quantity) {
        return Err(ResultCode::InvalidQuantity);
    }
    if quantity % book.lot != 0 {
        return Err(ResultCode::InvalidQuantityStep);
    }
    Ok(())
}

/// Part of check 5: an order that shows a part of its quantity shows a fit one; 0 shows all.
fn check_display(book: &OrderBook, display: i64, quantity: i64) -> Result<(), ResultCode> {
    if display == 0 {
        return Ok(());
    }
    if !(1..quantity).contains(&display) || display % book.lot != 0 {
        return Err(ResultCode::InvalidDisplayQuantity);
    }
    check_slices(display, quantity)
}

/// Rejects an order that would show its quantity in too many parts.
pub(crate) fn check_slices(display: i64, quantity: i64) -> Result<(), ResultCode> {
    let fits = display == 0 || display.saturating_mul(ICEBERG_SLICES_MAX) >= quantity;
    if fits { Ok(()) } else { Err(ResultCode::InvalidDisplayQuantity) }
}

/// Check 6 of PLACE, also of MOVE and AMEND: the price is in range and a multiple of the tick.
pub(crate) fn check_price(book: &OrderBook, price: i64) -> Result<(), ResultCode> {
    if !(1..=SCALED_MAX).contains(&price) {
        return Err(ResultCode::InvalidPrice);
    }
    if price % book.tick != 0 {
        return Err(ResultCode::InvalidPriceStep);
    }
    Ok(())
}

/// Checks 6 and 7 of an order with a limit, whose reserve price is `amount` if it is a buy.
///
/// Returns the reserve price of a buy, 0 for a sell.
#[inline]
fn check_limit(book: &OrderBook, side: Side, price: i64, amount: i128) -> Result<i64, ResultCode> {
    check_price(book, price)?;
    match side {
        Side::Buy if i128::from(price) > amount => Err(ResultCode::RiskInvalidReserveBidPrice),
        Side::Buy if amount > i128::from(SCALED_MAX) => Err(ResultCode::InvalidPrice),
        Side::Buy => i64::try_from(amount).map_err(|_| ResultCode::InvalidPrice),
        Side::Sell => Ok(0),
    }
}

/// Part of check 6: the budget of an order is in range.
fn check_budget(amount: i128) -> Result<(), ResultCode> {
    if (1..=AMOUNT_MAX).contains(&amount) { Ok(()) } else { Err(ResultCode::InvalidBudget) }
}

/// Whether the quantity of an order is fitted to its budget.
fn is_sized(command: &Command, order_type: OrderType) -> bool {
    order_type == OrderType::Ioc && command.flags & FLAG_BUDGET != 0
}

/// Check 8.
#[inline]
fn check_notional(book: &OrderBook, limit: i64, quantity: i64) -> Result<(), ResultCode> {
    if book.notional(limit, quantity) > AMOUNT_MAX { Err(ResultCode::NotionalTooLarge) } else { Ok(()) }
}

/// The whole lots, at most `quantity`, that `free` amount units of base cover.
fn covered_lots(book: &OrderBook, quantity: i64, free: i128) -> i64 {
    let lots = free / book.base_amount(book.lot).max(1);
    let covered = lots.checked_mul(i128::from(book.lot)).unwrap_or(i128::MAX);
    i64::try_from(covered).unwrap_or(i64::MAX).min(quantity)
}

/// What an order needs beside its [`IncomingOrder`], once it was matched.
#[derive(Clone, Copy)]
pub(crate) struct Conditions {
    /// Scaled quantity ordered.
    pub(crate) quantity: i64,
    /// Scaled; 0 unless the order is a buy with a limit.
    pub(crate) reserve_price: i64,
    /// Amount units of quote; 0 unless the order is a `FOK_BUDGET`.
    pub(crate) budget: i128,
    /// The flags of the PLACE, whose low bits bound the test of a FOK.
    pub(crate) fok_steps: u8,
    /// The order's own STP mode + 1; 0 for its account's.
    pub(crate) own_stp: u8,
    /// Nanoseconds since 1970; 0 for never.
    pub(crate) expiry: u64,
    /// The most that the order shows once it rests, scaled; 0 for all.
    pub(crate) display: i64,
    /// Time of the PLACE, nanoseconds since 1970.
    pub(crate) timestamp: u64,
}

/// A new order that passed every check.
pub(crate) struct CheckedOrder {
    pub(crate) incoming: IncomingOrder,
    pub(crate) conditions: Conditions,
    /// What it waits for, if it does.
    pub(crate) trigger: Option<Trigger>,
}

impl CheckedOrder {
    /// The order as it waits for its trigger, whose kind is NONE if it has none.
    pub(crate) fn as_waiting(&self) -> WaitingOrder {
        let Self { incoming, conditions, trigger } = self;
        let (held_balance, other_balance) = incoming.paying_and_receiving();
        WaitingOrder {
            id: incoming.order_id,
            book: incoming.book,
            held_balance,
            other_balance,
            side: incoming.side,
            order_type: incoming.order_type,
            taker_fee_bps: incoming.taker_fee_bps,
            maker_fee_bps: incoming.maker_fee_bps,
            own_stp: conditions.own_stp,
            fok_steps: conditions.fok_steps,
            price: incoming.price,
            reserve_price: conditions.reserve_price,
            quantity: conditions.quantity,
            remaining: incoming.remaining,
            expiry: conditions.expiry,
            timestamp: conditions.timestamp,
            trigger: trigger.unwrap_or_default(),
            ..WaitingOrder::default()
        }
    }
}

impl Engine {
    /// PLACE.
    #[inline]
    pub(crate) fn place(&mut self, command: &Command) -> CommandResult {
        if self.is_stopped_after(self.command_sequence - 1) {
            return self.reject(command, ResultCode::ReplacementNotAttempted);
        }
        match self.check_order(command, self.terms.until(self.command_sequence - 1), None) {
            Ok(checked) if checked.trigger.is_some() => self.wait(&checked),
            Ok(checked) => self.execute(checked),
            Err(code) => self.reject(command, code),
        }
    }

    fn reject(&mut self, command: &Command, code: ResultCode) -> CommandResult {
        self.emit_reject(command, code);
        CommandResult { remaining: command.quantity, ..CommandResult::rejected(code) }
    }

    /// Emits REJECT for an order that was refused.
    pub(crate) fn emit_reject(&mut self, command: &Command, code: ResultCode) {
        self.emit(&Event {
            side: command.side,
            order_type: command.order_type,
            code,
            symbol: command.symbol,
            order_id: command.order_id,
            account: command.account,
            price: command.price,
            quantity: command.quantity,
            remaining: command.quantity,
            ..Event::new(EventType::Reject)
        });
    }

    /// Checks 1 and 2 of PLACE, and those of its terms between them.
    #[inline]
    fn check_head(&self, command: &Command, terms: Option<Command>) -> Result<(Side, OrderType), ResultCode> {
        // 1
        let side = Side::from_record(command.side).ok_or(ResultCode::InvalidSide)?;
        let order_type = OrderType::from_record(command.order_type).ok_or(ResultCode::InvalidOrderType)?;
        if let Some(terms) = terms {
            check_terms(&terms, command, side, order_type)?;
        }
        // 2
        if command.order_id == 0 {
            return Err(ResultCode::InvalidOrderId);
        }
        if self.books.find_order(command.order_id) != NIL
            || self.waiting.find(command.order_id) != NIL
            || self.lists.list_of(command.order_id).is_some()
        {
            return Err(ResultCode::DuplicateOrderId);
        }
        Ok((side, order_type))
    }

    /// The checks of PLACE, numbered as in the rules.
    ///
    /// With an `expected_price` the order is an exit of a list: it needs no funds yet, and its trigger is compared with
    /// this price of the entry.
    #[inline]
    pub(crate) fn check_order(
        &mut self,
        command: &Command,
        terms: Option<Command>,
        expected_price: Option<i64>,
    ) -> Result<CheckedOrder, ResultCode> {
        let &Command { quantity, amount, .. } = command;
        let (side, order_type) = self.check_head(command, terms)?;
        // 3
        let book_index = self.active_book(command)?;
        let book = self.books.book(book_index);
        let has_trigger = terms.is_some_and(|terms| terms.side != TriggerKind::None as u8);
        book.phase.phase.may_enter(order_type, has_trigger)?;
        // 4
        let account_index = self.accounts.find_account(command.account);
        if account_index == NIL {
            return Err(ResultCode::RiskNsf);
        }
        let account = self.accounts.accounts.at(account_index);
        if !account.active {
            return Err(ResultCode::ParticipantInactive);
        }
        let own_stp = terms.map_or(0, |terms| terms.order_type);
        let stp_mode = StpMode::of_order(own_stp, account.stp_mode);
        // 5
        check_quantity(book, quantity)?;
        let display = terms.map_or(0, |terms| terms.quantity);
        check_display(book, display, quantity)?;
        let (taker_fee_bps, maker_fee_bps) = account.fees.unwrap_or((book.taker_fee_bps, book.maker_fee_bps));
        let worst_fee_bps = i64::from(taker_fee_bps.max(maker_fee_bps).max(0));
        let has_limit = order_type != OrderType::FokBudget;
        let is_sized = is_sized(command, order_type);
        let has_budget = is_sized || !has_limit;
        // 6, 7
        let (price, reserve_price) = self.checked_prices(book, command, side, order_type)?;
        // 8
        check_notional(book, reserve_price.max(price), quantity)?;
        // 9
        let (base, quote) = (book.base_index, book.quote_index);
        let (mut base_balance, mut quote_balance) = (account.balance(base), account.balance(quote));
        let held_balance = if side == Side::Buy { quote_balance } else { base_balance };
        let free = self.accounts.balances.at(held_balance).free();
        let mut quantity = quantity;
        if is_sized && side == Side::Sell {
            quantity = covered_lots(book, quantity, free);
        }
        let hold = match side {
            Side::Buy if has_budget => with_fee_rounded_up(amount, worst_fee_bps),
            _ => book.hold(side, reserve_price, quantity, worst_fee_bps),
        };
        if (free < hold && expected_price.is_none()) || quantity == 0 {
            return Err(ResultCode::RiskNsf);
        }
        let limit_rank = if has_limit { side.opposite().rank(price) } else { RANK_ANY };
        // 10
        if !has_trigger && book.must_rest(order_type) && book.side(side.opposite()).crosses(limit_rank) {
            return Err(ResultCode::PostOnlyWouldCross);
        }
        // 11
        if self.books.orders.is_full() {
            return Err(ResultCode::EngineBusy);
        }
        let owner = self.accounts.owners.of(command.account);
        if is_sized {
            // 12
            let receiving = if side == Side::Buy { base_balance } else { quote_balance };
            let sizing = Sizing { book, side, limit_rank, stp_mode, owner, receiving, most: quantity };
            quantity = self.affordable_quantity(&sizing, amount, StepCount::of(command.flags));
            if quantity == 0 {
                return Err(ResultCode::BudgetNotFillable);
            }
        }
        // 13
        let trigger = terms.map_or(Ok(None), |terms| checked_trigger(book, &terms, expected_price))?;
        let (quote_number, fee_balance) = (book.quote, book.fee_balance);
        if base_balance == NIL {
            base_balance = self.accounts.balance_or_new(account_index, base);
        }
        if quote_balance == NIL {
            quote_balance = self.accounts.balance_or_new(account_index, quote);
        }
        let incoming = IncomingOrder {
            order_id: command.order_id,
            account_number: command.account,
            owner,
            base_balance,
            quote_balance,
            fee_balance,
            book: book_index,
            symbol: command.symbol,
            quote: quote_number,
            side,
            order_type,
            stp_mode,
            taker_fee_bps,
            maker_fee_bps,
            price,
            limit_rank,
            remaining: quantity,
            filled: 0,
            notional: 0,
            removal_reason: ResultCode::Success,
        };
        let conditions = Conditions {
            quantity,
            reserve_price,
            budget: if has_limit { 0 } else { amount },
            fok_steps: command.flags,
            own_stp,
            expiry: terms.map_or(0, |terms| expiry_of(&terms)),
            display,
            timestamp: command.timestamp,
        };
        Ok(CheckedOrder { incoming, conditions, trigger })
    }

    /// Checks 6 and 7: the limit and the reserve price, after a slide; both are 0 for an order without a limit.
    #[inline]
    fn checked_prices(
        &self,
        book: &OrderBook,
        command: &Command,
        side: Side,
        order_type: OrderType,
    ) -> Result<(i64, i64), ResultCode> {
        let &Command { price, amount, .. } = command;
        if order_type == OrderType::FokBudget {
            check_budget(amount)?;
            return Ok((0, 0));
        }
        let is_sized = is_sized(command, order_type);
        let reserve_price =
            check_limit(book, side, price, if is_sized { i128::from(price) } else { amount })?;
        if is_sized {
            check_budget(amount)?;
        }
        let slides = order_type == OrderType::PostOnly && command.flags & FLAG_SLIDE != 0;
        if slides && let Some(behind) = self.behind_best(book, side, price) {
            return Ok((behind, if side == Side::Buy { behind } else { 0 }));
        }
        Ok((price, reserve_price))
    }

    /// The price one tick behind the best opposite one, if an order at `price` would match and there is such a price.
    fn behind_best(&self, book: &OrderBook, side: Side, price: i64) -> Option<i64> {
        let opposite = book.side(side.opposite());
        if !opposite.crosses(side.opposite().rank(price)) {
            return None;
        }
        let best = self.books.levels.at(opposite.best()).price;
        let behind =
            if side == Side::Buy { best.checked_sub(book.tick) } else { best.checked_add(book.tick) };
        behind.filter(|behind| (1..=SCALED_MAX).contains(behind))
    }

    /// Matches a checked order; what remains rests or is cancelled, as its type says.
    #[inline]
    fn execute(&mut self, checked: CheckedOrder) -> CommandResult {
        let book = checked.incoming.book;
        let result = self.accept(checked);
        self.activate_fired(book);
        result
    }

    /// Emits ACCEPTED for an order that is about to enter its book.
    #[inline]
    pub(crate) fn emit_accepted(&mut self, incoming: &IncomingOrder, expiry: u64, display: i64) {
        self.emit(&Event {
            flags: flag(self.lists.list_of(incoming.order_id).is_some(), LISTED),
            symbol: incoming.symbol,
            order_id: incoming.order_id,
            account: incoming.account_number,
            price: incoming.price,
            quantity: incoming.remaining,
            remaining: incoming.remaining,
            maker_remaining: display,
            fee_bps: incoming.taker_fee_bps,
            maker_fee_bps: incoming.maker_fee_bps,
            amount: i128::from(expiry),
            ..Event::new(EventType::Accepted).of_order(incoming.side, incoming.order_type)
        });
    }

    /// As [`Engine::execute`], without the orders that it fires.
    #[inline]
    pub(crate) fn accept(&mut self, checked: CheckedOrder) -> CommandResult {
        let CheckedOrder { mut incoming, conditions, .. } = checked;
        self.emit_accepted(&incoming, conditions.expiry, conditions.display);
        let resting = self.match_and_rest(&mut incoming, &conditions);
        let (code, status) = if incoming.filled == 0 && resting == 0 {
            (incoming.removal_reason, ResultStatus::Cancelled)
        } else {
            (ResultCode::Success, ResultStatus::Accepted)
        };
        CommandResult {
            code,
            status,
            filled: incoming.filled,
            remaining: resting,
            notional: incoming.notional,
        }
    }

    /// Matches an order. What remains rests or is cancelled, as its type says. Returns how much rests.
    #[inline]
    pub(crate) fn match_and_rest(&mut self, incoming: &mut IncomingOrder, conditions: &Conditions) -> i64 {
        let fill_or_kill = matches!(incoming.order_type, OrderType::Fok | OrderType::FokBudget);
        if fill_or_kill
            && let Some(refusal) =
                self.fill_or_kill_refusal(incoming, conditions.budget, conditions.fok_steps)
        {
            self.cancel_incoming(incoming, refusal);
        }
        self.match_order(incoming);
        if incoming.remaining == 0 {
            return 0;
        }
        match incoming.order_type {
            OrderType::Gtc | OrderType::PostOnly => {
                self.rest(incoming, conditions);
                return incoming.remaining;
            }
            OrderType::Ioc => self.cancel_incoming(incoming, ResultCode::IocRemainder),
            // Cannot happen: a FOK was filled entirely, or cancelled before matching.
            OrderType::Fok | OrderType::FokBudget => {
                self.cancel_incoming(incoming, ResultCode::FokNotFillable);
            }
        }
        0
    }

    /// Adds what remains of an order to its book and holds its funds.
    #[inline]
    pub(crate) fn rest(&mut self, incoming: &IncomingOrder, conditions: &Conditions) {
        let &Conditions { quantity, reserve_price, own_stp, expiry, timestamp, .. } = conditions;
        let (held_balance, other_balance) = incoming.paying_and_receiving();
        let order = Order {
            id: incoming.order_id,
            remaining: incoming.remaining,
            reserve_price,
            quantity,
            held_balance,
            other_balance,
            terms: Terms::new(incoming.taker_fee_bps, incoming.maker_fee_bps, incoming.order_type),
            timestamp,
            ..Order::default()
        };
        let book = self.books.book(incoming.book);
        let hold = book.hold(incoming.side, reserve_price, incoming.remaining, order.terms.worst_fee_bps());
        let locked = book.locked(incoming.side, incoming.price, incoming.remaining);
        self.accounts.balances.at_mut(held_balance).hold(hold, locked);
        let index = self.books.add(order, incoming.book, incoming.side, incoming.price);
        if own_stp != 0 || expiry != 0 {
            self.books.set_own_terms(index, own_stp, expiry);
        }
        if self.lists.list_of(incoming.order_id).is_some() {
            self.books.set_listed(index, true);
        }
        if conditions.display != 0 {
            self.books.show(index, conditions.display, conditions.display.min(incoming.remaining));
            self.emit_shown(index);
        }
    }

    /// Why a FOK or `FOK_BUDGET` order is killed; `None` if matching will fill it entirely, within its budget.
    /// Changes nothing.
    ///
    /// Cost: O(levels), or O(orders) if the order may meet one of its own owner; at most
    /// as many as `flags` allow.
    #[inline(never)]
    fn fill_or_kill_refusal(&self, incoming: &IncomingOrder, budget: i128, flags: u8) -> Option<ResultCode> {
        let book = self.books.book(incoming.book);
        let receiving = incoming.paying_and_receiving().1;
        let mut walk = FillWalk {
            unfilled: incoming.remaining,
            steps: StepCount::of(flags),
            // The orders of the opposite side hold what this one receives.
            may_meet_itself: incoming.stp_mode != StpMode::None
                && (self.accounts.balances.at(receiving).locked != 0
                    || self.accounts.owners.has_several(incoming.owner)),
        };
        let mut notional = 0i128;
        for level in book.side(incoming.side.opposite()).crossed_by(incoming.limit_rank) {
            let before = walk.unfilled;
            if let Err(refusal) = self.fill_at_level(incoming, level, &mut walk) {
                return Some(refusal);
            }
            let quantity = before - walk.unfilled;
            notional = add(notional, book.notional(self.books.levels.at(level).price, quantity));
            if walk.unfilled == 0 {
                break;
            }
        }
        let within_budget = match incoming.side {
            _ if incoming.order_type != OrderType::FokBudget => true,
            Side::Buy => notional <= budget,
            Side::Sell => notional >= budget,
        };
        (walk.unfilled != 0 || !within_budget).then_some(ResultCode::FokNotFillable)
    }

    /// Subtracts from `walk.unfilled` what matching would fill at `level`, or returns why the order is killed.
    fn fill_at_level(
        &self,
        incoming: &IncomingOrder,
        level: u32,
        walk: &mut FillWalk,
    ) -> Result<(), ResultCode> {
        if !walk.may_meet_itself {
            walk.steps.take()?;
            let level = self.books.levels.at(level);
            let total = level.total + level.hidden;
            walk.unfilled -= i64::try_from(total).map_or(walk.unfilled, |total| total.min(walk.unfilled));
            return Ok(());
        }
        let mut hidden = 0i64;
        for (index, order) in self.books.queue(level) {
            walk.steps.take()?;
            if self.has_owner_of(incoming, index) {
                if incoming.stp_mode == StpMode::CancelResting {
                    continue;
                }
                return Err(ResultCode::FokNotFillable);
            }
            let shown = self.books.shown(order);
            walk.unfilled -= shown.min(walk.unfilled);
            if walk.unfilled == 0 {
                return Ok(());
            }
            hidden = hidden.saturating_add(order.remaining - shown);
        }
        // What is hidden comes after all that the price shows.
        walk.unfilled -= hidden.min(walk.unfilled);
        Ok(())
    }
}

/// The test of a FOK on its way through the opposite side.
struct FillWalk {
    unfilled: i64,
    steps: StepCount,
    /// Whether a resting order may be of the same owner, so that each one must be looked at.
    may_meet_itself: bool,
}
