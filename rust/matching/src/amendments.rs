//! CANCEL, REDUCE, MOVE and AMEND: commands on resting orders.

use crate::amount::add;
use crate::engine::Engine;
use crate::matching::{IncomingOrder, flag};
use crate::order::Order;
use crate::placement::{check_price, check_quantity, check_slices};
use crate::records::{Command, CommandResult, Event, EventType, ICEBERG};
use crate::types::{AMOUNT_MAX, FLAG_LISTED, NIL, ResultCode, Side, StpMode};

impl Engine {
    /// The order that `command` names, and its index. Its owner must have sent the command, unless `anyone`
    /// may.
    #[inline]
    fn own_order(&self, command: &Command, anyone: bool) -> Result<(u32, &Order), ResultCode> {
        let index = self.books.find_order(command.order_id);
        if index == NIL {
            return Err(ResultCode::MatchingUnknownOrderId);
        }
        let order = self.books.orders.at(index);
        if self.accounts.balances.at(order.held_balance).account_number != command.account && !anyone {
            return Err(ResultCode::AuthInvalidUser);
        }
        Ok((index, order))
    }

    /// The order that `command` of its owner changes, and its index. No other order may depend on it.
    #[inline]
    fn own_unlisted_order(&self, command: &Command) -> Result<(u32, &Order), ResultCode> {
        let found = self.own_order(command, false)?;
        if found.1.terms.is_listed() { Err(ResultCode::OrderInList) } else { Ok(found) }
    }

    /// CANCEL. Account 0 is an administrator, symbol 0 any symbol.
    #[inline]
    pub(crate) fn cancel(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let by_administrator = command.account == 0;
        let waiting = self.waiting.find(command.order_id);
        if waiting != NIL {
            return self.cancel_waiting(waiting, command);
        }
        if let Some(list) = self.lists.planning(command.order_id) {
            return self.cancel_planned(list, command);
        }
        let (index, order) = self.own_order(command, by_administrator)?;
        if command.symbol != 0 && command.symbol != self.books.book_of(order).symbol {
            return Err(ResultCode::MatchingUnknownOrderId);
        }
        let remaining = order.remaining;
        let reason =
            if by_administrator { ResultCode::CancelledByAdmin } else { ResultCode::CancelledByUser };
        self.reduce_resting(index, remaining, reason);
        Ok(CommandResult { remaining, ..CommandResult::ACCEPTED })
    }

    /// REDUCE. The order keeps its place in the queue.
    #[inline]
    pub(crate) fn reduce(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let waiting = self.waiting.find(command.order_id);
        if waiting != NIL {
            return self.reduce_waiting_by(waiting, command);
        }
        let (index, order) = self.own_unlisted_order(command)?;
        self.books.book_of(order).phase.phase.may_shrink()?;
        if command.quantity <= 0 {
            return Err(ResultCode::InvalidQuantity);
        }
        if command.quantity % self.books.book_of(order).lot != 0 {
            return Err(ResultCode::InvalidQuantityStep);
        }
        let quantity = command.quantity.min(order.remaining);
        let remaining = order.remaining - quantity;
        self.reduce_resting(index, quantity, ResultCode::ReducedByUser);
        Ok(CommandResult { remaining, ..CommandResult::ACCEPTED })
    }

    /// MOVE.
    pub(crate) fn move_order(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let waiting = self.waiting.find(command.order_id);
        if waiting != NIL {
            return self.move_waiting(waiting, command);
        }
        let (index, order) = self.own_unlisted_order(command)?;
        let book = self.books.book_of(order);
        if !book.active {
            return Err(ResultCode::SymbolInactive);
        }
        book.phase.phase.may_enter_again()?;
        check_price(book, command.price)?;
        let quantity = order.quantity;
        self.enter_again(index, command.price, quantity)
    }

    /// AMEND. Less at the same price keeps the order's place; anything else is as a MOVE. Only an AMEND that says so may
    /// be of an order of a list, which keeps its quantity.
    pub(crate) fn amend(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let waiting = self.waiting.find(command.order_id);
        if waiting != NIL {
            return self.amend_waiting(waiting, command);
        }
        let may_be_listed = command.flags & FLAG_LISTED != 0;
        if may_be_listed && let Some(list) = self.lists.planning(command.order_id) {
            return self.amend_planned(list, command);
        }
        let (index, order) = self.own_order(command, false)?;
        let (present_price, present_quantity) = (self.books.levels.at(order.level).price, order.quantity);
        if order.terms.is_listed() && !(may_be_listed && [0, present_quantity].contains(&command.quantity)) {
            return Err(ResultCode::OrderInList);
        }
        let book = self.books.book_of(order);
        book.phase.phase.may_shrink()?;
        if command.amount != 0 {
            return Err(ResultCode::NoTriggerToAmend);
        }
        let price = if command.price == 0 { present_price } else { command.price };
        let quantity = if command.quantity == 0 { present_quantity } else { command.quantity };
        check_quantity(book, quantity)?;
        if quantity <= present_quantity - order.remaining {
            return Err(ResultCode::QuantityBelowFilled);
        }
        check_price(book, price)?;
        if quantity > present_quantity {
            check_slices(self.books.iceberg(order).display, quantity)?;
        }
        if price != present_price || quantity > present_quantity {
            if !book.active {
                return Err(ResultCode::SymbolInactive);
            }
            book.phase.phase.may_enter_again()?;
            return self.enter_again(index, price, quantity);
        }
        let less = present_quantity - quantity;
        let remaining = order.remaining - less;
        if less != 0 {
            self.books.orders.at_mut(index).quantity = quantity;
            self.reduce_resting(index, less, ResultCode::AmendedByUser);
        }
        Ok(CommandResult { remaining, ..CommandResult::ACCEPTED })
    }

