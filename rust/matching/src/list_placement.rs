//! `LIST_ORDER`, `PLACE_LIST` and `CANCEL_LIST`: several orders that depend on each other, all or none.
//!
//! A list is a run of pairs of TERMS and `LIST_ORDER`, and the `PLACE_LIST` directly after it. Nothing changes until
//! every check of every order has passed.

use crate::engine::Engine;
use crate::list_links::lesser_of;
use crate::lists::{ListPart, OrderList};
use crate::matching::IncomingOrder;
use crate::placement::CheckedOrder;
use crate::records::{Command, CommandResult, Event, EventType};
use crate::types::{LISTED_PLACE, ListType, OrderType, ResultCode, STEPS_MASK, Side, TriggerKind};
use crate::waiting::WaitingOrder;

const GTC: u8 = OrderType::Gtc as u8;
const IOC: u8 = OrderType::Ioc as u8;
const FOK: u8 = OrderType::Fok as u8;
const POST_ONLY: u8 = OrderType::PostOnly as u8;
const NO_TRIGGER: u8 = TriggerKind::None as u8;
const FIXED: u8 = TriggerKind::Fixed as u8;

/// A rejection, and the place of the order that caused it, from 1, or 0 if the orders do not fit together.
type Rejection = (ResultCode, i64);

/// What the exits of an entry need to know of it.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) book: u32,
    pub(crate) side: Side,
    pub(crate) order_type: OrderType,
    pub(crate) limit: i64,
    /// The price of its trigger; 0 for none.
    pub(crate) trigger: i64,
}

impl Entry {
    fn of(CheckedOrder { incoming, trigger, .. }: &CheckedOrder) -> Self {
        let &IncomingOrder { book, side, order_type, price, .. } = incoming;
        Self { book, side, order_type, limit: price, trigger: trigger.map_or(0, |trigger| trigger.value) }
    }
}

fn exit_fits((terms, order): &ListPart, is_oco: bool) -> bool {
    if terms.side == NO_TRIGGER {
        return order.order_type == GTC || (is_oco && order.order_type == POST_ONLY);
    }
    matches!(order.order_type, GTC | IOC) && (is_oco || terms.side == FIXED)
}

fn entry_fits((terms, order): &ListPart, side_of_exits: u8) -> bool {
    let (buy, sell) = (Side::Buy as u8, Side::Sell as u8);
    [(buy, sell), (sell, buy)].contains(&(order.side, side_of_exits))
        && matches!(order.order_type, GTC | IOC | FOK | POST_ONLY)
        && matches!(terms.side, NO_TRIGGER | FIXED)
}

