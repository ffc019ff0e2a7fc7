"""The listing of a market: its status from announcement to delisting, and what a market must fulfil to be listed.

Pure rules. The engine asks them before it writes a change to its journal, and the console shows their outcome before
anything is sent.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from openspot.domain.market import SLIPPAGE_BPS_MAX
from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS, EXACT, decimal_to_text
from openspot.domain.symbol import CURRENCY_TEXT, FEE_BPS_MAX, SCALED_MAX, SYMBOL_TEXT

NAME_LENGTH_MAX = 64
ANNOUNCEMENT_LENGTH_MAX = 500
REASON_LENGTH_MIN = 3
REASON_LENGTH_MAX = 500
SCHEDULE_LENGTH_MAX = 8
SCHEDULE_MS_MAX = 366 * 86_400_000
"""A scheduled status is at most this many milliseconds away."""
LOGO_TEXT = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
"""The name of a picture of a coin: the folder of the brand has it as <name>.svg or <name>.png."""


class MarketStatus(StrEnum):
    """How far a market is between its announcement and its end.

    ANNOUNCED: it is shown and takes no order. POST_ONLY: only orders that rest come in. AUCTION: orders collect, and
    trade at one price when the market opens. OPEN: it trades. DELISTING: it takes no order, and its open orders are
    being cancelled. DELISTED: it has no open order; its past can be read, and balances can be withdrawn.
    """

    ANNOUNCED = "announced"
    POST_ONLY = "post-only"
    AUCTION = "auction"
    OPEN = "open"
    DELISTING = "delisting"
    DELISTED = "delisted"


_ANNOUNCED, _OPEN, _DELISTING = MarketStatus.ANNOUNCED, MarketStatus.OPEN, MarketStatus.DELISTING
FOLLOWING: Mapping[MarketStatus, frozenset[MarketStatus]] = {
    _ANNOUNCED: frozenset({MarketStatus.POST_ONLY, MarketStatus.AUCTION, _OPEN, _DELISTING}),
    MarketStatus.POST_ONLY: frozenset({MarketStatus.AUCTION, _OPEN, _DELISTING}),
    MarketStatus.AUCTION: frozenset({_OPEN, _DELISTING}),
    _OPEN: frozenset({_DELISTING}),
    _DELISTING: frozenset(),
    MarketStatus.DELISTED: frozenset({_ANNOUNCED}),
}
"""What an operator may let each status be followed by. The engine itself ends DELISTING, with DELISTED."""
TRADING = frozenset({MarketStatus.POST_ONLY, MarketStatus.AUCTION, MarketStatus.OPEN})
"""The statuses in which a market takes orders."""
FIRST = frozenset({_ANNOUNCED, *TRADING})
"""The statuses that a new market may begin with."""
ENDED = frozenset({_DELISTING, MarketStatus.DELISTED})
"""The statuses of a market that is over. It offers nothing."""
PHASED = frozenset({MarketStatus.POST_ONLY, MarketStatus.AUCTION})
"""The statuses that need the phases of the complete rules."""


class ScheduledStatus(NamedTuple):
    """A status that a market gets at a time, in milliseconds since 1970."""

    status: MarketStatus
    at_ms: int


class ListingCheck(NamedTuple):
    """A rule of a listing. `fault` says what is wrong with the field; it is empty if the rule is fulfilled."""

    field: str
    rule: str
    fault: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedBounds:
    """The limits of the pre-trade check that are proposed for a market, as in `MarketLimits`."""

    quantity_min: Decimal
    quantity_max: Decimal
    notional_min: Decimal
    notional_max: Decimal
    deviation_bps_max: int
    slippage_bps_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedMarket:
    """A market that is to be listed. `base_places` are those of the base asset, None if nobody knows the asset.

    `steps` are tick and lot of the symbol if the engine has it already, but not as a market: they never change.
    """

    symbol: str
    base_places: int | None
    quote_places: int | None
    tick: Decimal
    lot: Decimal
    taker_fee_bps: int
    maker_fee_bps: int
    bounds: ProposedBounds
    name: str
    announcement: str
    status: MarketStatus
    schedule: Sequence[ScheduledStatus]
    steps: tuple[Decimal, Decimal] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the checks compare a proposal with: the engine's markets, its time, and whether markets have phases."""

    symbols: frozenset[str]
    now_ms: int
    has_phases: bool


