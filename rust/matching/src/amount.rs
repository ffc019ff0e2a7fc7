//! Exact arithmetic of amounts: 128-bit integers at 18 decimal places.
//!
//! Every operation is checked; none wraps or panics. An operation that leaves 128 bits returns
//! [`OUT_OF_RANGE`], which is larger than every limit, so the checks of a command refuse it. Once a command
//! is admitted, no operation can leave the range: each notional, each quantity in base units and the sum of a
//! currency over all accounts is at most `AMOUNT_MAX`, and these bound every total and every hold.

use crate::types::BASIS_POINTS;

/// Result of an operation that leaves 128 bits: larger than any amount.
pub const OUT_OF_RANGE: i128 = i128::MAX;

/// `price × quantity × unit`, or [`OUT_OF_RANGE`]. A unit is the amount of one scaled price × quantity.
#[must_use]
#[inline]
pub fn product(price: i64, quantity: i64, unit: i64) -> i128 {
    // Two 63-bit factors cannot leave 128 bits.
    let scaled = i128::from(price) * i128::from(quantity);
    match i64::try_from(scaled) {
        Ok(small) => i128::from(small) * i128::from(unit),
        Err(_) => scaled.checked_mul(i128::from(unit)).unwrap_or(OUT_OF_RANGE),
    }
}

/// `left + right`, or [`OUT_OF_RANGE`].
#[must_use]
#[inline]
pub fn add(left: i128, right: i128) -> i128 {
    left.checked_add(right).unwrap_or(OUT_OF_RANGE)
}

/// `left − right`, or [`OUT_OF_RANGE`].
#[must_use]
#[inline]
pub fn subtract(left: i128, right: i128) -> i128 {
    left.checked_sub(right).unwrap_or(OUT_OF_RANGE)
}

/// `quantity × unit`: a quantity in amount units. Two 63-bit factors cannot leave 128 bits.
#[must_use]
#[inline]
pub fn scaled(quantity: i64, unit: i64) -> i128 {
    i128::from(quantity) * i128::from(unit)
}

/// `amount + ceil(amount × bps / 10^4)` for a positive amount and bps of 0 to 10^4.
#[must_use]
pub fn with_fee_rounded_up(amount: i128, bps: i64) -> i128 {
    let (whole, part) = (amount / i128::from(BASIS_POINTS), amount % i128::from(BASIS_POINTS));
    let bps = i128::from(bps);
    let part_fee = (part * bps + i128::from(BASIS_POINTS) - 1) / i128::from(BASIS_POINTS);
    add(add(amount, whole.checked_mul(bps).unwrap_or(OUT_OF_RANGE)), part_fee)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{AMOUNT_MAX, AMOUNT_SCALE, SCALED_MAX};

    #[test]
    fn a_product_is_exact_on_both_sides_of_64_bits() {
        assert_eq!(product(3, 4, 5), 60);
        assert_eq!(product(1 << 40, 1 << 40, 1000), (1i128 << 80) * 1000);
        assert_eq!(product(-3, 4, 5), -60);
    }

    #[test]
    fn a_result_outside_128_bits_is_larger_than_every_amount() {
        assert_eq!(product(SCALED_MAX, SCALED_MAX, AMOUNT_SCALE), OUT_OF_RANGE);
        assert_eq!((add(OUT_OF_RANGE, 1), subtract(i128::MIN, 1)), (OUT_OF_RANGE, OUT_OF_RANGE));
        const { assert!(OUT_OF_RANGE > AMOUNT_MAX) }
    }

    #[test]
    fn the_fee_on_a_budget_rounds_up() {
        assert_eq!(with_fee_rounded_up(10_000, 25), 10_025);
        assert_eq!(with_fee_rounded_up(1, 1), 2);
        assert_eq!(with_fee_rounded_up(7, 0), 7);
        assert_eq!(with_fee_rounded_up(AMOUNT_MAX, 1_000), AMOUNT_MAX + AMOUNT_MAX / 10);
    }
}