/// Whether the orders are of one account, symbol and quantity, and of types that can depend on each other.
fn shape_fits(list_type: ListType, parts: &[ListPart]) -> bool {
    let is_oco = list_type == ListType::Oco;
    let exits = if is_oco { parts } else { parts.get(1..).unwrap_or_default() };
    let (Some((_, first)), Some((_, last)), Some((_, any))) = (exits.first(), exits.last(), parts.first())
    else {
        return false;
    };
    let mut ids: Vec<u64> = parts.iter().map(|(_, order)| order.order_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let common = |order: &Command| (order.account, order.symbol, order.quantity);
    ids.len() == parts.len()
        && parts.iter().all(|(_, order)| common(order) == common(any) && order.flags <= STEPS_MASK)
        && parts.iter().all(|(terms, _)| terms.quantity == 0)
        && first.side == last.side
        && exits.iter().all(|part| exit_fits(part, is_oco))
        && (exits.len() == 1 || exits.iter().any(|(terms, _)| terms.side != NO_TRIGGER))
        && (is_oco || parts.first().is_some_and(|entry| entry_fits(entry, first.side)))
}

impl Engine {
    /// `LIST_ORDER`. Any other command ends the run.
    pub(crate) fn add_list_order(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let sequence = self.command_sequence;
        let terms = self.terms.until(sequence - 1).ok_or(ResultCode::InvalidOrderList)?;
        if self.lists.add_part((terms, *command), sequence.wrapping_sub(2), sequence) {
            Ok(CommandResult::ACCEPTED)
        } else {
            Err(ResultCode::InvalidOrderList)
        }
    }

    /// `PLACE_LIST`. The result is that of the entry; of an OCO, that of both exits.
    #[cold]
    pub(crate) fn place_list(&mut self, command: &Command) -> CommandResult {
        let mut parts = self.lists.parts_until(self.command_sequence - 1).to_vec();
        for (_, order) in &mut parts {
            order.timestamp = command.timestamp;
        }
        match self.checked_members(command, &parts) {
            Ok((list_type, members)) => self.place_members(command.order_id, list_type, members),
            Err((code, place)) => {
                for (_, order) in &parts {
                    self.emit_reject(order, code);
                }
                CommandResult { remaining: place, ..CommandResult::rejected(code) }
            }
        }
    }

    /// `CANCEL_LIST`. Account 0 is an administrator, symbol 0 any symbol.
    pub(crate) fn cancel_list(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let list = self.lists.get(command.order_id).ok_or(ResultCode::UnknownListId)?;
        let by_administrator = command.account == 0;
        if !by_administrator && command.account != list.account {
            return Err(ResultCode::AuthInvalidUser);
        }
        if command.symbol != 0 && command.symbol != self.books.book(list.book).symbol {
            return Err(ResultCode::UnknownListId);
        }
        let reason =
            if by_administrator { ResultCode::CancelledByAdmin } else { ResultCode::CancelledByUser };
        self.end_list(command.order_id, reason);
        Ok(CommandResult::ACCEPTED)
    }

    /// CANCEL of an exit that is no open order yet, which ends its list.
    #[cold]
    pub(crate) fn cancel_planned(&mut self, id: u64, command: &Command) -> Result<CommandResult, ResultCode> {
        let list = self.lists.get(id).ok_or(ResultCode::MatchingUnknownOrderId)?;
        if command.account != 0 && command.account != list.account {
            return Err(ResultCode::AuthInvalidUser);
        }
        if command.symbol != 0 && command.symbol != self.books.book(list.book).symbol {
            return Err(ResultCode::MatchingUnknownOrderId);
        }
        self.end_list(id, ResultCode::ListExitEnded);
        Ok(CommandResult::ACCEPTED)
    }

    fn checked_members(
        &mut self,
        command: &Command,
        parts: &[ListPart],
    ) -> Result<(ListType, Vec<CheckedOrder>), Rejection> {
        const UNFIT: Rejection = (ResultCode::InvalidOrderList, 0);
        if command.order_id == 0 {
            return Err(UNFIT);
        }
        if self.lists.get(command.order_id).is_some() {
            return Err((ResultCode::DuplicateListId, 0));
        }
        let list_type = ListType::from_record(command.order_type).ok_or(UNFIT)?;
        if parts.len() != list_type.size() || !shape_fits(list_type, parts) {
            return Err(UNFIT);
        }
        let mut members: Vec<CheckedOrder> = Vec::with_capacity(parts.len());
        for (part, place) in parts.iter().zip(1..) {
            let member =
                self.checked_member(list_type, part, members.first()).map_err(|code| (code, place))?;
            members.push(member);
        }
        Ok((list_type, members))
    }

    /// An order of a list that passed every check. `first` is the one that was checked first.
    fn checked_member(
        &mut self,
        list_type: ListType,
        (terms, order): &ListPart,
        first: Option<&CheckedOrder>,
    ) -> Result<CheckedOrder, ResultCode> {
        let is_oco = list_type == ListType::Oco;
        let entry = first.filter(|_| !is_oco).map(|entry| self.planned_entry(&Entry::of(entry)));
        let checked = self.check_order(order, Some(*terms), entry.map(|(expected, _)| expected))?;
        if checked.trigger.is_some() {
            return Ok(checked);
        }
        let incoming = &checked.incoming;
        let fills = if is_oco {
            let opposite = self.books.book(incoming.book).side(incoming.side.opposite());
            opposite.crosses(incoming.limit_rank)
        } else {
            entry.is_some_and(|(_, worst)| incoming.side.opposite().rank(worst) <= incoming.limit_rank)
        };
        if fills { Err(ResultCode::ListExitWouldFill) } else { Ok(checked) }
    }

    /// The price at which an entry is expected to fill, at its trigger or the last price or at its limit if that is
    /// better; and the one that its exits must not meet: an entry that rests may fill at its limit.
    pub(crate) fn planned_entry(&self, entry: &Entry) -> (i64, i64) {
        let limit = entry.limit;
        let starts_at =
            if entry.trigger == 0 { self.books.book(entry.book).last_price } else { entry.trigger };
        let expected = match (starts_at, entry.side) {
            (0, _) => limit,
            (price, Side::Buy) => limit.min(price),
            (price, Side::Sell) => limit.max(price),
        };
        let rests = matches!(entry.order_type, OrderType::Gtc | OrderType::PostOnly);
        (expected, if rests { limit } else { expected })
    }

    fn place_members(
        &mut self,
        id: u64,
        list_type: ListType,
        mut members: Vec<CheckedOrder>,
    ) -> CommandResult {
        let waiters: Vec<WaitingOrder> = members.iter().map(CheckedOrder::as_waiting).collect();
        let Some(&first) = waiters.first() else { return CommandResult::ACCEPTED };
        for (waiter, place) in waiters.iter().zip(1..) {
            let event = Event {
                currency: list_type as u32 + LISTED_PLACE * place,
                maker_amount: i128::from(id),
                ..self.waiting_event(EventType::Listed, waiter)
            };
            self.emit(&event);
            self.lists.add_member(id, waiter.id);
        }
        let account = self.waiting_owner(&first);
        let mut list = OrderList { id, list_type, account, book: first.book, ..OrderList::default() };
        let result = if list_type == ListType::Oco {
            list.exits = waiters.iter().map(|waiter| waiter.id).collect();
            let reserves: Vec<(u64, i64)> =
                waiters.iter().map(|waiter| (waiter.id, waiter.reserve_price)).collect();
            list.covered = lesser_of(&reserves);
            let covered = list.covered;
            self.lists.add(list);
            for (member, waiter) in members.iter().zip(waiters) {
                self.place_exit(member, WaitingOrder { covered: waiter.id == covered, ..waiter });
            }
            CommandResult { remaining: first.remaining, ..CommandResult::ACCEPTED }
        } else {
            list.entry = first.id;
            list.plans = waiters.get(1..).unwrap_or_default().to_vec();
            self.lists.add(list);
            self.place_entry(members.swap_remove(0))
        };
        self.activate_fired(first.book);
        result
    }

    fn place_exit(&mut self, member: &CheckedOrder, waiter: WaitingOrder) {
        if member.trigger.is_some() {
            self.begin_waiting(waiter);
            return;
        }
        self.emit_accepted(&member.incoming, waiter.expiry, 0);
        self.rest(&member.incoming, &member.conditions);
        if waiter.covered {
            self.cover_resting(self.books.find_order(waiter.id));
        }
    }

    fn place_entry(&mut self, entry: CheckedOrder) -> CommandResult {
        if entry.trigger.is_some() {
            return self.wait(&entry);
        }
        let order = entry.incoming.order_id;
        let result = self.accept(entry);
        self.follow_execution(order, result.filled, result.remaining);
        result
    }
}
