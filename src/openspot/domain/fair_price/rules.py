"""The constants of the fair price. docs/protocol/fair-price.md explains each."""

from dataclasses import dataclass

from openspot.domain.money import AMOUNT_SCALE

PRICE_MAX = AMOUNT_SCALE**2
"""A price above this (10^18 units of quote for one of base) is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FairPriceRules:
    """Amounts in US dollars are integers at 18 places, times are milliseconds, shares are basis points."""

    parts: int = 12
    """The window of trades has this many parts."""
    part_ms: int = 300_000
    owner_part: int = 3
    """One owner counts for at most one part in this many of what counts."""
    volume_dollars: int = 10_000 * AMOUNT_SCALE
    """Trades are a full source from this counted volume in the window on."""
    thin_volume_dollars: int = 500 * AMOUNT_SCALE
    """… and a weak source from this one on."""
    owners_min: int = 4
    """A full source needs this many owners, each of whom traded for a hundredth of the least volume."""
    parts_min: int = 3
    """A full source needs trades in this many parts."""
    standing_ms: int = 10_000
    """A depth counts when it has stood for this long."""
    depth_dollars: int = 1_000 * AMOUNT_SCALE
    """The depth on each side that a book needs to have a mid."""
    spread_bps_max: int = 500
    """A book or a venue whose two sides are farther apart has no mid."""
    hold_ms: int = 30_000
    """The standing mid counts for this long after it was last there."""
    venue_age_ms: int = 10_000
    """A quote of the venue counts for this long after its arrival."""
    difference_bps_max: int = 500
    """Sources that are farther apart are in dispute."""
    speed_bps_max: int = 300
    """The price moves at most this far in any minute."""
    thin_difference_bps_max: int = 1_000
    """A thin price that is farther from the day's median is in dispute, if neither venue nor operator says it."""
    unconfirmed_difference_bps_max: int = 3_000
    """… and so is a good one from this difference on."""
    absorbed_band_bps: int = 500
    """Depth within this distance of the fair price can absorb."""
    absorbed_share_bps: int = 5_000
    """… up to this share of the counted volume in the window."""

    @property
    def window_ms(self) -> int:
        """Length of the window of trades."""
        return self.parts * self.part_ms
