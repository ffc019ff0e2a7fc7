//! Orders that depend on each other: lists, their members, and the queue of lists whose entry has filled.
//!
//! Cost: O(log lists) for each question; an order that is in no list asks none, because a bit of it says so.
//! Memory: about 200 bytes a list, 250 for each exit that is planned, and 40 for each member.

use std::collections::BTreeMap;

use crate::records::Command;
use crate::types::{LIST_SIZE_MAX, ListType};
use crate::waiting::WaitingOrder;

/// Orders of one account and symbol that depend on each other.
#[derive(Clone, Debug, Default)]
pub struct OrderList {
    /// Id of the list.
    pub id: u64,
    /// How the orders depend on each other.
    pub list_type: ListType,
    /// Number of the account.
    pub account: u64,
    /// Index of the book.
    pub book: u32,
    /// Id of the entry while it is open, else 0.
    pub entry: u64,
    /// Scaled quantity that the entry has filled and no exit covers yet.
    pub unarmed: i64,
    /// The exits until they are armed for the first time: they hold nothing and are no open orders.
    pub plans: Vec<WaitingOrder>,
    /// Ids of the exits from then on.
    pub exits: Vec<u64>,
    /// Id of the exit whose funds the other one holds; 0 for none.
    pub covered: u64,
    /// Its place in the queue of lists to arm; 0 if it is not there.
    pub(crate) queue_place: u64,
}

impl OrderList {
    /// The ids of its orders: the entry, and the exits, armed or not.
    #[must_use]
    pub fn members(&self) -> Vec<u64> {
        let entry = Some(self.entry).filter(|&id| id != 0);
        let plans = self.plans.iter().map(|plan| plan.id);
        entry.into_iter().chain(self.exits.iter().copied()).chain(plans).collect()
    }

    /// The exit beside this one.
    #[must_use]
    pub fn other_exit(&self, id: u64) -> Option<u64> {
        self.exits.iter().copied().find(|&other| other != id)
    }
}

/// An order that waits for its `PLACE_LIST`: its TERMS, and its fields of a PLACE.
pub(crate) type ListPart = (Command, Command);

/// All lists.
#[derive(Clone, Debug, Default)]
pub struct OrderLists {
    lists: BTreeMap<u64, OrderList>,
    /// Order, open or planned → its list.
    members: BTreeMap<u64, u64>,
    /// Book and place in its queue → list.
    queue: BTreeMap<(u32, u64), u64>,
    places: u64,
    parts: Vec<ListPart>,
    parts_end: u64,
}

impl OrderLists {
    /// A list.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<&OrderList> {
        self.lists.get(&id)
    }

    /// A list, to change.
    pub fn get_mut(&mut self, id: u64) -> Option<&mut OrderList> {
        self.lists.get_mut(&id)
    }

    /// All lists by ascending id.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &OrderList> {
        self.lists.values()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// The id of the list that an order, open or planned, is in.
    #[must_use]
    #[inline]
    pub fn list_of(&self, order: u64) -> Option<u64> {
        if self.members.is_empty() { None } else { self.members.get(&order).copied() }
    }

    /// The id of the list that plans an order, which is not open.
    #[must_use]
    #[inline]
    pub fn planning(&self, order: u64) -> Option<u64> {
        self.list_of(order)
            .filter(|&id| self.get(id).is_some_and(|list| list.plans.iter().any(|plan| plan.id == order)))
    }

    /// Whether an exit holds nothing, because the other one holds the funds for both.
    #[must_use]
    pub fn is_covered(&self, order: u64) -> bool {
        self.list_of(order).and_then(|id| self.get(id)).is_some_and(|list| list.covered == order)
    }

    /// Whether there are lists on the book at an index.
    #[must_use]
    pub fn are_on(&self, book: u32) -> bool {
        self.lists.values().any(|list| list.book == book)
    }

    /// Adds a list with a new id.
    pub fn add(&mut self, list: OrderList) {
        self.lists.insert(list.id, list);
    }

    /// Adds a member to a list.
    pub fn add_member(&mut self, list: u64, order: u64) {
        self.members.insert(order, list);
    }

    /// Removes a member.
    pub fn remove_member(&mut self, order: u64) {
        self.members.remove(&order);
    }

    /// Removes a list with its members.
    pub fn remove(&mut self, id: u64) -> Option<OrderList> {
        self.dequeue(id);
        let list = self.lists.remove(&id)?;
        for member in list.members() {
            self.members.remove(&member);
        }
        Some(list)
    }

    /// How many lists wait to be armed.
    #[must_use]
    #[inline]
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Adds what an entry has filled, and puts the list at the end of its queue unless it is there.
    pub fn add_filled(&mut self, id: u64, quantity: i64) {
        let Some(list) = self.lists.get_mut(&id) else { return };
        list.unarmed += quantity;
        self.enqueue(id);
    }

    /// Puts a list at the end of its queue unless it is there. Returns whether it was not.
    pub fn enqueue(&mut self, id: u64) -> bool {
        let Some(list) = self.lists.get_mut(&id).filter(|list| list.queue_place == 0) else { return false };
        self.places += 1;
        list.queue_place = self.places;
        self.queue.insert((list.book, self.places), id);
        true
    }

    /// Takes a list out of its queue.
    pub fn dequeue(&mut self, id: u64) {
        if let Some(list) = self.lists.get_mut(&id) {
            self.queue.remove(&(list.book, list.queue_place));
            list.queue_place = 0;
        }
    }

    /// The list of a book that is to be armed next.
    #[must_use]
    pub fn next_unarmed(&self, book: u32) -> Option<u64> {
        self.queue(book).next()
    }

    /// The lists of a book that wait to be armed, in their order.
    pub fn queue(&self, book: u32) -> impl Iterator<Item = u64> {
        self.queue.range((book, 0)..=(book, u64::MAX)).map(|(_, &id)| id)
    }

    /// Indices of the books with lists to arm, in no particular order.
    pub fn books_with_queue(&self) -> impl Iterator<Item = u32> {
        self.queue.keys().map(|&(book, _)| book)
    }

    /// The unbroken run of orders that ends with the command of this sequence.
    pub(crate) fn parts_until(&self, command_sequence: u64) -> &[ListPart] {
        if self.parts_end == command_sequence { &self.parts } else { &[] }
    }

    /// Adds an order to the run that ends with the command of `before`. Returns whether there is room.
    pub(crate) fn add_part(&mut self, part: ListPart, before: u64, command_sequence: u64) -> bool {
        if self.parts_end != before {
            self.parts.clear();
        }
        if self.parts.len() == LIST_SIZE_MAX {
            return false;
        }
        self.parts.push(part);
        self.parts_end = command_sequence;
        true
    }

    /// Keeps a run that ended with the command of this sequence.
    pub(crate) fn restore_parts(&mut self, parts: Vec<ListPart>, end: u64) {
        (self.parts, self.parts_end) = (parts, end);
    }
}
