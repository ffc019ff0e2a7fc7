//! The links between the orders of a list: what one order loses, the others lose, exactly once.
//!
//! Each change of an open order that is in a list calls [`Engine::follow_change`]. Nothing here matches: exits are armed
//! later (`arming`). Cost: O(log) for each order of the list.

use crate::engine::Engine;
use crate::lists::OrderList;
use crate::records::{Event, EventType, TAKER_COMPLETED, WAITS};
use crate::types::{NIL, ResultCode};

impl Engine {
    /// Holds what `quantity` of a resting order needs, if the other exit of its list holds it until now. So the order
    /// can lose that quantity as any other one.
    #[cold]
    pub(crate) fn hold_covered(&mut self, index: u32, quantity: i64) {
        if self.lists.is_covered(self.books.orders.at(index).id) {
            let (hold, locked) = self.resting_hold(index, quantity);
            let balance = self.books.orders.at(index).held_balance;
            self.accounts.balances.at_mut(balance).hold(hold, locked);
        }
    }

    /// Lets a resting order hold nothing, because the other exit of its list holds the funds for both.
    pub(crate) fn cover_resting(&mut self, index: u32) {
        let order = self.books.orders.at(index);
        let (balance, remaining) = (order.held_balance, order.remaining);
        let (hold, locked) = self.resting_hold(index, remaining);
        self.accounts.balances.at_mut(balance).release(hold, locked);
    }

    /// What `quantity` of a resting order needs, and the locked part of it.
    pub(crate) fn resting_hold(&self, index: u32, quantity: i64) -> (i128, i128) {
        let order = self.books.orders.at(index);
        let level = self.books.levels.at(order.level);
        let book = self.books.book(level.book);
        (
            book.hold(level.side, order.reserve_price, quantity, order.terms.worst_fee_bps()),
            book.locked(level.side, level.price, quantity),
        )
    }

    /// Carries over what an open order, of which `remaining` is left, has just lost, if it is one of a list.
    #[cold]
    pub(crate) fn follow_change(&mut self, order: u64, quantity: i64, remaining: i64, traded: bool) {
        let Some(id) = self.lists.list_of(order) else { return };
        let Some(list) = self.lists.get(id) else { return };
        if list.entry == order {
            self.follow_entry(id, if traded { quantity } else { 0 }, remaining);
            return;
        }
        let code = if traded { ResultCode::ListExitTraded } else { ResultCode::ListExitEnded };
        if let Some(other) = list.other_exit(order) {
            self.reduce_alone(other, Some(quantity), code);
        }
        if remaining == 0 {
            self.end_list(id, code);
        }
    }

    /// Carries over what an incoming order has filled and how much rests, if it is the entry of a list.
    #[inline]
    pub(crate) fn follow_execution(&mut self, order: u64, filled: i64, remaining: i64) {
        if let Some(id) = self.lists.list_of(order) {
            self.follow_entry(id, filled, remaining);
        }
    }

    /// Ends the others if an order that is no longer open, because its trigger fired, was an exit.
    pub(crate) fn follow_trigger(&mut self, order: u64) {
        if let Some(list) = self.lists.list_of(order).and_then(|id| self.lists.get(id))
            && list.entry != order
        {
            self.end_list(list.id, ResultCode::ListExitTriggered);
        }
    }

    fn follow_entry(&mut self, id: u64, filled: i64, remaining: i64) {
        if filled != 0 {
            self.lists.add_filled(id, filled);
        }
        if remaining != 0 {
            return;
        }
        let Some(list) = self.lists.get_mut(id) else { return };
        let (entry, unused) = (list.entry, list.exits.is_empty() && list.unarmed == 0);
        list.entry = 0;
        self.lists.remove_member(entry);
        if unused {
            self.dissolve(id, ResultCode::ListEntryEnded);
        } else {
            self.dissolve_if_single(id);
        }
    }

    /// Reduces an open order by a quantity, or all of it, without a trade, and nothing else.
    fn reduce_alone(&mut self, order: u64, quantity: Option<i64>, reason: ResultCode) {
        let index = self.books.find_order(order);
        if index != NIL {
            let quantity = quantity.unwrap_or(self.books.orders.at(index).remaining);
            self.hold_covered(index, quantity);
            self.reduce_resting_alone(index, quantity, reason);
            return;
        }
        let index = self.waiting.find(order);
        if index != NIL {
            let quantity = quantity.unwrap_or_else(|| self.waiting.order(index).remaining);
            self.reduce_waiting_alone(index, quantity, reason);
        }
    }

    /// Ends what is still open of a list.
    pub(crate) fn end_list(&mut self, id: u64, code: ResultCode) {
        let members = self.lists.get(id).map(OrderList::members).unwrap_or_default();
        for order in members {
            self.reduce_alone(order, None, code);
        }
        self.dissolve(id, code);
    }

    /// Ends what is still open of an entry. The exits stay.
    pub(crate) fn end_entry(&mut self, id: u64, code: ResultCode) {
        let Some(list) = self.lists.get_mut(id) else { return };
        let entry = std::mem::take(&mut list.entry);
        self.lists.remove_member(entry);
        self.reduce_alone(entry, None, code);
    }

    /// Lets the last order of a list go on alone, once nothing can change it any more.
    pub(crate) fn dissolve_if_single(&mut self, id: u64) {
        let single = |list: &OrderList| list.entry == 0 && list.unarmed == 0 && list.exits.len() == 1;
        if self.lists.get(id).is_some_and(single) {
            self.dissolve(id, ResultCode::Success);
        }
    }

    /// Forgets a list. Its planned exits end, its open orders go on alone.
    fn dissolve(&mut self, id: u64, code: ResultCode) {
        let Some(list) = self.lists.remove(id) else { return };
        for plan in &list.plans {
            self.emit(&Event {
                flags: TAKER_COMPLETED | WAITS,
                code,
                symbol: self.books.book(plan.book).symbol,
                order_id: plan.id,
                account: list.account,
                price: plan.price,
                quantity: plan.quantity,
                ..Event::new(EventType::Reduce).of_order(plan.side, plan.order_type)
            });
        }
        for order in list.members() {
            let index = self.books.find_order(order);
            if index != NIL {
                self.books.set_listed(index, false);
            }
        }
        self.emit(&self.list_event(EventType::ListEnded, &list, code));
    }

    /// An event about a list as a whole.
    pub(crate) fn list_event(&self, event_type: EventType, list: &OrderList, code: ResultCode) -> Event {
        Event {
            code,
            symbol: self.books.book(list.book).symbol,
            order_id: list.id,
            account: list.account,
            ..Event::new(event_type).of_list(list.list_type)
        }
    }
}

/// The exit of a pair that holds nothing: the one that needs less, or else the second one. 0 if it is no pair.
pub(crate) fn lesser_of(exits: &[(u64, i64)]) -> u64 {
    match exits {
        &[(first, first_reserve), (second, second_reserve)] => {
            if first_reserve < second_reserve {
                first
            } else {
                second
            }
        }
        _ => 0,
    }
}
