//! The engine: a deterministic state machine of commands.
//!
//! [`Engine::apply`] applies a command, returns its [`CommandResult`] and appends what happened to the events.
//! The rules are `docs/protocol/matching.md`: orders in `terms`, `placement`, `matching`, `activation`,
//! `amendments`, `list_placement`, `list_links`, `list_amendments`, `arming`, `phases` and `auction`, money in
//! `transfers` and `movements`, accounts, currencies and symbols in `directory`. A command first checks everything and then
//! changes the state, so a rejected command has changed nothing but the sequences.
//! There is no clock, no IO and no thread here, and nothing panics but a broken invariant.

use crate::accounts::Accounts;
use crate::batch_prefetch::{BatchPrefetch, GROUP};
use crate::invariant::broken;
use crate::key_hash::HashSeed;
use crate::lists::OrderLists;
use crate::order_books::OrderBooks;
use crate::pending_movements::PendingMovements;
use crate::pending_terms::PendingTerms;
use crate::records::{COMMAND_SIZE, Command, CommandResult, Event, RESULT_SIZE};
use crate::types::{CommandKind, FEE_ACCOUNT, ResultCode, StpMode};
use crate::waiting::WaitingOrders;

/// The whole state, and the events that the caller has not yet taken.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Order books and resting orders.
    pub books: OrderBooks,
    /// Accounts, balances and transfers.
    pub accounts: Accounts,
    /// Number of commands ever applied.
    pub command_sequence: u64,
    /// Sequence of the newest event.
    pub event_sequence: u64,
    /// Event records since the caller last took them.
    pub events: Vec<u8>,
    /// Orders that wait for a trigger.
    pub waiting: WaitingOrders,
    /// Whether the core remembers prices: from the first TERMS or `SET_MARK_PRICE` on. Journals of before never do,
    /// so that their states stay as they were.
    pub tracks_prices: bool,
    pub(crate) movements: PendingMovements,
    pub(crate) terms: PendingTerms,
    /// Orders that depend on each other.
    pub lists: OrderLists,
    /// The sequence of the command after which a PLACE is not attempted; 0 if there is none.
    pub(crate) stopped: u64,
    timestamp: u64,
}

impl Engine {
    /// An engine with the fee account alone and a random hash seed; address space is set aside for
    /// `capacity` open orders.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self::with_seed(capacity, HashSeed::random())
    }

    /// As [`Engine::new`], with a given hash seed.
    #[must_use]
    pub fn with_seed(capacity: usize, seed: HashSeed) -> Self {
        let mut engine = Self {
            books: OrderBooks::with_capacity(capacity, seed),
            accounts: Accounts::with_capacity(capacity, seed),
            command_sequence: 0,
            event_sequence: 0,
            events: Vec::new(),
            waiting: WaitingOrders::new(seed),
            tracks_prices: false,
            movements: PendingMovements::default(),
            terms: PendingTerms::default(),
            lists: OrderLists::default(),
            stopped: 0,
            timestamp: 0,
        };
        engine.accounts.add_account(FEE_ACCOUNT, false, StpMode::None);
        engine
    }

    /// Applies `records` in order and passes the record of each result to `append`.
    pub fn apply_batch(
        &mut self,
        records: &[[u8; COMMAND_SIZE]],
        append: impl FnMut([[u8; 8]; RESULT_SIZE / 8]),
    ) {
        let prefetches = self.prefetcher().is_worthwhile();
        self.apply_batch_prefetching(records, prefetches, append);
    }

    /// As [`Engine::apply_batch`], with or without prefetching. Results do not depend on it.
    pub fn apply_batch_prefetching(
        &mut self,
        records: &[[u8; COMMAND_SIZE]],
        prefetches: bool,
        mut append: impl FnMut([[u8; 8]; RESULT_SIZE / 8]),
    ) {
        for group in records.chunks(GROUP) {
            if prefetches {
                self.prefetcher().prefetch_commands(group);
            }
            for record in group {
                let before = self.event_sequence;
                let result = self.apply(&Command::from_record(record));
                let events = u32::try_from(self.event_sequence - before)
                    .unwrap_or_else(|_| broken("a command has more events than its result can count"));
                append(result.to_record(events));
            }
        }
    }

    /// Applies one command that comes alone.
    #[inline]
    pub fn apply_single(&mut self, command: &Command) -> CommandResult {
        if self.prefetcher().is_worthwhile() {
            self.prefetcher().prefetch_command(command);
        }
        self.apply(command)
    }

    /// Applies one command without prefetching.
    #[inline]
    pub fn apply(&mut self, command: &Command) -> CommandResult {
        self.command_sequence += 1;
        self.timestamp = command.timestamp;
        let Some(kind) = CommandKind::from_record(command.kind) else {
            return CommandResult::rejected(ResultCode::UnsupportedCommand);
        };
        match kind {
            CommandKind::Place => return self.place(command),
            CommandKind::Cancel => self.cancel(command),
            CommandKind::Move => self.move_order(command),
            CommandKind::Reduce => self.reduce(command),
            CommandKind::Amend => self.amend(command),
            CommandKind::Replace => self.replace(command),
            CommandKind::Deposit | CommandKind::Withdraw | CommandKind::Reserve | CommandKind::Adjust => {
                self.transfer(kind, command)
            }
            CommandKind::Release | CommandKind::Commit => self.end_reservation(kind, command),
            CommandKind::Movement => self.add_movement(command),
            CommandKind::Transfer => self.transfer_between(command),
            CommandKind::CreateCurrency => self.create_currency(command),
            CommandKind::DeleteCurrency => self.delete_currency(command),
            CommandKind::CreateSymbol => self.create_symbol(command),
            CommandKind::UpdateSymbol => self.update_symbol(command),
            CommandKind::DeleteSymbol => self.delete_symbol(command),
            CommandKind::CreateAccount => self.create_account(command),
            CommandKind::SetAccount => self.set_account(command),
            CommandKind::SetAccountFees => self.set_account_fees(command),
            CommandKind::SetOwner => self.set_owner(command),
            CommandKind::Terms => Ok(self.keep_terms(command)),
            CommandKind::Expire => self.expire(command),
            CommandKind::SetMarkPrice => self.set_mark_price(command),
            CommandKind::Activate => self.activate(command),
            CommandKind::ListOrder => self.add_list_order(command),
            CommandKind::PlaceList => return self.place_list(command),
            CommandKind::CancelList => self.cancel_list(command),
            CommandKind::SetPhase => self.set_phase(command),
            CommandKind::AdvancePhase => self.advance_phase(command),
        }
        .unwrap_or_else(CommandResult::rejected)
    }

    #[inline]
    pub(crate) fn prefetcher(&self) -> BatchPrefetch<'_> {
        BatchPrefetch { books: &self.books, accounts: &self.accounts }
    }

    /// Appends `event` with the next sequence and its command's time and sequence.
    #[inline]
    pub(crate) fn emit(&mut self, event: &Event) {
        self.event_sequence += 1;
        event.write(&mut self.events, self.event_sequence, self.timestamp, self.command_sequence);
    }
}
