//! A hash index: from a 64-bit hash to the slab index of the value that has the key.
//!
//! Layout: one array of 64-bit entries, a power of two long, each the low half of the hash and a slab index;
//! 0 is empty, for index 0 is nothing. Open addressing with linear probing: a search touches one cache line
//! and, but for equal 32-bit tags, only the one value that it looks for. A removal shifts later entries back,
//! so there are no tombstones and the cost never decays. At a load of one half the table doubles, without
//! reading the values. Memory: 16 to 32 bytes a value.

use crate::fetch::fetch;

/// Smallest table.
const ENTRIES_MIN: usize = 16;

/// Slab indices by the hash of their values' keys.
#[derive(Clone, Debug)]
pub struct HashIndex {
    entries: Vec<u64>,
    count: usize,
}

/// A well mixed hash of a 64-bit key: each bit of the key changes half of the bits.
#[must_use]
#[inline]
pub fn hash(key: u64) -> u64 {
    // The finisher of SplitMix64.
    let mixed = (key ^ (key >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// A well mixed hash of a 128-bit key.
#[must_use]
pub fn hash_wide(key: u128) -> u64 {
    let [low, high] = halves(key);
    hash(low ^ hash(high))
}

/// Low and high half of a 128-bit number.
#[must_use]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "each half is cut off on purpose")]
pub fn halves(value: u128) -> [u64; 2] {
    [value as u64, (value >> 64) as u64]
}

#[expect(clippy::cast_possible_truncation, reason = "an entry is two 32-bit halves")]
fn parts(entry: u64) -> (u32, u32) {
    ((entry >> 32) as u32, entry as u32)
}

impl HashIndex {
    /// An empty index with room for `capacity` values before it grows.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let entries = capacity.saturating_mul(2).saturating_add(1);
        Self { entries: vec![0; entries.next_power_of_two().max(ENTRIES_MIN)], count: 0 }
    }

    /// The index under `hash` that `matches`, or 0.
    #[must_use]
    #[inline]
    pub fn find(&self, hash: u64, mut matches: impl FnMut(u32) -> bool) -> u32 {
        let (_, tag) = parts(hash);
        let mut place = self.home(tag);
        loop {
            let (entry_tag, index) = parts(self.entry(place));
            if index == 0 || (entry_tag == tag && matches(index)) {
                return index;
            }
            place = self.next(place);
        }
    }

    /// Adds `index` under `hash`. The key must not be there yet, and the index is not 0.
    #[inline]
    pub fn insert(&mut self, hash: u64, index: u32) {
        if self.count >= self.entries.len() / 2 {
            self.grow();
        }
        self.put(hash << 32 | u64::from(index));
        self.count += 1;
    }

    /// Removes `index`, which was inserted under `hash`.
    #[inline]
    pub fn remove(&mut self, hash: u64, index: u32) {
        let (_, tag) = parts(hash);
        let wanted = u64::from(tag) << 32 | u64::from(index);
        let mut hole = self.home(tag);
        while self.entry(hole) != wanted {
            if self.entry(hole) == 0 {
                debug_assert!(false, "{index} is not in the index");
                return;
            }
            hole = self.next(hole);
        }
        self.count -= 1;
        let mask = self.entries.len() - 1;
        let mut place = self.next(hole);
        loop {
            let entry = self.entry(place);
            if entry == 0 {
                break;
            }
            let (entry_tag, _) = parts(entry);
            // An entry may move back to the hole if the hole is not before its home.
            if place.wrapping_sub(self.home(entry_tag)) & mask >= place.wrapping_sub(hole) & mask {
                self.set(hole, entry);
                hole = place;
            }
            place = self.next(place);
        }
        self.set(hole, 0);
    }

    /// Asks for the entry where a search for `hash` begins.
    #[inline]
    pub fn fetch(&self, hash: u64) {
        if let Some(entry) = self.entries.get(self.home(parts(hash).1)) {
            fetch(entry);
        }
    }

    /// The first index under a hash with the same 32-bit tag, or 0: nearly always what `find` answers, but
    /// found without reading a value.
    #[must_use]
    #[inline]
    pub fn likely(&self, hash: u64) -> u32 {
        self.find(hash, |_| true)
    }

    /// Bytes of memory that the index has allocated.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<u64>()
    }

    #[inline]
    fn home(&self, tag: u32) -> usize {
        tag as usize & (self.entries.len() - 1)
    }

    #[inline]
    fn next(&self, place: usize) -> usize {
        (place + 1) & (self.entries.len() - 1)
    }

    #[inline]
    fn entry(&self, place: usize) -> u64 {
        self.entries.get(place).copied().unwrap_or(0)
    }

    #[inline]
    fn set(&mut self, place: usize, entry: u64) {
        if let Some(target) = self.entries.get_mut(place) {
            *target = entry;
        }
    }

    fn put(&mut self, entry: u64) {
        let mut place = self.home(parts(entry).0);
        while self.entry(place) != 0 {
            place = self.next(place);
        }
        self.set(place, entry);
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![0; self.entries.len() * 2];
        for entry in std::mem::replace(&mut self.entries, larger) {
            if entry != 0 {
                self.put(entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn it_agrees_with_a_map_through_growth_and_removals() {
        let mut index = HashIndex::new(0);
        let mut keys: Vec<u64> = vec![0];
        let mut map: HashMap<u64, u32> = HashMap::new();
        let mut state = 1u64;
        for step in 1..20_000u32 {
            state = hash(state);
            let key = u64::from(step);
            keys.push(key);
            index.insert(hash(key), step);
            map.insert(key, step);
            if !state.is_multiple_of(3) {
                let victim = state % key + 1;
                if let Some(found) = map.remove(&victim) {
                    index.remove(hash(victim), found);
                }
            }
        }
        for key in 1..20_000u64 {
            let found = index.find(hash(key), |candidate| keys.get(candidate as usize) == Some(&key));
            assert_eq!(found, map.get(&key).copied().unwrap_or(0), "key {key}");
        }
    }

    #[test]
    fn equal_tags_are_told_apart_by_the_key() {
        let mut index = HashIndex::new(4);
        index.insert(7, 1);
        index.insert(7 | 1 << 40, 2);
        assert_eq!(index.find(7, |candidate| candidate == 2), 2);
        index.remove(7, 1);
        assert_eq!(index.find(7, |_| true), 2);
        assert_ne!(hash_wide(1), hash_wide(1 << 64));
    }
}
