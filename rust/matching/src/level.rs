//! Price levels, and the ladder of one side of a book.
//!
//! Layout: a level is one cache line with the ends of its queue; orders link each other (see `book`). A
//! ladder maps ranks to levels, a rank being the price seen from its side: the best price has the least
//! rank. The best level is kept at hand, so that matching does not search.
//! Cost: the best level O(1), any other O(log levels). Memory: 64 bytes a level and its entry in the map.

use std::collections::BTreeMap;

use crate::types::{NIL, Side};

/// Rank behind every price: the best of an empty ladder, and above the limit of an order without one.
pub const RANK_NONE: i64 = i64::MAX;
/// Limit that every resting price satisfies.
pub const RANK_ANY: i64 = i64::MAX - 1;

/// The queue of orders at one price.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub struct Level {
    /// Σ remaining of the queue, scaled.
    pub total: i128,
    /// Scaled price.
    pub price: i64,
    /// Oldest order.
    pub head: u32,
    /// Newest order.
    pub tail: u32,
    /// Orders in the queue.
    pub count: u32,
    /// The book it belongs to.
    pub book: u32,
    /// The side it belongs to.
    pub side: Side,
}

/// The levels of one side by rank.
#[derive(Clone, Debug)]
pub struct Ladder {
    levels: BTreeMap<i64, u32>,
    best_rank: i64,
    best: u32,
}

impl Default for Ladder {
    fn default() -> Self {
        Self { levels: BTreeMap::new(), best_rank: RANK_NONE, best: NIL }
    }
}

impl Ladder {
    /// Whether the best level satisfies a limit of `rank`.
    #[must_use]
    #[inline]
    pub fn crosses(&self, rank: i64) -> bool {
        self.best_rank <= rank
    }

    /// The best level, or `NIL`.
    #[must_use]
    #[inline]
    pub fn best(&self) -> u32 {
        self.best
    }

    /// Adds `level` at a new `rank`.
    #[inline]
    pub fn add(&mut self, rank: i64, level: u32) {
        self.levels.insert(rank, level);
        if rank < self.best_rank {
            (self.best_rank, self.best) = (rank, level);
        }
    }

    /// Takes the level at `rank` away.
    #[inline]
    pub fn remove(&mut self, rank: i64) {
        self.levels.remove(&rank);
        if rank == self.best_rank {
            (self.best_rank, self.best) =
                self.levels.first_key_value().map_or((RANK_NONE, NIL), |(&rank, &level)| (rank, level));
        }
    }

    /// The levels, best first.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.levels.values().copied()
    }

    /// The levels that satisfy a limit of `rank`, best first.
    pub fn crossed_by(&self, rank: i64) -> impl Iterator<Item = u32> {
        self.levels.range(..=rank).map(|(_, &level)| level)
    }

    /// How many levels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_level_has_the_least_rank() {
        let mut ladder = Ladder::default();
        assert!(ladder.is_empty() && !ladder.crosses(RANK_ANY));
        for (rank, level) in [(5, 50), (3, 30), (9, 90)] {
            ladder.add(rank, level);
        }
        assert_eq!((ladder.best(), ladder.len()), (30, 3));
        assert_eq!(ladder.iter().collect::<Vec<_>>(), [30, 50, 90]);
        assert_eq!(ladder.crossed_by(5).collect::<Vec<_>>(), [30, 50]);
        assert!(ladder.crosses(3) && !ladder.crosses(2));
        ladder.remove(3);
        assert_eq!(ladder.best(), 50);
        ladder.remove(9);
        ladder.remove(5);
        assert_eq!(ladder.best(), NIL);
    }
}
