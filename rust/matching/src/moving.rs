//! Money that enters, leaves or is held for an account, each movement once for its external reference.

use crate::engine::Engine;
use crate::events::{Command, Event, EventType, Outcome};
use crate::index::halves;
use crate::ledger::{Reference, ReferenceState};
use crate::types::{AMOUNT_MAX, Code, FEE_ACCOUNT, Kind, NIL, StpMode};

impl Engine {
    /// DEPOSIT, WITHDRAW, RESERVE and ADJUST.
    pub(crate) fn move_money(&mut self, kind: Kind, command: &Command) -> Result<Outcome, Code> {
        let &Command { account: number, amount, .. } = command;
        let currency = self.ledger.currency(command.symbol);
        if currency == NIL {
            return Err(Code::InvalidCurrency);
        }
        if number == 0 || (number == FEE_ACCOUNT && kind != Kind::Adjust) {
            return Err(Code::AuthInvalidUser);
        }
        let least = if kind == Kind::Adjust { -AMOUNT_MAX } else { 1 };
        if amount == 0 || !(least..=AMOUNT_MAX).contains(&amount) {
            return Err(Code::InvalidAmount);
        }
        let reference = command.reference();
        let known = self.ledger.reference(reference);
        if known != NIL {
            return self.repeated(known, kind, command);
        }
        if kind == Kind::Reserve && reference == 0 {
            return Err(Code::UnknownReference);
        }
        let account = self.ledger.account(number);
        let balance = self.ledger.balances.at(self.ledger.balance(account, currency));
        let change = if kind == Kind::Withdraw { -amount } else { amount };
        if kind == Kind::Reserve || change < 0 {
            if balance.free() < amount.abs() {
                return Err(Code::RiskNsf);
            }
        } else if self.ledger.currencies.at(currency).supply > AMOUNT_MAX - change {
            return Err(Code::InvalidAmount);
        }
        let account =
            if account == NIL { self.ledger.add_account(number, true, StpMode::None) } else { account };
        let balance = self.ledger.balance_or_new(account, currency);
        let total = if kind == Kind::Reserve {
            let entry = self.ledger.balances.at_mut(balance);
            entry.hold(amount, 0);
            entry.total
        } else {
            self.ledger.change_total(balance, change)
        };
        let state = if kind == Kind::Reserve { ReferenceState::Held } else { ReferenceState::Done };
        let entry = Reference { reference, amount, account: number, currency: command.symbol, kind, state };
        self.emit_balance(kind, &entry, change, total);
        self.ledger.remember(entry);
        Ok(Outcome { notional: total, ..Outcome::DONE })
    }

    /// RELEASE and COMMIT.
    pub(crate) fn end_reservation(&mut self, kind: Kind, command: &Command) -> Result<Outcome, Code> {
        let index = self.ledger.reference(command.reference());
        let entry = self.ledger.references.at(index).clone();
        let (state, change) = match kind {
            Kind::Commit => (ReferenceState::Completed, -entry.amount),
            _ => (ReferenceState::Released, 0),
        };
        if index == NIL || entry.kind != Kind::Reserve {
            return Err(Code::UnknownReference);
        }
        let named = (command.account, command.symbol, command.amount);
        if command.amount != 0 && named != (entry.account, entry.currency, entry.amount) {
            return Err(Code::ReferenceConflict);
        }
        if entry.state == state {
            return Ok(Outcome { notional: self.total_of(&entry), ..Outcome::DONE });
        }
        if entry.state != ReferenceState::Held {
            return Err(Code::ReservationClosed);
        }
        let account = self.ledger.account(entry.account);
        let balance = self.ledger.balance(account, self.ledger.currency(entry.currency));
        self.ledger.references.at_mut(index).state = state;
        self.ledger.balances.at_mut(balance).release(entry.amount, 0);
        let total = self.ledger.change_total(balance, change);
        let shown = if kind == Kind::Commit { change } else { entry.amount };
        self.emit_balance(kind, &entry, shown, total);
        Ok(Outcome { notional: total, ..Outcome::DONE })
    }

    /// The answer to a movement whose reference is known.
    fn repeated(&self, known: u32, kind: Kind, command: &Command) -> Result<Outcome, Code> {
        let entry = self.ledger.references.at(known);
        let same = entry.kind == kind
            && entry.account == command.account
            && entry.currency == command.symbol
            && entry.amount == command.amount;
        if !same {
            return Err(Code::ReferenceConflict);
        }
        if entry.state == ReferenceState::Released {
            return Err(Code::ReservationClosed);
        }
        Ok(Outcome { notional: self.total_of(entry), ..Outcome::DONE })
    }

    /// The total of a remembered movement's account in its currency, as it is now.
    fn total_of(&self, entry: &Reference) -> i128 {
        let account = self.ledger.account(entry.account);
        self.ledger.balances.at(self.ledger.balance(account, self.ledger.currency(entry.currency))).total
    }

    fn emit_balance(&mut self, kind: Kind, entry: &Reference, amount: i128, total: i128) {
        let [order_id, maker_order_id] = halves(entry.reference);
        self.emit(&Event {
            currency: entry.currency,
            order_id,
            maker_order_id,
            account: entry.account,
            amount,
            maker_amount: total,
            ..Event::new(EventType::Balance).by(kind)
        });
    }
}
