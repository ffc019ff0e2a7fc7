//! Commands on accounts, currencies and symbols.

use crate::engine::Engine;
use crate::order_book::OrderBook;
use crate::records::{Command, CommandResult, CreateSymbol};
use crate::types::{FEE_ACCOUNT, FLAG_ACTIVE, NIL, ResultCode, StpMode, fees_valid};

/// A pair of fees in basis points, if they follow the rules.
fn checked_fees(taker: i64, maker: i64) -> Result<(i16, i16), ResultCode> {
    let invalid = |_| ResultCode::InvalidSymbolSpecification;
    if !fees_valid(taker, maker) {
        return Err(ResultCode::InvalidSymbolSpecification);
    }
    Ok((i16::try_from(taker).map_err(invalid)?, i16::try_from(maker).map_err(invalid)?))
}

fn is_active(command: &Command) -> bool {
    command.flags & FLAG_ACTIVE != 0
}

impl Engine {
    pub(crate) fn create_currency(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        if command.symbol == 0 {
            return Err(ResultCode::InvalidCurrency);
        }
        if self.accounts.find_currency(command.symbol) != NIL {
            return Err(ResultCode::CurrencyAlreadyExists);
        }
        self.accounts.add_currency(command.symbol);
        Ok(CommandResult::ACCEPTED)
    }

    pub(crate) fn delete_currency(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let currency = self.accounts.find_currency(command.symbol);
        if currency == NIL {
            return Err(ResultCode::InvalidCurrency);
        }
        let uses = |book: &OrderBook| book.base == command.symbol || book.quote == command.symbol;
        // No total is negative, so the supply is 0 only if every total is.
        if self.books.books().any(uses) || self.accounts.currencies.at(currency).supply != 0 {
            return Err(ResultCode::CurrencyInUse);
        }
        self.accounts.remove_currency(currency);
        Ok(CommandResult::ACCEPTED)
    }

    pub(crate) fn create_symbol(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        if command.symbol == 0 {
            return Err(ResultCode::InvalidSymbol);
        }
        if self.books.find_book(command.symbol) != NIL {
            return Err(ResultCode::SymbolAlreadyExists);
        }
        self.add_symbol(command.symbol, &CreateSymbol::from_command(command))?;
        Ok(CommandResult::ACCEPTED)
    }

    /// Adds an active book for a new symbol and returns its index.
    pub(crate) fn add_symbol(
        &mut self,
        symbol: u32,
        specification: &CreateSymbol,
    ) -> Result<u32, ResultCode> {
        let base = self.accounts.find_currency(specification.base);
        let quote = self.accounts.find_currency(specification.quote);
        if base == NIL || quote == NIL || base == quote {
            return Err(ResultCode::InvalidCurrency);
        }
        let mut book = OrderBook::new(symbol, specification).ok_or(ResultCode::InvalidSymbolSpecification)?;
        (book.base_index, book.quote_index) = (base, quote);
        book.fee_balance = self.accounts.balance_or_new(self.accounts.fee_account(), quote);
        Ok(self.books.add_book(book))
    }

    pub(crate) fn update_symbol(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let index = self.books.find_book(command.symbol);
        if index == NIL {
            return Err(ResultCode::InvalidSymbol);
        }
        let fees = checked_fees(command.order_id.cast_signed(), command.account.cast_signed())?;
        let book = self.books.book_mut(index);
        (book.taker_fee_bps, book.maker_fee_bps) = fees;
        book.active = is_active(command);
        Ok(CommandResult::ACCEPTED)
    }

    pub(crate) fn delete_symbol(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let index = self.books.find_book(command.symbol);
        if index == NIL {
            return Err(ResultCode::InvalidSymbol);
        }
        let waits = self.waiting.are_on(index) || self.lists.are_on(index);
        if self.books.book(index).orders != 0 || waits {
            return Err(ResultCode::SymbolHasOpenOrders);
        }
        self.waiting.remove_book(index);
        self.books.remove_book(index);
        Ok(CommandResult::ACCEPTED)
    }

    pub(crate) fn create_account(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        if command.account == 0 {
            return Err(ResultCode::AuthInvalidUser);
        }
        if self.accounts.find_account(command.account) != NIL {
            return Err(ResultCode::AccountAlreadyExists);
        }
        let stp_mode = StpMode::from_record(command.order_type).ok_or(ResultCode::UnsupportedCommand)?;
        self.accounts.add_account(command.account, is_active(command), stp_mode);
        Ok(CommandResult::ACCEPTED)
    }

    pub(crate) fn set_account(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let index = self.accounts.find_account(command.account);
        if index == NIL || command.account == FEE_ACCOUNT {
            return Err(ResultCode::AuthInvalidUser);
        }
        let stp_mode = StpMode::from_record(command.order_type).ok_or(ResultCode::UnsupportedCommand)?;
        let account = self.accounts.accounts.at_mut(index);
        (account.active, account.stp_mode) = (is_active(command), stp_mode);
        Ok(CommandResult::ACCEPTED)
    }

    pub(crate) fn set_account_fees(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let index = self.accounts.find_account(command.account);
        if index == NIL {
            return Err(ResultCode::AuthInvalidUser);
        }
        let fees = if is_active(command) {
            Some(checked_fees(command.order_id.cast_signed(), command.price)?)
        } else {
            None
        };
        self.accounts.accounts.at_mut(index).fees = fees;
        Ok(CommandResult::ACCEPTED)
    }

    pub(crate) fn set_owner(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let (account, owner) = (command.account, command.order_id);
        if !self.accounts.may_be_linked(account) {
            return Err(ResultCode::AuthInvalidUser);
        }
        if owner == 0 {
            self.accounts.owners.unlink(account);
            return Ok(CommandResult::ACCEPTED);
        }
        if owner == account || !self.accounts.may_be_linked(owner) {
            return Err(ResultCode::AuthInvalidUser);
        }
        self.accounts.owners.link(account, owner);
        Ok(CommandResult::ACCEPTED)
    }
}
