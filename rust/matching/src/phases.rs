//! The commands that change the phase of a market.
//!
//! A market whose book is crossed, because orders have collected, enters a phase in which it may not be crossed by an
//! uncross (`auction`).

use crate::engine::Engine;
use crate::market_phase::{MarketPhase, PhaseState};
use crate::order_book::OrderBook;
use crate::records::{Command, CommandResult};
use crate::types::{NIL, ResultCode, Side};

impl Engine {
    /// Whether the best bid of a book reaches its best ask.
    pub(crate) fn is_crossed(&self, book: &OrderBook) -> bool {
        let best_bid = book.side(Side::Buy).best();
        best_bid != NIL && book.side(Side::Sell).crosses(self.books.levels.at(best_bid).price)
    }

    /// `SET_PHASE`. From the first one on, the core remembers prices.
    pub(crate) fn set_phase(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let book = self.books.find_book(command.symbol);
        if book == NIL {
            return Err(ResultCode::InvalidSymbol);
        }
        let phase = MarketPhase::from_record(command.order_type).ok_or(ResultCode::InvalidPhase)?;
        let ends = u64::try_from(command.amount).map_err(|_| ResultCode::InvalidPhase)?;
        let may_end = phase != MarketPhase::Continuous && ends > command.timestamp;
        if phase == MarketPhase::Uncrossing || (ends != 0 && !may_end) {
            return Err(ResultCode::InvalidPhase);
        }
        if self.books.book(book).phase.phase == MarketPhase::Uncrossing {
            return Err(ResultCode::PhaseUncrossing);
        }
        self.track_prices();
        self.enter_phase(book, phase, ends);
        Ok(CommandResult::ACCEPTED)
    }

    /// `ADVANCE_PHASE`. An inactive market waits until it is active.
    pub(crate) fn advance_phase(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        let book = self.active_book(command)?;
        let PhaseState { phase, ends, .. } = self.books.book(book).phase;
        if phase == MarketPhase::Uncrossing {
            self.advance_uncross(book);
            self.activate_fired(book);
        } else if ends != 0 && ends <= command.timestamp {
            self.enter_phase(book, MarketPhase::Continuous, 0);
        } else {
            return Err(ResultCode::PhaseNotOver);
        }
        Ok(CommandResult::ACCEPTED)
    }

    fn enter_phase(&mut self, index: u32, phase: MarketPhase, ends: u64) {
        let book = self.books.book(index);
        let (active, crossed) = (book.active, self.is_crossed(book));
        if crossed && phase.is_uncrossed() {
            self.books.book_mut(index).phase =
                PhaseState { phase: MarketPhase::Uncrossing, following: phase, ends, price: 0 };
            self.advance_uncross(index);
        } else {
            self.books.book_mut(index).phase = PhaseState { phase, ends, ..PhaseState::default() };
            self.emit_phase(index, 0);
        }
        if active {
            self.activate_fired(index);
        }
    }
}
