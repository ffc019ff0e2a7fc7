"""What one participant and one order may ask of the engine (Document A 8): rate, order size and notional.

The router's pre-trade check is narrower. These limits hold for every caller of the engine, so that neither a
broken nor a bypassed router lets a single participant fill the queue or an order of absurd size through. Cancels,
reductions and money are never limited.
"""

from collections.abc import Mapping
from typing import NamedTuple

from openspot.domain.market import MarketLimits
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SCALED_MAX, SymbolSpec

_SECOND_NS = 1_000_000_000


class SizeLimit(NamedTuple):
    """The largest order of a symbol, in its scaled units; `worth` in those of price × quantity."""

    quantity: int
    worth: int


_UNLIMITED = SizeLimit(SCALED_MAX, SCALED_MAX * SCALED_MAX)


class OrderLimits:
    """The limits of one engine; it counts what each participant has sent in the current second."""

    def __init__(
        self, per_second: int = 0, size_factor: int = 0, markets: Mapping[str, MarketLimits] | None = None
    ) -> None:
        """`per_second` orders and moves of each participant, 0 for any number.

        Sizes are `size_factor` times the market's own bounds, 0 for any size; symbols without a market have none.
        """
        self._per_second = per_second
        self._size_factor = size_factor
        self._markets = markets or {}
        self._sizes: dict[int, SizeLimit] = {}
        self._second = 0
        self._sent: dict[str, int] = {}

    def begin(self, time_ns: int) -> None:
        """What is asked from here on comes at this time."""
        second = time_ns // _SECOND_NS
        if second != self._second:
            self._second = second
            self._sent.clear()

    def refusal(self, participant_id: str, spec: SymbolSpec | None, quantity: int, worth: int) -> ResultCode | None:
        """Why an order or move is refused, None if it is not: then it is counted.

        `worth` is its price × quantity, or its budget in that unit; `spec` is None for an unknown symbol.
        """
        if spec is not None:
            quantity_max, worth_max = self._sizes.get(spec.symbol_id) or self._new_size(spec)
            too_large = quantity > quantity_max or worth > worth_max
            # A quantity or price beyond the core's range is the core's to refuse, by its own code.
            if too_large and quantity <= SCALED_MAX and worth <= SCALED_MAX * quantity:
                return ResultCode.MAX_ORDER_SIZE if quantity > quantity_max else ResultCode.MAX_NOTIONAL
        if self._per_second:
            sent = self._sent.get(participant_id, 0)
            if sent >= self._per_second:
                return ResultCode.RATE_LIMITED
            self._sent[participant_id] = sent + 1
        return None

    def _new_size(self, spec: SymbolSpec) -> SizeLimit:
        """The limit of a symbol that is asked for the first time. A number stands for one symbol forever."""
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
