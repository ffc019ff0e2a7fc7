//! PLACE: the checks of a new order in their order, then matching, then what remains rests or leaves.

use crate::amount::{add, with_fee_rounded_up};
use crate::book::Book;
use crate::engine::Engine;
use crate::events::{Command, Event, EventType, Outcome, Status};
use crate::ladder::RANK_ANY;
use crate::order::{Order, Terms};
use crate::taking::Taker;
use crate::types::{AMOUNT_MAX, Code, NIL, OrderType, SCALED_MAX, Side, StpMode};

/// Checks 5 of PLACE: a quantity within range, in whole lots.
fn quantity_allowed(book: &Book, quantity: i64) -> Result<(), Code> {
    if !(1..=SCALED_MAX).contains(&quantity) {
        return Err(Code::InvalidQuantity);
    }
    if quantity % book.lot != 0 {
        return Err(Code::InvalidQuantityStep);
    }
    Ok(())
}

/// Check 6 of PLACE, also of MOVE: a price within range, in whole ticks.
pub(crate) fn price_allowed(book: &Book, price: i64) -> Result<(), Code> {
    if !(1..=SCALED_MAX).contains(&price) {
        return Err(Code::InvalidPrice);
    }
    if price % book.tick != 0 {
        return Err(Code::InvalidPriceStep);
    }
    Ok(())
}

/// Checks 6 to 8 of a limit order; answers the reserve price of a buy, 0 for a sell.
#[inline]
fn limit_allowed(book: &Book, side: Side, command: &Command) -> Result<i64, Code> {
    let &Command { price, quantity, amount, .. } = command;
    price_allowed(book, price)?;
    let reserve_price = match side {
        Side::Buy if i128::from(price) > amount => return Err(Code::RiskInvalidReserveBidPrice),
        Side::Buy if amount > i128::from(SCALED_MAX) => return Err(Code::InvalidPrice),
        Side::Buy => i64::try_from(amount).map_err(|_| Code::InvalidPrice)?,
        Side::Sell => 0,
    };
    if book.notional(reserve_price.max(price), quantity) > AMOUNT_MAX
        || book.base_amount(quantity) > AMOUNT_MAX
    {
        return Err(Code::NotionalTooLarge);
    }
    Ok(reserve_price)
}

/// Checks 6 and 8 of an order with a budget.
fn budget_allowed(book: &Book, budget: i128, quantity: i64) -> Result<(), Code> {
    if !(1..=AMOUNT_MAX).contains(&budget) {
        return Err(Code::InvalidBudget);
    }
    if book.base_amount(quantity) > AMOUNT_MAX {
        return Err(Code::NotionalTooLarge);
    }
    Ok(())
}

/// A new order that passed every check.
struct Admitted {
    taker: Taker,
    /// Of a buy with a limit, else 0.
    reserve_price: i64,
    /// Of a `FOK_BUDGET`, else 0; amount units.
    budget: i128,
}

impl Engine {
    /// PLACE.
    #[inline]
    pub(crate) fn place(&mut self, command: &Command) -> Outcome {
        match self.admit(command) {
            Ok(admitted) => self.execute(admitted, command),
            Err(code) => {
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
                Outcome { remaining: command.quantity, ..Outcome::refused(code) }
            }
        }
    }

    /// The checks of PLACE, numbered as in the rules.
    #[inline]
    fn admit(&mut self, command: &Command) -> Result<Admitted, Code> {
        let &Command { price, quantity, amount, .. } = command;
        // 1
        let side = Side::from_record(command.side).ok_or(Code::InvalidSide)?;
        let order_type = OrderType::from_record(command.order_type).ok_or(Code::InvalidOrderType)?;
        // 2
        if command.order_id == 0 {
            return Err(Code::InvalidOrderId);
        }
        if self.books.find(command.order_id) != NIL {
            return Err(Code::DuplicateOrderId);
        }
        // 3
        let book_index = self.books.book(command.symbol);
        if book_index == NIL {
            return Err(Code::InvalidSymbol);
        }
        let book = self.books.books.at(book_index);
        if !book.active {
            return Err(Code::SymbolInactive);
        }
        // 4
        let account_index = self.ledger.account(command.account);
        if account_index == NIL {
            return Err(Code::RiskNsf);
        }
        let account = self.ledger.accounts.at(account_index);
        if !account.active {
            return Err(Code::ParticipantInactive);
        }
        // 5
        quantity_allowed(book, quantity)?;
        let (taker_fee_bps, maker_fee_bps) = account.fees.unwrap_or((book.taker_fee_bps, book.maker_fee_bps));
        let worst_fee_bps = i64::from(taker_fee_bps.max(maker_fee_bps).max(0));
        let with_budget = order_type == OrderType::FokBudget;
        // 6, 7, 8
        let reserve_price = if with_budget {
            budget_allowed(book, amount, quantity)?;
            0
        } else {
            limit_allowed(book, side, command)?
        };
        // 9
        let (base_index, quote_index) = (book.base_index, book.quote_index);
        let hold = match side {
            Side::Buy if with_budget => with_fee_rounded_up(amount, worst_fee_bps),
            _ => book.hold(side, reserve_price, quantity, worst_fee_bps),
        };
        let held_currency = if side == Side::Buy { quote_index } else { base_index };
        let held_balance = self.ledger.balance(account_index, held_currency);
        if self.ledger.balances.at(held_balance).free() < hold {
            return Err(Code::RiskNsf);
        }
        let limit = if with_budget { RANK_ANY } else { side.opposite().rank(price) };
        // 10
        if order_type == OrderType::PostOnly && book.ladder(side.opposite()).crosses(limit) {
            return Err(Code::PostOnlyWouldCross);
        }
        // 11
        if self.books.orders.is_full() {
            return Err(Code::EngineBusy);
        }
        let (symbol, quote, fee_balance) = (book.symbol, book.quote, book.fee_balance);
        let taker = Taker {
            order_id: command.order_id,
            account_number: command.account,
            account: account_index,
            base_balance: self.ledger.balance_or_new(account_index, base_index),
            quote_balance: self.ledger.balance_or_new(account_index, quote_index),
            fee_balance,
            book: book_index,
            symbol,
            quote,
            side,
            order_type,
            stp_mode: self.ledger.accounts.at(account_index).stp_mode,
            taker_fee_bps,
            maker_fee_bps,
            price: if with_budget { 0 } else { price },
            limit,
            remaining: quantity,
            filled: 0,
            notional: 0,
            left_because: Code::Success,
        };
        Ok(Admitted { taker, reserve_price, budget: if with_budget { amount } else { 0 } })
    }

