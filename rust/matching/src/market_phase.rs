//! The phases of a market, and what each takes.

use crate::types::{OrderType, ResultCode};

/// What a market takes, and whether orders match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum MarketPhase {
    /// Orders match as they come.
    #[default]
    Continuous = 0,
    /// Orders can only be cancelled.
    Halted = 1,
    /// Orders can be cancelled and made smaller.
    CancelOnly = 2,
    /// Only orders that rest come in.
    PostOnly = 3,
    /// Orders collect without matching.
    Auction = 4,
    /// What an auction trades is being traded.
    Uncrossing = 5,
}

impl MarketPhase {
    /// The phase that `value` stands for in a record.
    #[must_use]
    pub fn from_record(value: u8) -> Option<Self> {
        match value {
            0 => Some(Self::Continuous),
            1 => Some(Self::Halted),
            2 => Some(Self::CancelOnly),
            3 => Some(Self::PostOnly),
            4 => Some(Self::Auction),
            5 => Some(Self::Uncrossing),
            _ => None,
        }
    }

    /// Whether the best bid must be below the best ask.
    #[must_use]
    pub fn is_uncrossed(self) -> bool {
        matches!(self, Self::Continuous | Self::PostOnly)
    }

    /// Why no order enters in this phase, if that is so.
    #[inline]
    pub(crate) fn may_enter_again(self) -> Result<(), ResultCode> {
        match self {
            Self::Continuous | Self::PostOnly | Self::Auction => Ok(()),
            Self::Halted => Err(ResultCode::PhaseHalted),
            Self::CancelOnly => Err(ResultCode::PhaseCancelOnly),
            Self::Uncrossing => Err(ResultCode::PhaseUncrossing),
        }
    }

    /// Part of check 3 of PLACE: whether a new order may enter. One that waits for a trigger only waits.
    #[inline]
    pub(crate) fn may_enter(self, order_type: OrderType, has_trigger: bool) -> Result<(), ResultCode> {
        if self == Self::Continuous {
            return Ok(());
        }
        self.may_enter_again()?;
        match self {
            Self::PostOnly if !has_trigger && order_type != OrderType::PostOnly => {
                Err(ResultCode::PhasePostOnly)
            }
            Self::Auction if !has_trigger && !matches!(order_type, OrderType::Gtc | OrderType::PostOnly) => {
                Err(ResultCode::PhaseAuction)
            }
            _ => Ok(()),
        }
    }

    /// Whether an order may lose quantity.
    #[inline]
    pub(crate) fn may_shrink(self) -> Result<(), ResultCode> {
        if self == Self::Halted { Err(ResultCode::PhaseHalted) } else { Ok(()) }
    }
}

/// The phase of a market.
#[derive(Clone, Copy, Debug, Default)]
pub struct PhaseState {
    /// The phase.
    pub phase: MarketPhase,
    /// The phase that follows an uncross.
    pub following: MarketPhase,
    /// When it ends, nanoseconds since 1970, or 0. Of an uncross: when the phase that follows ends.
    pub ends: u64,
    /// The price of an uncross; 0 until it is calculated.
    pub price: i64,
}
