//! Matching: an incoming order trades against the opposite side, or self-trade prevention steps in.
//!
//! Priority: best price first, at one price oldest first.
//! Cost: O(1) a fill, and O(log levels) for each price that is used up. A fill reads the resting order, its
//! two balances, its level and its index entry: five cache lines, and only the order leads to the others.

use crate::amount::{add, subtract};
use crate::engine::Engine;
use crate::invariant::broken;
use crate::market_phase::MarketPhase;
use crate::records::{Event, EventType, ICEBERG, MAKER_COMPLETED, MAKER_REBATE, TAKER_COMPLETED};
use crate::types::{NIL, OrderType, ResultCode, Side, StpMode};

/// An incoming order: a new one, or one that was moved.
pub(crate) struct IncomingOrder {
    pub(crate) order_id: u64,
    pub(crate) account_number: u64,
    /// The account whose user owns this one.
    pub(crate) owner: u64,
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
    /// Limit, scaled; 0 for none.
    pub(crate) price: i64,
    /// The limit as a rank of the opposite side.
    pub(crate) limit_rank: i64,
    pub(crate) remaining: i64,
    pub(crate) filled: i64,
    /// Σ notional of the fills, amount units of quote.
    pub(crate) notional: i128,
    /// Reason of the last REDUCE of this order.
    pub(crate) removal_reason: ResultCode,
}

impl IncomingOrder {
    /// The balance that the order pays from, and the balance that receives.
    #[inline]
    pub(crate) fn paying_and_receiving(&self) -> (u32, u32) {
        match self.side {
            Side::Buy => (self.quote_balance, self.base_balance),
            Side::Sell => (self.base_balance, self.quote_balance),
        }
    }
}

impl Engine {
    /// Matches `incoming` until nothing of it remains or no resting order satisfies its limit. In an auction nothing
    /// matches: orders collect.
    #[inline]
    pub(crate) fn match_order(&mut self, incoming: &mut IncomingOrder) {
        if self.books.book(incoming.book).phase.phase == MarketPhase::Auction {
            return;
        }
        let opposite = incoming.side.opposite();
        let prefetches = self.prefetcher().is_worthwhile();
        let mut prefetched_levels = 0;
        let mut current = NIL;
        while incoming.remaining > 0 {
            let side = self.books.book(incoming.book).side(opposite);
            if !side.crosses(incoming.limit_rank) {
                return;
            }
            let best = side.best();
            if prefetches && best != current {
                current = best;
                if prefetched_levels == 0 {
                    prefetched_levels = self.prefetcher().prefetch_levels(incoming.book, opposite);
                }
                prefetched_levels -= 1;
            }
            let level = self.books.levels.at(best);
            let (resting, price) = (level.head, level.price);
            if resting == NIL {
                broken("a level has no orders");
            }
            if incoming.stp_mode != StpMode::None && self.has_owner_of(incoming, resting) {
                self.prevent_self_trade(incoming, resting);
            } else {
                self.trade(incoming, resting, price);
            }
        }
    }

    /// Whether one user owns the accounts of an incoming order and of the resting order at `index`.
    #[inline]
    pub(crate) fn has_owner_of(&self, incoming: &IncomingOrder, index: u32) -> bool {
        let resting = self.accounts.balances.at(self.books.orders.at(index).held_balance).account_number;
        self.accounts.owners.of(resting) == incoming.owner
    }

