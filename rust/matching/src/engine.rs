//! The engine: one deterministic state machine of commands.
//!
//! [`Engine::apply`] takes a command and answers an [`Outcome`]; what happened is appended to the events.
//! The rules are `docs/protocol/matching.md`: orders in `placing`, `taking` and `changing`, money in
//! `moving`, accounts, currencies and symbols in `administration`. A command first checks everything and
//! then changes the state, so a refused one has changed nothing but the sequences.
//! There is no clock, no IO and no thread here, and nothing panics.

use crate::ahead::{Ahead, GROUP};
use crate::book::Books;
use crate::events::{COMMAND_SIZE, Command, Event, Outcome, RESULT_SIZE};
use crate::ledger::Ledger;
use crate::types::{Code, FEE_ACCOUNT, Kind, StpMode};

/// The whole state, and the events not yet taken away.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Books and resting orders.
    pub books: Books,
    /// Accounts, balances and references.
    pub ledger: Ledger,
    /// How many commands were ever applied.
    pub command_sequence: u64,
    /// Sequence of the newest event.
    pub event_sequence: u64,
    /// Records of the events since the caller last took them.
    pub events: Vec<u8>,
    timestamp: u64,
}

impl Engine {
    /// An engine with the fee account alone, and room for `capacity` open orders before anything grows.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let mut engine = Self {
            books: Books::new(capacity),
            ledger: Ledger::new(),
            command_sequence: 0,
            event_sequence: 0,
            events: Vec::new(),
            timestamp: 0,
        };
        engine.ledger.add_account(FEE_ACCOUNT, false, StpMode::None);
        engine
    }

    /// Applies `records` in order and appends each result's record by `answer`.
    pub fn apply_batch(
        &mut self,
        records: &[[u8; COMMAND_SIZE]],
        mut answer: impl FnMut([[u8; 8]; RESULT_SIZE / 8]),
    ) {
        let mut commands = [Command::default(); GROUP];
        for group in records.chunks(GROUP) {
            for (record, command) in group.iter().zip(&mut commands) {
                *command = Command::from_record(record);
            }
            let commands = commands.get(..group.len()).unwrap_or_default();
            if self.ahead().pays() {
                self.ahead().read_commands::<GROUP>(commands);
            }
            for command in commands {
                let before = self.event_sequence;
                let outcome = self.apply(command);
                let events = u32::try_from(self.event_sequence - before).unwrap_or(u32::MAX);
                answer(outcome.to_record(events));
            }
        }
    }

    /// Applies one command that comes alone.
    #[inline]
    pub fn apply_single(&mut self, command: &Command) -> Outcome {
        if self.ahead().pays() {
            self.ahead().read_commands::<1>(std::slice::from_ref(command));
        }
        self.apply(command)
    }

    /// Applies one command, without reading ahead.
    #[inline]
    pub fn apply(&mut self, command: &Command) -> Outcome {
        self.command_sequence += 1;
        self.timestamp = command.timestamp;
        let Some(kind) = Kind::from_record(command.kind) else {
            return Outcome::refused(Code::UnsupportedCommand);
        };
        match kind {
            Kind::Place => return self.place(command),
            Kind::Cancel => self.cancel(command),
            Kind::Move => self.move_order(command),
            Kind::Reduce => self.reduce(command),
            Kind::Deposit | Kind::Withdraw | Kind::Reserve | Kind::Adjust => self.move_money(kind, command),
            Kind::Release | Kind::Commit => self.end_reservation(kind, command),
            Kind::CreateCurrency => self.create_currency(command),
            Kind::DeleteCurrency => self.delete_currency(command),
            Kind::CreateSymbol => self.create_symbol(command),
            Kind::UpdateSymbol => self.update_symbol(command),
            Kind::DeleteSymbol => self.delete_symbol(command),
            Kind::CreateAccount => self.create_account(command),
            Kind::SetAccount => self.set_account(command),
            Kind::SetAccountFees => self.set_account_fees(command),
        }
        .unwrap_or_else(Outcome::refused)
    }

    /// The state as something to read ahead in.
    #[inline]
    pub(crate) fn ahead(&self) -> Ahead<'_> {
        Ahead { books: &self.books, ledger: &self.ledger }
    }

    /// Appends `event` with the next sequence and the time of its command.
    #[inline]
    pub(crate) fn emit(&mut self, event: &Event) {
        self.event_sequence += 1;
        event.write(&mut self.events, self.event_sequence, self.timestamp, self.command_sequence);
    }
}
