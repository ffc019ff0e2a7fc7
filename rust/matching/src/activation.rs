//! Orders with a trigger: how they begin to wait, change, expire, fire and are activated.
//!
//! Cost: a price that fires nothing and moves no trigger is two comparisons; one that fires is O(log waiting) an order.
//! A command activates at most [`ACTIVATIONS_MAX`] orders.

use crate::amount::add;
use crate::engine::Engine;
use crate::market_phase::MarketPhase;
use crate::matching::{IncomingOrder, flag};
use crate::placement::{CheckedOrder, Conditions, check_price, check_quantity};
use crate::records::{Command, CommandResult, Event, EventType, LISTED, TAKER_COMPLETED, WAITS};
use crate::terms::check_fixed_trigger;
use crate::types::{
    ACTIVATIONS_MAX, AMOUNT_MAX, FLAG_LISTED, NIL, OrderType, ResultCode, SCALED_MAX, Side, StpMode,
    TriggerKind,
};
use crate::waiting::WaitingOrder;

impl Engine {
    /// Lets a checked order wait for its trigger, and holds its funds.
    #[cold]
    pub(crate) fn wait(&mut self, checked: &CheckedOrder) -> CommandResult {
        self.begin_waiting(checked.as_waiting());
        CommandResult { remaining: checked.incoming.remaining, ..CommandResult::ACCEPTED }
    }

    /// Lets an order wait for its trigger, and holds its funds. Emits WAITING.
    pub(crate) fn begin_waiting(&mut self, order: WaitingOrder) {
        self.add_waiting(order);
        let mut event = self.waiting_event(EventType::Waiting, &order);
        event.flags |= flag(self.lists.list_of(order.id).is_some(), LISTED);
        self.emit(&event);
    }

    /// An event with an order, its trigger and its expiry.
    pub(crate) fn waiting_event(&self, event_type: EventType, order: &WaitingOrder) -> Event {
        let trigger = order.trigger;
        let distance = if trigger.is_trailing() { trigger.value } else { 0 };
        Event {
            flags: trigger.flags,
            symbol: self.books.book(order.book).symbol,
            order_id: order.id,
            maker_order_id: u64::from(trigger.kind as u8),
            account: self.waiting_owner(order),
            maker_account: distance.cast_unsigned(),
            price: order.price,
            quantity: order.remaining,
            remaining: order.remaining,
            maker_remaining: trigger.price(),
            fee_bps: order.taker_fee_bps,
            maker_fee_bps: order.maker_fee_bps,
            amount: i128::from(order.expiry),
            ..Event::new(event_type).of_order(order.side, order.order_type)
        }
    }

    /// Adds a waiting order and holds its funds.
    pub(crate) fn add_waiting(&mut self, order: WaitingOrder) {
        self.hold_waiting(&order);
        self.waiting.add(order);
        self.set_wake_prices(order.book);
    }

    /// What `quantity` of a waiting order holds, and the locked part of it.
    fn waiting_hold(&self, order: &WaitingOrder, quantity: i64) -> (i128, i128) {
        if order.covered {
            return (0, 0);
        }
        let book = self.books.book(order.book);
        (
            book.hold(order.side, order.reserve_price, quantity, order.worst_fee_bps()),
            book.locked(order.side, order.price, quantity),
        )
    }

    pub(crate) fn hold_waiting(&mut self, order: &WaitingOrder) {
        let (hold, locked) = self.waiting_hold(order, order.remaining);
        self.accounts.balances.at_mut(order.held_balance).hold(hold, locked);
    }

    pub(crate) fn release_waiting(&mut self, order: &WaitingOrder, quantity: i64) {
        let (hold, locked) = self.waiting_hold(order, quantity);
        self.accounts.balances.at_mut(order.held_balance).release(hold, locked);
    }

    pub(crate) fn set_wake_prices(&mut self, book: u32) {
        let prices = self.waiting.wake_prices(book);
        let entry = self.books.book_mut(book);
        (entry.wake_low, entry.wake_high) = prices;
    }

    /// Compares a price with the triggers that wait for it; those that it fires join the queue.
    #[cold]
    #[inline(never)]
    pub(crate) fn meet_triggers(&mut self, book: u32, by_mark: bool, price: i64) {
        self.waiting.meet(book, by_mark, price);
        self.set_wake_prices(book);
    }

    /// The number of the account that owns a waiting order.
    pub(crate) fn waiting_owner(&self, order: &WaitingOrder) -> u64 {
        self.accounts.balances.at(order.held_balance).account_number
    }

    /// The waiting order at `index`, if it belongs to the account of `command`.
    fn own_waiting(&self, index: u32, command: &Command) -> Result<WaitingOrder, ResultCode> {
        let order = self.waiting.order(index);
        if self.waiting_owner(&order) == command.account {
            Ok(order)
        } else {
            Err(ResultCode::AuthInvalidUser)
        }
    }

