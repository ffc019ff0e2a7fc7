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

/// What an iceberg shows at a time, and what it hides now. Scaled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Iceberg {
    /// The most that it shows.
    pub display: i64,
    /// What it does not show.
    pub hidden: i64,
}

/// Fees, type and terms of a resting order in 4 bytes, so that an order fits one cache line.
///
/// Only GTC and `POST_ONLY` orders rest, and a taker fee is 0 to 1,000 basis points. So the upper bits beside it say
/// what else there is; the expiry itself lies in `order_books`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms {
    bits: u16,
    /// The maker fee, above one bit: whether the order shows a part of its quantity.
    maker: i16,
}

/// Bits of the taker fee.
const FEE_BITS: u16 = 0x3FF;
/// The order's own STP mode + 1 lies from this bit on.
const OWN_STP_SHIFT: u32 = 10;
const OWN_STP_BITS: u16 = 7 << OWN_STP_SHIFT;
const EXPIRES: u16 = 1 << 13;
const LISTED: u16 = 1 << 14;
const POST_ONLY: u16 = 1 << 15;
/// Bit below the maker fee.
const ICEBERG: i16 = 1;

impl Terms {
    /// Terms of a `POST_ONLY` or GTC order. The taker fee must not be negative.
    #[must_use]
    #[inline]
    pub fn new(taker_fee_bps: i16, maker_fee_bps: i16, order_type: OrderType) -> Self {
        let post_only = if order_type == OrderType::PostOnly { POST_ONLY } else { 0 };
        Self { bits: taker_fee_bps.cast_unsigned() & FEE_BITS | post_only, maker: maker_fee_bps << 1 }
    }

    /// The same for an order that shows a part of its quantity.
    #[must_use]
    pub fn with_iceberg(self) -> Self {
        Self { maker: self.maker | ICEBERG, ..self }
    }

    /// Whether the order shows a part of its quantity.
    #[must_use]
    #[inline]
    pub fn is_iceberg(self) -> bool {
        self.maker & ICEBERG != 0
    }

    /// Maker fee in basis points; negative is a rebate.
    #[must_use]
    #[inline]
    pub fn maker_fee_bps(self) -> i16 {
        self.maker >> 1
    }

    /// The same with an STP mode + 1 of the order's own, 0 for none, and with or without an expiry.
    #[must_use]
    #[inline]
    pub fn with_own(self, own_stp: u8, expires: bool) -> Self {
        let others = self.bits & !(OWN_STP_BITS | EXPIRES);
        let expires = if expires { EXPIRES } else { 0 };
        Self { bits: others | u16::from(own_stp) << OWN_STP_SHIFT | expires, ..self }
    }

    /// The same for an order of a list, or for one that is in none any more.
    #[must_use]
    pub fn with_listed(self, listed: bool) -> Self {
        let others = self.bits & !LISTED;
        Self { bits: if listed { others | LISTED } else { others }, ..self }
    }

    /// Whether the order is one of a list.
    #[must_use]
    #[inline]
    pub fn is_listed(self) -> bool {
        self.bits & LISTED != 0
    }

    /// Taker fee in basis points.
    #[must_use]
    #[inline]
    pub fn taker_fee_bps(self) -> i16 {
        (self.bits & FEE_BITS).cast_signed()
    }

    /// GTC or `POST_ONLY`.
    #[must_use]
    #[inline]
    pub fn order_type(self) -> OrderType {
        if self.bits & POST_ONLY != 0 { OrderType::PostOnly } else { OrderType::Gtc }
    }

    /// The order's own STP mode + 1; 0 for its account's.
    #[must_use]
    #[inline]
    pub fn own_stp(self) -> u8 {
        (self.bits >> OWN_STP_SHIFT & 7).to_le_bytes()[0]
    }

    /// Whether the order expires.
    #[must_use]
    #[inline]
    pub fn expires(self) -> bool {
        self.bits & EXPIRES != 0
    }

    /// The larger of both fees, which the hold of a buy covers.
    #[must_use]
    #[inline]
    pub fn worst_fee_bps(self) -> i64 {
        i64::from(self.taker_fee_bps().max(self.maker_fee_bps()))
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
                assert_eq!((terms.taker_fee_bps(), terms.maker_fee_bps()), (taker, maker));
                let iceberg = terms.with_iceberg();
                assert_eq!((terms.is_iceberg(), iceberg.is_iceberg()), (false, true));
                assert_eq!((iceberg.taker_fee_bps(), iceberg.maker_fee_bps()), (taker, maker));
                assert_eq!(terms.order_type(), order_type);
                assert_eq!(terms.worst_fee_bps(), i64::from(taker.max(maker)));
                assert_eq!((terms.own_stp(), terms.expires()), (0, false));
                for (own_stp, expires) in [(5, false), (1, true), (0, true)] {
                    let own = terms.with_own(own_stp, expires);
                    assert_eq!((own.own_stp(), own.expires()), (own_stp, expires));
                    assert_eq!((own.taker_fee_bps(), own.order_type()), (taker, order_type));
                    let listed = own.with_listed(true);
                    assert_eq!((listed.own_stp(), listed.expires()), (own_stp, expires));
                    assert_eq!((listed.taker_fee_bps(), listed.order_type()), (taker, order_type));
                    let unlisted = listed.with_listed(false);
                    assert_eq!((listed.is_listed(), unlisted.is_listed()), (true, false));
                }
            }
        }
    }
}
