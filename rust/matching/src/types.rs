//! Numbers, codes and kinds that the records, the snapshot and the rules share.
//!
//! Their values are part of the journal and never change: they repeat `openspot.domain.result_code`,
//! `openspot.domain.order` and `openspot.engine.core.records`.

/// Largest scaled price or quantity: it fits a signed 64-bit number with room for a sum of two.
pub const SCALED_MAX: i64 = 1 << 62;
/// Amount units in one whole unit of an asset.
pub const AMOUNT_SCALE: i64 = 1_000_000_000_000_000_000;
/// Largest amount, and the largest sum of one currency over all accounts: 10^37.
pub const AMOUNT_MAX: i128 = 10_000_000_000_000_000_000_000_000_000_000_000_000;
/// Basis points in a whole.
pub const BASIS_POINTS: i64 = 10_000;
/// Largest fee, in basis points.
pub const FEE_BPS_MAX: i64 = 1_000;
/// The account that receives fees and pays rebates; it places no orders.
pub const FEE_ACCOUNT: u64 = 1;
/// Index of nothing: no order, level, account, balance, currency or symbol has it.
pub const NIL: u32 = 0;
/// Bit of a command's flags: the account or symbol is active, or an account has fees of its own.
pub const FLAG_ACTIVE: u8 = 1;

/// Why a command was taken or refused, or why a quantity left the book without a trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Code {
    /// The command was carried out.
    Success = 0,
    /// The free funds do not cover it, or the account is unknown.
    RiskNsf = 1,
    /// A buy's reserve price is below its limit.
    RiskInvalidReserveBidPrice = 2,
    /// The account is unknown, or the order belongs to another one.
    AuthInvalidUser = 3,
    /// The account is inactive.
    ParticipantInactive = 4,
    /// The account is there already.
    AccountAlreadyExists = 5,
    /// The symbol is unknown, or 0.
    InvalidSymbol = 10,
    /// The symbol is there already.
    SymbolAlreadyExists = 11,
    /// The symbol still has open orders.
    SymbolHasOpenOrders = 12,
    /// The symbol is inactive.
    SymbolInactive = 13,
    /// The currency is unknown, or 0.
    InvalidCurrency = 14,
    /// The currency is there already.
    CurrencyAlreadyExists = 15,
    /// A symbol or a balance uses the currency.
    CurrencyInUse = 16,
    /// Scales, lot, tick or fees break a rule.
    InvalidSymbolSpecification = 17,
    /// No such order type.
    InvalidOrderType = 20,
    /// No such side.
    InvalidSide = 21,
    /// The order id is 0.
    InvalidOrderId = 22,
    /// The price is not positive or too large.
    InvalidPrice = 23,
    /// The price is no multiple of the tick.
    InvalidPriceStep = 24,
    /// The quantity is not positive or too large.
    InvalidQuantity = 25,
    /// The quantity is no multiple of the lot.
    InvalidQuantityStep = 26,
    /// A live order has this id.
    DuplicateOrderId = 27,
    /// No live order has this id.
    MatchingUnknownOrderId = 28,
    /// A post-only order would trade at once.
    PostOnlyWouldCross = 29,
    /// Price × quantity leaves the range of an amount.
    NotionalTooLarge = 30,
    /// A budget that is not positive or too large.
    InvalidBudget = 31,
    /// The amount is not positive or too large.
    InvalidAmount = 40,
    /// The reference was used for something else.
    ReferenceConflict = 41,
    /// No reservation has this reference.
    UnknownReference = 42,
    /// The reservation ended the other way.
    ReservationClosed = 43,
    /// Left the book: cancelled by its owner.
    CancelledByUser = 60,
    /// Left the book: cancelled by an administrator.
    CancelledByAdmin = 61,
    /// Left the book: reduced by its owner.
    ReducedByUser = 62,
    /// Left at once: what an IOC order could not fill.
    IocRemainder = 63,
    /// Left at once: a FOK order that could not be filled whole.
    FokNotFillable = 64,
    /// Left the book: an order of the same account came in.
    StpCancelResting = 65,
    /// Left at once: it met an order of the same account.
    StpCancelIncoming = 66,
    /// Left: two orders of one account met.
    StpCancelBoth = 67,
    /// Left: two orders of one account met and shrank by the smaller one.
    StpDecrement = 68,
    /// No such kind of command, or no such mode.
    UnsupportedCommand = 90,
    /// As many orders rest as a core can hold.
    EngineBusy = 92,
}

/// Side of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Side {
    /// Pays quote, gets base.
    #[default]
    Buy = 1,
    /// Pays base, gets quote.
    Sell = 2,
}

