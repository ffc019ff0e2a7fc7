//! AMEND of one order of a list: what the others need of it.
//!
//! The checks are those of a `PLACE_LIST` with the orders as they shall be. Of two open exits the one with the greater
//! need holds the funds for both, so a new limit can change which one that is. Cost: O(log) for each order of the list.

use crate::engine::Engine;
use crate::list_links::lesser_of;
use crate::list_placement::Entry;
use crate::lists::OrderList;
use crate::placement::check_price;
use crate::records::{Command, CommandResult, Event, EventType, WAITS};
use crate::terms::{check_fixed_trigger, check_not_reached};
use crate::types::{AMOUNT_MAX, NIL, ResultCode, Side, TriggerKind};
use crate::waiting::WaitingOrder;

impl Engine {
    /// Checks that the orders of a list still fit together once an open one has another limit and, unless 0, another
    /// trigger. Returns what `quantity` of the exit beside it needs; 0 if there is none.
    #[cold]
    pub(crate) fn check_listed(
        &self,
        order: u64,
        limit: i64,
        trigger: i64,
        quantity: i64,
    ) -> Result<i128, ResultCode> {
        self.check_fits(order, limit, trigger)?;
        Ok(self.other_hold(order, quantity))
    }

    fn check_fits(&self, order: u64, limit: i64, trigger: i64) -> Result<(), ResultCode> {
        let Some(list) = self.lists.list_of(order).and_then(|id| self.lists.get(id)) else { return Ok(()) };
        if list.entry == order {
            let Some(entry) = self.entry_of(list) else { return Ok(()) };
            let trigger = if trigger == 0 { entry.trigger } else { trigger };
            return self.check_exits(list, &Entry { limit, trigger, ..entry });
        }
        let index = self.books.find_order(order);
        if index == NIL {
            return Ok(());
        }
        let level = self.books.levels.at(self.books.orders.at(index).level);
        self.check_against_book(level.book, level.side, limit)
    }

    /// Checks that the exits fit their entry as it shall be. The trigger of an armed one watches the price itself.
    fn check_exits(&self, list: &OrderList, entry: &Entry) -> Result<(), ResultCode> {
        let (expected, worst) = self.planned_entry(entry);
        for plan in &list.plans {
            if plan.trigger.kind == TriggerKind::None {
                check_does_not_fill(plan.side, plan.price, worst)?;
            } else {
                check_not_reached(&plan.trigger, expected)?;
            }
        }
        for &exit in &list.exits {
            let index = self.books.find_order(exit);
            if index != NIL {
                let level = self.books.levels.at(self.books.orders.at(index).level);
                check_does_not_fill(level.side, level.price, worst)?;
            }
        }
        Ok(())
    }

    /// Checks that an exit without a trigger does not fill at once.
    fn check_against_book(&self, book: u32, side: Side, limit: i64) -> Result<(), ResultCode> {
        let opposite = side.opposite();
        let fills = self.books.book(book).side(opposite).crosses(opposite.rank(limit));
        if fills { Err(ResultCode::ListExitWouldFill) } else { Ok(()) }
    }

    /// The entry of a list, while it is open.
    fn entry_of(&self, list: &OrderList) -> Option<Entry> {
        let index = self.books.find_order(list.entry);
        if list.entry != 0 && index != NIL {
            let order = self.books.orders.at(index);
            let level = self.books.levels.at(order.level);
            let (side, order_type, limit) = (level.side, order.terms.order_type(), level.price);
            return Some(Entry { book: list.book, side, order_type, limit, trigger: 0 });
        }
        let index = self.waiting.find(list.entry);
        if list.entry == 0 || index == NIL {
            return None;
        }
        let WaitingOrder { side, order_type, price, trigger, .. } = self.waiting.order(index);
        Some(Entry { book: list.book, side, order_type, limit: price, trigger: trigger.value })
    }

    /// What `quantity` of the exit beside an open one needs; 0 if there is none.
    fn other_hold(&self, order: u64, quantity: i64) -> i128 {
        let Some(list) = self.lists.list_of(order).and_then(|id| self.lists.get(id)) else { return 0 };
        if list.entry == order {
            return 0;
        }
        list.other_exit(order).map_or(0, |other| {
            let (side, reserve_price, worst_fee_bps) = self.exit_cost(other);
            self.books.book(list.book).hold(side, reserve_price, quantity, worst_fee_bps)
        })
    }

    /// Lets both exits of a pair, of which an order is one, hold their funds until [`Engine::cover_exits`].
    #[cold]
    pub(crate) fn uncover_exits(&mut self, order: u64) {
        let Some(list) = self.lists.list_of(order).and_then(|id| self.lists.get(id)) else { return };
        let (id, covered) = (list.id, list.covered);
        if covered == 0 || list.entry == order {
            return;
        }
        let index = self.books.find_order(covered);
        if index == NIL {
            let waiting = self.waiting.find(covered);
            self.waiting.set_covered(waiting, false);
            let order = self.waiting.order(waiting);
            self.hold_waiting(&order);
        } else {
            self.hold_covered(index, self.books.orders.at(index).remaining);
        }
        if let Some(list) = self.lists.get_mut(id) {
            list.covered = 0;
        }
    }

