//! Limits, codes and kinds that the records, the snapshot and the rules share.
//!
//! Their values are part of the journal and never change. They repeat `openspot.domain.result_code`,
//! `openspot.domain.order` and `openspot.engine.core.records`.

/// Largest scaled price or quantity. The sum of two fits a signed 64-bit number.
pub const SCALED_MAX: i64 = 1 << 62;
/// Amount units in one whole unit of an asset.
pub const AMOUNT_SCALE: i64 = 1_000_000_000_000_000_000;
/// Largest amount, and the largest sum of one currency over all accounts: 10^37.
pub const AMOUNT_MAX: i128 = 10_000_000_000_000_000_000_000_000_000_000_000_000;
/// Basis points in a whole.
pub const BASIS_POINTS: i64 = 10_000;
/// Largest fee, in basis points.
pub const FEE_BPS_MAX: i64 = 1_000;
/// The account that receives fees and pays rebates. It places no orders.
pub const FEE_ACCOUNT: u64 = 1;
/// The index that no order, level, account, balance, currency or book has: "nothing".
pub const NIL: u32 = 0;
/// Bit of a command's flags: the account or symbol is active, or the account has its own fees.
pub const FLAG_ACTIVE: u8 = 1;
/// Bit of a PLACE's flags: the amount of an IOC is a budget, to which its quantity is fitted.
pub const FLAG_BUDGET: u8 = 1 << 6;
/// Bit of a PLACE's flags: a post-only order goes behind the best opposite price instead of crossing it.
pub const FLAG_SLIDE: u8 = 1 << 7;
/// The bits of a PLACE's flags that bound a walk through the book.
pub const STEPS_MASK: u8 = FLAG_BUDGET - 1;
/// Bit of the flags of terms: the mark price fires the trigger, not the last trade.
pub const TERMS_BY_MARK: u8 = 1;
/// Bit of the flags of terms: the trigger fires at or below its price, not at or above.
pub const TERMS_AT_OR_BELOW: u8 = 2;
/// All bits of the flags of terms.
pub const TERMS_FLAGS: u8 = TERMS_BY_MARK | TERMS_AT_OR_BELOW;
/// Largest own STP mode of an order: a mode + 1.
pub const OWN_STP_MAX: u8 = 5;
/// Largest distance of a trailing trigger in basis points.
pub const TRAILING_BASIS_POINTS_MAX: i64 = 9_999;
/// Fired orders that one command activates, at most.
pub const ACTIVATIONS_MAX: usize = 32;
/// Orders of one list, at most.
pub const LIST_SIZE_MAX: usize = 3;
/// LISTED: what the order's place in its list is multiplied with.
pub const LISTED_PLACE: u32 = 256;
/// Parts in which an order shows its quantity, at most.
pub const ICEBERG_SLICES_MAX: i64 = 100;
/// Bit of a REPLACE's flags: its PLACE is carried out even if nothing was cancelled.
pub const FLAG_ALLOW_FAILURE: u8 = 1;
/// AMEND: the order may be one of a list. Those of journals of before are without it, and were refused.
pub const FLAG_LISTED: u8 = 1;
/// Meetings of two orders of an auction in one command, at most.
pub const UNCROSS_STEPS_MAX: usize = 256;
/// Movements of one transfer, at most.
pub const MOVEMENTS_MAX: usize = 32;

