//! Transfers: money that enters, leaves or is held for an account, each once per external reference.

use crate::accounts::{Transfer, TransferStatus};
use crate::engine::Engine;
use crate::key_hash::halves;
use crate::records::{Command, CommandResult, Event, EventType};
use crate::types::{AMOUNT_MAX, CommandKind, FEE_ACCOUNT, NIL, ResultCode, StpMode};

impl Engine {
    /// DEPOSIT, WITHDRAW, RESERVE and ADJUST.
    pub(crate) fn transfer(
        &mut self,
        kind: CommandKind,
        command: &Command,
    ) -> Result<CommandResult, ResultCode> {
        let &Command { account: number, amount, .. } = command;
        let currency = self.accounts.find_currency(command.symbol);
        if currency == NIL {
            return Err(ResultCode::InvalidCurrency);
        }
        if number == 0 || (number == FEE_ACCOUNT && kind != CommandKind::Adjust) {
            return Err(ResultCode::AuthInvalidUser);
        }
        let least = if kind == CommandKind::Adjust { -AMOUNT_MAX } else { 1 };
        if amount == 0 || !(least..=AMOUNT_MAX).contains(&amount) {
            return Err(ResultCode::InvalidAmount);
        }
        let reference = command.reference();
        let known = self.accounts.find_transfer(reference);
        if known != NIL {
            return self.repeat(known, kind, command);
        }
        if kind == CommandKind::Reserve && reference == 0 {
            return Err(ResultCode::UnknownReference);
        }
        let account = self.accounts.find_account(number);
        let balance = self.accounts.balances.at(self.accounts.find_balance(account, currency));
        let change = if kind == CommandKind::Withdraw { -amount } else { amount };
        if kind == CommandKind::Reserve || change < 0 {
            if balance.free() < amount.abs() {
                return Err(ResultCode::RiskNsf);
            }
        } else if self.accounts.currencies.at(currency).supply > AMOUNT_MAX - change {
            return Err(ResultCode::InvalidAmount);
        }
        let account =
            if account == NIL { self.accounts.add_account(number, true, StpMode::None) } else { account };
        let balance = self.accounts.balance_or_new(account, currency);
        let total = if kind == CommandKind::Reserve {
            let entry = self.accounts.balances.at_mut(balance);
            entry.hold(amount, 0);
            entry.total
        } else {
            self.accounts.change_total(balance, change)
        };
        let status = if kind == CommandKind::Reserve { TransferStatus::Held } else { TransferStatus::Done };
        let transfer =
            Transfer { reference, amount, account: number, currency: command.symbol, kind, status };
        self.emit_balance(kind, &transfer, change, total);
        self.accounts.add_transfer(transfer);
        Ok(CommandResult { notional: total, ..CommandResult::ACCEPTED })
    }

    /// RELEASE and COMMIT.
    pub(crate) fn end_reservation(
        &mut self,
        kind: CommandKind,
        command: &Command,
    ) -> Result<CommandResult, ResultCode> {
        let index = self.accounts.find_transfer(command.reference());
        let transfer = self.accounts.transfers.at(index).clone();
        let (status, change) = match kind {
            CommandKind::Commit => (TransferStatus::Completed, -transfer.amount),
            _ => (TransferStatus::Released, 0),
        };
        if index == NIL || transfer.kind != CommandKind::Reserve {
            return Err(ResultCode::UnknownReference);
        }
        let sent = (command.account, command.symbol, command.amount);
        if command.amount != 0 && sent != (transfer.account, transfer.currency, transfer.amount) {
            return Err(ResultCode::ReferenceConflict);
        }
        if transfer.status == status {
            return Ok(CommandResult { notional: self.total_of(&transfer), ..CommandResult::ACCEPTED });
        }
        if transfer.status != TransferStatus::Held {
            return Err(ResultCode::ReservationClosed);
        }
        let account = self.accounts.find_account(transfer.account);
        let currency = self.accounts.find_currency(transfer.currency);
        let balance = self.accounts.find_balance(account, currency);
        self.accounts.transfers.at_mut(index).status = status;
        self.accounts.balances.at_mut(balance).release(transfer.amount, 0);
        let total = self.accounts.change_total(balance, change);
        let shown = if kind == CommandKind::Commit { change } else { transfer.amount };
        self.emit_balance(kind, &transfer, shown, total);
        Ok(CommandResult { notional: total, ..CommandResult::ACCEPTED })
    }

    /// The result of a command whose reference is known.
    fn repeat(&self, known: u32, kind: CommandKind, command: &Command) -> Result<CommandResult, ResultCode> {
        let transfer = self.accounts.transfers.at(known);
        let same = transfer.kind == kind
            && transfer.account == command.account
            && transfer.currency == command.symbol
            && transfer.amount == command.amount;
        if !same {
            return Err(ResultCode::ReferenceConflict);
        }
        if transfer.status == TransferStatus::Released {
            return Err(ResultCode::ReservationClosed);
        }
        Ok(CommandResult { notional: self.total_of(transfer), ..CommandResult::ACCEPTED })
    }

    /// The present total of a transfer's account in its currency.
    fn total_of(&self, transfer: &Transfer) -> i128 {
        let account = self.accounts.find_account(transfer.account);
        let currency = self.accounts.find_currency(transfer.currency);
        self.accounts.balances.at(self.accounts.find_balance(account, currency)).total
    }

    fn emit_balance(&mut self, kind: CommandKind, transfer: &Transfer, amount: i128, total: i128) {
        let [order_id, maker_order_id] = halves(transfer.reference);
        self.emit(&Event {
            currency: transfer.currency,
            order_id,
            maker_order_id,
            account: transfer.account,
            amount,
            maker_amount: total,
            ..Event::new(EventType::Balance).of_transfer(kind)
        });
    }
}
