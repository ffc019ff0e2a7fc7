//! A price level: one cache line with the ends of its queue; orders link each other (see `book`).

use crate::types::Side;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_one_cache_line() {
        assert_eq!(size_of::<Level>(), 64);
    }
}
