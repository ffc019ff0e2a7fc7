//! Keyed hashing: without the seed, nobody can choose keys that collide.
//!
//! A key is a few 32-bit words. Each pair of words costs one multiplication: a key `(x₀, x₁, x₂, x₃)` becomes
//! `(a₀ + x₁)·(a₁ + x₀) + (a₂ + x₃)·(a₃ + x₂) + b mod 2^64`, of which the upper 32 bits are kept
//! (pair-multiply-shift; Thorup, "High Speed Hashing for Integers and Strings"). For random `a` and `b` this
//! family is strongly universal: any two different keys, chosen without knowledge of the seed, get independent
//! uniform hashes. A fixed bijection then spreads keys in arithmetic progression, such as order ids.

use std::hash::{BuildHasher, RandomState};

/// Odd multiplier of the fixed bijection: 2^32 divided by the golden ratio.
const SPREAD: u32 = 0x9E37_79B9;

/// The secret of one core. Nothing that a core shows (results, events, snapshots, hashes of the state)
/// depends on it.
#[derive(Clone, Copy, Debug)]
pub struct HashSeed {
    low: [u64; 2],
    high: [u64; 2],
    addend: u64,
}

impl HashSeed {
    /// A seed from the operating system's randomness.
    #[must_use]
    pub fn random() -> Self {
        let state = RandomState::new();
        Self::from_words(|number| state.hash_one(number))
    }

    /// A seed made of five words; tests use it to repeat a run.
    pub fn from_words(word: impl Fn(u64) -> u64) -> Self {
        Self { low: [word(0), word(1)], high: [word(2), word(3)], addend: word(4) }
    }

    #[inline]
    fn hash_word(&self, word: u64) -> u32 {
        spread(pair_product(self.low, word).wrapping_add(self.addend))
    }

    /// The hash of a key of two 64-bit words.
    #[must_use]
    #[inline]
    pub fn hash_words(&self, low: u64, high: u64) -> u32 {
        let sum = pair_product(self.low, low).wrapping_add(pair_product(self.high, high));
        spread(sum.wrapping_add(self.addend))
    }
}

/// The product for the two halves of `word`.
#[inline]
fn pair_product(secrets: [u64; 2], word: u64) -> u64 {
    let [first, second] = secrets;
    first.wrapping_add(word >> 32).wrapping_mul(second.wrapping_add(word & u64::from(u32::MAX)))
}

/// Spreads the upper half of `sum`. The upper bits of the product are the best, and searches begin at the
/// lower bits of a hash, so the result is rotated.
#[inline]
fn spread(sum: u64) -> u32 {
    let upper = upper_half(sum);
    (upper ^ (upper >> 15)).wrapping_mul(SPREAD).rotate_left(16)
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
        for stride in [1, 2, 3, 64, 100, 4_096, 1 << 20, 1 << 32, 1 << 47, 0x9E37_79B9_7F4A_7C15] {
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