def market_checks(market: ProposedMarket, around: Surroundings) -> list[ListingCheck]:
    """Every rule for a new market, each with its fault, in the order of the fields."""
    base, _, quote = market.symbol.partition("-")
    is_well_formed = SYMBOL_TEXT.fullmatch(market.symbol) is not None
    checks = [
        _check("symbol", "two assets of 2 to 10 capital letters or digits, joined by -",
               "" if is_well_formed else "must have the format <BASE>-<QUOTE>, for example BTC-USD"),
        _check("symbol", "two different assets", "must not have the same asset twice" if base == quote else ""),
        _check("symbol", "no market has this symbol yet",
               f"{market.symbol} exists already" if market.symbol in around.symbols else ""),
        _check("symbol", "the base asset exists, or is listed with the market",
               "" if market.base_places is not None else f"there is no asset {base}: list it with the market"),
        _check("symbol", "the quote asset exists",
               "" if market.quote_places is not None else f"there is no asset {quote}"),
    ]  # fmt: skip
    checks += step_checks(market.tick, market.lot, market.base_places)
    if market.steps is not None:
        checks += [
            _check(field, "that of the symbol, which exists already",
                   "" if value == own else f"must be {decimal_to_text(own)}, with which the symbol was created")
            for field, value, own in zip(
                ("tickSize", "lotSize"), (market.tick, market.lot), market.steps, strict=True
            )
        ]  # fmt: skip
    checks += fee_checks(market.taker_fee_bps, market.maker_fee_bps)
    checks += bound_checks(market.bounds, market.lot)
    checks += text_checks(market.name, market.announcement)
    begins = "" if market.status in FIRST else f"must be one of {', '.join(sorted(FIRST))}"
    checks.append(_check("status", "a new market is announced, or takes orders at once", begins))
    checks.append(_check("status", *_phase_rule(market.status, has_phases=around.has_phases)))
    checks += schedule_checks(market.schedule, market.status, around)
    return checks


def step_checks(tick: Decimal, lot: Decimal, base_places: int | None) -> list[ListingCheck]:
    """The rules of the smallest steps of price and quantity."""
    places = _places(tick) + _places(lot)
    finest = "" if 10**places <= AMOUNT_SCALE // BASIS_POINTS else "tickSize and lotSize have too many decimal places"
    whole = base_places is None or _places(lot) <= base_places
    return [
        _check("tickSize", "above 0", "" if tick > 0 else "must be above 0"),
        _check("lotSize", "above 0", "" if lot > 0 else "must be above 0"),
        _check("lotSize", "decimal places of tickSize and lotSize together at most 14, so that no fee is rounded",
               finest),
        _check("lotSize", "no finer than the base asset",
               "" if whole else f"is finer than the {base_places} decimal places of the base asset"),
    ]  # fmt: skip


def fee_checks(taker_bps: int, maker_bps: int) -> list[ListingCheck]:
    """The rules of a market's fees, in basis points."""
    taker_fits, maker_fits = 0 <= taker_bps <= FEE_BPS_MAX, -taker_bps <= maker_bps <= FEE_BPS_MAX
    maker_rule = f"between minus the taker fee and {FEE_BPS_MAX} basis points; below 0 it is a rebate"
    return [
        _check("takerFee", f"between 0 and {FEE_BPS_MAX} basis points",
               "" if taker_fits else f"must be between 0 and {FEE_BPS_MAX}"),
        _check("makerFee", maker_rule,
               "" if maker_fits else f"must be between minus the taker fee and {FEE_BPS_MAX}"),
    ]  # fmt: skip


def bound_checks(bounds: ProposedBounds, lot: Decimal) -> list[ListingCheck]:
    """The rules of the bounds and bands of the pre-trade check."""
    quantities = (bounds.quantity_min, bounds.quantity_max)
    is_multiple = lot > 0 and not any(EXACT.remainder(quantity, lot) for quantity in quantities)
    fits = lot <= 0 or EXACT.multiply(bounds.quantity_max, Decimal(10 ** _places(lot))) <= SCALED_MAX
    return [
        _check("quantityMin", "above 0", "" if bounds.quantity_min > 0 else "must be above 0"),
        _check("quantityMax", "not below quantityMin",
               "" if bounds.quantity_min <= bounds.quantity_max else "must not be below quantityMin"),
        _check("quantityMax", "within the engine's range", "" if fits else "is beyond the engine's range"),
        _check("quantityMin", "bounds of quantity are multiples of lotSize",
               "" if is_multiple else "quantityMin and quantityMax must be multiples of lotSize"),
        _check("notionalMin", "above 0", "" if bounds.notional_min > 0 else "must be above 0"),
        _check("notionalMax", "not below notionalMin",
               "" if bounds.notional_min <= bounds.notional_max else "must not be below notionalMin"),
        _check("deviationBpsMax", f"between 1 and {SLIPPAGE_BPS_MAX} basis points from the reference price",
               _basis_points_fault(bounds.deviation_bps_max)),
        _check("slippageBpsMax", f"between 1 and {SLIPPAGE_BPS_MAX} basis points",
               _basis_points_fault(bounds.slippage_bps_max)),
    ]  # fmt: skip


