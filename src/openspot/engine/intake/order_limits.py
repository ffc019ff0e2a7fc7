"""Limits of the engine for one participant and one order (Document A 8): rate, order size and notional.

The router's pre-trade check is narrower. These limits apply to every caller of the engine: even through a broken
or bypassed router, one participant cannot fill the queue or place an order of absurd size. Cancels, reductions and
money commands are never limited.
"""

from collections.abc import Mapping
from typing import NamedTuple

from openspot.domain.market import MarketLimits
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SCALED_MAX, SymbolSpec

_SECOND_NS = 1_000_000_000


class SizeLimit(NamedTuple):
    """The largest order of a symbol in scaled units; `worth` is in units of price × quantity."""

    quantity: int
    worth: int


_UNLIMITED = SizeLimit(SCALED_MAX, SCALED_MAX * SCALED_MAX)


class OrderLimits:
    """The limits of one engine; it counts what each participant has sent in the current second."""

    def __init__(
        self, per_second: int = 0, size_factor: int = 0, markets: Mapping[str, MarketLimits] | None = None
    ) -> None:
        """Allow each participant `per_second` orders and moves in a second; 0 means no limit.

        Orders may be `size_factor` times as large as the bounds of their market; 0 means no limit. A symbol without
        configured bounds has none.
        """
        self._per_second = per_second
        self._size_factor = size_factor
        self._markets = markets or {}
        self._sizes: dict[int, SizeLimit] = {}
        self._second = 0
        self._sent: dict[str, int] = {}

    def begin(self, time_ns: int) -> None:
        """Set the time of the following calls of `refusal`."""
        second = time_ns // _SECOND_NS
        if second != self._second:
            self._second = second
            self._sent.clear()

    def refusal(self, participant_id: str, spec: SymbolSpec | None, quantity: int, worth: int) -> ResultCode | None:
        """The reason to refuse an order or move; if None, the order is counted.

        `worth` is its price × quantity, or its budget in that unit. `spec` is None for an unknown symbol.
        """
        if spec is not None:
            quantity_max, worth_max = self._sizes.get(spec.symbol_id) or self._new_size(spec)
            too_large = quantity > quantity_max or worth > worth_max
            # The core itself refuses what is beyond its range, with its own code.
            if too_large and quantity <= SCALED_MAX and worth <= SCALED_MAX * quantity:
                return ResultCode.MAX_ORDER_SIZE if quantity > quantity_max else ResultCode.MAX_NOTIONAL
        if self._per_second:
            sent = self._sent.get(participant_id, 0)
            if sent >= self._per_second:
                return ResultCode.RATE_LIMITED
            self._sent[participant_id] = sent + 1
        return None

    def _new_size(self, spec: SymbolSpec) -> SizeLimit:
        """Compute the limit of a symbol on first use. It stays, because a number belongs to one symbol forever."""
        market = self._markets.get(spec.symbol)
        if market is None or not self._size_factor:
            limit = _UNLIMITED
        else:
            limit = SizeLimit(
                int(market.quantity_max * spec.base_scale_k) * self._size_factor,
                int(market.notional_max * spec.base_scale_k * spec.quote_scale_k) * self._size_factor,
            )
        self._sizes[spec.symbol_id] = limit
        return limit
