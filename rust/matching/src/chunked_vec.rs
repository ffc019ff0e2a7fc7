//! A growable array whose elements never move.
//!
//! A `Vec` copies everything it holds when it grows: 256 MB for four million orders. This array begins with
//! one large chunk, whose memory the operating system hands out page by page as elements come. There access
//! costs what it costs in a `Vec`. Behind it the array allocates one more chunk at a time. So no push costs more
//! than the allocation of [`CHUNK`] elements: 64 pages for elements of one cache line.

use crate::invariant::broken;

/// Elements in each chunk but the first.
pub const CHUNK: usize = 4_096;

/// Elements in order, in chunks.
#[derive(Clone, Debug)]
pub struct ChunkedVec<T> {
    /// The first chunk. It never grows beyond its capacity.
    first: Vec<T>,
    /// The chunks behind the first. The places behind the last element hold default values.
    later: Vec<Box<[T; CHUNK]>>,
    later_len: usize,
}

impl<T: Default> ChunkedVec<T> {
    /// An empty array whose first chunk has address space for `capacity` elements, at least for [`CHUNK`]. If
    /// there is not that much, the first chunk is as small as the others.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut first = Vec::new();
        if first.try_reserve_exact(capacity.max(CHUNK)).is_err() {
            first.reserve_exact(CHUNK);
        }
        Self { first, later: Vec::new(), later_len: 0 }
    }

    /// How many elements there are.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.first.len() + self.later_len
    }

    /// Whether there are none.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// The element at `index`. Far behind the last element the core ends; close behind it there is a default value.
    #[must_use]
    #[inline]
    pub fn at(&self, index: usize) -> &T {
        match self.first.get(index) {
            Some(value) => value,
            None => self.at_later(index),
        }
    }

    #[cold]
    fn at_later(&self, index: usize) -> &T {
        let index = index.wrapping_sub(self.first.capacity());
        match self.later.get(index / CHUNK).and_then(|chunk| chunk.get(index % CHUNK)) {
            Some(value) => value,
            None => broken("an index lies behind the end of its array"),
        }
    }

    /// The element at `index`, to change.
    #[inline]
    pub fn at_mut(&mut self, index: usize) -> &mut T {
        if index >= self.first.len() {
            return self.at_mut_later(index);
        }
        match self.first.get_mut(index) {
            Some(value) => value,
            None => broken("an index lies behind the end of its array"),
        }
    }

    #[cold]
    fn at_mut_later(&mut self, index: usize) -> &mut T {
        let index = index.wrapping_sub(self.first.capacity());
        match self.later.get_mut(index / CHUNK).and_then(|chunk| chunk.get_mut(index % CHUNK)) {
            Some(value) => value,
            None => broken("an index lies behind the end of its array"),
        }
    }

    /// Appends `value`.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.first.len() < self.first.capacity() {
            self.first.push(value);
        } else {
            self.push_later(value);
        }
    }

    #[cold]
    fn push_later(&mut self, value: T) {
        if self.later_len / CHUNK == self.later.len() {
            // Collected, because an array literal would pass through the stack.
            let chunk: Box<[T]> = (0..CHUNK).map(|_| T::default()).collect();
            self.later.extend(chunk.try_into());
        }
        let place = self
            .later
            .get_mut(self.later_len / CHUNK)
            .and_then(|chunk| chunk.get_mut(self.later_len % CHUNK));
        let Some(place) = place else {
            broken("an array has no room for its next element");
        };
        *place = value;
        self.later_len += 1;
    }

    /// Removes the last element and returns it. Its chunk stays allocated for the next push.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.later_len == 0 { self.first.pop() } else { self.pop_later() }
    }

    #[cold]
    fn pop_later(&mut self) -> Option<T> {
        let last = self.later_len.checked_sub(1)?;
        self.later_len = last;
        self.later.get_mut(last / CHUNK)?.get_mut(last % CHUNK).map(std::mem::take)
    }

    /// The elements in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let later = self.later.iter().flat_map(|chunk| chunk.iter()).take(self.later_len);
        self.first.iter().chain(later)
    }

    /// Bytes of address space that the chunks have. Of the first chunk only the used part has memory.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        (self.first.capacity() + self.later.len() * CHUNK) * size_of::<T>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_a_vec_across_chunk_boundaries() {
        let mut array = ChunkedVec::with_capacity(0);
        let mut expected = Vec::new();
        for value in 0..3 * CHUNK {
            array.push(value);
            expected.push(value);
        }
        for _ in 0..=CHUNK {
            assert_eq!(array.pop(), expected.pop());
        }
        array.push(7);
        expected.push(7);
        assert_eq!((array.len(), array.is_empty()), (expected.len(), false));
        assert!(array.iter().eq(&expected));
        assert!((0..expected.len()).all(|index| Some(array.at(index)) == expected.get(index)));
        for index in [0, CHUNK, expected.len() - 1] {
            *array.at_mut(index) = 9;
            assert_eq!(array.at(index), &9);
        }
        for _ in 0..expected.len() {
            assert!(array.pop().is_some());
        }
        assert_eq!((array.pop(), array.len()), (None, 0));
    }

    #[test]
    #[should_panic(expected = "an index lies behind the end of its array")]
    fn a_read_behind_the_end_ends_the_core() {
        let mut array = ChunkedVec::with_capacity(0);
        array.push(1);
        let _ = array.at(9 * CHUNK);
    }

    #[test]
    #[should_panic(expected = "an index lies behind the end of its array")]
    fn a_change_behind_the_end_ends_the_core() {
        let mut array = ChunkedVec::with_capacity(0);
        array.push(1);
        *array.at_mut(9 * CHUNK) = 2;
    }

    #[test]
    fn growing_moves_no_element() {
        let mut array = ChunkedVec::with_capacity(0);
        array.push(1);
        let address = std::ptr::from_ref(array.at(0));
        for value in 0..10 * CHUNK {
            array.push(value);
        }
        assert_eq!(std::ptr::from_ref(array.at(0)), address);
    }

    #[test]
    fn a_copy_grows_without_moving_its_elements_too() {
        let mut array = ChunkedVec::with_capacity(0);
        array.push(1);
        let mut copy = array.clone();
        let address = std::ptr::from_ref(copy.at(0));
        for value in 2..3 * CHUNK {
            copy.push(value);
        }
        assert_eq!(std::ptr::from_ref(copy.at(0)), address);
        assert!(copy.iter().copied().eq(1..3 * CHUNK));
        assert!((0..3 * CHUNK - 1).all(|index| *copy.at(index) == index + 1));
    }

    #[test]
    fn room_for_a_capacity_is_set_aside_at_once() {
        assert_eq!(ChunkedVec::<u64>::with_capacity(2 * CHUNK).allocated_bytes(), 2 * CHUNK * 8);
    }

    #[test]
    fn without_address_space_the_first_chunk_is_small() {
        let mut array = ChunkedVec::with_capacity(usize::MAX);
        array.push(5u64);
        assert_eq!((*array.at(0), array.allocated_bytes()), (5, CHUNK * 8));
    }
}
