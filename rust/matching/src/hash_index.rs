//! A hash index: finds the slab index of the value that has a key.
//!
//! Layout: an array of 64-bit entries, a power of two long, at most half full. An entry is the key's 32-bit
//! hash and a slab index; an index of 0 marks a free entry. The upper bits of the hash choose the entry where
//! a search begins, and the search goes on in the same block of [`BLOCK`] entries. So a search touches one
//! cache line and one value in nearly all cases. A removal moves later entries of the block back, so there
//! are no tombstones and searches never slow down. Memory: 16 to 32 bytes a key.
//!
//! Bounds: the hash is keyed (`key_hash`), so nobody can choose keys that collide. Even with keys that all
//! collide, a search, an insertion or a removal visits at most 2 × [`BLOCK`] entries, and an insertion that
//! also moves a block of a growing table `BLOCK`² / 2 more: a key whose block is full goes to an ordered map.
//!
//! Growth: at a load of one half a table of double size is allocated, and each insertion moves one block of
//! the old table into two blocks of the new one, last block first, until none is left. A block tells which of
//! the two tables holds it, so a search still looks into one. The old table gives its memory back in pieces,
//! because unmapping 64 MB at once takes milliseconds.

use std::collections::BTreeMap;

use crate::invariant::require;
use crate::key_hash::{HashSeed, Key};
use crate::prefetch::prefetch;
use crate::work;

/// Entries that are searched together: 2 KiB.
pub const BLOCK: usize = 256;
/// Entries that the old table gives back together: 1 MiB.
const ENTRIES_FREED_TOGETHER: usize = 1 << 17;
/// Bits of a hash.
const HASH_BITS: u32 = 32;
/// Mask of the largest table, which uses every bit of a hash.
const MASK_MAX: usize = u32::MAX as usize;

/// Slab indices by the keys of their values.
#[derive(Clone, Debug)]
pub struct HashIndex<K> {
    /// The table. While the index grows it is shorter than `mask` + 1: the blocks behind its end have moved
    /// to `larger`.
    table: Vec<u64>,
    /// The table of double size while the index grows, else empty.
    larger: Vec<u64>,
    /// The bits of a hash that are a place in `table`.
    mask: usize,
    count: usize,
    /// Most keys before the index grows; 0 while it grows.
    count_max: usize,
    seed: HashSeed,
    /// Keys whose block was full.
    overflow: BTreeMap<K, u32>,
}

/// An entry: a hash above a slab index.
#[inline]
fn entry(hash: u32, index: u32) -> u64 {
    u64::from(hash) << HASH_BITS | u64::from(index)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "an entry is two 32-bit halves")]
fn parts(entry: u64) -> (u32, u32) {
    ((entry >> HASH_BITS) as u32, entry as u32)
}

/// The place in a table where a search for `hash` begins.
#[inline]
fn place_of(hash: u32, mask: usize) -> usize {
    hash as usize & mask
}

/// The mask of a table of double size.
#[inline]
fn larger_mask(mask: usize) -> usize {
    mask << 1 | 1
}

type Block = [u64; BLOCK];

/// The block of a table that has `place`.
#[inline]
fn block_at(table: &[u64], place: usize) -> Option<&Block> {
    table.as_chunks().0.get(place / BLOCK)
}

#[inline]
fn block_at_mut(table: &mut [u64], place: usize) -> Option<&mut Block> {
    table.as_chunks_mut().0.get_mut(place / BLOCK)
}

/// The entry at `place` modulo [`BLOCK`].
#[inline]
fn entry_at(block: &Block, place: usize) -> u64 {
    block.get(place % BLOCK).copied().unwrap_or(0)
}

#[inline]
fn set_entry(block: &mut Block, place: usize, entry: u64) {
    if let Some(target) = block.get_mut(place % BLOCK) {
        *target = entry;
    }
}

/// Puts an entry into the first free place from `start` on. Returns false if the block is full.
#[inline]
fn put(block: &mut Block, start: usize, entry: u64) -> bool {
    for place in start..start + BLOCK {
        work::count(1);
        if entry_at(block, place) == 0 {
            set_entry(block, place, entry);
            return true;
        }
    }
    false
}

