//! Restoring order lists from a snapshot (`restore`).

use crate::engine::Engine;
use crate::list_links::lesser_of;
use crate::lists::OrderList;
use crate::restore_waiting::WAITING_ORDER_SIZE;
use crate::snapshot_reader::{Reader, RestoreError, require};
use crate::types::{
    AMOUNT_MAX, CommandKind, FEE_ACCOUNT, LIST_SIZE_MAX, ListType, NIL, OrderType, SCALED_MAX, Side,
    TERMS_FLAGS, TriggerKind,
};
use crate::waiting::WaitingOrder;

const ORDER_LIST_SIZE: usize = 39;
const LIST_MEMBER_SIZE: usize = 8;
const BROKEN: &str = "an order list breaks a rule";

/// What the checks of a list need of one of its orders.
struct Member {
    id: u64,
    side: Side,
    price: i64,
    reserve_price: i64,
    quantity: i64,
    remaining: i64,
}

impl Engine {
    /// Reads the parts that a core has while it has lists, or while some wait for their `PLACE_LIST`.
    pub(crate) fn read_order_lists(&mut self, reader: &mut Reader) -> Result<(), RestoreError> {
        let count = reader.count_32()?;
        let right = usize::try_from(count).is_ok_and(|count| count <= LIST_SIZE_MAX);
        require(right, "a wrong number of orders waits for their list")?;
        let mut parts = Vec::new();
        for _ in 0..count {
            let terms = Self::read_waiting_command(reader, CommandKind::Terms)?;
            parts.push((terms, Self::read_waiting_command(reader, CommandKind::ListOrder)?));
        }
        if !parts.is_empty() {
            let terms_wait = self.terms.until(self.command_sequence).is_some();
            self.lists.restore_parts(parts, self.command_sequence.wrapping_sub(u64::from(terms_wait)));
        }
        for _ in 0..reader.count_64()? {
            self.read_order_list(reader)?;
        }
        for _ in 0..reader.count_64()? {
            let id = reader.record(LIST_MEMBER_SIZE)?.u64();
            let waits = self.lists.get(id).is_some_and(|list| list.unarmed > 0);
            require(waits && self.lists.enqueue(id), "a list has nothing to arm, or is repeated")?;
        }
        let unarmed = self.lists.iter().filter(|list| list.unarmed > 0).count();
        require(unarmed == self.lists.queued(), "a list is not armed")
    }

    fn read_order_list(&mut self, reader: &mut Reader) -> Result<(), RestoreError> {
        let mut record = reader.record(ORDER_LIST_SIZE)?;
        let id = record.u64();
        let list_type = ListType::from_record(record.u8());
        let account = record.u64();
        let book = self.books.find_book(record.u32());
        let (entry, unarmed) = (record.u64(), record.i64());
        let (exits, plans) = (usize::from(record.u8()), usize::from(record.u8()));
        let list_type = list_type.ok_or(RestoreError(BROKEN))?;
        let is_oco = list_type == ListType::Oco;
        let expected = list_type.exits();
        let fits = id != 0
            && self.lists.get(id).is_none()
            && book != NIL
            && self.accounts.find_account(account) != NIL
            && account != FEE_ACCOUNT
            && ((exits, plans) == (expected, 0) || (exits, plans) == (0, expected))
            && (!is_oco || (entry, unarmed, plans) == (0, 0, 0))
            && (0..=SCALED_MAX).contains(&unarmed)
            // Else nothing would depend on anything.
            && (entry != 0 || unarmed > 0 || exits > 1);
        require(fits, BROKEN)?;
        require(unarmed % self.books.book(book).lot == 0, BROKEN)?;
        let mut list = OrderList { id, list_type, account, book, entry, unarmed, ..OrderList::default() };
        let (mut growth, mut side) = (i128::from(unarmed), None);
        if entry != 0 {
            let member = self.open_member(&list, entry)?;
            growth += i128::from(member.remaining);
            side = Some(member.side.opposite());
        }
        for _ in 0..exits {
            list.exits.push(reader.record(LIST_MEMBER_SIZE)?.u64());
        }
        let mut members = Vec::new();
        for &order in &list.exits {
            members.push(self.open_member(&list, order)?);
        }
        for _ in 0..plans {
            let plan = self.read_plan(reader, &list)?;
            members.push(Member {
                id: plan.id,
                side: plan.side,
                price: plan.price,
                reserve_price: plan.reserve_price,
                quantity: plan.quantity,
                remaining: plan.remaining,
            });
            list.plans.push(plan);
        }
        let side = side.or(members.first().map(|member| member.side));
        require(members.iter().all(|member| Some(member.side) == side), BROKEN)?;
        let grows = members.iter().all(|member| self.may_grow(book, member, growth, exits == 0));
        require(grows, BROKEN)?;
        if exits > 1 {
            list.covered = self.cover_pair(&members)?;
        }
        self.lists.add(list);
        Ok(())
    }