    /// One fill of `taker` against the resting order at `index`, at that order's price.
    #[inline]
    fn trade(&mut self, taker: &mut IncomingOrder, index: u32, price: i64) {
        let listed = self.books.orders.at(index).terms.is_listed();
        if listed {
            let quantity = taker.remaining.min(self.books.orders.at(index).remaining);
            self.hold_covered(index, quantity);
        }
        let maker = self.books.orders.at(index);
        let quantity = taker.remaining.min(self.books.shown(maker));
        let maker_remaining = maker.remaining - quantity;
        let (maker_id, held, other) = (maker.id, maker.held_balance, maker.other_balance);
        // A rebate is at most the taker's fee, so the fee account never pays.
        let maker_fee_bps = maker.terms.maker_fee_bps().max(-taker.taker_fee_bps);

        let book = self.books.book(taker.book);
        let maker_hold =
            book.hold(taker.side.opposite(), maker.reserve_price, quantity, maker.terms.worst_fee_bps());
        let notional = book.notional(price, quantity);
        let base_amount = book.base_amount(quantity);
        let taker_fee = book.fee(price, quantity, taker.taker_fee_bps);
        let maker_fee = book.fee(price, quantity, maker_fee_bps);

        // One balance after the other: both orders may be of one account.
        let balances = &mut self.accounts.balances;
        let maker_balance = match taker.side {
            Side::Buy => {
                balances.at_mut(taker.quote_balance).debit(add(notional, taker_fee));
                balances.at_mut(taker.base_balance).credit(base_amount);
                balances.at_mut(other).credit(subtract(notional, maker_fee));
                let maker_balance = balances.at_mut(held);
                maker_balance.debit(base_amount);
                maker_balance.release(maker_hold, base_amount);
                maker_balance
            }
            Side::Sell => {
                balances.at_mut(taker.base_balance).debit(base_amount);
                balances.at_mut(taker.quote_balance).credit(subtract(notional, taker_fee));
                balances.at_mut(other).credit(base_amount);
                let maker_balance = balances.at_mut(held);
                maker_balance.debit(add(notional, maker_fee));
                maker_balance.release(maker_hold, notional);
                maker_balance
            }
        };
        let maker_account = maker_balance.account_number;
        balances.at_mut(taker.fee_balance).credit(add(taker_fee, maker_fee));

        taker.remaining -= quantity;
        taker.filled += quantity;
        taker.notional = add(taker.notional, notional);
        let book = self.books.book_mut(taker.book);
        book.last_price = price;
        let wakes = price <= book.wake_low || price >= book.wake_high;
        let shows_more = self.books.fill(index, quantity);
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
            ..Event::new(EventType::Trade).of_order(taker.side, taker.order_type)
        });
        if listed {
            self.follow_change(maker_id, quantity, maker_remaining, true);
        }
        if shows_more {
            self.emit_shown(index);
        }
        if wakes {
            self.meet_triggers(taker.book, false, price);
        }
    }

    /// Emits SHOWN for an order that shows a new part of its quantity.
    #[cold]
    pub(crate) fn emit_shown(&mut self, index: u32) {
        let order = self.books.orders.at(index);
        let level = self.books.levels.at(order.level);
        self.emit(&Event {
            symbol: self.books.book(level.book).symbol,
            order_id: order.id,
            account: self.accounts.balances.at(order.held_balance).account_number,
            price: level.price,
            quantity: self.books.shown(order),
            remaining: order.remaining,
            ..Event::new(EventType::Shown).of_order(level.side, order.terms.order_type())
        });
    }

    /// Reduces the two orders of one owner as the incoming account's mode says, instead of a trade.
    #[cold]
    fn prevent_self_trade(&mut self, incoming: &mut IncomingOrder, index: u32) {
        let resting = self.books.orders.at(index).remaining;
        match incoming.stp_mode {
            StpMode::None => broken("self-trade prevention in a mode without it"),
            StpMode::CancelResting => self.reduce_resting(index, resting, ResultCode::StpCancelResting),
            StpMode::CancelIncoming => self.cancel_incoming(incoming, ResultCode::StpCancelIncoming),
            StpMode::CancelBoth => {
                self.reduce_resting(index, resting, ResultCode::StpCancelBoth);
                self.cancel_incoming(incoming, ResultCode::StpCancelBoth);
            }
            StpMode::DecrementAndCancel => {
                let smaller = incoming.remaining.min(resting);
                self.reduce_resting(index, smaller, ResultCode::StpDecrement);
                self.reduce_incoming(incoming, smaller, ResultCode::StpDecrement);
            }
        }
    }

    /// Reduces a resting order by `quantity` without a trade, and emits REDUCE with the reason. The others of its list
    /// lose as much.
    #[inline]
    pub(crate) fn reduce_resting(&mut self, index: u32, quantity: i64, reason: ResultCode) {
        let order = self.books.orders.at(index);
        let (listed, id, remaining) = (order.terms.is_listed(), order.id, order.remaining - quantity);
        if listed {
            self.hold_covered(index, quantity);
        }
        self.reduce_resting_alone(index, quantity, reason);
        if listed {
            self.follow_change(id, quantity, remaining, false);
        }
    }

    /// As [`Engine::reduce_resting`], for the order alone, which holds its own funds.
    #[inline]
    pub(crate) fn reduce_resting_alone(&mut self, index: u32, quantity: i64, reason: ResultCode) {
        let order = self.books.orders.at(index);
        let level = self.books.levels.at(order.level);
        let book = self.books.book(level.book);
        let remaining = order.remaining - quantity;
        let hold = book.hold(level.side, order.reserve_price, quantity, order.terms.worst_fee_bps());
        let locked = book.locked(level.side, level.price, quantity);
        let iceberg = order.terms.is_iceberg();
        let shown = self.books.shown(order);
        let balance = self.accounts.balances.at_mut(order.held_balance);
        balance.release(hold, locked);
        let event = Event {
            flags: flag(remaining == 0, TAKER_COMPLETED) | flag(iceberg, ICEBERG),
            maker_remaining: if iceberg { shown - shown.min(remaining) } else { 0 },
            code: reason,
            symbol: book.symbol,
            order_id: order.id,
            account: balance.account_number,
            price: level.price,
            quantity,
            remaining,
            ..Event::new(EventType::Reduce).of_order(level.side, order.terms.order_type())
        };
        self.books.reduce(index, quantity);
        self.emit(&event);
    }

    /// Frees what `quantity` of a resting order holds.
    #[inline]
    pub(crate) fn release_hold(&mut self, index: u32, quantity: i64) {
        let order = self.books.orders.at(index);
        let level = self.books.levels.at(order.level);
        let book = self.books.book(level.book);
        let hold = book.hold(level.side, order.reserve_price, quantity, order.terms.worst_fee_bps());
        let locked = book.locked(level.side, level.price, quantity);
        self.accounts.balances.at_mut(order.held_balance).release(hold, locked);
    }

    /// Cancels what remains of an incoming order.
    pub(crate) fn cancel_incoming(&mut self, incoming: &mut IncomingOrder, reason: ResultCode) {
        self.reduce_incoming(incoming, incoming.remaining, reason);
    }

    fn reduce_incoming(&mut self, incoming: &mut IncomingOrder, quantity: i64, reason: ResultCode) {
        incoming.remaining -= quantity;
        incoming.removal_reason = reason;
        self.emit(&Event {
            flags: flag(incoming.remaining == 0, TAKER_COMPLETED),
            code: reason,
            symbol: incoming.symbol,
            order_id: incoming.order_id,
            account: incoming.account_number,
            price: incoming.price,
            quantity,
            remaining: incoming.remaining,
            ..Event::new(EventType::Reduce).of_order(incoming.side, incoming.order_type)
        });
    }
}

#[inline]
pub(crate) fn flag(is_set: bool, bit: u8) -> u8 {
    if is_set { bit } else { 0 }
}
