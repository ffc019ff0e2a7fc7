//! Matching: an incoming order walks the opposite side and trades, or self-trade prevention takes over.
//!
//! Ordering: best price first, at one price the oldest first.
//! Cost: O(1) a fill, and O(log levels) for each price that is used up. A fill reads the resting order, its
//! two balances, its level and its index entry: five cache lines, none found through another but the order.

use crate::amount::{add, subtract};
use crate::engine::Engine;
use crate::events::{Event, EventType, MAKER_COMPLETED, MAKER_REBATE, TAKER_COMPLETED};
use crate::types::{Code, NIL, OrderType, Side, StpMode};

/// An incoming order: a new one, or one that was moved.
#[expect(clippy::struct_field_names, reason = "a taker fee is the field's word for it")]
pub(crate) struct Taker {
    pub(crate) order_id: u64,
    pub(crate) account_number: u64,
    pub(crate) account: u32,
    pub(crate) base_balance: u32,
    pub(crate) quote_balance: u32,
    pub(crate) fee_balance: u32,
    pub(crate) book: u32,
    pub(crate) symbol: u32,
    pub(crate) quote: u32,
    pub(crate) side: Side,
    pub(crate) order_type: OrderType,
    pub(crate) stp_mode: StpMode,
    pub(crate) taker_fee_bps: i16,
    pub(crate) maker_fee_bps: i16,
    /// Its limit, scaled; 0 without one.
    pub(crate) price: i64,
    /// Its limit as a rank of the opposite ladder.
    pub(crate) limit: i64,
    pub(crate) remaining: i64,
    pub(crate) filled: i64,
    /// Σ notional of its fills, amount units of quote.
    pub(crate) notional: i128,
    /// Why a quantity of it last left without a trade.
    pub(crate) left_because: Code,
}

impl Taker {
    /// The balance that the order pays from, and the one that it is paid to.
    #[inline]
    pub(crate) fn balances(&self) -> (u32, u32) {
        match self.side {
            Side::Buy => (self.quote_balance, self.base_balance),
            Side::Sell => (self.base_balance, self.quote_balance),
        }
    }
}

impl Engine {
    /// Matches `taker` until nothing of it remains or nothing more crosses its limit.
    #[inline]
    pub(crate) fn take(&mut self, taker: &mut Taker) {
        let opposite = taker.side.opposite();
        // Levels read ahead and not yet used up.
        let mut ahead = 0;
        let mut current = NIL;
        let large = self.ahead().pays();
        while taker.remaining > 0 {
            let ladder = self.books.books.at(taker.book).ladder(opposite);
            if !ladder.crosses(taker.limit) {
                return;
            }
            let best = ladder.best();
            if large && best != current {
                current = best;
                if ahead == 0 {
                    ahead = self.ahead().read_levels(taker.book, opposite);
                }
                ahead -= 1;
            }
            let level = self.books.levels.at(best);
            let (index, price) = (level.head, level.price);
            if index == NIL {
                debug_assert!(false, "a level without orders");
                return;
            }
            let owner = self.ledger.balances.at(self.books.orders.at(index).held_balance).account;
            if owner == taker.account && taker.stp_mode != StpMode::None {
                self.prevent(taker, index);
            } else {
                self.trade(taker, index, price);
            }
        }
    }

