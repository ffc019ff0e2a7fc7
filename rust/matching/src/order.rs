//! A resting order: 64 bytes, one cache line.
//!
//! Its price, side and symbol are its level's; its owner is its balance's.

use crate::types::OrderType;

/// A resting order. Its price, side and symbol are its level's.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub struct Order {
    /// Its id.
    pub id: u64,
    /// Scaled quantity still to fill.
    pub remaining: i64,
    /// Scaled price that the hold of a buy is reckoned with; 0 for a sell.
    pub reserve_price: i64,
    /// Scaled quantity ordered.
    pub quantity: i64,
    /// The level it rests at.
    pub level: u32,
    /// The next younger order of the level.
    pub next: u32,
    /// The next older order of the level.
    pub previous: u32,
    /// The owner's balance in the currency that the order holds: quote for a buy, base for a sell.
    pub held_balance: u32,
    /// The owner's balance in the other currency.
    pub other_balance: u32,
    /// Its fees and its type.
    pub terms: Terms,
    /// When it was placed, nanoseconds since 1970.
    pub timestamp: u64,
}

/// Fees and type of a resting order in 4 bytes, so that an order is one cache line.
///
/// Only GTC and `POST_ONLY` orders rest and no taker fee is negative: the second kind has its taker fee
/// stored with all bits inverted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms {
    taker: i16,
    /// Fee when it rests, in basis points; negative is a rebate.
    pub maker_fee_bps: i16,
}

impl Terms {
    /// Terms of a `POST_ONLY` order, or of a GTC one. The taker fee is not negative.
    #[must_use]
    #[inline]
    pub fn new(taker_fee_bps: i16, maker_fee_bps: i16, order_type: OrderType) -> Self {
        let post_only = order_type == OrderType::PostOnly;
        Self { taker: if post_only { !taker_fee_bps } else { taker_fee_bps }, maker_fee_bps }
    }

    /// Fee when it takes, in basis points.
    #[must_use]
    #[inline]
    pub fn taker_fee_bps(self) -> i16 {
        self.taker.max(!self.taker)
    }

    /// GTC or `POST_ONLY`.
    #[must_use]
    #[inline]
    pub fn order_type(self) -> OrderType {
        if self.taker < 0 { OrderType::PostOnly } else { OrderType::Gtc }
    }

    /// Basis points that the hold of a buy reckons with.
    #[must_use]
    #[inline]
    pub fn worst_fee_bps(self) -> i64 {
        i64::from(self.taker_fee_bps().max(self.maker_fee_bps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_one_cache_line() {
        assert_eq!(size_of::<Order>(), 64);
    }

    #[test]
    fn the_terms_of_an_order_come_back() {
        for order_type in [OrderType::Gtc, OrderType::PostOnly] {
            for (taker, maker) in [(0, 0), (25, -15), (1_000, 1_000)] {
                let terms = Terms::new(taker, maker, order_type);
                assert_eq!((terms.taker_fee_bps(), terms.maker_fee_bps), (taker, maker));
                assert_eq!(terms.order_type(), order_type);
                assert_eq!(terms.worst_fee_bps(), i64::from(taker.max(maker)));
            }
        }
    }
}