    /// Matches an admitted order and lets the rest go where its type says.
    #[inline]
    fn execute(&mut self, admitted: Admitted, command: &Command) -> Outcome {
        let Admitted { mut taker, reserve_price, budget } = admitted;
        self.emit(&Event {
            symbol: taker.symbol,
            order_id: taker.order_id,
            account: taker.account_number,
            price: taker.price,
            quantity: taker.remaining,
            remaining: taker.remaining,
            fee_bps: taker.taker_fee_bps,
            maker_fee_bps: taker.maker_fee_bps,
            ..Event::new(EventType::Accepted).of(taker.side, taker.order_type)
        });
        let whole_only = matches!(taker.order_type, OrderType::Fok | OrderType::FokBudget);
        if whole_only && !self.fills_whole(&taker, budget) {
            self.drop_rest(&mut taker, Code::FokNotFillable);
        }
        self.take(&mut taker);
        let mut rests = 0;
        if taker.remaining > 0 {
            match taker.order_type {
                OrderType::Gtc | OrderType::PostOnly => {
                    rests = taker.remaining;
                    self.rest(&taker, reserve_price, command);
                }
                OrderType::Ioc => self.drop_rest(&mut taker, Code::IocRemainder),
                // Cannot be: a FOK is filled whole or was dropped before matching.
                OrderType::Fok | OrderType::FokBudget => self.drop_rest(&mut taker, Code::FokNotFillable),
            }
        }
        let (code, status) = if taker.filled == 0 && rests == 0 {
            (taker.left_because, Status::Cancelled)
        } else {
            (Code::Success, Status::Accepted)
        };
        Outcome { code, status, filled: taker.filled, remaining: rests, notional: taker.notional }
    }

    /// Puts what remains of a new order into its book and holds its funds.
    #[inline]
    fn rest(&mut self, taker: &Taker, reserve_price: i64, command: &Command) {
        let (held_balance, other_balance) = taker.balances();
        let order = Order {
            id: taker.order_id,
            remaining: taker.remaining,
            reserve_price,
            quantity: command.quantity,
            held_balance,
            other_balance,
            terms: Terms::new(taker.taker_fee_bps, taker.maker_fee_bps, taker.order_type),
            timestamp: command.timestamp,
            ..Order::default()
        };
        let book = self.books.books.at(taker.book);
        let hold = book.hold(taker.side, reserve_price, taker.remaining, order.terms.worst_fee_bps());
        let lock = book.lock(taker.side, taker.price, taker.remaining);
        self.ledger.balances.at_mut(held_balance).hold(hold, lock);
        self.books.add(order, taker.book, taker.side, taker.price);
    }

    /// Whether a FOK order would be filled whole, within its budget; nothing is changed.
    ///
    /// Cost: O(levels) if the quantity is not there at all or the account's own orders count, else O(orders).
    fn fills_whole(&self, taker: &Taker, budget: i128) -> bool {
        let book = self.books.books.at(taker.book);
        let levels = || book.ladder(taker.side.opposite()).crossed_by(taker.limit);
        let mut there = 0;
        for level in levels() {
            there += self.books.levels.at(level).total;
            if there >= i128::from(taker.remaining) {
                break;
            }
        }
        if there < i128::from(taker.remaining) {
            return false;
        }
        let mut missing = taker.remaining;
        let mut notional = 0i128;
        for level in levels() {
            let (quantity, ends) = self.reachable(taker, level, missing);
            missing -= quantity;
            notional = add(notional, book.notional(self.books.levels.at(level).price, quantity));
            if ends || missing == 0 {
                break;
            }
        }
        let within_budget = match taker.side {
            _ if taker.order_type != OrderType::FokBudget => true,
            Side::Buy => notional <= budget,
            Side::Sell => notional >= budget,
        };
        missing == 0 && within_budget
    }

    /// How much of `missing` a FOK order would fill at `level`, and whether an own order ends the walk there.
    fn reachable(&self, taker: &Taker, level: u32, missing: i64) -> (i64, bool) {
        if taker.stp_mode == StpMode::None {
            let total = self.books.levels.at(level).total;
            return (i64::try_from(total).map_or(missing, |total| total.min(missing)), false);
        }
        let mut reached = 0;
        for (_, order) in self.books.queue(level) {
            if self.ledger.balances.at(order.held_balance).account == taker.account {
                if taker.stp_mode == StpMode::CancelResting {
                    continue;
                }
                return (reached, true);
            }
            reached += order.remaining.min(missing - reached);
            if reached == missing {
                break;
            }
        }
        (reached, false)
    }
}