    /// As [`Engine::own_waiting`], if no other order depends on it.
    fn own_unlisted_waiting(&self, index: u32, command: &Command) -> Result<WaitingOrder, ResultCode> {
        let order = self.own_waiting(index, command)?;
        if self.lists.list_of(order.id).is_some() { Err(ResultCode::OrderInList) } else { Ok(order) }
    }

    /// CANCEL of a waiting order.
    #[cold]
    pub(crate) fn cancel_waiting(
        &mut self,
        index: u32,
        command: &Command,
    ) -> Result<CommandResult, ResultCode> {
        let by_administrator = command.account == 0;
        let order =
            if by_administrator { self.waiting.order(index) } else { self.own_waiting(index, command)? };
        if command.symbol != 0 && command.symbol != self.books.book(order.book).symbol {
            return Err(ResultCode::MatchingUnknownOrderId);
        }
        let reason =
            if by_administrator { ResultCode::CancelledByAdmin } else { ResultCode::CancelledByUser };
        self.reduce_waiting(index, order.remaining, reason);
        Ok(CommandResult { remaining: order.remaining, ..CommandResult::ACCEPTED })
    }

    /// REDUCE of a waiting order.
    #[cold]
    pub(crate) fn reduce_waiting_by(
        &mut self,
        index: u32,
        command: &Command,
    ) -> Result<CommandResult, ResultCode> {
        let order = self.own_unlisted_waiting(index, command)?;
        self.books.book(order.book).phase.phase.may_shrink()?;
        if command.quantity <= 0 {
            return Err(ResultCode::InvalidQuantity);
        }
        if command.quantity % self.books.book(order.book).lot != 0 {
            return Err(ResultCode::InvalidQuantityStep);
        }
        let quantity = command.quantity.min(order.remaining);
        self.reduce_waiting(index, quantity, ResultCode::ReducedByUser);
        Ok(CommandResult { remaining: order.remaining - quantity, ..CommandResult::ACCEPTED })
    }

    /// Removes `quantity` of a waiting order, and emits REDUCE with the reason. The others of its list lose as much.
    fn reduce_waiting(&mut self, index: u32, quantity: i64, reason: ResultCode) {
        let order = self.waiting.order(index);
        self.reduce_waiting_alone(index, quantity, reason);
        self.follow_change(order.id, quantity, order.remaining - quantity, false);
    }

    /// As [`Engine::reduce_waiting`], for the order alone.
    pub(crate) fn reduce_waiting_alone(&mut self, index: u32, quantity: i64, reason: ResultCode) {
        let order = self.waiting.order(index);
        let remaining = order.remaining - quantity;
        self.release_waiting(&order, quantity);
        if remaining == 0 {
            self.waiting.remove(index);
            self.set_wake_prices(order.book);
        } else {
            self.waiting.reduce(index, quantity);
        }
        self.emit(&Event {
            flags: flag(remaining == 0, TAKER_COMPLETED) | WAITS,
            code: reason,
            symbol: self.books.book(order.book).symbol,
            order_id: order.id,
            account: self.waiting_owner(&order),
            price: order.limit(),
            quantity,
            remaining,
            ..Event::new(EventType::Reduce).of_order(order.side, order.order_type)
        });
    }

    /// MOVE of a waiting order: a new limit. It keeps its trigger and its place, and does not match.
    #[cold]
    pub(crate) fn move_waiting(
        &mut self,
        index: u32,
        command: &Command,
    ) -> Result<CommandResult, ResultCode> {
        let order = self.own_unlisted_waiting(index, command)?;
        let book = self.books.book(order.book);
        if !book.active {
            return Err(ResultCode::SymbolInactive);
        }
        book.phase.phase.may_enter_again()?;
        check_price(book, command.price)?;
        self.change_waiting(index, &order, command.price, order.quantity, 0)
    }

