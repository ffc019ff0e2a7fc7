"""Request bodies and responses of the routes that list markets, those of the engine and those of the REST edge.

CamelCase names, decimals as strings.
"""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from openspot.contracts.listings import ListingChange, MarketTerms
from openspot.contracts.messages.message import Count, DecimalText, Message, listed
from openspot.domain.listing import REASON_LENGTH_MAX, REASON_LENGTH_MIN, SCHEDULE_LENGTH_MAX
from openspot.domain.market_phase import MarketPhase, PhaseCause
from openspot.domain.money import AMOUNT_PLACES
from openspot.http.validation import (
    Body,
    ExactPositiveDecimal,
    NoBoolean,
    NonNegativeDecimal,
    PositiveDecimal,
    WholeNumber,
    example,
)

TEXT_LENGTH_MAX = 2000
"""Longer texts are refused before any rule is asked."""

VERSION_LENGTH_MAX = 64

PHASE_SECONDS_MAX = 30 * 86_400

OFFERS_MAX = 16
"""Longer lists of services are refused before any rule is asked."""

Status = Literal["announced", "post-only", "auction", "open", "delisting", "delisted"]
OfferName = Literal["conversions", "payments", "staking"]
PhaseName = Annotated[str, listed(*(phase.text for phase in MarketPhase))]
PhaseCauseName = Annotated[str, listed("", *PhaseCause)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=TEXT_LENGTH_MAX)]
Reason = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        min_length=REASON_LENGTH_MIN,
        max_length=REASON_LENGTH_MAX,
        pattern=r"^[^\x00-\x08\x0b-\x1f\x7f]*$",
    ),
]
Version = Annotated[str, StringConstraints(max_length=VERSION_LENGTH_MAX)]
Milliseconds = Annotated[int, Field(ge=0, le=253_402_300_799_999), NoBoolean]


class ReasonedBody(Body):
    """A change with its reason."""

    reason: Reason


class StatusAtBody(Body):
    """A status that the market gets by itself, and when, in milliseconds since 1970."""

    status: Status
    at: Milliseconds


class NewAssetBody(Body):
    """The base asset of a new market, if it is new too."""

    currency: Text
    name: Text
    places: Annotated[int, NoBoolean] = AMOUNT_PLACES
    logo: Text = ""


class BoundsBody(Body):
    """The bounds of orders on a market, and its bands in basis points."""

    quantity_min: ExactPositiveDecimal
    quantity_max: ExactPositiveDecimal
    notional_min: ExactPositiveDecimal
    notional_max: ExactPositiveDecimal
    deviation_bps_max: WholeNumber
    slippage_bps_max: WholeNumber


class NewMarketBody(ReasonedBody, BoundsBody):
    """A market that is to be listed, and its base asset if that is new."""

    model_config = example(
        {
            "symbol": "DOGE-USD",
            "asset": {"currency": "DOGE", "name": "Dogecoin", "places": 8, "logo": "doge"},
            "name": "Dogecoin / US dollar",
            "tickSize": "0.0001",
            "lotSize": "0.1",
            "takerFee": 25,
            "makerFee": 15,
            "quantityMin": "1",
            "quantityMax": "1000000",
            "notionalMin": "1",
            "notionalMax": "1000000",
            "deviationBpsMax": 2000,
            "slippageBpsMax": 500,
            "status": "announced",
            "announcement": "Trading begins soon.",
            "reason": "asked for by many",
        }
    )

    symbol: Text
    asset: NewAssetBody | None = None
    name: Text = ""
    announcement: Text = ""
    tick_size: ExactPositiveDecimal
    lot_size: ExactPositiveDecimal
    taker_fee: WholeNumber
    maker_fee: WholeNumber
    status: Status = "announced"
    schedule: Annotated[list[StatusAtBody], Field(max_length=SCHEDULE_LENGTH_MAX * 4, default_factory=list)]


class PaymentOfferBody(Body):
    """The terms of payments in the base asset. The fee is `feeFixed`, and `feeBps` basis points of the amount."""

    minimum: PositiveDecimal
    maximum: PositiveDecimal
    fee_bps: WholeNumber
    fee_fixed: NonNegativeDecimal


class StakingOfferBody(Body):
    """The terms of stakes of the base asset.

    `apr` is the yearly rate as a decimal: 0.04 is 4 %. With 0 `lockDays` a stake can be taken back at any time.
    `minimum` and `maximum` bound what one user stakes, `capacity` what all users stake.
    """

    apr: NonNegativeDecimal
    lock_days: WholeNumber = 0
    unbonding_days: WholeNumber = 0
    early_redemption: Literal["allowed", "forfeits_rewards", "not_allowed"] = "allowed"
    minimum: PositiveDecimal
    maximum: PositiveDecimal
    capacity: PositiveDecimal


