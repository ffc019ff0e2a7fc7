//! The uncross of an auction: the orders that it collected trade at one price.
//!
//! The best bid and the best ask meet, at the auction's price, until one of them may not trade at it. Self-trade prevention
//! works as in continuous trading. What it removes, and what is cancelled between two commands, can leave a crossed book:
//! then the rest gets a price of its own.
//! Cost: O(crossed levels) for the price, once a command; then at most [`UNCROSS_STEPS_MAX`] meetings, as much as fills.

use crate::amount::{add, subtract};
use crate::engine::Engine;
use crate::market_phase::PhaseState;
use crate::matching::flag;
use crate::records::{AUCTION, Event, EventType, MAKER_COMPLETED, MAKER_REBATE, TAKER_COMPLETED};
use crate::types::{OrderType, ResultCode, Side, StpMode, UNCROSS_STEPS_MAX};

/// What an auction trades.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clearing {
    /// The price, scaled.
    pub price: i64,
    /// The quantity, scaled.
    pub volume: i128,
}

/// The price at which the most trades, then the least is left over, then the nearest to `reference`, or to the middle of
/// such prices if that is 0. `None` if the book is not crossed.
///
/// Both sides are prices and quantities, best price first.
#[must_use]
pub fn clearing(bids: &[(i64, i128)], asks: &[(i64, i128)], tick: i64, reference: i64) -> Option<Clearing> {
    let (highest, lowest) = (bids.first()?.0, asks.first()?.0);
    if highest < lowest {
        return None;
    }
    // What is demanded up to a price is gone one tick above it. From a start to its last price nothing changes.
    let mut ends = bids.iter().rev().filter(|&&(price, _)| price >= lowest).peekable();
    let mut supply = asks.iter().filter(|&&(price, _)| price <= highest).peekable();
    let mut demanded: i128 = ends.clone().map(|&(_, quantity)| quantity).sum();
    let mut supplied = 0;
    let mut best = None;
    let (mut low, mut high) = (0, 0);
    let mut start = lowest;
    loop {
        while let Some(&(_, quantity)) = supply.next_if(|&&(price, _)| price <= start) {
            supplied += quantity;
        }
        while let Some(&(_, quantity)) = ends.next_if(|&&(price, _)| price < start) {
            demanded -= quantity;
        }
        let before_supply = supply.peek().map_or(highest, |&&(price, _)| price - tick);
        let last = ends.peek().map_or(highest, |&&(price, _)| price).min(before_supply);
        let rank = (demanded.min(supplied), -(demanded - supplied).abs());
        if best.is_none_or(|best| rank > best) {
            (best, low) = (Some(rank), start);
        }
        if best == Some(rank) {
            high = last;
        }
        if last >= highest {
            break;
        }
        start = last + tick;
    }
    let wanted = if reference == 0 { low + (high - low) / 2 } else { reference };
    let nearest = wanted.clamp(low, high);
    Some(Clearing { price: nearest / tick * tick, volume: best?.0 })
}

impl Engine {
    /// Lets orders meet at the auction's price, at most [`UNCROSS_STEPS_MAX`] times. Calculates at most one price.
    pub(crate) fn advance_uncross(&mut self, index: u32) {
        if self.books.book(index).phase.price == 0 {
            self.price_auction(index);
        }
        let price = self.books.book(index).phase.price;
        let mut meetings = 0;
        while let Some((bid, ask)) = self.best_within(index, price) {
            if meetings == UNCROSS_STEPS_MAX {
                return;
            }
            meetings += 1;
            self.meet_in_auction(index, bid, ask, price);
        }
        if meetings == UNCROSS_STEPS_MAX {
            return;
        }
        if self.is_crossed(self.books.book(index)) {
            self.books.book_mut(index).phase.price = 0;
            return;
        }
        let PhaseState { following, ends, .. } = self.books.book(index).phase;
        self.books.book_mut(index).phase = PhaseState { phase: following, ends, ..PhaseState::default() };
        self.emit_phase(index, 0);
    }

    /// Emits PHASE with the phase of a book.
    pub(crate) fn emit_phase(&mut self, index: u32, volume: i128) {
        let book = self.books.book(index);
        let PhaseState { phase, following, ends, price } = book.phase;
        self.emit(&Event {
            side: following as u8,
            order_type: phase as u8,
            symbol: book.symbol,
            maker_order_id: ends,
            price,
            quantity: book.auction_reference(),
            amount: volume,
            ..Event::new(EventType::Phase)
        });
    }