/// Why a command was accepted or rejected, or why a quantity left an order without a trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum ResultCode {
    /// The command was carried out.
    Success = 0,
    /// The free funds do not cover the order or withdrawal, or the account is unknown.
    RiskNsf = 1,
    /// A buy's reserve price is below its limit.
    RiskInvalidReserveBidPrice = 2,
    /// The account is unknown, or the order belongs to another one.
    AuthInvalidUser = 3,
    /// The account is inactive.
    ParticipantInactive = 4,
    /// An account has this number already.
    AccountAlreadyExists = 5,
    /// The symbol is unknown, or 0.
    InvalidSymbol = 10,
    /// A symbol has this number already.
    SymbolAlreadyExists = 11,
    /// The symbol still has open orders.
    SymbolHasOpenOrders = 12,
    /// The symbol is inactive.
    SymbolInactive = 13,
    /// The currency is unknown, or 0.
    InvalidCurrency = 14,
    /// A currency has this number already.
    CurrencyAlreadyExists = 15,
    /// A symbol or a balance uses the currency.
    CurrencyInUse = 16,
    /// Scales, lot, tick or fees break a rule.
    InvalidSymbolSpecification = 17,
    /// The number stands for no order type.
    InvalidOrderType = 20,
    /// The number stands for no side.
    InvalidSide = 21,
    /// The order id is 0.
    InvalidOrderId = 22,
    /// The price is not positive or too large.
    InvalidPrice = 23,
    /// The price is not a multiple of the tick.
    InvalidPriceStep = 24,
    /// The quantity is not positive or too large.
    InvalidQuantity = 25,
    /// The quantity is not a multiple of the lot.
    InvalidQuantityStep = 26,
    /// An open order has this id.
    DuplicateOrderId = 27,
    /// No open order has this id.
    MatchingUnknownOrderId = 28,
    /// A post-only order would trade at once.
    PostOnlyWouldCross = 29,
    /// Price × quantity leaves the range of an amount.
    NotionalTooLarge = 30,
    /// The budget is not positive or too large.
    InvalidBudget = 31,
    /// The book has nothing within the limit of which the budget pays for one lot.
    BudgetNotFillable = 32,
    /// A trigger is no multiple of the tick, or out of range.
    InvalidTrigger = 33,
    /// The present price would fire the trigger at once.
    TriggerWouldFire = 34,
    /// A trailing trigger needs a price to follow, and there was none yet.
    ReferencePriceUnknown = 35,
    /// The order would expire before it is placed, or the time is out of range.
    InvalidExpiry = 36,
    /// The order has no expiry, or it is still to come.
    OrderNotExpired = 37,
    /// The terms before an order contradict each other or the order.
    InvalidTerms = 38,
    /// An amended quantity is not above what the order has lost already.
    QuantityBelowFilled = 39,
    /// The amount is not positive or too large.
    InvalidAmount = 40,
    /// Another transfer has this reference.
    ReferenceConflict = 41,
    /// No reservation has this reference.
    UnknownReference = 42,
    /// The reservation was released or completed before.
    ReservationClosed = 43,
    /// The movements of a transfer are missing or too many, or one has the same account on both sides.
    InvalidTransfer = 44,
    /// The owner cancelled the order.
    CancelledByUser = 60,
    /// An administrator cancelled the order.
    CancelledByAdmin = 61,
    /// The owner reduced the order.
    ReducedByUser = 62,
    /// An IOC order could not fill this quantity at once.
    IocRemainder = 63,
    /// A FOK or `FOK_BUDGET` order could not be filled entirely.
    FokNotFillable = 64,
    /// Self-trade prevention removed the resting order.
    StpCancelResting = 65,
    /// Self-trade prevention removed the incoming order.
    StpCancelIncoming = 66,
    /// Self-trade prevention removed both orders.
    StpCancelBoth = 67,
    /// Self-trade prevention reduced both orders by the smaller one.
    StpDecrement = 68,
    /// A FOK or `FOK_BUDGET` order needs more levels or orders than its test looks at.
    FokTooDeep = 69,
    /// The order's time was over.
    OrderExpired = 70,
    /// The owner amended the order to a smaller quantity.
    AmendedByUser = 75,
    /// The number stands for no kind of command or no mode.
    UnsupportedCommand = 90,
    /// The core holds as many orders as it can.
    EngineBusy = 92,
    /// The market is halted.
    PhaseHalted = 110,
    /// The market takes no orders.
    PhaseCancelOnly = 111,
    /// The market takes only orders that rest or wait.
    PhasePostOnly = 112,
    /// The market is in an auction, which takes no orders that must match at once.
    PhaseAuction = 113,
    /// An auction of the market is being traded.
    PhaseUncrossing = 114,
    /// The phase cannot be set, or its end is out of range.
    InvalidPhase = 115,
    /// The phase has no end, or it is still to come.
    PhaseNotOver = 116,
    /// The orders of a list do not fit together, or are too few or too many.
    InvalidOrderList = 120,
    /// A list has this id.
    DuplicateListId = 121,
    /// No list has this id.
    UnknownListId = 122,
    /// An order cannot be changed while others depend on it.
    OrderInList = 123,
    /// An exit of the list would be filled at once.
    ListExitWouldFill = 124,
    /// The other exit traded this quantity.
    ListExitTraded = 125,
    /// The other exit lost this quantity without a trade.
    ListExitEnded = 126,
    /// The trigger of the other exit has fired.
    ListExitTriggered = 127,
    /// The exits could not be placed for what the entry has filled.
    ListNotArmed = 128,
    /// The entry ended without a fill.
    ListEntryEnded = 129,
    /// The quantity that an order shows at a time does not fit it.
    InvalidDisplayQuantity = 130,
    /// The order to be replaced was not cancelled, so nothing was placed.
    ReplacementNotAttempted = 131,
    /// The order does not wait for a fixed trigger.
    NoTriggerToAmend = 132,
}