    /// AMEND of a waiting order, whose price is its present limit. Nothing matches.
    #[cold]
    pub(crate) fn amend_waiting(
        &mut self,
        index: u32,
        command: &Command,
    ) -> Result<CommandResult, ResultCode> {
        let order = if command.flags & FLAG_LISTED == 0 {
            self.own_unlisted_waiting(index, command)?
        } else {
            self.own_waiting(index, command)?
        };
        if ![0, order.quantity].contains(&command.quantity) && self.lists.list_of(order.id).is_some() {
            return Err(ResultCode::OrderInList);
        }
        let book = self.books.book(order.book);
        book.phase.phase.may_shrink()?;
        let amendable = order.trigger.kind == TriggerKind::Fixed && order.fired_price == 0;
        if command.amount != 0 && !amendable {
            return Err(ResultCode::NoTriggerToAmend);
        }
        let price = if command.price == 0 { order.limit() } else { command.price };
        let quantity = if command.quantity == 0 { order.quantity } else { command.quantity };
        check_quantity(book, quantity)?;
        if quantity <= order.quantity - order.remaining {
            return Err(ResultCode::QuantityBelowFilled);
        }
        check_price(book, price)?;
        let retriggers = command.amount != 0 && command.amount != i128::from(order.trigger.value);
        if price != order.limit() || quantity > order.quantity || retriggers {
            if !book.active {
                return Err(ResultCode::SymbolInactive);
            }
            book.phase.phase.may_enter_again()?;
            let trigger =
                if retriggers { check_fixed_trigger(book, &order.trigger, command.amount, None)? } else { 0 };
            return self.change_waiting(index, &order, price, quantity, trigger);
        }
        let less = order.quantity - quantity;
        if less != 0 {
            self.waiting.set_size(index, quantity, order.remaining);
            self.reduce_waiting(index, less, ResultCode::AmendedByUser);
        }
        Ok(CommandResult { remaining: order.remaining - less, ..CommandResult::ACCEPTED })
    }

    /// Gives a waiting order a new limit, a new ordered quantity, and unless 0 a new price of its fixed trigger, which are
    /// in range.
    fn change_waiting(
        &mut self,
        index: u32,
        order: &WaitingOrder,
        price: i64,
        quantity: i64,
        trigger: i64,
    ) -> Result<CommandResult, ResultCode> {
        let book = self.books.book(order.book);
        let change = quantity - order.quantity;
        let remaining = order.remaining + change;
        if book.notional(price, remaining) > AMOUNT_MAX {
            return Err(ResultCode::NotionalTooLarge);
        }
        let (symbol, is_listed) = (book.symbol, self.lists.list_of(order.id).is_some());
        let other_hold =
            if is_listed { self.check_listed(order.id, price, trigger, order.remaining)? } else { 0 };
        let present_hold = book.hold(order.side, order.reserve_price, order.remaining, order.worst_fee_bps());
        let new_hold = book.hold(order.side, price, remaining, order.worst_fee_bps());
        let free = self.accounts.balances.at(order.held_balance).free();
        if add(free, present_hold.max(other_hold)) < new_hold.max(other_hold) {
            return Err(ResultCode::RiskNsf);
        }
        if is_listed {
            self.uncover_exits(order.id);
        }
        self.release_waiting(&WaitingOrder { covered: false, ..*order }, order.remaining);
        self.waiting.set_size(index, quantity, remaining);
        self.waiting.set_limit(index, price);
        if trigger != 0 {
            self.waiting.set_trigger(index, trigger);
            self.set_wake_prices(order.book);
        }
        let changed = self.waiting.order(index);
        self.hold_waiting(&changed);
        if is_listed {
            self.cover_exits(order.id);
        }
        self.emit(&Event {
            flags: WAITS,
            symbol,
            order_id: order.id,
            account: self.waiting_owner(order),
            price,
            quantity,
            remaining,
            maker_remaining: trigger,
            amount: i128::from(change),
            ..Event::new(EventType::Moved).of_order(order.side, order.order_type)
        });
        Ok(CommandResult { remaining, ..CommandResult::ACCEPTED })
    }

    /// EXPIRE.
    pub(crate) fn expire(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let (index, waiting) = (self.books.find_order(command.order_id), self.waiting.find(command.order_id));
        let (expiry, remaining) = if index != NIL {
            (self.books.expiry(command.order_id), self.books.orders.at(index).remaining)
        } else if waiting != NIL {
            let order = self.waiting.order(waiting);
            (order.expiry, order.remaining)
        } else {
            return Err(ResultCode::MatchingUnknownOrderId);
        };
        if expiry == 0 || expiry > command.timestamp {
            return Err(ResultCode::OrderNotExpired);
        }
        if index == NIL {
            self.reduce_waiting(waiting, remaining, ResultCode::OrderExpired);
        } else {
            self.reduce_resting(index, remaining, ResultCode::OrderExpired);
        }
        Ok(CommandResult { remaining, ..CommandResult::ACCEPTED })
    }

    /// The index of the active book of a command's symbol.
    #[inline]
    pub(crate) fn active_book(&self, command: &Command) -> Result<u32, ResultCode> {
        let index = self.books.find_book(command.symbol);
        if index == NIL {
            return Err(ResultCode::InvalidSymbol);
        }
        if self.books.book(index).active { Ok(index) } else { Err(ResultCode::SymbolInactive) }
    }

    /// `SET_MARK_PRICE`.
    pub(crate) fn set_mark_price(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let book = self.active_book(command)?;
        if !(1..=SCALED_MAX).contains(&command.price) {
            return Err(ResultCode::InvalidPrice);
        }
        self.track_prices();
        self.books.book_mut(book).mark_price = command.price;
        self.meet_triggers(book, true, command.price);
        self.activate_fired(book);
        Ok(CommandResult::ACCEPTED)
    }