    /// The open order `id`, which becomes a member of `list`.
    fn open_member(&mut self, list: &OrderList, id: u64) -> Result<Member, RestoreError> {
        let (index, waiting) = (self.books.find_order(id), self.waiting.find(id));
        require((index != NIL || waiting != NIL) && self.lists.list_of(id).is_none(), BROKEN)?;
        let (member, account, book) = if index == NIL {
            let order = self.waiting.order(waiting);
            let WaitingOrder { side, price, reserve_price, quantity, remaining, .. } = order;
            let member = Member { id, side, price, reserve_price, quantity, remaining };
            (member, self.waiting_owner(&order), order.book)
        } else {
            let order = self.books.orders.at(index);
            let level = self.books.levels.at(order.level);
            let member = Member {
                id,
                side: level.side,
                price: level.price,
                reserve_price: order.reserve_price,
                quantity: order.quantity,
                remaining: order.remaining,
            };
            (member, self.accounts.balances.at(order.held_balance).account_number, level.book)
        };
        require((account, book) == (list.account, list.book), BROKEN)?;
        if index != NIL {
            self.books.set_listed(index, true);
        }
        self.lists.add_member(list.id, id);
        Ok(member)
    }

    fn read_plan(&mut self, reader: &mut Reader, list: &OrderList) -> Result<WaitingOrder, RestoreError> {
        let read = self.checked_waiter(&mut reader.record(WAITING_ORDER_SIZE)?)?;
        let plan = read.order;
        let allowed = match read.kind {
            Some(TriggerKind::None) => {
                plan.order_type == OrderType::Gtc && (plan.trigger.flags, plan.trigger.value) == (0, 0)
            }
            Some(TriggerKind::Fixed) => {
                plan.trigger.flags <= TERMS_FLAGS
                    && (1..=SCALED_MAX).contains(&plan.trigger.value)
                    && plan.trigger.value % plan.trigger.tick == 0
            }
            _ => false,
        };
        let own = (self.waiting_owner(&plan), plan.book) == (list.account, list.book);
        let unfollowing = (plan.trigger.watermark, plan.trigger.anchor) == (0, 0);
        let whole = plan.remaining == plan.quantity;
        let new = self.lists.list_of(plan.id).is_none();
        require(own && new && allowed && unfollowing && whole, BROKEN)?;
        self.lists.add_member(list.id, plan.id);
        Ok(plan)
    }

    /// Whether an exit that gets `growth` more stays in range.
    fn may_grow(&self, book: u32, member: &Member, growth: i128, planned: bool) -> bool {
        let quantity = i128::from(member.quantity);
        if planned {
            return growth <= quantity;
        }
        let price = member.price.max(member.reserve_price);
        let Ok(remaining) = i64::try_from(i128::from(member.remaining) + growth) else { return false };
        quantity + growth <= i128::from(SCALED_MAX)
            && self.books.book(book).notional(price, remaining) <= AMOUNT_MAX
    }

    /// Lets one exit of a pair hold the funds for both. Returns the id of the other one.
    fn cover_pair(&mut self, exits: &[Member]) -> Result<u64, RestoreError> {
        let waits = exits.iter().any(|member| self.waiting.find(member.id) != NIL);
        let first = exits.first().map_or(0, |member| member.remaining);
        require(waits && exits.iter().all(|member| member.remaining == first), BROKEN)?;
        let reserves: Vec<(u64, i64)> =
            exits.iter().map(|member| (member.id, member.reserve_price)).collect();
        let covered = lesser_of(&reserves);
        let waiting = self.waiting.find(covered);
        if waiting == NIL {
            self.cover_resting(self.books.find_order(covered));
        } else {
            let order = self.waiting.order(waiting);
            self.release_waiting(&order, order.remaining);
            self.waiting.set_covered(waiting, true);
        }
        Ok(covered)
    }
}