/// Side of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Side {
    /// Pays quote, receives base.
    #[default]
    Buy = 1,
    /// Pays base, receives quote.
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

    /// Rank of `price` on this side: the best price has the lowest rank. Prices are positive, so a rank also
    /// tells the sides apart. Defined for every number.
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
    /// The unfilled quantity rests.
    #[default]
    Gtc = 1,
    /// The quantity that is not filled at once is cancelled.
    Ioc = 2,
    /// Filled entirely at once, or not at all.
    Fok = 3,
    /// Like FOK, but limited by a budget instead of a price.
    FokBudget = 4,
    /// Rests, or is rejected if it would trade at once.
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

/// Self-trade prevention: what happens when two orders of one account meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum StpMode {
    /// They trade.
    #[default]
    None = 0,
    /// The resting order is removed.
    CancelResting = 1,
    /// The incoming order is removed.
    CancelIncoming = 2,
    /// Both are removed.
    CancelBoth = 3,
    /// Both are reduced by the smaller remaining quantity.
    DecrementAndCancel = 4,
}

impl StpMode {
    /// The mode of an incoming order: its own, which is given as mode + 1, or else its account's.
    #[must_use]
    #[inline]
    pub fn of_order(own_stp: u8, of_account: Self) -> Self {
        own_stp.checked_sub(1).and_then(Self::from_record).unwrap_or(of_account)
    }

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

/// How the orders of a list depend on each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ListType {
    /// Two exits of one position: one cancels the other.
    #[default]
    Oco = 1,
    /// An entry, which triggers one exit.
    Oto = 2,
    /// An entry, which triggers two exits.
    Bracket = 3,
}

impl ListType {
    /// The type that `value` stands for in a record.
    #[must_use]
    pub fn from_record(value: u8) -> Option<Self> {
        match value {
            1 => Some(Self::Oco),
            2 => Some(Self::Oto),
            3 => Some(Self::Bracket),
            _ => None,
        }
    }

    /// How many orders a list has.
    #[must_use]
    pub fn size(self) -> usize {
        if self == Self::Bracket { 3 } else { 2 }
    }

    /// How many of them are exits.
    #[must_use]
    pub fn exits(self) -> usize {
        if self == Self::Oto { 1 } else { 2 }
    }
}

/// What an order waits for before it matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum TriggerKind {
    /// Nothing.
    #[default]
    None = 0,
    /// A price.
    Fixed = 1,
    /// A price at a fixed distance from the best price since the order was placed.
    TrailingDistance = 2,
    /// A price at a distance that is a part of that price.
    TrailingBasisPoints = 3,
}