impl Side {
    /// The side that `value` stands for in a record.
    #[must_use]
    pub fn from_record(value: u8) -> Option<Self> {
        match value {
            1 => Some(Self::Buy),
            2 => Some(Self::Sell),
            _ => None,
        }
    }

    /// The other side.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Buy => Self::Sell,
            Self::Sell => Self::Buy,
        }
    }

    /// Place of `price` on this side's ladder: the best price has the least rank. Of no use for a number that is
    /// no price, but defined for all.
    #[must_use]
    pub fn rank(self, price: i64) -> i64 {
        match self {
            Self::Buy => price.wrapping_neg(),
            Self::Sell => price,
        }
    }
}

/// Types of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum OrderType {
    /// What is not filled rests.
    #[default]
    Gtc = 1,
    /// What is not filled at once is cancelled.
    Ioc = 2,
    /// Filled whole at once, or not at all.
    Fok = 3,
    /// As FOK, bounded by a budget instead of a price.
    FokBudget = 4,
    /// Rests, and is refused if it would trade at once.
    PostOnly = 5,
}

impl OrderType {
    /// The type that `value` stands for in a record.
    #[must_use]
    pub fn from_record(value: u8) -> Option<Self> {
        match value {
            1 => Some(Self::Gtc),
            2 => Some(Self::Ioc),
            3 => Some(Self::Fok),
            4 => Some(Self::FokBudget),
            5 => Some(Self::PostOnly),
            _ => None,
        }
    }
}

/// What happens when two orders of one account meet; the incoming order's account decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum StpMode {
    /// They trade.
    #[default]
    None = 0,
    /// The resting order leaves.
    CancelResting = 1,
    /// The incoming order leaves.
    CancelIncoming = 2,
    /// Both leave.
    CancelBoth = 3,
    /// Both shrink by the smaller one's remaining quantity.
    DecrementAndCancel = 4,
}

impl StpMode {
    /// The mode that `value` stands for in a record.
    #[must_use]
    pub fn from_record(value: u8) -> Option<Self> {
        match value {
            0 => Some(Self::None),
            1 => Some(Self::CancelResting),
            2 => Some(Self::CancelIncoming),
            3 => Some(Self::CancelBoth),
            4 => Some(Self::DecrementAndCancel),
            _ => None,
        }
    }
}

/// Kinds of command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A new order.
    Place = 1,
    /// Takes an order out of the book.
    Cancel = 2,
    /// Gives an order a new price.
    Move = 3,
    /// Takes a quantity off an order.
    Reduce = 4,
    /// Money enters an account.
    Deposit = 5,
    /// Money leaves an account.
    Withdraw = 6,
    /// Money is held for a withdrawal.
    Reserve = 7,
    /// Held money is free again.
    Release = 8,
    /// Held money leaves the account.
    Commit = 9,
    /// An operator's correction.
    Adjust = 10,
    /// A new currency.
    CreateCurrency = 11,
    /// Removes an unused currency.
    DeleteCurrency = 12,
    /// A new symbol.
    CreateSymbol = 13,
    /// Sets a symbol's fees and whether it is active.
    UpdateSymbol = 14,
    /// Removes a symbol without open orders.
    DeleteSymbol = 15,
    /// A new account.
    CreateAccount = 16,
    /// Sets an account's mode and whether it is active.
    SetAccount = 17,
    /// Sets an account's own fees.
    SetAccountFees = 18,
}

impl Kind {
    /// The kind that `value` stands for in a record.
    #[must_use]
    pub fn from_record(value: u8) -> Option<Self> {
        const KINDS: [Kind; 18] = [
            Kind::Place,
            Kind::Cancel,
            Kind::Move,
            Kind::Reduce,
            Kind::Deposit,
            Kind::Withdraw,
            Kind::Reserve,
            Kind::Release,
            Kind::Commit,
            Kind::Adjust,
            Kind::CreateCurrency,
            Kind::DeleteCurrency,
            Kind::CreateSymbol,
            Kind::UpdateSymbol,
            Kind::DeleteSymbol,
            Kind::CreateAccount,
            Kind::SetAccount,
            Kind::SetAccountFees,
        ];
        KINDS.get(usize::from(value).wrapping_sub(1)).copied()
    }
}

/// Whether `taker` and `maker` basis points keep the rules of `openspot.domain.symbol`.
#[must_use]
pub fn fees_valid(taker: i64, maker: i64) -> bool {
    (0..=FEE_BPS_MAX).contains(&taker) && (-taker..=FEE_BPS_MAX).contains(&maker)
}