/// Takes out an entry whose search begins at `start`, and closes the gap. Returns false if the entry is not
/// there.
#[inline]
fn take_out(block: &mut Block, start: usize, removed: u64) -> bool {
    let mut gap = start;
    loop {
        work::count(1);
        let entry = entry_at(block, gap);
        if entry == removed {
            break;
        }
        gap += 1;
        if entry == 0 || gap == start + BLOCK {
            return false;
        }
    }
    for place in gap + 1..gap + BLOCK {
        work::count(1);
        let entry = entry_at(block, place);
        if entry == 0 {
            break;
        }
        // An entry may move back to the gap unless its search begins behind the gap.
        let from_start = place.wrapping_sub(parts(entry).0 as usize) % BLOCK;
        if from_start >= place - gap {
            set_entry(block, gap, entry);
            gap = place;
        }
    }
    set_entry(block, gap, 0);
    true
}

impl<K: Key> HashIndex<K> {
    /// An empty index with room for `capacity` keys before it grows.
    #[must_use]
    pub fn with_capacity(capacity: usize, seed: HashSeed) -> Self {
        let entries = capacity.saturating_mul(2).next_power_of_two().max(BLOCK);
        Self {
            table: vec![0; entries],
            larger: Vec::new(),
            mask: entries - 1,
            count: 0,
            count_max: entries / 2,
            seed,
            overflow: BTreeMap::new(),
        }
    }

    /// The index of `key`, or 0. `matches` tells whether the value at an index has the key; it is asked about
    /// values with the same hash only.
    #[must_use]
    #[inline]
    pub fn find(&self, key: K, mut matches: impl FnMut(u32) -> bool) -> u32 {
        let wanted = key.hash(&self.seed);
        // Most searches end at their first entry, so only that is inlined.
        if let Some(&first) = self.table.get(place_of(wanted, self.mask)) {
            work::count(1);
            let (hash, index) = parts(first);
            if index == 0 && self.overflow.is_empty() {
                return 0;
            }
            if hash == wanted && index != 0 && matches(index) {
                return index;
            }
        }
        self.search(key, wanted, matches)
    }

    #[inline(never)]
    fn search(&self, key: K, wanted: u32, mut matches: impl FnMut(u32) -> bool) -> u32 {
        if let Some(block) = self.home(wanted) {
            let start = wanted as usize;
            for place in start..start + BLOCK {
                work::count(1);
                let (hash, index) = parts(entry_at(block, place));
                if index == 0 {
                    break;
                }
                if hash == wanted && matches(index) {
                    return index;
                }
            }
        }
        if self.overflow.is_empty() { 0 } else { self.find_overflowed(key) }
    }

    #[cold]
    fn find_overflowed(&self, key: K) -> u32 {
        self.overflow.get(&key).copied().unwrap_or(0)
    }

    /// Adds `index` under `key`. The key must be new, and the index must not be 0.
    #[inline]
    pub fn insert(&mut self, key: K, index: u32) {
        self.count += 1;
        if self.count > self.count_max {
            self.grow();
        }
        let hash = key.hash(&self.seed);
        let block = self.home_mut(hash);
        if !block.is_some_and(|block| put(block, hash as usize, entry(hash, index))) {
            self.overflow.insert(key, index);
        }
    }

    /// Removes `index`, which was inserted under `key`.
    #[inline]
    pub fn remove(&mut self, key: K, index: u32) {
        self.count -= 1;
        let hash = key.hash(&self.seed);
        let block = self.home_mut(hash);
        if !block.is_some_and(|block| take_out(block, hash as usize, entry(hash, index))) {
            let overflowed = self.overflow.remove(&key);
            require(overflowed == Some(index), "an index does not have the entry that is removed");
        }
    }

    /// The hash of `key`, for `prefetch` and `likely`.
    #[must_use]
    #[inline]
    pub fn hash(&self, key: K) -> u32 {
        key.hash(&self.seed)
    }

    /// Prefetches the entry where a search for a key with `hash` begins.
    #[inline]
    pub fn prefetch(&self, hash: u32) {
        if let Some(entry) = self.home(hash).and_then(|block| block.get(hash as usize % BLOCK)) {
            prefetch(entry);
        }
    }

