//! CANCEL, MOVE and REDUCE: what happens to orders that rest.

use crate::amount::add;
use crate::engine::Engine;
use crate::events::{Command, Event, EventType, Outcome};
use crate::placing::price_allowed;
use crate::taking::Taker;
use crate::types::{AMOUNT_MAX, Code, NIL, OrderType, Side};

impl Engine {
    /// The live order that `command` names, if `command` comes from its owner (or may come from anyone).
    #[inline]
    fn own_order(&self, command: &Command, anyone: bool) -> Result<u32, Code> {
        let index = self.books.find(command.order_id);
        if index == NIL {
            return Err(Code::MatchingUnknownOrderId);
        }
        let owner = self.ledger.balances.at(self.books.orders.at(index).held_balance).account_number;
        if owner != command.account && !anyone {
            return Err(Code::AuthInvalidUser);
        }
        Ok(index)
    }

    /// CANCEL; account 0 is an administrator, symbol 0 any symbol.
    #[inline]
    pub(crate) fn cancel(&mut self, command: &Command) -> Result<Outcome, Code> {
        let by_administrator = command.account == 0;
        let index = self.own_order(command, by_administrator)?;
        let order = self.books.orders.at(index);
        let symbol = self.books.books.at(self.books.levels.at(order.level).book).symbol;
        if command.symbol != 0 && command.symbol != symbol {
            return Err(Code::MatchingUnknownOrderId);
        }
        let remaining = order.remaining;
        let code = if by_administrator { Code::CancelledByAdmin } else { Code::CancelledByUser };
        self.take_off(index, remaining, code);
        Ok(Outcome { remaining, ..Outcome::DONE })
    }

    /// REDUCE; the order keeps its place in the queue.
    #[inline]
    pub(crate) fn reduce(&mut self, command: &Command) -> Result<Outcome, Code> {
        let index = self.own_order(command, false)?;
        let order = self.books.orders.at(index);
        let book = self.books.books.at(self.books.levels.at(order.level).book);
        if command.quantity <= 0 {
            return Err(Code::InvalidQuantity);
        }
        if command.quantity % book.lot != 0 {
            return Err(Code::InvalidQuantityStep);
        }
        let quantity = command.quantity.min(order.remaining);
        let remaining = order.remaining - quantity;
        self.take_off(index, quantity, Code::ReducedByUser);
        Ok(Outcome { remaining, ..Outcome::DONE })
    }

    /// MOVE: the order leaves its place and comes in again at a new price, which a buy also reserves at.
    pub(crate) fn move_order(&mut self, command: &Command) -> Result<Outcome, Code> {
        let index = self.own_order(command, false)?;
        let price = command.price;
        let order = self.books.orders.at(index);
        let level = self.books.levels.at(order.level);
        let (side, book_index) = (level.side, level.book);
        let book = self.books.books.at(book_index);
        if !book.active {
            return Err(Code::SymbolInactive);
        }
        price_allowed(book, price)?;
        if book.notional(price, order.remaining) > AMOUNT_MAX {
            return Err(Code::NotionalTooLarge);
        }
        let balance = self.ledger.balances.at(order.held_balance);
        let worst_fee_bps = order.terms.worst_fee_bps();
        if side == Side::Buy {
            let own = book.hold(side, order.reserve_price, order.remaining, worst_fee_bps);
            if add(balance.free(), own) < book.hold(side, price, order.remaining, worst_fee_bps) {
                return Err(Code::RiskNsf);
            }
        }
        let limit = side.opposite().rank(price);
        if order.terms.order_type() == OrderType::PostOnly && book.ladder(side.opposite()).crosses(limit) {
            return Err(Code::PostOnlyWouldCross);
        }
        let (base_balance, quote_balance) = match side {
            Side::Buy => (order.other_balance, order.held_balance),
            Side::Sell => (order.held_balance, order.other_balance),
        };
        let (quantity, remaining, held_balance) = (order.quantity, order.remaining, order.held_balance);
        let mut taker = Taker {
            order_id: order.id,
            account_number: balance.account_number,
            account: balance.account,
            base_balance,
            quote_balance,
            fee_balance: book.fee_balance,
            book: book_index,
            symbol: book.symbol,
            quote: book.quote,
            side,
            order_type: order.terms.order_type(),
            stp_mode: self.ledger.accounts.at(balance.account).stp_mode,
            taker_fee_bps: order.terms.taker_fee_bps(),
            maker_fee_bps: order.terms.maker_fee_bps,
            price,
            limit,
            remaining,
            filled: 0,
            notional: 0,
            left_because: Code::Success,
        };
        self.emit(&Event {
            symbol: taker.symbol,
            order_id: taker.order_id,
            account: taker.account_number,
            price,
            quantity,
            remaining,
            ..Event::new(EventType::Moved).of(side, taker.order_type)
        });
        self.release(index, remaining);
        self.books.dequeue(index);
        self.take(&mut taker);
        if taker.remaining == 0 {
            self.books.forget(index);
        } else {
            let order = self.books.orders.at_mut(index);
            order.remaining = taker.remaining;
            if side == Side::Buy {
                order.reserve_price = price;
            }
            let book = self.books.books.at(book_index);
            let hold = book.hold(side, order.reserve_price, taker.remaining, worst_fee_bps);
            let lock = book.lock(side, price, taker.remaining);
            self.ledger.balances.at_mut(held_balance).hold(hold, lock);
            self.books.enqueue(index, book_index, side, price);
        }
        let Taker { filled, remaining, notional, .. } = taker;
        Ok(Outcome { filled, remaining, notional, ..Outcome::DONE })
    }
}