    /// Takes an order out of its queue and matches it again with another price and ordered quantity. The reserve
    /// price of a buy becomes the new price too.
    fn enter_again(&mut self, index: u32, price: i64, quantity: i64) -> Result<CommandResult, ResultCode> {
        let order = self.books.orders.at(index);
        let level = self.books.levels.at(order.level);
        let (side, book_index) = (level.side, level.book);
        let book = self.books.book(book_index);
        let (present_remaining, change) = (order.remaining, quantity - order.quantity);
        let remaining = present_remaining + change;
        if book.notional(price, remaining) > AMOUNT_MAX {
            return Err(ResultCode::NotionalTooLarge);
        }
        let (id, is_listed) = (order.id, order.terms.is_listed());
        let other_hold = if is_listed { self.check_listed(id, price, 0, present_remaining)? } else { 0 };
        let balance = self.accounts.balances.at(order.held_balance);
        let worst_fee_bps = order.terms.worst_fee_bps();
        let present_hold = book.hold(side, order.reserve_price, present_remaining, worst_fee_bps);
        let new_hold = book.hold(side, price, remaining, worst_fee_bps);
        if add(balance.free(), present_hold.max(other_hold)) < new_hold.max(other_hold) {
            return Err(ResultCode::RiskNsf);
        }
        let limit_rank = side.opposite().rank(price);
        let order_type = order.terms.order_type();
        if book.must_rest(order_type) && book.side(side.opposite()).crosses(limit_rank) {
            return Err(ResultCode::PostOnlyWouldCross);
        }
        let (base_balance, quote_balance) = match side {
            Side::Buy => (order.other_balance, order.held_balance),
            Side::Sell => (order.held_balance, order.other_balance),
        };
        let held_balance = order.held_balance;
        let display = self.books.iceberg(order).display;
        let shown = self.books.shown(order);
        let mut incoming = IncomingOrder {
            order_id: order.id,
            account_number: balance.account_number,
            owner: self.accounts.owners.of(balance.account_number),
            base_balance,
            quote_balance,
            fee_balance: book.fee_balance,
            book: book_index,
            symbol: book.symbol,
            quote: book.quote,
            side,
            order_type,
            stp_mode: StpMode::of_order(
                order.terms.own_stp(),
                self.accounts.accounts.at(balance.account).stp_mode,
            ),
            taker_fee_bps: order.terms.taker_fee_bps(),
            maker_fee_bps: order.terms.maker_fee_bps(),
            price,
            limit_rank,
            remaining,
            filled: 0,
            notional: 0,
            removal_reason: ResultCode::Success,
        };
        self.emit(&Event {
            symbol: incoming.symbol,
            order_id: incoming.order_id,
            account: incoming.account_number,
            price,
            quantity,
            remaining,
            flags: flag(display != 0, ICEBERG),
            maker_remaining: display,
            maker_amount: if display == 0 { 0 } else { i128::from(shown) },
            amount: i128::from(change),
            ..Event::new(EventType::Moved).of_order(side, order_type)
        });
        if is_listed {
            self.uncover_exits(id);
        }
        self.release_hold(index, present_remaining);
        self.books.dequeue(index);
        self.match_order(&mut incoming);
        if incoming.remaining == 0 {
            self.books.remove(index);
        } else {
            let order = self.books.orders.at_mut(index);
            order.remaining = incoming.remaining;
            order.quantity = quantity;
            if side == Side::Buy {
                order.reserve_price = price;
            }
            let reserve_price = order.reserve_price;
            let book = self.books.book(book_index);
            let hold = book.hold(side, reserve_price, incoming.remaining, worst_fee_bps);
            let locked = book.locked(side, price, incoming.remaining);
            self.accounts.balances.at_mut(held_balance).hold(hold, locked);
            self.books.enqueue(index, book_index, side, price);
            if display != 0 {
                self.books.show(index, display, display.min(incoming.remaining));
                self.emit_shown(index);
            }
        }
        if is_listed {
            self.follow_amendment(id, incoming.filled, incoming.remaining);
        }
        self.activate_fired(book_index);
        let IncomingOrder { filled, remaining, notional, .. } = incoming;
        Ok(CommandResult { filled, remaining, notional, ..CommandResult::ACCEPTED })
    }
}