def text_checks(name: str, announcement: str) -> list[ListingCheck]:
    """The rules of the texts that traders see."""
    return [
        _check("name", f"at most {NAME_LENGTH_MAX} printable characters", _text_fault(name, NAME_LENGTH_MAX)),
        _check("announcement", f"at most {ANNOUNCEMENT_LENGTH_MAX} printable characters",
               _text_fault(announcement, ANNOUNCEMENT_LENGTH_MAX)),
    ]  # fmt: skip


def schedule_checks(
    schedule: Sequence[ScheduledStatus], status: MarketStatus, around: Surroundings
) -> list[ListingCheck]:
    """The rules of the statuses that follow by themselves."""
    too_long = f"must have at most {SCHEDULE_LENGTH_MAX} entries" if len(schedule) > SCHEDULE_LENGTH_MAX else ""
    times = [entry.at_ms for entry in schedule]
    ordered = "" if times == sorted(set(times)) else "must be in order of time, each at a time of its own"
    future = "" if all(around.now_ms < time for time in times) else "must be in the future"
    near = "" if all(time <= around.now_ms + SCHEDULE_MS_MAX for time in times) else "must be within a year"
    path = ""
    phases = _phase_rule(MarketStatus.OPEN, has_phases=around.has_phases)
    before = status
    for entry in schedule:
        if entry.status not in FOLLOWING[before]:
            path = path or f"{entry.status} cannot follow {before}"
        if not phases[1]:
            phases = _phase_rule(entry.status, has_phases=around.has_phases)
        before = entry.status
    return [
        _check("schedule", f"at most {SCHEDULE_LENGTH_MAX} entries", too_long),
        _check("schedule", "in order of time", ordered),
        _check("schedule", "in the future", future),
        _check("schedule", "within a year", near),
        _check("schedule", "each status may follow the one before", path),
        _check("schedule", *phases),
    ]


def status_fault(present: MarketStatus, wanted: MarketStatus, *, has_phases: bool) -> str:
    """Why a market cannot get another status; empty if it can."""
    if wanted not in FOLLOWING[present]:
        able = ", ".join(sorted(FOLLOWING[present])) or "nothing that an operator sets"
        return f"{wanted} cannot follow {present}: {able} can"
    return _phase_rule(wanted, has_phases=has_phases)[1]


def asset_checks(asset: str, places: int, name: str, logo: str, known: frozenset[str]) -> list[ListingCheck]:
    """The rules of a new asset."""
    well_formed = CURRENCY_TEXT.fullmatch(asset) is not None
    has_logo = not logo or LOGO_TEXT.fullmatch(logo) is not None
    return [
        _check("asset.currency", "2 to 10 capital letters or digits",
               "" if well_formed else "must be 2 to 10 capital letters or digits, for example BTC"),
        _check("asset.currency", "no asset has this name yet", f"{asset} exists already" if asset in known else ""),
        _check("asset.places", "between 0 and 18 decimal places",
               "" if 0 <= places <= 18 else "must be between 0 and 18"),
        _check("asset.name", f"1 to {NAME_LENGTH_MAX} printable characters",
               _text_fault(name, NAME_LENGTH_MAX) or ("" if name else "must not be empty")),
        _check("asset.logo", "small letters, digits and -, or empty",
               "" if has_logo else "must be 1 to 32 small letters, digits or -"),
    ]  # fmt: skip


def faults(checks: Sequence[ListingCheck]) -> list[str]:
    """The faults of `checks`, each behind the name of its field."""
    return [f"{check.field} {check.fault}" for check in checks if check.fault]


def _check(field: str, rule: str, fault: str) -> ListingCheck:
    return ListingCheck(field, rule, fault)


def _phase_rule(status: MarketStatus, *, has_phases: bool) -> tuple[str, str]:
    lacks = status in PHASED and not has_phases
    return (
        "post-only and auction need the phases of the complete rules",
        f"{status} needs OPENSPOT_RULES=complete" if lacks else "",
    )


def _basis_points_fault(value: int) -> str:
    return "" if 1 <= value <= SLIPPAGE_BPS_MAX else f"must be between 1 and {SLIPPAGE_BPS_MAX}"


def _text_fault(text: str, length_max: int) -> str:
    if len(text) > length_max:
        return f"must have at most {length_max} characters"
    return "" if text.isprintable() else "must be of printable characters"


def _places(step: Decimal) -> int:
    """The decimal places of a step without closing zeros, at most 40: a later check refuses finer ones."""
    exponent = EXACT.normalize(step).as_tuple().exponent
    return min(max(-exponent, 0), 40) if isinstance(exponent, int) else 40
