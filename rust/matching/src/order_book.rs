//! The order book of one symbol: its specification, its arithmetic, and the two sides.

use crate::amount::{product, scaled};
use crate::book_side::BookSide;
use crate::market_phase::{MarketPhase, PhaseState};
use crate::records::CreateSymbol;
use crate::types::{AMOUNT_SCALE, BASIS_POINTS, OrderType, SCALED_MAX, Side, fees_valid};

/// A symbol and its book.
#[derive(Clone, Debug, Default)]
pub struct OrderBook {
    /// Number of the symbol; 0 for an unused index.
    pub symbol: u32,
    /// Number of the base currency.
    pub base: u32,
    /// Number of the quote currency.
    pub quote: u32,
    /// Index of the base currency.
    pub base_index: u32,
    /// Index of the quote currency.
    pub quote_index: u32,
    /// Index of the fee account's balance in the quote currency.
    pub fee_balance: u32,
    /// Power of ten that scales quantities.
    pub base_scale: i64,
    /// Power of ten that scales prices.
    pub quote_scale: i64,
    /// Smallest step of a scaled price.
    pub tick: i64,
    /// Smallest step of a scaled quantity.
    pub lot: i64,
    /// Taker fee in basis points of accounts without their own fees.
    pub taker_fee_bps: i16,
    /// Maker fee in basis points of accounts without their own fees; negative is a rebate.
    pub maker_fee_bps: i16,
    /// Whether the symbol accepts orders.
    pub active: bool,
    /// Amount units of base in one scaled unit of quantity.
    pub base_unit: i64,
    /// Amount units of quote in one scaled unit of price × quantity.
    pub quote_unit: i64,
    /// `quote_unit` for one basis point.
    pub fee_unit: i64,
    /// Price of the last trade; 0 if there was none since the core remembers prices.
    pub last_price: i64,
    /// Mark price; 0 if there was none.
    pub mark_price: i64,
    /// A trade at this price or below fires or moves a trigger.
    pub wake_low: i64,
    /// A trade at this price or above fires or moves a trigger.
    pub wake_high: i64,
    /// The phase of the market.
    pub phase: PhaseState,
    bids: BookSide,
    asks: BookSide,
    /// Resting orders on both sides.
    pub orders: u32,
}

impl OrderBook {
    /// An empty, active book, or None if the specification breaks a rule of `openspot.domain.symbol`. The
    /// caller sets the indices of the currencies and of the fee account's balance.
    #[must_use]
    pub fn new(symbol: u32, specification: &CreateSymbol) -> Option<Self> {
        let base_scale = power_of_ten(specification.base_scale)?;
        let scale = base_scale.checked_mul(power_of_ten(specification.quote_scale)?)?;
        let steps = [specification.tick, specification.lot];
        let (taker, maker) = (specification.taker_fee_bps, specification.maker_fee_bps);
        if scale > AMOUNT_SCALE / BASIS_POINTS
            || !steps.iter().all(|step| (1..=SCALED_MAX).contains(step))
            || !fees_valid(i64::from(taker), i64::from(maker))
        {
            return None;
        }
        let quote_unit = AMOUNT_SCALE / scale;
        Some(Self {
            symbol,
            base: specification.base,
            quote: specification.quote,
            base_scale: specification.base_scale,
            quote_scale: specification.quote_scale,
            tick: specification.tick,
            lot: specification.lot,
            taker_fee_bps: i16::try_from(taker).ok()?,
            maker_fee_bps: i16::try_from(maker).ok()?,
            active: true,
            base_unit: AMOUNT_SCALE / base_scale,
            quote_unit,
            fee_unit: quote_unit / BASIS_POINTS,
            wake_low: i64::MIN,
            wake_high: i64::MAX,
            ..Self::default()
        })
    }

    /// The price that decides between prices that are equal for an auction: the last trade, else the mark price.
    pub(crate) fn auction_reference(&self) -> i64 {
        if self.last_price == 0 { self.mark_price } else { self.last_price }
    }

    /// Whether no order may match on arrival: it must rest, or is rejected.
    #[inline]
    pub(crate) fn must_rest(&self, order_type: OrderType) -> bool {
        order_type == OrderType::PostOnly || self.phase.phase == MarketPhase::PostOnly
    }

    /// The levels of `side`.
    #[must_use]
    #[inline]
    pub fn side(&self, side: Side) -> &BookSide {
        match side {
            Side::Buy => &self.bids,
            Side::Sell => &self.asks,
        }
    }

    /// The levels of `side`, to change.
    #[inline]
    pub fn side_mut(&mut self, side: Side) -> &mut BookSide {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    /// The notional of `quantity` at `price`, in amount units of quote.
    #[must_use]
    #[inline]
    pub fn notional(&self, price: i64, quantity: i64) -> i128 {
        product(price, quantity, self.quote_unit)
    }

    /// The fee on that notional; negative is a rebate.
    #[must_use]
    #[inline]
    pub fn fee(&self, price: i64, quantity: i64, bps: i16) -> i128 {
        product(price, quantity, self.fee_unit * i64::from(bps))
    }

    /// `quantity` in amount units of base.
    #[must_use]
    #[inline]
    pub fn base_amount(&self, quantity: i64) -> i128 {
        scaled(quantity, self.base_unit)
    }

    /// The funds that a limit order holds for `quantity`, in amount units of the currency it pays.
    #[must_use]
    #[inline]
    pub fn hold(&self, side: Side, reserve_price: i64, quantity: i64, worst_fee_bps: i64) -> i128 {
        match side {
            Side::Buy => product(reserve_price, quantity, self.quote_unit + self.fee_unit * worst_fee_bps),
            Side::Sell => self.base_amount(quantity),
        }
    }

    /// The part of a hold that counts as locked: `quantity` at the limit, without fees.
    #[must_use]
    #[inline]
    pub fn locked(&self, side: Side, price: i64, quantity: i64) -> i128 {
        match side {
            Side::Buy => self.notional(price, quantity),
            Side::Sell => self.base_amount(quantity),
        }
    }
}

fn power_of_ten(value: i64) -> Option<i64> {
    let mut power = 1i64;
    while power < value {
        power = power.checked_mul(10)?;
    }
    (power == value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_powers_of_ten_are_scales() {
        assert_eq!(power_of_ten(1), Some(1));
        assert_eq!(power_of_ten(100_000), Some(100_000));
        for value in [0, -10, 2, 99, i64::MAX] {
            assert_eq!(power_of_ten(value), None);
        }
    }
}
