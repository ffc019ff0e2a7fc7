//! Keyed hashing: without the seed, nobody can choose keys that collide.
//!
//! A key of one or two 64-bit words becomes `(a₀·w₀ + a₁·w₁ + b) mod 2^128`, of which the upper 64 bits are
//! kept (Dietzfelbinger's multiply-add-shift). For random `a₀`, `a₁`, `b` this family is strongly universal:
//! any two different keys, chosen without knowledge of the seed, get independent uniform hashes. A fixed
//! bijection then spreads keys in arithmetic progression, such as order ids, and its upper 32 bits are the
//! hash.

use std::hash::{BuildHasher, RandomState};

/// Odd multiplier of the fixed bijection: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The secret of one core. Nothing that a core shows (results, events, snapshots, hashes of the state)
/// depends on it.
#[derive(Clone, Copy, Debug)]
pub struct HashSeed {
    low_multiplier: u128,
    high_multiplier: u128,
    addend: u128,
}

impl HashSeed {
    /// A seed from the operating system's randomness.
    #[must_use]
    pub fn random() -> Self {
        let state = RandomState::new();
        Self::from_words(|number| state.hash_one(number))
    }

    /// A seed made of six words; tests use it to repeat a run.
    pub fn from_words(word: impl Fn(u64) -> u64) -> Self {
        let wide = |number| u128::from(word(number)) << 64 | u128::from(word(number + 1));
        Self { low_multiplier: wide(0), high_multiplier: wide(2), addend: wide(4) }
    }

    #[inline]
    fn hash_word(&self, word: u64) -> u32 {
        spread(self.low_multiplier.wrapping_mul(u128::from(word)).wrapping_add(self.addend))
    }

    /// The hash of a key of two words.
    #[must_use]
    #[inline]
    pub fn hash_words(&self, low: u64, high: u64) -> u32 {
        let low = self.low_multiplier.wrapping_mul(u128::from(low));
        let high = self.high_multiplier.wrapping_mul(u128::from(high));
        spread(low.wrapping_add(high).wrapping_add(self.addend))
    }
}

#[inline]
fn spread(sum: u128) -> u32 {
    let [_, upper] = halves(sum);
    upper_half((upper ^ (upper >> 32)).wrapping_mul(SPREAD))
}

/// Low and high half of a 128-bit number.
#[must_use]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "each half is cut off on purpose")]
pub fn halves(value: u128) -> [u64; 2] {
    [value as u64, (value >> 64) as u64]
}

#[inline]
fn upper_half(value: u64) -> u32 {
    (value >> 32) as u32
}

/// What an index finds values by.
pub trait Key: Copy + Ord {
    /// The key's hash under `seed`.
    fn hash(self, seed: &HashSeed) -> u32;
}

impl Key for u32 {
    #[inline]
    fn hash(self, seed: &HashSeed) -> u32 {
        seed.hash_word(u64::from(self))
    }
}

impl Key for u64 {
    #[inline]
    fn hash(self, seed: &HashSeed) -> u32 {
        seed.hash_word(self)
    }
}

impl Key for u128 {
    #[inline]
    fn hash(self, seed: &HashSeed) -> u32 {
        let [low, high] = halves(self);
        seed.hash_words(low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// How many of `keys` share the most frequent value of the upper 12 bits of their hash.
    fn fullest(seed: &HashSeed, keys: impl Iterator<Item = u64>) -> u32 {
        let mut counts = vec![0; 1 << 12];
        for key in keys {
            if let Some(count) = counts.get_mut((key.hash(seed) >> 20) as usize) {
                *count += 1;
            }
        }
        counts.into_iter().max().unwrap_or(0)
    }

    #[test]
    fn progressions_of_any_stride_spread_as_random_keys_do() {
        // 65,536 random keys are 16 for each value, and 60 for any of them once in 10^12 tests.
        for stride in [1, 2, 3, 64, 100, 4_096, 1 << 20, 1 << 32, 1 << 47, SPREAD] {
            let seed = HashSeed::random();
            let keys = (0..1 << 16).map(|number: u64| number.wrapping_mul(stride));
            assert!(fullest(&seed, keys) < 60, "stride {stride}: {seed:?}");
        }
    }

    #[test]
    fn two_seeds_hash_the_same_keys_differently() {
        let (one, other) = (HashSeed::random(), HashSeed::random());
        let equal = (0..1_000u64).filter(|key| key.hash(&one) == key.hash(&other)).count();
        assert!(equal < 5, "{equal} of 1,000 hashes are equal under two seeds");
    }

    #[test]
    fn each_word_and_each_half_of_a_key_counts() {
        let seed = HashSeed::random();
        let hashes: HashSet<u32> = (0..128).map(|bit| (1u128 << bit).hash(&seed)).collect();
        assert!(hashes.len() > 120);
    }

    #[test]
    fn the_halves_of_a_wide_number_come_low_first() {
        assert_eq!(halves(5 | 7 << 64), [5, 7]);
    }
}