    /// ACTIVATE.
    pub(crate) fn activate(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let book = self.active_book(command)?;
        self.activate_fired(book);
        Ok(CommandResult::ACCEPTED)
    }

    /// Arms lists and activates fired orders of a book in their order, at most [`ACTIVATIONS_MAX`] of both; lists first.
    /// What this trades may fill and fire more. They wait until the market is in continuous trading.
    #[inline]
    pub(crate) fn activate_fired(&mut self, book: u32) {
        if (self.waiting.queued != 0 || self.lists.queued() != 0)
            && self.books.book(book).phase.phase == MarketPhase::Continuous
        {
            self.activate_queue(book);
        }
    }

    #[cold]
    #[inline(never)]
    fn activate_queue(&mut self, book: u32) {
        for _ in 0..ACTIVATIONS_MAX {
            if let Some(list) = self.lists.next_unarmed(book) {
                self.arm(list);
                continue;
            }
            let index = self.waiting.next_fired(book);
            if index == NIL {
                return;
            }
            self.activate_order(index);
        }
    }

    /// A waiting order as it enters its book at its present limit.
    pub(crate) fn entering(&self, order: &WaitingOrder) -> (IncomingOrder, Conditions) {
        let owner = self.waiting_owner(order);
        let account = self.accounts.accounts.at(self.accounts.balances.at(order.held_balance).account);
        let mode = StpMode::of_order(order.own_stp, account.stp_mode);
        let (base_balance, quote_balance) = match order.side {
            Side::Buy => (order.other_balance, order.held_balance),
            Side::Sell => (order.held_balance, order.other_balance),
        };
        let book = self.books.book(order.book);
        let price = order.limit();
        let incoming = IncomingOrder {
            order_id: order.id,
            account_number: owner,
            owner: self.accounts.owners.of(owner),
            base_balance,
            quote_balance,
            fee_balance: book.fee_balance,
            book: order.book,
            symbol: book.symbol,
            quote: book.quote,
            side: order.side,
            order_type: order.order_type,
            stp_mode: mode,
            taker_fee_bps: order.taker_fee_bps,
            maker_fee_bps: order.maker_fee_bps,
            price,
            limit_rank: order.side.opposite().rank(price),
            remaining: order.remaining,
            filled: 0,
            notional: 0,
            removal_reason: ResultCode::Success,
        };
        let conditions = Conditions {
            quantity: order.quantity,
            reserve_price: order.reserve_price,
            budget: 0,
            fok_steps: order.fok_steps,
            own_stp: order.own_stp,
            expiry: order.expiry,
            display: 0,
            timestamp: order.timestamp,
        };
        (incoming, conditions)
    }

    fn activate_order(&mut self, index: u32) {
        let order = self.waiting.order(index);
        self.release_waiting(&order, order.remaining);
        self.waiting.remove(index);
        let account = self.accounts.balances.at(order.held_balance).account;
        let active = self.accounts.accounts.at(account).active;
        let (mut incoming, conditions) = self.entering(&order);
        self.emit(&Event {
            flags: order.trigger.flags,
            symbol: incoming.symbol,
            order_id: order.id,
            maker_order_id: u64::from(order.trigger.kind as u8),
            account: incoming.account_number,
            price: incoming.price,
            quantity: order.quantity,
            remaining: order.remaining,
            maker_remaining: order.trigger.price(),
            fee_bps: order.taker_fee_bps,
            maker_fee_bps: order.maker_fee_bps,
            amount: i128::from(order.fired_price),
            ..Event::new(EventType::Triggered).of_order(order.side, order.order_type)
        });
        self.follow_trigger(order.id);
        if let Some(refusal) = self.activation_refusal(&order, active) {
            self.cancel_incoming(&mut incoming, refusal);
        } else {
            self.match_and_rest(&mut incoming, &conditions);
        }
        self.follow_execution(order.id, incoming.filled, incoming.remaining);
    }

    /// Why an order ends instead of its activation. A limit that follows the price may leave its range.
    fn activation_refusal(&self, order: &WaitingOrder, active: bool) -> Option<ResultCode> {
        if !active {
            return Some(ResultCode::ParticipantInactive);
        }
        let (book, limit) = (self.books.book(order.book), order.limit());
        if let Err(code) = check_price(book, limit) {
            return Some(code);
        }
        if book.notional(limit, order.remaining) > AMOUNT_MAX {
            return Some(ResultCode::NotionalTooLarge);
        }
        let no_room = order.order_type == OrderType::Gtc && self.books.orders.is_full();
        no_room.then_some(ResultCode::EngineBusy)
    }
}
