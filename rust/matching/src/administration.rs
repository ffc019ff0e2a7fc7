//! Accounts, currencies and symbols.

use crate::book::Book;
use crate::engine::Engine;
use crate::events::{Command, Outcome, SymbolRequest};
use crate::types::{Code, FEE_ACCOUNT, FLAG_ACTIVE, NIL, StpMode, fees_valid};

/// A pair of fees in basis points, if they keep the rules.
fn fees_allowed(taker: i64, maker: i64) -> Result<(i16, i16), Code> {
    let invalid = |_| Code::InvalidSymbolSpecification;
    if !fees_valid(taker, maker) {
        return Err(Code::InvalidSymbolSpecification);
    }
    Ok((i16::try_from(taker).map_err(invalid)?, i16::try_from(maker).map_err(invalid)?))
}

fn is_active(command: &Command) -> bool {
    command.flags & FLAG_ACTIVE != 0
}

impl Engine {
    pub(crate) fn create_currency(&mut self, command: &Command) -> Result<Outcome, Code> {
        if command.symbol == 0 {
            return Err(Code::InvalidCurrency);
        }
        if self.ledger.currency(command.symbol) != NIL {
            return Err(Code::CurrencyAlreadyExists);
        }
        self.ledger.add_currency(command.symbol);
        Ok(Outcome::DONE)
    }

    pub(crate) fn delete_currency(&mut self, command: &Command) -> Result<Outcome, Code> {
        let currency = self.ledger.currency(command.symbol);
        if currency == NIL {
            return Err(Code::InvalidCurrency);
        }
        let uses = |book: &Book| book.base == command.symbol || book.quote == command.symbol;
        let in_symbol = self.books.books.iter().any(|(_, book)| book.symbol != 0 && uses(book));
        // No total is negative, so the sum is 0 only if every one is.
        if in_symbol || self.ledger.currencies.at(currency).supply != 0 {
            return Err(Code::CurrencyInUse);
        }
        self.ledger.remove_currency(currency);
        Ok(Outcome::DONE)
    }

    pub(crate) fn create_symbol(&mut self, command: &Command) -> Result<Outcome, Code> {
        if command.symbol == 0 {
            return Err(Code::InvalidSymbol);
        }
        if self.books.book(command.symbol) != NIL {
            return Err(Code::SymbolAlreadyExists);
        }
        let request = SymbolRequest::from_command(command);
        self.add_symbol(command.symbol, &request)?;
        Ok(Outcome::DONE)
    }

    /// Adds a book for a new symbol, which is active.
    pub(crate) fn add_symbol(&mut self, symbol: u32, request: &SymbolRequest) -> Result<u32, Code> {
        let (base, quote) = (self.ledger.currency(request.base), self.ledger.currency(request.quote));
        if base == NIL || quote == NIL || base == quote {
            return Err(Code::InvalidCurrency);
        }
        let mut book = Book::new(symbol, request).ok_or(Code::InvalidSymbolSpecification)?;
        (book.base_index, book.quote_index) = (base, quote);
        book.fee_balance = self.ledger.balance_or_new(self.ledger.account(FEE_ACCOUNT), quote);
        Ok(self.books.add_book(book))
    }

    pub(crate) fn update_symbol(&mut self, command: &Command) -> Result<Outcome, Code> {
        let index = self.books.book(command.symbol);
        if index == NIL {
            return Err(Code::InvalidSymbol);
        }
        let fees = fees_allowed(command.order_id.cast_signed(), command.account.cast_signed())?;
        let book = self.books.books.at_mut(index);
        (book.taker_fee_bps, book.maker_fee_bps) = fees;
        book.active = is_active(command);
        Ok(Outcome::DONE)
    }

    pub(crate) fn delete_symbol(&mut self, command: &Command) -> Result<Outcome, Code> {
        let index = self.books.book(command.symbol);
        if index == NIL {
            return Err(Code::InvalidSymbol);
        }
        if self.books.books.at(index).orders != 0 {
            return Err(Code::SymbolHasOpenOrders);
        }
        self.books.remove_book(index);
        Ok(Outcome::DONE)
    }

    pub(crate) fn create_account(&mut self, command: &Command) -> Result<Outcome, Code> {
        if command.account == 0 {
            return Err(Code::AuthInvalidUser);
        }
        if self.ledger.account(command.account) != NIL {
            return Err(Code::AccountAlreadyExists);
        }
        let stp_mode = StpMode::from_record(command.order_type).ok_or(Code::UnsupportedCommand)?;
        self.ledger.add_account(command.account, is_active(command), stp_mode);
        Ok(Outcome::DONE)
    }

    pub(crate) fn set_account(&mut self, command: &Command) -> Result<Outcome, Code> {
        let index = self.ledger.account(command.account);
        if index == NIL || command.account == FEE_ACCOUNT {
            return Err(Code::AuthInvalidUser);
        }
        let stp_mode = StpMode::from_record(command.order_type).ok_or(Code::UnsupportedCommand)?;
        let account = self.ledger.accounts.at_mut(index);
        (account.active, account.stp_mode) = (is_active(command), stp_mode);
        Ok(Outcome::DONE)
    }

    pub(crate) fn set_account_fees(&mut self, command: &Command) -> Result<Outcome, Code> {
        let index = self.ledger.account(command.account);
        if index == NIL {
            return Err(Code::AuthInvalidUser);
        }
        let fees = if is_active(command) {
            Some(fees_allowed(command.order_id.cast_signed(), command.price)?)
        } else {
            None
        };
        self.ledger.accounts.at_mut(index).fees = fees;
        Ok(Outcome::DONE)
    }
}
