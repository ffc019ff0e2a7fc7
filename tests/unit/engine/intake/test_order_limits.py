"""Rate, order size and notional of the engine (facts A8-46 to A8-48)."""

import pytest

from openspot.domain.market import load_markets
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SCALED_MAX, SymbolSpec
from openspot.engine.intake.order_limits import OrderLimits
from openspot.up.services import PlatformSettings

BTC_USD = SymbolSpec(
    symbol="BTC-USD",
    symbol_id=1,
    base="BTC",
    quote="USD",
    base_scale_k=10**8,
    quote_scale_k=10**2,
    tick=1,
    lot=1,
    taker_fee_bps=25,
    maker_fee_bps=15,
)
UNLISTED = SymbolSpec(
    symbol="DOGE-USD",
    symbol_id=99,
    base="DOGE",
    quote="USD",
    base_scale_k=10**2,
    quote_scale_k=10**4,
    tick=1,
    lot=1,
    taker_fee_bps=25,
    maker_fee_bps=15,
)
SECOND = 10**9


@pytest.mark.spec("A8-46")
def test_a_participant_sends_its_rate_at_once_and_as_many_in_the_next_second() -> None:
    limits = OrderLimits(per_second=3)
    limits.begin(7 * SECOND)
    assert [limits.refusal("alice", BTC_USD, 1, 1) for _ in range(5)] == [None] * 3 + [ResultCode.RATE_LIMITED] * 2
    assert limits.refusal("alice", None, 1, 1) is ResultCode.RATE_LIMITED
    assert limits.refusal("bob", BTC_USD, 1, 1) is None
    limits.begin(7 * SECOND + SECOND // 3 - 1)
    assert limits.refusal("alice", BTC_USD, 1, 1) is ResultCode.RATE_LIMITED
    limits.begin(7 * SECOND + SECOND // 3)
    assert limits.refusal("alice", BTC_USD, 1, 1) is None
    assert limits.refusal("alice", BTC_USD, 1, 1) is ResultCode.RATE_LIMITED
    limits.begin(9 * SECOND)
    assert [limits.refusal("alice", BTC_USD, 1, 1) for _ in range(4)] == [None] * 3 + [ResultCode.RATE_LIMITED]


def test_without_a_rate_no_participant_is_limited() -> None:
    limits = OrderLimits()
    limits.begin(SECOND)
    assert {limits.refusal("alice", BTC_USD, 1, 1) for _ in range(1000)} == {None}


@pytest.mark.spec("A8-47", "A8-48")
def test_an_order_is_no_larger_than_a_multiple_of_its_markets_bounds() -> None:
    limits = OrderLimits(size_factor=10, markets=load_markets().limits)
    # The market: at most 100 BTC and 10,000,000 USD.
    assert limits.refusal("alice", BTC_USD, 1000 * 10**8, 1) is None
    assert limits.refusal("alice", BTC_USD, 1000 * 10**8 + 1, 1) is ResultCode.MAX_ORDER_SIZE
    assert limits.refusal("alice", BTC_USD, 10**8, 10**8 * 10**10) is None
    assert limits.refusal("alice", BTC_USD, 10**8, 10**8 * 10**10 + 1) is ResultCode.MAX_NOTIONAL


def test_a_refused_order_is_not_counted() -> None:
    limits = OrderLimits(1, 10, load_markets().limits)
    assert limits.refusal("alice", BTC_USD, 10**12, 1) is ResultCode.MAX_ORDER_SIZE
    assert limits.refusal("alice", BTC_USD, 1, 1) is None


@pytest.mark.parametrize("limits", [OrderLimits(0, 0, load_markets().limits), OrderLimits(0, 10, {})])
def test_without_a_factor_or_a_market_any_size_passes(limits: OrderLimits) -> None:
    for spec in (BTC_USD, UNLISTED):
        assert limits.refusal("alice", spec, SCALED_MAX, SCALED_MAX**2) is None


def test_sizes_beyond_the_range_of_the_core_are_left_to_the_core() -> None:
    limits = OrderLimits(0, 10, load_markets().limits)
    assert limits.refusal("alice", BTC_USD, SCALED_MAX + 1, 1) is None
    assert limits.refusal("alice", BTC_USD, 5, 5 * (SCALED_MAX + 1)) is None
    assert limits.refusal("alice", BTC_USD, 5, 5 * SCALED_MAX) is ResultCode.MAX_NOTIONAL


@pytest.mark.spec("A8-46", "A8-47", "A8-48")
def test_the_default_limits_are_those_of_the_decision() -> None:
    settings = PlatformSettings()
    assert (settings.engine_rate_limit, settings.engine_size_factor) == (50_000, 10)
    assert settings.engine_open_orders_max == 200_000
