//! A growable array whose elements never move.
//!
//! A `Vec` copies everything it holds when it grows: 256 MB for four million orders. This array begins with
//! one chunk of the expected size, which is as fast as a `Vec`, and then allocates one more chunk at a time. So
//! no push costs more than the allocation of [`CHUNK`] elements: 64 pages for elements of one cache line.

/// Elements in each chunk but the first.
pub const CHUNK: usize = 4_096;

/// Elements in order, in chunks.
#[derive(Clone, Debug)]
pub struct ChunkedVec<T> {
    first: Vec<T>,
    first_max: usize,
    /// The chunks behind the first. The places behind the last element hold default values.
    later: Vec<Box<[T; CHUNK]>>,
    later_len: usize,
}

impl<T: Default> ChunkedVec<T> {
    /// An empty array with address space for `capacity` elements, at least a chunk. Its memory is only used
    /// as elements come.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let first_max = capacity.max(CHUNK);
        Self { first: Vec::with_capacity(first_max), first_max, later: Vec::new(), later_len: 0 }
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

    /// The element at `index`, or `default`. Behind the last element it may also be a default value.
    #[must_use]
    #[inline]
    pub fn get_or<'a>(&'a self, index: usize, default: &'a T) -> &'a T {
        if let Some(value) = self.first.get(index) {
            return value;
        }
        let index = index.wrapping_sub(self.first_max);
        match self.later.get(index / CHUNK) {
            Some(chunk) => chunk.get(index % CHUNK).unwrap_or(default),
            None => default,
        }
    }

    /// The element at `index`, to change.
    #[inline]
    pub fn get_mut_or<'a>(&'a mut self, index: usize, default: &'a mut T) -> &'a mut T {
        if index < self.first.len() {
            return self.first.get_mut(index).unwrap_or(default);
        }
        let index = index.wrapping_sub(self.first_max);
        match self.later.get_mut(index / CHUNK) {
            Some(chunk) => chunk.get_mut(index % CHUNK).unwrap_or(default),
            None => default,
        }
    }

    /// Appends `value`.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.first.len() < self.first_max {
            self.first.push(value);
        } else {
            self.push_later(value);
        }
    }

    fn push_later(&mut self, value: T) {
        if self.later_len / CHUNK == self.later.len() {
            // Collected, because an array literal would pass through the stack.
            let chunk: Box<[T]> = (0..CHUNK).map(|_| T::default()).collect();
            self.later.extend(chunk.try_into());
        }
        if let Some(chunk) = self.later.get_mut(self.later_len / CHUNK)
            && let Some(place) = chunk.get_mut(self.later_len % CHUNK)
        {
            *place = value;
            self.later_len += 1;
        }
    }

    /// Removes the last element and returns it. Its chunk stays allocated for the next push.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.later_len == 0 { self.first.pop() } else { self.pop_later() }
    }

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

    /// Bytes of memory that the chunks have allocated.
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
        assert!((0..expected.len()).all(|index| Some(array.get_or(index, &0)) == expected.get(index)));
        for index in [0, CHUNK, expected.len() - 1] {
            *array.get_mut_or(index, &mut 0) = 9;
            assert_eq!(array.get_or(index, &0), &9);
        }
        assert_eq!(array.get_or(9 * CHUNK, &5), &5);
        assert_eq!(array.get_mut_or(9 * CHUNK, &mut 5), &5);
        for _ in 0..expected.len() {
            assert!(array.pop().is_some());
        }
        assert_eq!((array.pop(), array.len(), array.get_or(0, &5)), (None, 0, &5));
    }

    #[test]
    fn growing_moves_no_element() {
        let mut array = ChunkedVec::with_capacity(0);
        array.push(1);
        let address = std::ptr::from_ref(array.get_or(0, &0));
        for value in 0..10 * CHUNK {
            array.push(value);
        }
        assert_eq!(std::ptr::from_ref(array.get_or(0, &0)), address);
    }

    #[test]
    fn room_for_a_capacity_is_set_aside_at_once() {
        assert_eq!(ChunkedVec::<u64>::with_capacity(2 * CHUNK).allocated_bytes(), 2 * CHUNK * 8);
    }
}
