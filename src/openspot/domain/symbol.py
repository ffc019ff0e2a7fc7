"""Symbols, and the rules for a new one.

Scales are powers of ten. The engine stores a quantity as the integer `quantity × base_scale_k`, and a price as the
integer `price × quote_scale_k`. One unit of scaled price × quantity is worth 10^18 / (base_scale_k × quote_scale_k)
amount units of the quote asset. This number is whole, even when divided by 10^4 basis points. That makes trades and
fees exact (docs/protocol/matching.md).
"""

import re
from dataclasses import dataclass

from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS

FEE_BPS_MAX = 1_000
SCALED_MAX = 2**62
"""Largest scaled price or quantity. It fits a signed 64-bit integer with one bit to spare."""

SYMBOL_TEXT = re.compile(r"[A-Z0-9]{2,10}-[A-Z0-9]{2,10}")
CURRENCY_TEXT = re.compile(r"[A-Z0-9]{2,10}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolSpec:
    """A symbol as the engine knows it.

    `tick` is in units of 1/quote_scale_k, `lot` in units of 1/base_scale_k. Fees are in basis points; a negative maker
    fee is a rebate.
    """

    symbol: str
    symbol_id: int
    base: str
    quote: str
    base_scale_k: int
    quote_scale_k: int
    tick: int
    lot: int
    taker_fee_bps: int
    maker_fee_bps: int
    active: bool = True

    @property
    def base_unit(self) -> int:
        """Amount units of the base asset in one scaled unit of quantity."""
        return AMOUNT_SCALE // self.base_scale_k

    @property
    def quote_unit(self) -> int:
        """Amount units of the quote asset in one scaled unit of price × quantity."""
        return AMOUNT_SCALE // (self.base_scale_k * self.quote_scale_k)


def specification_error(
    base_scale_k: int, quote_scale_k: int, tick: int, lot: int, taker_fee_bps: int, maker_fee_bps: int
) -> str | None:
    """Return the first rule that these figures break, as "field reason". Returns None if they break no rule."""
    for name, scale in (("baseScaleK", base_scale_k), ("quoteScaleK", quote_scale_k)):
        if scale < 1 or 10 ** (len(str(scale)) - 1) != scale:
            return f"{name} must be a power of ten"
    if base_scale_k * quote_scale_k > AMOUNT_SCALE // BASIS_POINTS:
        return "baseScaleK × quoteScaleK must not exceed 10^14"
    for name, step in (("tickSize", tick), ("lotSize", lot)):
        if not 1 <= step <= SCALED_MAX:
            return f"{name} must be positive and within range"
    if not 0 <= taker_fee_bps <= FEE_BPS_MAX:
        return f"takerFee must be between 0 and {FEE_BPS_MAX} bps"
    if not -taker_fee_bps <= maker_fee_bps <= FEE_BPS_MAX:
        return f"makerFee must be between minus the taker fee and {FEE_BPS_MAX} bps"
    return None