    /// The first index with `hash` in its block, or 0: nearly always what `find` returns, without reading a
    /// value.
    #[must_use]
    #[inline]
    pub fn likely(&self, hash: u32) -> u32 {
        let Some(block) = self.home(hash) else {
            return 0;
        };
        let start = hash as usize;
        let entries = (start..start + BLOCK).map(|place| parts(entry_at(block, place)));
        entries.into_iter().find(|&(found, index)| index == 0 || found == hash).map_or(0, |(_, index)| index)
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of memory that the tables have allocated.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        (self.table.capacity() + self.larger.capacity()) * size_of::<u64>()
    }

    /// The block that holds keys with `hash`.
    #[inline]
    fn home(&self, hash: u32) -> Option<&Block> {
        let block = block_at(&self.table, place_of(hash, self.mask));
        if block.is_some() { block } else { self.moved_home(hash) }
    }

    #[cold]
    fn moved_home(&self, hash: u32) -> Option<&Block> {
        block_at(&self.larger, place_of(hash, larger_mask(self.mask)))
    }

    /// As `home`, to change.
    #[inline]
    fn home_mut(&mut self, hash: u32) -> Option<&mut Block> {
        let place = place_of(hash, self.mask);
        if place < self.table.len() {
            block_at_mut(&mut self.table, place)
        } else {
            block_at_mut(&mut self.larger, place_of(hash, larger_mask(self.mask)))
        }
    }

    /// Begins to grow, or moves the last block of the table to the larger one.
    #[cold]
    fn grow(&mut self) {
        if self.larger.is_empty() {
            if self.mask >= MASK_MAX {
                return;
            }
            self.larger = vec![0; self.table.len() * 2];
            self.count_max = 0;
        }
        let larger_mask = larger_mask(self.mask);
        let kept = self.table.len() - BLOCK;
        for &entry in self.table.iter().skip(kept).filter(|&&entry| entry != 0) {
            // There is room: the two blocks that take these entries are empty but for them.
            let start = place_of(parts(entry).0, larger_mask);
            if let Some(block) = block_at_mut(&mut self.larger, start) {
                put(block, start, entry);
            }
        }
        self.table.truncate(kept);
        if kept == 0 {
            self.table = std::mem::take(&mut self.larger);
            self.mask = larger_mask;
            self.count_max = self.table.len() / 2;
        } else if kept.is_multiple_of(ENTRIES_FREED_TOGETHER) {
            self.table.shrink_to_fit();
        }
    }
}

