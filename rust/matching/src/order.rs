//! A resting order: 64 bytes, one cache line.

use crate::types::OrderType;

/// A resting order. Its level has the price, side and symbol; its balances have the owner.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub struct Order {
    /// Order id; 0 for an unused index.
    pub id: u64,
    /// Scaled quantity that is still unfilled.
    pub remaining: i64,
    /// Scaled price that the hold of a buy is calculated with; 0 for a sell.
    pub reserve_price: i64,
    /// Scaled quantity ordered.
    pub quantity: i64,
    /// Index of the level where the order rests.
    pub level: u32,
    /// Index of the next younger order of the level.
    pub next: u32,
    /// Index of the next older order of the level.
    pub previous: u32,
    /// Index of the owner's balance in the currency that the order holds: quote for a buy, base for a sell.
    pub held_balance: u32,
    /// Index of the owner's balance in the other currency.
    pub other_balance: u32,
    /// Fees and type.
    pub terms: Terms,
    /// Time of the PLACE, nanoseconds since 1970.
    pub timestamp: u64,
}

/// Fees and type of a resting order in 4 bytes, so that an order fits one cache line.
///
/// Only GTC and `POST_ONLY` orders rest, and no taker fee is negative. So a `POST_ONLY` order stores its taker
/// fee with all bits inverted, which makes it negative.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms {
    taker: i16,
    /// Maker fee in basis points; negative is a rebate.
    pub maker_fee_bps: i16,
}

impl Terms {
    /// Terms of a `POST_ONLY` or GTC order. The taker fee must not be negative.
    #[must_use]
    #[inline]
    pub fn new(taker_fee_bps: i16, maker_fee_bps: i16, order_type: OrderType) -> Self {
        let post_only = order_type == OrderType::PostOnly;
        Self { taker: if post_only { !taker_fee_bps } else { taker_fee_bps }, maker_fee_bps }
    }

    /// Taker fee in basis points.
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

    /// The larger of both fees, which the hold of a buy covers.
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
    fn terms_return_what_they_were_made_of() {
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
