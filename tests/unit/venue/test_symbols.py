"""Names of markets, on the platform and at the venue."""

import pytest

from openspot.venue.symbols import SymbolMap, SymbolPairsError, parse_pairs

PLATFORM = ("BTC-USD", "ETH-USD", "BTC-USDT")


@pytest.mark.spec("A6.1-25", "A6.1-26")
def test_a_market_has_the_platforms_format_and_an_unknown_one_has_no_symbol() -> None:
    symbols = SymbolMap(PLATFORM, {})
    assert symbols.venue_symbols == ("BTC/USD", "ETH/USD", "BTC/USDT")
    assert symbols.platform_symbols("BTC/USDT") == ("BTC-USDT",)
    for unknown in ("DOGE/USDT", "BTC-USDT", "BTCUSDT", "BTC/USDT:USDT", "None", ""):
        assert symbols.platform_symbols(unknown) == ()


def test_a_pair_replaces_the_market_of_the_same_name() -> None:
    symbols = SymbolMap(PLATFORM, {"BTC-USD": "BTC/USDT", "ETH-USD": "ETH/USDC"})
    assert symbols.venue_symbols == ("BTC/USDT", "ETH/USDC")
    assert symbols.platform_symbols("BTC/USDT") == ("BTC-USD", "BTC-USDT")
    assert symbols.platform_symbols("BTC/USD") == ()


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("", {}),
        (" , ", {}),
        ("BTC-USD=BTC/USDC", {"BTC-USD": "BTC/USDC"}),
        (" BTC-USD = BTC/USDC , ETH-USD=ETH/USDC,", {"BTC-USD": "BTC/USDC", "ETH-USD": "ETH/USDC"}),
    ],
)
def test_pairs_are_read(text: str, pairs: dict[str, str]) -> None:
    assert parse_pairs(text, PLATFORM) == pairs


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("BTC-USD", "'BTC-USD' is not a pair"),
        ("BTC-USD=", "is not a pair"),
        ("BTC-USD=BTCUSDC", "is not a pair"),
        ("BTC-USD=/USDC", "is not a pair"),
        ("BTC-USD=BTC/", "is not a pair"),
        ("BTC-EUR=BTC/EUR", "no symbol 'BTC-EUR'"),
        ("=BTC/EUR", "no symbol ''"),
        ("BTC-USD=BTC/USDC,BTC-USD=BTC/USDT", "BTC-USD already has a pair"),
    ],
)
def test_a_bad_pair_is_named(text: str, reason: str) -> None:
    with pytest.raises(SymbolPairsError, match=reason):
        parse_pairs(text, PLATFORM)