class TermsChange(ReasonedBody):
    """The new values of a market. What is not given stays as it is; a schedule replaces the one before.

    `offers` replaces what the market offers beside trading: conversions between its assets, payments and staking of its
    base asset. `payments` and `staking` replace their terms. With the `version` of the market that the operator saw,
    the change is refused if the market is another one by now.
    """

    model_config = example({"takerFee": 20, "quantityMax": "500000", "reason": "more is traded"})

    taker_fee: WholeNumber | None = None
    maker_fee: WholeNumber | None = None
    quantity_min: ExactPositiveDecimal | None = None
    quantity_max: ExactPositiveDecimal | None = None
    notional_min: ExactPositiveDecimal | None = None
    notional_max: ExactPositiveDecimal | None = None
    deviation_bps_max: WholeNumber | None = None
    slippage_bps_max: WholeNumber | None = None
    name: Text | None = None
    announcement: Text | None = None
    schedule: Annotated[list[StatusAtBody], Field(max_length=SCHEDULE_LENGTH_MAX * 4)] | None = None
    offers: Annotated[list[OfferName], Field(max_length=OFFERS_MAX)] | None = None
    payments: PaymentOfferBody | None = None
    staking: StakingOfferBody | None = None
    version: Version | None = None


class StatusBody(ReasonedBody):
    """The status that a market is to get at once. Its schedule ends with that.

    With the `version` of the market that the operator saw, the change is refused if the market is another one by now.
    Where margin offers the market, it is delisted only with `marginAsked`: the caller has asked margin about this
    version of the market, and no account needs it.
    """

    model_config = example({"status": "open", "reason": "the makers are there"})

    status: Status
    version: Version | None = None
    margin_asked: Annotated[bool, Field(strict=True)] = False


class OpeningBody(ReasonedBody):
    """The status that a market is to get at once on its way to trading. Its schedule ends with that."""

    model_config = example({"status": "open", "reason": "the makers are there"})

    status: Literal["announced", "post-only", "auction", "open"]


class DelistingBody(ReasonedBody):
    """Why a market is delisted."""

    model_config = example({"reason": "the coin has ended"})


class PhaseFields(Body):
    """The phase that a market is to enter. `seconds` later continuous trading begins; 0: with the next change.

    With the phase that the operator saw, `expected`, the change is refused if the market is in another one by now.
    """

    phase: Literal["continuous", "halted", "cancel-only", "post-only", "auction"]
    seconds: Annotated[int, Field(ge=0, le=PHASE_SECONDS_MAX), NoBoolean] = 0
    expected: Literal["continuous", "halted", "cancel-only", "post-only", "auction", "uncrossing"] | None = None


class PhaseChange(PhaseFields, ReasonedBody):
    """The phase that a market is to enter, and why. `seconds` later continuous trading begins; 0: with the next change.

    With the phase that the operator saw, `expected`, the change is refused if the market is in another one by now.
    """

    model_config = example(
        {"phase": "halted", "seconds": 0, "expected": "continuous", "reason": "a wrong price was published"}
    )


class RuleCheck(Message, frozen=True):
    """A rule of a listing. `fault` says what is wrong with the field; it is empty if the rule is fulfilled."""

    field: str
    rule: str
    fault: str


class MarketListing(Message, frozen=True, kw_only=True):
    """A market: the engine's specification, its terms, its phase, and whether it takes orders.

    Fees are in basis points. `terms` are null for a symbol that was created without any. `version` is another text
    after each change of fees or terms. `phaseEndsAt` is in milliseconds since 1970, 0 if no end is set; `phaseCause`
    says why the engine itself began an auction, and is empty if it did not.
    """

    symbol: str
    base_currency: str
    quote_currency: str
    tick_size: DecimalText
    lot_size: DecimalText
    taker_fee: int
    maker_fee: int
    active: bool
    phase: PhaseName
    phase_ends_at: Count
    phase_cause: PhaseCauseName
    version: str
    terms: MarketTerms | None


class PhaseOfMarket(Message, frozen=True, kw_only=True):
    """The phase of a market. `phaseEndsAt` is in milliseconds since 1970, 0 if no end is set."""

    symbol: str
    phase: PhaseName = MarketPhase.CONTINUOUS.text
    phase_ends_at: Count = 0


class ListingChanges(Message, frozen=True):
    """The changes of a market, the newest first."""

    changes: list[ListingChange]
