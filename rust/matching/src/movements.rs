//! Transfers between accounts: a list of movements that happens as a whole or not at all.
//!
//! A transfer is a run of MOVEMENT commands and the TRANSFER directly after them. A MOVEMENT only waits
//! (`pending_movements`); TRANSFER checks all of them before it moves anything.

use crate::accounts::{Transfer, TransferStatus};
use crate::amount::add;
use crate::engine::Engine;
use crate::key_hash::halves;
use crate::pending_movements::Movement;
use crate::records::{Command, CommandResult, Event, EventType};
use crate::types::{AMOUNT_MAX, CommandKind, MOVEMENTS_MAX, NIL, ResultCode, StpMode};

/// By how much one of the movements so far changes an account's money.
struct Change {
    account: u64,
    currency: u32,
    amount: i128,
}

impl Engine {
    /// MOVEMENT.
    pub(crate) fn add_movement(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        if self.movements.until(self.command_sequence - 1).len() >= MOVEMENTS_MAX {
            return Err(ResultCode::InvalidTransfer);
        }
        let movement = Movement {
            source: command.order_id,
            destination: command.account,
            currency: command.symbol,
            amount: command.amount,
        };
        self.movements.push(movement, self.command_sequence);
        Ok(CommandResult::ACCEPTED)
    }

    /// TRANSFER.
    pub(crate) fn transfer_between(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let movements = self.movements.until(self.command_sequence - 1);
        let complete = movements.len() as u64 == command.order_id;
        let (Some(&first), true) = (movements.first(), complete) else {
            return Err(ResultCode::InvalidTransfer);
        };
        if !(1..=AMOUNT_MAX).contains(&command.amount) {
            return Err(ResultCode::InvalidTransfer);
        }
        let reference = command.reference();
        if reference == 0 {
            return Err(ResultCode::UnknownReference);
        }
        let known = self.accounts.find_transfer(reference);
        if known != NIL {
            let known = self.accounts.transfers.at(known);
            let same = known.kind == CommandKind::Transfer && known.amount == command.amount;
            return if same { Ok(CommandResult::ACCEPTED) } else { Err(ResultCode::ReferenceConflict) };
        }
        for movement in movements {
            self.check_movement(movement)?;
        }
        self.check_funds(movements)?;
        // Taken out, because the movements change the rest of the engine. The run is over in any case.
        let movements = self.movements.take_run();
        self.accounts.add_transfer(Transfer {
            reference,
            amount: command.amount,
            account: first.source,
            currency: first.currency,
            kind: CommandKind::Transfer,
            status: TransferStatus::Done,
        });
        for (movement, following) in movements.iter().zip((0..command.order_id).rev()) {
            self.carry_out(movement, reference, command.order_id, following);
        }
        // Given back for the sake of its memory.
        self.movements.give_back(movements);
        Ok(CommandResult::ACCEPTED)
    }

    fn check_movement(&self, movement: &Movement) -> Result<(), ResultCode> {
        if self.accounts.find_currency(movement.currency) == NIL {
            return Err(ResultCode::InvalidCurrency);
        }
        if movement.source == 0 || movement.destination == 0 {
            return Err(ResultCode::AuthInvalidUser);
        }
        if movement.source == movement.destination {
            return Err(ResultCode::InvalidTransfer);
        }
        if !(1..=AMOUNT_MAX).contains(&movement.amount) {
            return Err(ResultCode::InvalidAmount);
        }
        Ok(())
    }

    /// Checks that each source can pay what it owes after the movements before.
    fn check_funds(&self, movements: &[Movement]) -> Result<(), ResultCode> {
        let mut changes: Vec<Change> = Vec::with_capacity(2 * movements.len());
        for &Movement { source, destination, currency, amount } in movements {
            let account = self.accounts.find_account(source);
            let balance = self.accounts.find_balance(account, self.accounts.find_currency(currency));
            let free = changes
                .iter()
                .filter(|change| change.account == source && change.currency == currency)
                .fold(self.accounts.balances.at(balance).free(), |free, change| add(free, change.amount));
            if free < amount {
                return Err(ResultCode::RiskNsf);
            }
            changes.push(Change { account: source, currency, amount: -amount });
            changes.push(Change { account: destination, currency, amount });
        }
        Ok(())
    }

    fn carry_out(&mut self, movement: &Movement, reference: u128, count: u64, following: u64) {
        let &Movement { source, destination, currency, amount } = movement;
        let currency_index = self.accounts.find_currency(currency);
        let source_index = self.accounts.find_account(source);
        let destination_index = match self.accounts.find_account(destination) {
            NIL => self.accounts.add_account(destination, true, StpMode::None),
            index => index,
        };
        let from = self.accounts.balance_or_new(source_index, currency_index);
        let to = self.accounts.balance_or_new(destination_index, currency_index);
        self.accounts.balances.at_mut(from).debit(amount);
        self.accounts.balances.at_mut(to).credit(amount);
        let [order_id, maker_order_id] = halves(reference);
        self.emit(&Event {
            currency,
            order_id,
            maker_order_id,
            account: source,
            maker_account: destination,
            quantity: count.cast_signed(),
            remaining: following.cast_signed(),
            amount,
            ..Event::new(EventType::Transfer)
        });
    }
}
