//! Sizing: how much of the book a budget in the quote asset pays for, to the lot.

use crate::engine::Engine;
use crate::order_book::OrderBook;
use crate::types::{ResultCode, STEPS_MASK, Side, StpMode};
use crate::work;

/// The order whose quantity is to be found.
pub(crate) struct Sizing<'a> {
    pub(crate) book: &'a OrderBook,
    pub(crate) side: Side,
    /// The limit as a rank of the opposite side.
    pub(crate) limit_rank: i64,
    pub(crate) stp_mode: StpMode,
    pub(crate) owner: u64,
    /// The balance that receives; orders of the opposite side hold its currency.
    pub(crate) receiving: u32,
    /// The largest quantity.
    pub(crate) most: i64,
}

/// The steps through the book that a command may still take.
pub(crate) struct StepCount(u64);

impl StepCount {
    /// The steps that the flags of a PLACE allow: 2^n, or any number if n is 0.
    pub(crate) fn of(flags: u8) -> Self {
        match flags & STEPS_MASK {
            0 => Self(u64::MAX),
            exponent => Self(1u64.checked_shl(exponent.into()).unwrap_or(u64::MAX)),
        }
    }

    /// Takes one step, if one is left.
    #[inline]
    pub(crate) fn take(&mut self) -> Result<(), ResultCode> {
        work::count(1);
        self.0 = self.0.checked_sub(1).ok_or(ResultCode::FokTooDeep)?;
        Ok(())
    }
}

/// What is still to be spent and found on the way through the book.
struct SizingWalk {
    total: i64,
    left: i128,
}

impl SizingWalk {
    /// Takes what fits of `available` at `price`. Returns whether that was all of it.
    fn take(&mut self, sizing: &Sizing<'_>, price: i64, available: i64) -> bool {
        let book = sizing.book;
        let lots = self.left / book.notional(price, book.lot).max(1);
        let fitting = lots.checked_mul(i128::from(book.lot)).unwrap_or(i128::MAX);
        let fitting = i64::try_from(fitting).unwrap_or(i64::MAX);
        let quantity = available.min(fitting).min(sizing.most - self.total);
        self.total += quantity;
        self.left -= book.notional(price, quantity);
        quantity == available
    }
}

impl Engine {
    /// The most whole lots, up to `sizing.most`, whose notional in matching is at most `budget`. Changes nothing.
    ///
    /// Ends where a resting order does not fit entirely, where no step is left, and at an order of the same owner
    /// unless self-trade prevention will remove that one.
    ///
    /// Cost: O(levels), or O(orders) if the order may meet one of its own owner; at most as many as `steps`.
    #[inline(never)]
    pub(crate) fn affordable_quantity(&self, sizing: &Sizing<'_>, budget: i128, mut steps: StepCount) -> i64 {
        let may_meet_itself = sizing.stp_mode != StpMode::None
            && (self.accounts.balances.at(sizing.receiving).locked != 0
                || self.accounts.owners.has_several(sizing.owner));
        let mut walk = SizingWalk { total: 0, left: budget };
        for level in sizing.book.side(sizing.side.opposite()).crossed_by(sizing.limit_rank) {
            let price = self.books.levels.at(level).price;
            if !may_meet_itself {
                let level = self.books.levels.at(level);
                let total = i64::try_from(level.total + level.hidden).unwrap_or(i64::MAX);
                if steps.take().is_err() || !walk.take(sizing, price, total) {
                    return walk.total;
                }
                continue;
            }
            let mut hidden = 0i64;
            for (_, order) in self.books.queue(level) {
                if steps.take().is_err() {
                    return walk.total;
                }
                let resting = self.accounts.balances.at(order.held_balance).account_number;
                if self.accounts.owners.of(resting) == sizing.owner {
                    if sizing.stp_mode == StpMode::CancelResting {
                        continue;
                    }
                    return walk.total;
                }
                let shown = self.books.shown(order);
                if !walk.take(sizing, price, shown) {
                    return walk.total;
                }
                hidden = hidden.saturating_add(order.remaining - shown);
            }
            // What is hidden comes after all that the price shows.
            if !walk.take(sizing, price, hidden) {
                return walk.total;
            }
        }
        walk.total
    }
}