    /// Gives an auction its price. Without a crossed book there is none: cancellations have left nothing to trade.
    fn price_auction(&mut self, index: u32) {
        let book = self.books.book(index);
        let levels = |side: Side, limit: i64| -> Vec<(i64, i128)> {
            let crossed = book.side(side).crossed_by(side.rank(limit));
            crossed
                .map(|level| self.books.levels.at(level))
                .map(|level| (level.price, level.total + level.hidden))
                .collect()
        };
        let best = |side: Side| self.books.levels.at(book.side(side).best()).price;
        let (bids, asks) = (levels(Side::Buy, best(Side::Sell)), levels(Side::Sell, best(Side::Buy)));
        if let Some(clearing) = clearing(&bids, &asks, book.tick, book.auction_reference()) {
            self.books.book_mut(index).phase.price = clearing.price;
            self.emit_phase(index, clearing.volume);
        }
    }

    /// The best bid and the best ask, if both may trade at `price`.
    fn best_within(&self, index: u32, price: i64) -> Option<(u32, u32)> {
        let book = self.books.book(index);
        let (bids, asks) = (book.side(Side::Buy), book.side(Side::Sell));
        let within =
            price != 0 && bids.crosses(Side::Buy.rank(price)) && asks.crosses(Side::Sell.rank(price));
        within.then(|| (self.books.levels.at(bids.best()).head, self.books.levels.at(asks.best()).head))
    }

    /// One meeting. The younger order is the taker, as it would have been, but a `POST_ONLY` order never is.
    fn meet_in_auction(&mut self, index: u32, bid: u32, ask: u32, price: i64) {
        let (bid_order, offer) = (self.books.orders.at(bid), self.books.orders.at(ask));
        let is_post_only = |order_type| order_type == OrderType::PostOnly;
        let bid_takes =
            if is_post_only(bid_order.terms.order_type()) || is_post_only(offer.terms.order_type()) {
                is_post_only(offer.terms.order_type())
            } else {
                (bid_order.timestamp, bid_order.id) > (offer.timestamp, offer.id)
            };
        let (taker, maker) = if bid_takes { (bid, ask) } else { (ask, bid) };
        let (younger_order, older_order) = (self.books.orders.at(taker), self.books.orders.at(maker));
        let younger_balance = self.accounts.balances.at(younger_order.held_balance);
        let maker_account = self.accounts.balances.at(older_order.held_balance).account_number;
        let of_account = self.accounts.accounts.at(younger_balance.account).stp_mode;
        let mode = StpMode::of_order(younger_order.terms.own_stp(), of_account);
        let owners = &self.accounts.owners;
        if mode != StpMode::None && owners.of(younger_balance.account_number) == owners.of(maker_account) {
            self.prevent_self_trade_in_auction(taker, maker, mode);
        } else {
            self.trade_in_auction(index, taker, maker, price, if bid_takes { Side::Buy } else { Side::Sell });
        }
    }

    fn prevent_self_trade_in_auction(&mut self, taker: u32, maker: u32, mode: StpMode) {
        let (of_younger, of_older) =
            (self.books.orders.at(taker).remaining, self.books.orders.at(maker).remaining);
        let smaller = of_younger.min(of_older);
        let (from_older, from_younger, reason) = match mode {
            StpMode::None => return,
            StpMode::CancelResting => (of_older, 0, ResultCode::StpCancelResting),
            StpMode::CancelIncoming => (0, of_younger, ResultCode::StpCancelIncoming),
            StpMode::CancelBoth => (of_older, of_younger, ResultCode::StpCancelBoth),
            StpMode::DecrementAndCancel => (smaller, smaller, ResultCode::StpDecrement),
        };
        for (order, quantity) in [(maker, from_older), (taker, from_younger)] {
            if quantity != 0 {
                self.reduce_resting(order, quantity, reason);
            }
        }
    }

