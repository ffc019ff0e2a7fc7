//! A slab: values at stable 32-bit indices, freed places reused last in, first out.
//!
//! Index 0 is nothing (`NIL`). Reading at an index without a value answers the default value, so that no
//! access can panic; a holder of indices asks first where that would matter. Insert, remove and access are
//! O(1); growth doubles. At most 2^32 − 1 values.

use crate::fetch::fetch;
use crate::types::NIL;

/// Values of one type at stable indices.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    slots: Vec<T>,
    free: Vec<u32>,
    nil: T,
}

impl<T: Default> Slab<T> {
    /// An empty slab with room for `capacity` values before it grows.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let mut slots = Vec::with_capacity(capacity.saturating_add(1));
        slots.push(T::default());
        Self { slots, free: Vec::new(), nil: T::default() }
    }

    /// Whether no further value fits.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.free.is_empty() && u32::try_from(self.slots.len()).is_err()
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - 1 - self.free.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts `value` at an index of its own; `NIL` if the slab is full.
    #[inline]
    pub fn insert(&mut self, value: T) -> u32 {
        if let Some(index) = self.free.pop() {
            *self.at_mut(index) = value;
            return index;
        }
        let Ok(index) = u32::try_from(self.slots.len()) else {
            return NIL;
        };
        self.slots.push(value);
        index
    }

    /// The freed index that the insertion after `later` further ones will use, or `NIL`.
    #[must_use]
    #[inline]
    pub fn upcoming(&self, later: usize) -> u32 {
        let place = self.free.len().checked_sub(later + 1);
        place.and_then(|place| self.free.get(place)).copied().unwrap_or(NIL)
    }

    /// Frees `index`, which must hold a value.
    #[inline]
    pub fn remove(&mut self, index: u32) {
        debug_assert!(index != NIL && (index as usize) < self.slots.len(), "no value at {index}");
        *self.at_mut(index) = T::default();
        self.free.push(index);
    }

    /// The value at `index`, or the default one.
    #[must_use]
    #[inline]
    pub fn at(&self, index: u32) -> &T {
        self.slots.get(index as usize).unwrap_or(&self.nil)
    }

    /// Asks for the value at `index`, which is read soon.
    #[inline]
    pub fn fetch(&self, index: u32) {
        fetch(self.at(index));
    }

    /// The value at `index`, or one that nobody looks at.
    #[inline]
    pub fn at_mut(&mut self, index: u32) -> &mut T {
        self.slots.get_mut(index as usize).unwrap_or(&mut self.nil)
    }

    /// Every place from index 1 on; freed places hold the default value.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.slots).skip(1)
    }

    /// Bytes of memory that the slab has allocated.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<T>() + self.free.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_stable_and_reused_after_its_removal() {
        let mut slab = Slab::new(1);
        let first = slab.insert(10);
        let second = slab.insert(20);
        assert_eq!((first, second, slab.len()), (1, 2, 2));
        slab.remove(first);
        assert_eq!((*slab.at(second), slab.len()), (20, 1));
        assert_eq!((slab.upcoming(0), slab.upcoming(1)), (first, NIL));
        assert_eq!(slab.insert(30), first);
        assert!(!slab.is_empty() && !slab.is_full());
    }

    #[test]
    fn an_index_without_a_value_answers_the_default() {
        let mut slab = Slab::<i32>::new(0);
        assert_eq!((*slab.at(NIL), *slab.at(99)), (0, 0));
        *slab.at_mut(99) = 5;
        assert_eq!(*slab.at(NIL), 0);
    }
}
