//! A slab: values at stable 32-bit indices. A freed index is reused last in, first out.
//!
//! Index 0 ([`NIL`]) stands for "nothing", and reading it returns the default value. Changing it, or using an index
//! that was never given out, ends the core. Insert, remove and access are O(1), and growing moves no value. A slab holds at most
//! 2^32 − 1 values.

use crate::chunked_vec::ChunkedVec;
use crate::invariant::{broken, require};
use crate::prefetch::prefetch;
use crate::types::NIL;

/// Values of one type at stable indices.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    slots: ChunkedVec<T>,
    free: ChunkedVec<u32>,
}

impl<T: Default> Slab<T> {
    /// An empty slab with address space for `capacity` values; more get memory in small chunks, which makes
    /// access a little slower.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut slots = ChunkedVec::with_capacity(capacity.saturating_add(1));
        slots.push(T::default());
        Self { slots, free: ChunkedVec::with_capacity(0) }
    }

    /// Whether the slab can hold no further value.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.free.is_empty() && u32::try_from(self.slots.len()).is_err()
    }

    /// How many values there are.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len() - 1 - self.free.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stores `value` and returns its index. The slab must not be full.
    #[inline]
    pub fn insert(&mut self, value: T) -> u32 {
        if let Some(index) = self.free.pop() {
            *self.at_mut(index) = value;
            return index;
        }
        let Ok(index) = u32::try_from(self.slots.len()) else {
            broken("a slab is full");
        };
        self.slots.push(value);
        index
    }

    /// The index that the next insertion but `later` will reuse; `NIL` if it will take a new one.
    #[must_use]
    #[inline]
    pub fn next_index(&self, later: usize) -> u32 {
        let place = self.free.len().checked_sub(later + 1);
        place.map_or(NIL, |place| *self.free.at(place))
    }

    /// Frees `index`, which must hold a value.
    #[inline]
    pub fn remove(&mut self, index: u32) {
        *self.at_mut(index) = T::default();
        self.free.push(index);
    }

    /// The value at `index`; of `NIL` or a freed index the default value.
    #[must_use]
    #[inline]
    pub fn at(&self, index: u32) -> &T {
        self.slots.at(index as usize)
    }

    /// Prefetches the value at `index`.
    #[inline]
    pub fn prefetch(&self, index: u32) {
        prefetch(self.at(index));
    }

    /// The value at `index`, to change.
    #[inline]
    pub fn at_mut(&mut self, index: u32) -> &mut T {
        // A change there would change what everything without a value reads.
        require(index != NIL, "a change of nothing");
        self.slots.at_mut(index as usize)
    }

    /// Every index from 1 on with its value; a freed index has the default value.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(self.slots.iter()).skip(1)
    }

    /// Bytes of address space that the slab has.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        self.slots.allocated_bytes() + self.free.allocated_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_stable_and_reused_after_its_removal() {
        let mut slab = Slab::with_capacity(1);
        let first = slab.insert(10);
        let second = slab.insert(20);
        assert_eq!((first, second, slab.len()), (1, 2, 2));
        slab.remove(first);
        assert_eq!((*slab.at(second), slab.len()), (20, 1));
        assert_eq!((slab.next_index(0), slab.next_index(1)), (first, NIL));
        assert_eq!(slab.insert(30), first);
        assert!(!slab.is_empty() && !slab.is_full());
    }

    #[test]
    fn nothing_and_a_freed_index_have_the_default_value() {
        let mut slab = Slab::with_capacity(0);
        let index = slab.insert(5);
        slab.remove(index);
        assert_eq!((*slab.at(NIL), *slab.at(index)), (0, 0));
    }

    #[test]
    #[should_panic(expected = "a change of nothing")]
    fn a_change_of_nothing_ends_the_core() {
        *Slab::<i32>::with_capacity(0).at_mut(NIL) = 5;
    }

    #[test]
    #[should_panic(expected = "a change of nothing")]
    fn a_removal_of_nothing_ends_the_core() {
        Slab::<i32>::with_capacity(0).remove(NIL);
    }
}
