//! The ladder of one side of a book: its levels in the order of their prices.
//!
//! Layout: a sorted list in chunks of at most 64 levels, and the first key of each chunk in another list.
//! A key is a rank turned round, so that the best level is the last one: it is kept at hand, a sweep takes
//! levels off the end, and what happens near the best moves little. A chunk that is full is split in two; two
//! neighbours that have become small are joined.
//! Cost: the best level O(1); another is found by two binary searches, and its insertion or removal moves at
//! most one chunk, and rarely the list of chunks. Memory: 16 to 64 bytes a level.

use crate::types::NIL;

/// Rank behind every price: the best of an empty ladder.
pub const RANK_NONE: i64 = i64::MAX;
/// Rank of the limit that every price satisfies.
pub const RANK_ANY: i64 = i64::MAX - 1;

/// Most levels in a chunk.
const CHUNK: usize = 64;
/// Two neighbours with no more levels than this together are joined.
const JOINED_MAX: usize = CHUNK / 2;

/// A level under its key, the negated rank.
type Entry = (i64, u32);

/// The levels of one side, by rank. A rank is a price seen from its side: the best has the least.
#[derive(Clone, Debug)]
pub struct Ladder {
    /// Ascending by key; no chunk is empty.
    chunks: Vec<Vec<Entry>>,
    /// The first key of each chunk.
    firsts: Vec<i64>,
    best_rank: i64,
    best: u32,
    count: usize,
}

impl Default for Ladder {
    fn default() -> Self {
        Self { chunks: Vec::new(), firsts: Vec::new(), best_rank: RANK_NONE, best: NIL, count: 0 }
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

    /// How many levels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds `level` at a new `rank`.
    pub fn add(&mut self, rank: i64, level: u32) {
        let key = -rank;
        let place = self.chunk_of(key);
        self.count += 1;
        if rank < self.best_rank {
            (self.best_rank, self.best) = (rank, level);
        }
        let Some(chunk) = self.chunks.get_mut(place) else {
            let mut chunk = Vec::with_capacity(CHUNK);
            chunk.push((key, level));
            self.chunks.push(chunk);
            self.firsts.push(key);
            return;
        };
        let within = chunk.partition_point(|&(other, _)| other < key);
        chunk.insert(within, (key, level));
        if within == 0 {
            self.set_first(place, key);
        }
        if self.chunks.get(place).is_some_and(|chunk| chunk.len() == CHUNK) {
            self.split(place);
        }
    }

    /// Takes the level at `rank` away.
    pub fn remove(&mut self, rank: i64) {
        let key = -rank;
        let place = self.chunk_of(key);
        let Some(chunk) = self.chunks.get_mut(place) else {
            return;
        };
        let within = chunk.partition_point(|&(other, _)| other < key);
        if chunk.get(within).is_none_or(|&(other, _)| other != key) {
            debug_assert!(false, "no level at rank {rank}");
            return;
        }
        chunk.remove(within);
        self.count -= 1;
        match chunk.first() {
            None => {
                self.chunks.remove(place);
                self.firsts.remove(place);
            }
            Some(&(first, _)) => {
                self.set_first(place, first);
                self.join(place);
            }
        }
        if rank == self.best_rank {
            (self.best_rank, self.best) = self
                .chunks
                .last()
                .and_then(|chunk| chunk.last())
                .map_or((RANK_NONE, NIL), |&(key, level)| (-key, level));
        }
    }

    /// The levels, best first.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.entries().map(|&(_, level)| level)
    }

    /// The levels that satisfy a limit of `rank`, best first.
    pub fn crossed_by(&self, rank: i64) -> impl Iterator<Item = u32> {
        self.entries().take_while(move |(key, _)| -key <= rank).map(|&(_, level)| level)
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.chunks.iter().rev().flat_map(|chunk| chunk.iter().rev())
    }

    /// Where `key` is, or would be: the last chunk that begins no later, else the first.
    #[inline]
    fn chunk_of(&self, key: i64) -> usize {
        self.firsts.partition_point(|&first| first <= key).saturating_sub(1)
    }

    #[inline]
    fn set_first(&mut self, place: usize, key: i64) {
        if let Some(first) = self.firsts.get_mut(place) {
            *first = key;
        }
    }

    #[cold]
    fn split(&mut self, place: usize) {
        let Some(chunk) = self.chunks.get_mut(place) else {
            return;
        };
        let mut upper = Vec::with_capacity(CHUNK);
        upper.extend(chunk.drain(CHUNK / 2..));
        let first = upper.first().map_or(0, |&(key, _)| key);
        self.chunks.insert(place + 1, upper);
        self.firsts.insert(place + 1, first);
    }

    /// Joins the chunk at `place` with a neighbour if both are small.
    #[inline]
    fn join(&mut self, place: usize) {
        let length = |place: usize| self.chunks.get(place).map_or(CHUNK, Vec::len);
        let (before, own, after) = (length(place.wrapping_sub(1)), length(place), length(place + 1));
        if before + own <= JOINED_MAX {
            self.join_with_next(place - 1);
        } else if own + after <= JOINED_MAX {
            self.join_with_next(place);
        }
    }

    #[cold]
    fn join_with_next(&mut self, place: usize) {
        let upper = self.chunks.remove(place + 1);
        self.firsts.remove(place + 1);
        if let Some(lower) = self.chunks.get_mut(place) {
            lower.extend(upper);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::hash;
    use std::collections::BTreeMap;

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
        for (rank, best) in [(3, 50), (9, 50), (5, NIL)] {
            ladder.remove(rank);
            assert_eq!(ladder.best(), best);
        }
    }

    #[test]
    fn it_agrees_with_a_map_through_splits_and_joins() {
        let mut ladder = Ladder::default();
        let mut map = BTreeMap::new();
        let mut state = 0;
        for step in 0..40_000u32 {
            state = hash(state + 1);
            let rank = (state % 3_000).cast_signed() - 1_500;
            // First it grows, then it shrinks.
            let adds = state >> 40 & 15 < if step < 20_000 { 11 } else { 5 };
            if adds && !map.contains_key(&rank) {
                ladder.add(rank, step + 1);
                map.insert(rank, step + 1);
            } else if !adds && map.remove(&rank).is_some() {
                ladder.remove(rank);
            }
            assert_eq!(
                (ladder.best(), ladder.len()),
                (map.values().next().copied().unwrap_or(NIL), map.len())
            );
            if step % 97 == 0 {
                assert!(ladder.iter().eq(map.values().copied()));
                assert!(ladder.crossed_by(rank).eq(map.range(..=rank).map(|(_, &level)| level)));
                let firsts: Vec<i64> =
                    ladder.chunks.iter().filter_map(|chunk| Some(chunk.first()?.0)).collect();
                assert_eq!(ladder.firsts, firsts);
            }
        }
    }
}
