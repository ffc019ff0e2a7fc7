"""The configuration of the twelve markets."""

from decimal import Decimal

import pytest

from openspot.domain.market import MarketLimits, MarketSeed, load_markets
from openspot.domain.money import to_scaled
from openspot.domain.symbol import SCALED_MAX, specification_error

CONFIGURATION = load_markets()


@pytest.mark.spec("A2.5-07")
def test_the_markets_are_the_twelve_of_the_spec() -> None:
    names = """
        BTC-USD ETH-USD SOL-USD BTC-BRL ETH-BRL SOL-BRL
        ETH-BTC BTC-USDT ETH-USDT SOL-USDT USDT-USD USDC-USD
    """
    assert sorted(load_markets().limits) == sorted(names.split())


# Least and largest quantity, least and largest notional, fat-finger deviation and slippage ceiling in basis points.
LIMITS = {
    "BTC-USD": ("0.00001", "100", "1", "10000000", 2000, 500),
    "ETH-USD": ("0.0001", "1000", "1", "10000000", 2000, 500),
    "SOL-USD": ("0.01", "50000", "1", "10000000", 2000, 500),
    "BTC-BRL": ("0.00001", "100", "5", "50000000", 2000, 500),
    "ETH-BRL": ("0.0001", "1000", "5", "50000000", 2000, 500),
    "SOL-BRL": ("0.01", "50000", "5", "50000000", 2000, 500),
    "ETH-BTC": ("0.001", "1000", "0.0001", "500", 2000, 500),
    "BTC-USDT": ("0.00001", "100", "1", "10000000", 2000, 500),
    "ETH-USDT": ("0.0001", "1000", "1", "10000000", 2000, 500),
    "SOL-USDT": ("0.01", "50000", "1", "10000000", 2000, 500),
    "USDT-USD": ("1", "5000000", "1", "5000000", 500, 100),
    "USDC-USD": ("1", "5000000", "1", "5000000", 500, 100),
}
# Id, scales of quantity and price, tick, lot, and the fees of taker and maker in basis points.
SEEDS = {
    "BTC-USD": (1, 10**8, 100, "0.01", "0.00000001", 25, 15),
    "ETH-USD": (2, 10**8, 100, "0.01", "0.00000001", 25, 15),
    "SOL-USD": (3, 10**6, 1000, "0.001", "0.000001", 25, 15),
    "BTC-BRL": (4, 10**8, 100, "0.01", "0.00000001", 25, 15),
    "ETH-BRL": (5, 10**8, 100, "0.01", "0.00000001", 25, 15),
    "SOL-BRL": (6, 10**6, 100, "0.01", "0.000001", 25, 15),
    "ETH-BTC": (7, 10**8, 10**6, "0.000001", "0.00000001", 25, 15),
    "BTC-USDT": (8, 10**8, 100, "0.01", "0.00000001", 25, 15),
    "ETH-USDT": (9, 10**8, 100, "0.01", "0.00000001", 25, 15),
    "SOL-USDT": (10, 10**6, 1000, "0.001", "0.000001", 25, 15),
    "USDT-USD": (11, 10**6, 10**4, "0.0001", "0.000001", 10, 5),
    "USDC-USD": (12, 10**6, 10**4, "0.0001", "0.000001", 10, 5),
}


@pytest.mark.spec("A8-42", "A8-43", "A8-44", "A8-45")
def test_each_market_has_exactly_the_decided_bounds() -> None:
    assert load_markets().limits == {
        symbol: MarketLimits(symbol, *(Decimal(text) for text in texts), deviation, slippage)
        for symbol, (*texts, deviation, slippage) in LIMITS.items()
    }


def test_each_market_is_created_with_exactly_these_scales_and_fees() -> None:
    assert {seed.symbol: seed for seed in load_markets().seeds} == {
        symbol: MarketSeed(
            symbol=symbol,
            symbol_id=number,
            base_scale_k=base,
            quote_scale_k=quote,
            tick=Decimal(tick),
            lot=Decimal(lot),
            taker_fee_bps=taker,
            maker_fee_bps=maker,
        )
        for symbol, (number, base, quote, tick, lot, taker, maker) in SEEDS.items()
    }


def test_each_asset_has_the_number_that_the_engine_knows_it_by() -> None:
    assert {asset: scale.currency_id for asset, scale in load_markets().assets.items()} == {
        "USD": 1, "BRL": 2, "BTC": 3, "ETH": 4, "SOL": 5, "USDT": 6, "USDC": 7,
    }  # fmt: skip


@pytest.mark.parametrize("seed", CONFIGURATION.seeds, ids=lambda seed: seed.symbol)
def test_each_market_can_be_created_in_the_engine(seed) -> None:
    tick, lot = to_scaled(seed.tick, seed.quote_scale_k), to_scaled(seed.lot, seed.base_scale_k)
    error = specification_error(
        seed.base_scale_k, seed.quote_scale_k, tick, lot, seed.taker_fee_bps, seed.maker_fee_bps
    )
    assert error is None
    assert seed.base in load_markets().assets
    assert seed.quote in load_markets().assets


@pytest.mark.spec("A2.5-06")
def test_each_asset_has_a_deposit_scale() -> None:
    assert {asset: scale.places for asset, scale in load_markets().assets.items()} == {
        "USD": 2,
        "BRL": 2,
        "BTC": 8,
        "ETH": 18,
        "SOL": 9,
        "USDT": 6,
        "USDC": 6,
    }


@pytest.mark.parametrize(
    "fields",
    [
        (1, 10**14, 1, 1, 1, 1),
        (1, 1, SCALED_MAX, SCALED_MAX, 1, 1),
        (1, 1, 1, 1, 0, 0),
        (1, 1, 1, 1, 1000, 1000),
        (1, 1, 1, 1, 10, -10),
    ],
)
def test_a_specification_may_go_to_each_bound(fields: tuple[int, ...]) -> None:
    assert specification_error(*fields) is None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ((1, 1, SCALED_MAX + 1, 1, 1, 1), "tickSize must be positive"),
        ((1, 1, 1, 1, 10, 1001), "makerFee must be between"),
        ((10, 3, 1, 1, 1, 1), "quoteScaleK must be a power of ten"),
        ((0, 1, 1, 1, 1, 1), "baseScaleK must be a power of ten"),
        ((10**8, 10**7, 1, 1, 1, 1), "baseScaleK × quoteScaleK must not exceed 10^14"),
        ((1, 1, 0, 1, 1, 1), "tickSize must be positive"),
        ((1, 1, 1, -1, 1, 1), "lotSize must be positive"),
        ((1, 1, 1, 1, -1, 1), "takerFee must be between"),
        ((1, 1, 1, 1, 1001, 1), "takerFee must be between"),
        ((1, 1, 1, 1, 10, -11), "makerFee must be between"),
    ],
)
def test_a_bad_specification_is_refused_by_field(fields: tuple[int, ...], reason: str) -> None:
    error = specification_error(*fields)
    assert error is not None
    assert error.startswith(reason)