    /// One fill of `taker` against the resting order at `index`, at that order's price.
    // spec: A1-01
    #[inline]
    fn trade(&mut self, taker: &mut Taker, index: u32, price: i64) {
        let order = self.books.orders.at(index);
        let quantity = taker.remaining.min(order.remaining);
        let maker_remaining = order.remaining - quantity;
        let (maker_id, held, other) = (order.id, order.held_balance, order.other_balance);
        // A rebate is bounded by the taker's fee, so that the fee account never pays.
        let maker_fee_bps = order.terms.maker_fee_bps.max(-taker.taker_fee_bps);

        let book = self.books.books.at(taker.book);
        let maker_hold =
            book.hold(taker.side.opposite(), order.reserve_price, quantity, order.terms.worst_fee_bps());
        let notional = book.notional(price, quantity);
        let base_amount = book.base_amount(quantity);
        let taker_fee = book.fee(price, quantity, taker.taker_fee_bps);
        let maker_fee = book.fee(price, quantity, maker_fee_bps);

        // Each balance changes in its turn: both sides may be of one account.
        let balances = &mut self.ledger.balances;
        let maker = match taker.side {
            Side::Buy => {
                balances.at_mut(taker.quote_balance).pay(add(notional, taker_fee));
                balances.at_mut(taker.base_balance).receive(base_amount);
                balances.at_mut(other).receive(subtract(notional, maker_fee));
                let maker = balances.at_mut(held);
                maker.pay(base_amount);
                maker.release(maker_hold, base_amount);
                maker
            }
            Side::Sell => {
                balances.at_mut(taker.base_balance).pay(base_amount);
                balances.at_mut(taker.quote_balance).receive(subtract(notional, taker_fee));
                balances.at_mut(other).receive(base_amount);
                let maker = balances.at_mut(held);
                maker.pay(add(notional, maker_fee));
                maker.release(maker_hold, notional);
                maker
            }
        };
        let maker_account = maker.account_number;
        balances.at_mut(taker.fee_balance).receive(add(taker_fee, maker_fee));

        taker.remaining -= quantity;
        taker.filled += quantity;
        taker.notional = add(taker.notional, notional);
        self.books.shrink(index, quantity);
        if maker_remaining == 0 {
            self.books.dequeue(index);
            self.books.forget(index);
        }
        let flags = flag(taker.remaining == 0, TAKER_COMPLETED)
            | flag(maker_remaining == 0, MAKER_COMPLETED)
            | flag(maker_fee < 0, MAKER_REBATE);
        self.emit(&Event {
            flags,
            symbol: taker.symbol,
            currency: taker.quote,
            order_id: taker.order_id,
            maker_order_id: maker_id,
            account: taker.account_number,
            maker_account,
            price,
            quantity,
            remaining: taker.remaining,
            maker_remaining,
            fee_bps: taker.taker_fee_bps,
            maker_fee_bps,
            amount: taker_fee,
            maker_amount: maker_fee,
            ..Event::new(EventType::Trade).of(taker.side, taker.order_type)
        });
    }

    /// What happens instead of a trade with the same account's order at `index`.
    // spec: A2.6-13, A2.6-14, A2.6-15, A2.6-16
    #[cold]
    fn prevent(&mut self, taker: &mut Taker, index: u32) {
        let resting = self.books.orders.at(index).remaining;
        match taker.stp_mode {
            StpMode::None => debug_assert!(false, "orders of one account trade in this mode"),
            StpMode::CancelResting => self.take_off(index, resting, Code::StpCancelResting),
            StpMode::CancelIncoming => self.drop_rest(taker, Code::StpCancelIncoming),
            StpMode::CancelBoth => {
                self.take_off(index, resting, Code::StpCancelBoth);
                self.drop_rest(taker, Code::StpCancelBoth);
            }
            StpMode::DecrementAndCancel => {
                let quantity = taker.remaining.min(resting);
                self.take_off(index, quantity, Code::StpDecrement);
                self.drop(taker, quantity, Code::StpDecrement);
            }
        }
    }

    /// Takes `quantity` off a resting order without a trade; an order with nothing left is gone.
    pub(crate) fn take_off(&mut self, index: u32, quantity: i64, code: Code) {
        let order = self.books.orders.at(index);
        let level = self.books.levels.at(order.level);
        let remaining = order.remaining - quantity;
        let event = Event {
            flags: flag(remaining == 0, TAKER_COMPLETED),
            code,
            symbol: self.books.books.at(level.book).symbol,
            order_id: order.id,
            account: self.ledger.balances.at(order.held_balance).account_number,
            price: level.price,
            quantity,
            remaining,
            ..Event::new(EventType::Reduce).of(level.side, order.terms.order_type())
        };
        self.release(index, quantity);
        self.books.shrink(index, quantity);
        if remaining == 0 {
            self.books.dequeue(index);
            self.books.forget(index);
        }
        self.emit(&event);
    }

    /// Sets free what `quantity` of a resting order holds.
    #[inline]
    pub(crate) fn release(&mut self, index: u32, quantity: i64) {
        let order = self.books.orders.at(index);
        let level = self.books.levels.at(order.level);
        let book = self.books.books.at(level.book);
        let hold = book.hold(level.side, order.reserve_price, quantity, order.terms.worst_fee_bps());
        let lock = book.lock(level.side, level.price, quantity);
        self.ledger.balances.at_mut(order.held_balance).release(hold, lock);
    }

    /// Takes all that remains off an incoming order.
    pub(crate) fn drop_rest(&mut self, taker: &mut Taker, code: Code) {
        self.drop(taker, taker.remaining, code);
    }

    fn drop(&mut self, taker: &mut Taker, quantity: i64, code: Code) {
        taker.remaining -= quantity;
        taker.left_because = code;
        self.emit(&Event {
            flags: flag(taker.remaining == 0, TAKER_COMPLETED),
            code,
            symbol: taker.symbol,
            order_id: taker.order_id,
            account: taker.account_number,
            price: taker.price,
            quantity,
            remaining: taker.remaining,
            ..Event::new(EventType::Reduce).of(taker.side, taker.order_type)
        });
    }
}

#[inline]
fn flag(holds: bool, bit: u8) -> u8 {
    if holds { bit } else { 0 }
}
