"""The limits on one participant and on one order (facts A8-46 to A8-48): rate, open orders, order size and notional.

The router's pre-trade check is narrower. These limits hold for every caller of the engine. So even if a router
fails or is bypassed, no participant can fill the queue or the books, and no order of absurd size passes. Cancels,
reductions and transfers are never limited.

The limits are settings of the process, and a replay under other settings must give the same state. So the intake
checks them before the journal, not the core. A refused command is not journalled.
"""

from collections.abc import Mapping
from typing import NamedTuple

from openspot.domain.market import MarketLimits
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SCALED_MAX, SymbolSpec
from openspot.kit.rate_limit import RateLimit

PARTICIPANTS_MAX = 100_000
"""How many participants' rates are tracked. One that sent nothing for a second need not be."""


class SizeLimit(NamedTuple):
    """The largest order of a symbol, in its scaled units. `worth` is in the unit of price × quantity."""

    quantity: int
    worth: int


_UNLIMITED = SizeLimit(SCALED_MAX, SCALED_MAX * SCALED_MAX)


class OrderLimits:
    """The limits of one engine, and how much of its rate each participant has used."""

    def __init__(
        self,
        per_second: int = 0,
        size_factor: int = 0,
        markets: Mapping[str, MarketLimits] | None = None,
        open_orders_max: int = 0,
    ) -> None:
        """For every limit, 0 means unlimited.

        A participant may send `per_second` orders and moves at once, and then as many in each second. The largest
        sizes are `size_factor` times the bounds of the order's market. A symbol that is not in `markets` has no largest
        size. A participant may have `open_orders_max` open orders on one symbol.
        """
        self.open_orders_max = open_orders_max
        self._rate = (
            RateLimit(at_once=per_second, interval_s=1 / per_second, keys_max=PARTICIPANTS_MAX) if per_second else None
        )
        self._size_factor = size_factor
        self._markets = {} if markets is None else markets
        self._sizes: dict[int, SizeLimit] = {}
        self._now_ns = 0

    def begin(self, time_ns: int) -> None:
        """Set the engine's time for the following calls of `refusal`."""
        self._now_ns = time_ns

    def refusal(self, participant_id: str, spec: SymbolSpec | None, quantity: int, worth: int) -> ResultCode | None:
        """Return why an order or move is refused. If it is allowed, count it and return None.

        `worth` is price × quantity, or the order's budget in the same unit. `spec` is None for an unknown symbol.
        """
        if spec is not None:
            quantity_max, worth_max = self._sizes.get(spec.symbol_id) or self._new_size(spec)
            too_large = quantity > quantity_max or worth > worth_max
            # The core refuses a quantity or price beyond its own range, with its own code.
            if too_large and quantity <= SCALED_MAX and worth <= SCALED_MAX * quantity:
                return ResultCode.MAX_ORDER_SIZE if quantity > quantity_max else ResultCode.MAX_NOTIONAL
        if self._rate is not None and self._rate.take(participant_id, self._now_ns):
            return ResultCode.RATE_LIMITED
        return None

    def forget_sizes(self) -> None:
        """Take the bounds of the markets anew, because they have changed."""
        self._sizes.clear()

    def _new_size(self, spec: SymbolSpec) -> SizeLimit:
        """Compute the limit of a symbol, and keep it until the bounds of a market change."""
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
