//! A price level: one cache line with the two ends of its queue. Orders link each other (`order_books`).

use crate::types::Side;

/// The queue of orders at one price.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub struct Level {
    /// Σ of what the orders of the queue show, scaled.
    pub total: i128,
    /// Σ of what they hide, scaled.
    pub hidden: i128,
    /// Scaled price.
    pub price: i64,
    /// Index of the oldest order.
    pub head: u32,
    /// Index of the newest order.
    pub tail: u32,
    /// Orders in the queue.
    pub count: u32,
    /// Index of the book.
    pub book: u32,
    /// Side of the book.
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