#[cfg(test)]
impl<K> HashIndex<K> {
    /// How many keys are in the ordered map because their block was full.
    pub(crate) fn overflowed(&self) -> usize {
        self.overflow.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// A key whose hash is the key itself, whatever the seed: an attacker who knows the seed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    struct Chosen(u32);

    impl Key for Chosen {
        fn hash(self, _: &HashSeed) -> u32 {
            self.0
        }
    }

    /// A key that has the same hash as all others.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Equal(u64);

    impl Key for Equal {
        fn hash(self, _: &HashSeed) -> u32 {
            0x1234_5678
        }
    }

    struct Random(HashSeed, u64);

    impl Random {
        fn below(&mut self, limit: u32) -> u32 {
            self.1 += 1;
            self.1.hash(&self.0) % limit
        }
    }

    fn random() -> Random {
        Random(HashSeed::from_words(|number| (number + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93)), 0)
    }

    /// Inserts, finds and removes random keys below `keys`, and compares with a map.
    fn agrees_with_a_map<K: Key + std::hash::Hash>(key: impl Fn(u32) -> K, keys: u32, steps: u32) {
        let mut random = random();
        let mut index = HashIndex::with_capacity(0, HashSeed::random());
        let mut map: HashMap<K, u32> = HashMap::new();
        for step in 0..steps {
            let number = 1 + random.below(keys);
            let wanted = key(number);
            // First the index grows, then it shrinks.
            let inserts = random.below(8) < if step < steps / 2 { 6 } else { 2 };
            match map.get(&wanted) {
                None if inserts => {
                    index.insert(wanted, number);
                    map.insert(wanted, number);
                }
                Some(&found) if !inserts => {
                    index.remove(wanted, found);
                    map.remove(&wanted);
                }
                _ => {}
            }
            let probe = 1 + random.below(keys);
            let found = index.find(key(probe), |candidate| key(candidate) == key(probe));
            assert_eq!(found, map.get(&key(probe)).copied().unwrap_or(0), "key {probe} in step {step}");
            assert_eq!(index.len(), map.len());
        }
        for number in 1..=keys {
            let found = index.find(key(number), |candidate| key(candidate) == key(number));
            assert_eq!(found, map.get(&key(number)).copied().unwrap_or(0), "key {number}");
        }
    }

    #[test]
    #[should_panic(expected = "an index does not have the entry that is removed")]
    fn a_removal_of_an_unknown_entry_ends_the_core() {
        let mut index = HashIndex::with_capacity(0, HashSeed::random());
        index.insert(Chosen(1), 7);
        index.remove(Chosen(1), 8);
    }

    #[test]
    fn it_agrees_with_a_map_through_growth_and_removals() {
        agrees_with_a_map(u64::from, 60_000, 400_000);
        agrees_with_a_map(|number| u128::from(number) << 90, 3_000, 30_000);
    }

    #[test]
    fn it_agrees_with_a_map_when_every_key_is_in_one_block() {
        agrees_with_a_map(Chosen, 2_000, 60_000);
    }

    #[test]
    fn equal_hashes_are_told_apart_by_the_key() {
        let mut index = HashIndex::with_capacity(4, HashSeed::random());
        index.insert(Equal(1), 1);
        index.insert(Equal(2), 2);
        assert_eq!(index.find(Equal(2), |candidate| candidate == 2), 2);
        index.remove(Equal(1), 1);
        let likely = index.likely(index.hash(Equal(2)));
        assert_eq!((likely, index.len(), index.is_empty()), (2, 1, false));
        assert_eq!(index.find(Equal(1), |candidate| candidate == 1), 0);
    }

    #[test]
    fn growing_moves_a_bounded_part_of_the_table_in_each_insertion() {
        let mut index = HashIndex::with_capacity(0, HashSeed::random());
        let (mut most, mut growing) = (0, 0u32);
        for key in 1..=300_000u32 {
            index.insert(u64::from(key), key);
            most = most.max(work::take());
            growing += u32::from(!index.larger.is_empty());
        }
        // A block is half full when it moves, and each of its entries visits one or two places.
        assert!(most < 4 * BLOCK as u64, "an insertion visited {most} entries");
        assert!(growing > 1_000, "the index grew at once");
        assert_eq!(index.overflowed(), 0);
        // The next insertions finish the growth, and the old table is gone.
        for key in 300_001..=310_000u32 {
            index.insert(u64::from(key), key);
        }
        assert!(index.larger.is_empty());
        assert!(index.allocated_bytes() <= 32 * index.len());
    }

    #[test]
    fn an_index_gives_the_old_tables_memory_back_while_it_grows() {
        let mut index = HashIndex::with_capacity(1 << 19, HashSeed::random());
        let full = index.allocated_bytes();
        for key in 1..=(1 << 19) + 2_100 {
            index.insert(u64::from(key), key);
        }
        assert!(!index.larger.is_empty());
        // Of 4,096 blocks 2,100 have moved, so three quarters of the old table remain at most.
        assert!(index.allocated_bytes() <= 2 * full + full * 3 / 4);
    }

    #[test]
    fn keys_with_chosen_hashes_cost_no_more_than_a_block_each() {
        let mut index = HashIndex::with_capacity(0, HashSeed::random());
        for key in 1..=20_000u32 {
            index.insert(Equal(u64::from(key)), key);
            let visits = work::take();
            assert!(visits <= (BLOCK + BLOCK * (BLOCK + 1) / 2) as u64, "insertion {key}: {visits}");
        }
        assert!(index.overflowed() > 19_000);
        for key in 1..=20_000u32 {
            assert_eq!(index.find(Equal(u64::from(key)), |candidate| candidate == key), key);
            index.remove(Equal(u64::from(key)), key);
            assert!(work::take() <= 3 * BLOCK as u64, "search and removal of {key}");
        }
        assert!(index.is_empty());
    }
}
