//! Arming: the exits of a list get the quantity that its entry has filled.
//!
//! A list that waits for it lies in the queue of its book, and is armed as fired orders are activated, a bounded number
//! in a command. The exits hold nothing before, so the funds may be gone by then: then they stay as they are, and the
//! entry ends.

use crate::engine::Engine;
use crate::list_links::lesser_of;
use crate::records::{Event, EventType, WAITS};
use crate::types::{NIL, ResultCode, Side, TriggerKind};
use crate::waiting::WaitingOrder;

impl Engine {
    /// Gives the exits of a list what its entry has filled since they were armed last.
    #[cold]
    pub(crate) fn arm(&mut self, id: u64) {
        self.lists.dequeue(id);
        let Some(list) = self.lists.get_mut(id) else { return };
        let quantity = std::mem::take(&mut list.unarmed);
        let (planned, exits) = (!list.plans.is_empty(), list.exits.clone());
        if let Some(refusal) = self.arming_refusal(id, quantity) {
            if let Some(list) = self.lists.get(id) {
                let event = Event { quantity, ..self.list_event(EventType::Unarmed, list, refusal) };
                self.emit(&event);
            }
            if planned {
                self.end_list(id, ResultCode::ListNotArmed);
                return;
            }
            self.end_entry(id, ResultCode::ListNotArmed);
        } else if planned {
            if !self.arm_first(id, quantity) {
                return;
            }
        } else {
            for order in exits {
                self.extend_exit(order, quantity);
            }
        }
        self.dissolve_if_single(id);
    }

    fn arming_refusal(&self, id: u64, quantity: i64) -> Option<ResultCode> {
        let list = self.lists.get(id)?;
        let account = self.accounts.find_account(list.account);
        if !self.accounts.accounts.at(account).active {
            return Some(ResultCode::ParticipantInactive);
        }
        let book = self.books.book(list.book);
        let planned = list.plans.iter().map(|plan| (plan.side, plan.reserve_price, plan.worst_fee_bps()));
        let armed = list.exits.iter().map(|&order| self.exit_cost(order));
        let exits: Vec<(Side, i64, i64)> = planned.chain(armed).collect();
        let needed =
            exits.iter().map(|&(side, reserve, worst)| book.hold(side, reserve, quantity, worst)).max();
        let &(side, ..) = exits.first()?;
        let currency = if side == Side::Buy { book.quote_index } else { book.base_index };
        let balance = self.accounts.find_balance(account, currency);
        if self.accounts.balances.at(balance).free() < needed? {
            return Some(ResultCode::RiskNsf);
        }
        let rests = list.plans.iter().any(|plan| plan.trigger.kind == TriggerKind::None);
        (rests && self.books.orders.is_full()).then_some(ResultCode::EngineBusy)
    }

    /// Side, reserve price and worst fee of an exit that is open.
    pub(crate) fn exit_cost(&self, order: u64) -> (Side, i64, i64) {
        let index = self.books.find_order(order);
        if index == NIL {
            let order = self.waiting.order(self.waiting.find(order));
            return (order.side, order.reserve_price, order.worst_fee_bps());
        }
        let order = self.books.orders.at(index);
        (self.books.levels.at(order.level).side, order.reserve_price, order.terms.worst_fee_bps())
    }

    /// Places the planned exits. Returns whether the list goes on: not if one of them ends at once.
    ///
    /// The exit without a trigger comes first. It may trade at once, so the other one gets what is left of it.
    fn arm_first(&mut self, id: u64, quantity: i64) -> bool {
        let Some(list) = self.lists.get_mut(id) else { return false };
        let mut plans = std::mem::take(&mut list.plans);
        list.exits = plans.iter().map(|plan| plan.id).collect();
        let reserves: Vec<(u64, i64)> = plans.iter().map(|plan| (plan.id, plan.reserve_price)).collect();
        let covered = lesser_of(&reserves);
        list.covered = covered;
        plans.sort_by_key(|plan| plan.trigger.kind != TriggerKind::None);
        let mut quantity = quantity;
        for mut plan in plans.clone() {
            (plan.quantity, plan.remaining) = (quantity, quantity);
            plan.covered = plan.id == covered;
            if plan.trigger.kind != TriggerKind::None {
                self.wait_armed(plan);
                continue;
            }
            let (mut incoming, conditions) = self.entering(&plan);
            self.emit_accepted(&incoming, plan.expiry, 0);
            self.match_order(&mut incoming);
            if incoming.remaining == 0 {
                if let Some(list) = self.lists.get_mut(id) {
                    list.exits = vec![plan.id];
                    list.plans = plans.into_iter().filter(|other| other.id != plan.id).collect();
                }
                let removed = incoming.removal_reason != ResultCode::Success;
                let code = if removed { ResultCode::ListExitEnded } else { ResultCode::ListExitTraded };
                self.end_list(id, code);
                return false;
            }
            self.rest(&incoming, &conditions);
            if plan.covered {
                self.cover_resting(self.books.find_order(plan.id));
            }
            quantity = incoming.remaining;
        }
        true
    }

    fn wait_armed(&mut self, plan: WaitingOrder) {
        self.begin_waiting(plan);
        let book = self.books.book(plan.book);
        let reference = if plan.trigger.by_mark() { book.mark_price } else { book.last_price };
        if reference != 0 && plan.trigger.is_reached_by(reference) {
            // The price went on while the entry filled. The position needs its exit now.
            self.waiting.enqueue(self.waiting.find(plan.id), reference);
            self.set_wake_prices(plan.book);
        }
    }

    /// Lets an exit cover `quantity` more. One that rests joins the end of its queue; one that waits keeps its place.
    fn extend_exit(&mut self, order: u64, quantity: i64) {
        let index = self.books.find_order(order);
        if index == NIL {
            self.extend_waiting(self.waiting.find(order), quantity);
            return;
        }
        let covered = self.lists.is_covered(order);
        if !covered {
            self.release_hold(index, self.books.orders.at(index).remaining);
        }
        self.books.extend(index, quantity);
        let (hold, locked) = self.resting_hold(index, self.books.orders.at(index).remaining);
        let resting = self.books.orders.at(index);
        let level = self.books.levels.at(resting.level);
        let balance = self.accounts.balances.at_mut(resting.held_balance);
        if !covered {
            balance.hold(hold, locked);
        }
        let event = Event {
            symbol: self.books.book(level.book).symbol,
            order_id: order,
            account: balance.account_number,
            price: level.price,
            quantity: resting.quantity,
            remaining: resting.remaining,
            amount: i128::from(quantity),
            ..Event::new(EventType::Moved).of_order(level.side, resting.terms.order_type())
        };
        self.emit(&event);
    }

    fn extend_waiting(&mut self, index: u32, quantity: i64) {
        let before = self.waiting.order(index);
        self.release_waiting(&before, before.remaining);
        self.waiting.set_size(index, before.quantity + quantity, before.remaining + quantity);
        let order = self.waiting.order(index);
        self.hold_waiting(&order);
        self.emit(&Event {
            flags: WAITS,
            symbol: self.books.book(order.book).symbol,
            order_id: order.id,
            account: self.waiting_owner(&order),
            price: order.limit(),
            quantity: order.quantity,
            remaining: order.remaining,
            amount: i128::from(quantity),
            ..Event::new(EventType::Moved).of_order(order.side, order.order_type)
        });
    }
}