    /// One fill of two resting orders at the auction's price.
    fn trade_in_auction(&mut self, index: u32, taker: u32, maker: u32, price: i64, taker_side: Side) {
        let (younger_order, older_order) = (self.books.orders.at(taker), self.books.orders.at(maker));
        let quantity = self.books.shown(younger_order).min(self.books.shown(older_order));
        let (younger_terms, older_terms) = (younger_order.terms, older_order.terms);
        let (younger_id, older_id) = (younger_order.id, older_order.id);
        let (younger_left, older_left) =
            (younger_order.remaining - quantity, older_order.remaining - quantity);
        let younger_balances = (younger_order.held_balance, younger_order.other_balance);
        let older_balances = (older_order.held_balance, older_order.other_balance);
        let taker_fee_bps = younger_terms.taker_fee_bps();
        // A rebate is at most the taker's fee, so the fee account never pays.
        let maker_fee_bps = older_terms.maker_fee_bps().max(-taker_fee_bps);
        let book = self.books.book(index);
        let (symbol, quote, fee_balance) = (book.symbol, book.quote, book.fee_balance);
        let (notional, base_amount) = (book.notional(price, quantity), book.base_amount(quantity));
        let taker_fee = book.fee(price, quantity, taker_fee_bps);
        let maker_fee = book.fee(price, quantity, maker_fee_bps);

        for (order, listed) in [(maker, older_terms.is_listed()), (taker, younger_terms.is_listed())] {
            if listed {
                self.hold_covered(order, quantity);
            }
        }
        self.release_hold(taker, quantity);
        self.release_hold(maker, quantity);
        let balances = &mut self.accounts.balances;
        let taker_account = balances.at(younger_balances.0).account_number;
        let maker_account = balances.at(older_balances.0).account_number;
        for (side, (held, other), fee) in
            [(taker_side, younger_balances, taker_fee), (taker_side.opposite(), older_balances, maker_fee)]
        {
            match side {
                Side::Buy => {
                    balances.at_mut(held).debit(add(notional, fee));
                    balances.at_mut(other).credit(base_amount);
                }
                Side::Sell => {
                    balances.at_mut(held).debit(base_amount);
                    balances.at_mut(other).credit(subtract(notional, fee));
                }
            }
        }
        balances.at_mut(fee_balance).credit(add(taker_fee, maker_fee));
        let shows_more =
            [(maker, self.books.fill(maker, quantity)), (taker, self.books.fill(taker, quantity))];
        let book = self.books.book_mut(index);
        book.last_price = price;
        let wakes = price <= book.wake_low || price >= book.wake_high;
        let flags = flag(younger_left == 0, TAKER_COMPLETED)
            | flag(older_left == 0, MAKER_COMPLETED)
            | flag(maker_fee < 0, MAKER_REBATE)
            | AUCTION;
        self.emit(&Event {
            flags,
            symbol,
            currency: quote,
            order_id: younger_id,
            maker_order_id: older_id,
            account: taker_account,
            maker_account,
            price,
            quantity,
            remaining: younger_left,
            maker_remaining: older_left,
            fee_bps: taker_fee_bps,
            maker_fee_bps,
            amount: taker_fee,
            maker_amount: maker_fee,
            ..Event::new(EventType::Trade).of_order(taker_side, younger_terms.order_type())
        });
        if older_terms.is_listed() {
            self.follow_change(older_id, quantity, older_left, true);
        }
        if younger_terms.is_listed() {
            self.follow_change(younger_id, quantity, younger_left, true);
        }
        for (order, shows_more) in shows_more {
            if shows_more {
                self.emit_shown(order);
            }
        }
        if wakes {
            self.meet_triggers(index, false, price);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_price_is_that_of_most_volume_then_least_surplus_then_nearest_to_the_reference() {
        let of = |bids: &[(i64, i128)], asks: &[(i64, i128)], reference| {
            clearing(bids, asks, 5, reference).map(|clearing| (clearing.price, clearing.volume))
        };
        assert_eq!(of(&[(100, 1)], &[(105, 1)], 100), None);
        assert_eq!(of(&[], &[(105, 1)], 100), None);
        assert_eq!(of(&[(105, 10)], &[(95, 6)], 102), Some((100, 6)));
        assert_eq!(of(&[(105, 10)], &[(95, 6)], 200), Some((105, 6)));
        assert_eq!(of(&[(105, 10)], &[(95, 6)], 0), Some((100, 6)));
        assert_eq!(of(&[(110, 5), (105, 5)], &[(95, 5), (100, 1)], 1), Some((100, 6)));
        assert_eq!(of(&[(110, 5), (100, 5)], &[(95, 5), (100, 1)], 1), Some((100, 6)));
        assert_eq!(of(&[(110, 5), (100, 1)], &[(95, 6)], 200), Some((100, 6)));
    }
}