impl TriggerKind {
    /// The kind that `value` stands for in a record.
    #[must_use]
    pub fn from_record(value: u8) -> Option<Self> {
        match value {
            0 => Some(Self::None),
            1 => Some(Self::Fixed),
            2 => Some(Self::TrailingDistance),
            3 => Some(Self::TrailingBasisPoints),
            _ => None,
        }
    }

    /// Whether a trigger of this kind fits an order of `side`: a trailing one follows falling prices for a buy and
    /// rising prices for a sell, and its basis points leave something of the price.
    #[must_use]
    pub fn fits(self, flags: u8, value: i64, side: Side) -> bool {
        if matches!(self, Self::None | Self::Fixed) {
            return true;
        }
        let at_or_below = flags & TERMS_AT_OR_BELOW != 0;
        at_or_below == (side == Side::Sell)
            && (self == Self::TrailingDistance || value <= TRAILING_BASIS_POINTS_MAX)
    }
}

/// Kinds of command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CommandKind {
    /// A new order.
    Place = 1,
    /// Removes an order from the book.
    Cancel = 2,
    /// Changes an order's price.
    Move = 3,
    /// Reduces an order's quantity.
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
    /// One movement of the transfer that follows.
    Movement = 19,
    /// Carries out the movements before it, all or none.
    Transfer = 20,
    /// Gives an account to the owner of another, or ends that.
    SetOwner = 21,
    /// What the PLACE directly after it asks for beyond its own fields.
    Terms = 22,
    /// Ends an order whose expiry has passed.
    Expire = 23,
    /// Sets the mark price of a symbol.
    SetMarkPrice = 24,
    /// Activates orders whose triggers have fired.
    Activate = 25,
    /// Changes an order's price, its ordered quantity or both.
    Amend = 26,
    /// An order of the list that follows.
    ListOrder = 30,
    /// Places the orders before it, all or none.
    PlaceList = 31,
    /// Ends what is open of a list.
    CancelList = 32,
    /// Lets a market enter a phase.
    SetPhase = 27,
    /// Ends a phase whose time is over, or goes on with an uncross.
    AdvancePhase = 28,
    /// Cancels an order that the PLACE that follows replaces.
    Replace = 29,
}

impl CommandKind {
    /// The kind that `value` stands for in a record.
    #[must_use]
    pub fn from_record(value: u8) -> Option<Self> {
        const KINDS: [CommandKind; 29] = [
            CommandKind::Place,
            CommandKind::Cancel,
            CommandKind::Move,
            CommandKind::Reduce,
            CommandKind::Deposit,
            CommandKind::Withdraw,
            CommandKind::Reserve,
            CommandKind::Release,
            CommandKind::Commit,
            CommandKind::Adjust,
            CommandKind::CreateCurrency,
            CommandKind::DeleteCurrency,
            CommandKind::CreateSymbol,
            CommandKind::UpdateSymbol,
            CommandKind::DeleteSymbol,
            CommandKind::CreateAccount,
            CommandKind::SetAccount,
            CommandKind::SetAccountFees,
            CommandKind::Movement,
            CommandKind::Transfer,
            CommandKind::SetOwner,
            CommandKind::Terms,
            CommandKind::Expire,
            CommandKind::SetMarkPrice,
            CommandKind::Activate,
            CommandKind::Amend,
            CommandKind::SetPhase,
            CommandKind::AdvancePhase,
            CommandKind::Replace,
        ];
        match value {
            30 => Some(Self::ListOrder),
            31 => Some(Self::PlaceList),
            32 => Some(Self::CancelList),
            _ => KINDS.get(usize::from(value).wrapping_sub(1)).copied(),
        }
    }
}

/// Whether `taker` and `maker` basis points follow the rules of `openspot.domain.symbol`.
#[must_use]
pub fn fees_valid(taker: i64, maker: i64) -> bool {
    (0..=FEE_BPS_MAX).contains(&taker) && (-taker..=FEE_BPS_MAX).contains(&maker)
}
