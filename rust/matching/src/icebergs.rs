//! Icebergs: resting orders that show a part of their quantity at a time.
//!
//! Layout: what an iceberg hides lies beside the books, by id, and its order has a bit that says so. The level has the sums
//! of both, so the depth shows what is shown.
//! Cost: O(log icebergs) for a change of one; nothing for other orders.

use crate::order::{Iceberg, Order};
use crate::order_books::OrderBooks;
use crate::types::NIL;

impl OrderBooks {
    /// What an iceberg shows and hides; zeros for any other order.
    #[must_use]
    pub fn iceberg(&self, order: &Order) -> Iceberg {
        if order.terms.is_iceberg() {
            self.icebergs.get(&order.id).copied().unwrap_or_default()
        } else {
            Iceberg::default()
        }
    }

    /// What the book shows of a resting order.
    #[must_use]
    #[inline]
    pub fn shown(&self, order: &Order) -> i64 {
        if order.terms.is_iceberg() { order.remaining - self.iceberg(order).hidden } else { order.remaining }
    }

    /// Lets an order in a queue, which shows all, show `visible` of it, and at most `display` from then on.
    pub fn show(&mut self, index: u32, display: i64, visible: i64) {
        let order = self.orders.at_mut(index);
        order.terms = order.terms.with_iceberg();
        let hidden = order.remaining - visible;
        self.icebergs.insert(order.id, Iceberg { display, hidden });
        self.move_hidden(index, hidden);
    }

    /// Lets an iceberg in a queue show all of what remains, because it leaves the queue.
    #[cold]
    pub(crate) fn reveal(&mut self, index: u32) {
        let hidden = self.set_hidden(index, 0);
        self.move_hidden(index, -hidden);
    }

    /// Takes `quantity` of an iceberg from what it hides first. The caller takes the quantity from what is shown then.
    #[cold]
    pub(crate) fn hide_less(&mut self, index: u32, quantity: i64) {
        let hidden = self.iceberg(self.orders.at(index)).hidden;
        let left = (hidden - quantity).max(0);
        self.set_hidden(index, left);
        self.move_hidden(index, left - hidden);
    }

    /// Reduces a resting order by a trade of what it shows. Returns whether it shows more, at the end of its queue.
    #[inline]
    pub fn fill(&mut self, index: u32, quantity: i64) -> bool {
        if self.orders.at(index).terms.is_iceberg() {
            return self.fill_iceberg(index, quantity);
        }
        self.reduce(index, quantity);
        false
    }

    #[cold]
    fn fill_iceberg(&mut self, index: u32, quantity: i64) -> bool {
        let order = self.orders.at(index);
        let Iceberg { display, hidden } = self.iceberg(order);
        if hidden == 0 || quantity < order.remaining - hidden {
            self.reduce_shown(index, quantity);
            return false;
        }
        let level = self.levels.at(order.level);
        let (book, side, price, alone) = (level.book, level.side, level.price, level.count == 1);
        self.reveal(index);
        self.reduce_shown(index, quantity);
        if !alone {
            self.dequeue(index);
            self.enqueue(index, book, side, price);
        }
        self.show(index, display, display.min(hidden));
        true
    }

    /// The ids of all icebergs, ascending, each with what it shows at a time and shows now.
    #[must_use]
    pub fn iceberg_rows(&self) -> impl ExactSizeIterator<Item = (u64, i64, i64)> {
        self.icebergs.iter().map(|(&id, iceberg)| {
            (id, iceberg.display, self.orders.at(self.find_order(id)).remaining - iceberg.hidden)
        })
    }

    /// What a resting iceberg shows at a time, and shows now; `None` if the order shows all, or does not rest.
    #[must_use]
    pub fn iceberg_row(&self, id: u64) -> Option<(i64, i64)> {
        let index = self.find_order(id);
        let order = self.orders.at(index);
        (index != NIL && order.terms.is_iceberg()).then(|| (self.iceberg(order).display, self.shown(order)))
    }

    fn set_hidden(&mut self, index: u32, hidden: i64) -> i64 {
        let id = self.orders.at(index).id;
        self.icebergs.get_mut(&id).map_or(0, |iceberg| std::mem::replace(&mut iceberg.hidden, hidden))
    }

    /// Moves `quantity` of a level from what is shown to what is hidden.
    fn move_hidden(&mut self, index: u32, quantity: i64) {
        let level = self.levels.at_mut(self.orders.at(index).level);
        level.total -= i128::from(quantity);
        level.hidden += i128::from(quantity);
    }
}