    /// Lets the exit of a pair that needs less hold nothing.
    #[cold]
    pub(crate) fn cover_exits(&mut self, order: u64) {
        let Some(list) = self.lists.list_of(order).and_then(|id| self.lists.get(id)) else { return };
        if list.entry == order || list.covered != 0 {
            return;
        }
        let id = list.id;
        let reserves: Vec<(u64, i64)> =
            list.exits.iter().map(|&exit| (exit, self.exit_cost(exit).1)).collect();
        let covered = lesser_of(&reserves);
        if covered == 0 {
            return;
        }
        let index = self.books.find_order(covered);
        if index == NIL {
            let waiting = self.waiting.find(covered);
            let order = self.waiting.order(waiting);
            self.release_waiting(&order, order.remaining);
            self.waiting.set_covered(waiting, true);
        } else {
            self.cover_resting(index);
        }
        if let Some(list) = self.lists.get_mut(id) {
            list.covered = covered;
        }
    }

    /// Carries over what an order of a list that was in the book has filled, and how much of it rests.
    #[cold]
    pub(crate) fn follow_amendment(&mut self, order: u64, filled: i64, remaining: i64) {
        self.cover_exits(order);
        self.follow_execution(order, filled, remaining);
    }

    /// AMEND of an exit that is no open order yet. It holds nothing.
    #[cold]
    pub(crate) fn amend_planned(&mut self, id: u64, command: &Command) -> Result<CommandResult, ResultCode> {
        let Some((list, place)) = self.lists.get(id).and_then(|list| {
            let place = list.plans.iter().position(|plan| plan.id == command.order_id)?;
            Some((list, place))
        }) else {
            return Err(ResultCode::MatchingUnknownOrderId);
        };
        let Some(&plan) = list.plans.get(place) else { return Err(ResultCode::MatchingUnknownOrderId) };
        if command.account != list.account {
            return Err(ResultCode::AuthInvalidUser);
        }
        if ![0, plan.quantity].contains(&command.quantity) {
            return Err(ResultCode::OrderInList);
        }
        let book = self.books.book(plan.book);
        book.phase.phase.may_shrink()?;
        if command.amount != 0 && plan.trigger.kind != TriggerKind::Fixed {
            return Err(ResultCode::NoTriggerToAmend);
        }
        let price = if command.price == 0 { plan.price } else { command.price };
        check_price(book, price)?;
        let unchanged = CommandResult { remaining: plan.remaining, ..CommandResult::ACCEPTED };
        let retriggers = command.amount != 0 && command.amount != i128::from(plan.trigger.value);
        if price == plan.price && !retriggers {
            return Ok(unchanged);
        }
        if !book.active {
            return Err(ResultCode::SymbolInactive);
        }
        book.phase.phase.may_enter_again()?;
        let entry = self.entry_of(list).map(|entry| self.planned_entry(&entry));
        let expected = entry.map(|(expected, _)| expected);
        let trigger =
            if retriggers { check_fixed_trigger(book, &plan.trigger, command.amount, expected)? } else { 0 };
        if book.notional(price, plan.remaining) > AMOUNT_MAX {
            return Err(ResultCode::NotionalTooLarge);
        }
        if plan.trigger.kind == TriggerKind::None {
            match entry {
                Some((_, worst)) => check_does_not_fill(plan.side, price, worst)?,
                None => self.check_against_book(plan.book, plan.side, price)?,
            }
        }
        let (symbol, account) = (book.symbol, list.account);
        if let Some(plan) = self.lists.get_mut(id).and_then(|list| list.plans.get_mut(place)) {
            plan.price = price;
            if plan.side == Side::Buy {
                plan.reserve_price = price;
            }
            if trigger != 0 {
                plan.trigger.value = trigger;
            }
        }
        self.emit(&Event {
            flags: WAITS,
            symbol,
            order_id: plan.id,
            account,
            price,
            quantity: plan.quantity,
            remaining: plan.remaining,
            maker_remaining: trigger,
            ..Event::new(EventType::Moved).of_order(plan.side, plan.order_type)
        });
        Ok(unchanged)
    }
}

/// Checks that an exit without a trigger does not trade at a price of the other side.
fn check_does_not_fill(side: Side, limit: i64, price: i64) -> Result<(), ResultCode> {
    let opposite = side.opposite();
    if opposite.rank(price) <= opposite.rank(limit) { Err(ResultCode::ListExitWouldFill) } else { Ok(()) }
}
