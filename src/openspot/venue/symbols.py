"""Names of markets: `BTC-USDT` on the platform is `BTC/USDT` in the library."""

from collections.abc import Iterable, Mapping


class SymbolPairsError(ValueError):
    """The setting of symbol pairs cannot be used; the message names the pair and the reason."""


def parse_pairs(text: str, platform_symbols: Iterable[str]) -> dict[str, str]:
    """Venue symbols by platform symbol, from pairs such as `BTC-USD=BTC/USDC, ETH-USD=ETH/USDC`.

    Raises SymbolPairsError for a pair of another form, an unknown platform symbol, and a symbol with two pairs.
    """
    known = frozenset(platform_symbols)
    pairs: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        platform_symbol, equals, venue_symbol = (word.strip() for word in part.partition("="))
        base, slash, quote = venue_symbol.partition("/")
        if not (equals and slash and base and quote):
            raise SymbolPairsError(f"{part!r} is not a pair such as BTC-USD=BTC/USDC")
        if platform_symbol not in known:
            raise SymbolPairsError(f"{part!r}: the platform has no symbol {platform_symbol!r}")
        if platform_symbol in pairs:
            raise SymbolPairsError(f"{part!r}: {platform_symbol} already has a pair")
        pairs[platform_symbol] = venue_symbol
    return pairs


class SymbolMap:
    """Which market of the venue each symbol of the platform takes its ticks from.

    That is the market with the same base and quote asset, unless `pairs` names another one. One market may serve
    several symbols.
    """

    def __init__(self, platform_symbols: Iterable[str], pairs: Mapping[str, str]) -> None:
        by_venue_symbol: dict[str, tuple[str, ...]] = {}
        for symbol in platform_symbols:
            venue_symbol = pairs.get(symbol, symbol.replace("-", "/"))
            by_venue_symbol[venue_symbol] = (*by_venue_symbol.get(venue_symbol, ()), symbol)
        self._by_venue_symbol = by_venue_symbol

    @property
    def venue_symbols(self) -> tuple[str, ...]:
        """Every market that the platform wants, even those that the venue does not list."""
        return tuple(self._by_venue_symbol)

    def platform_symbols(self, venue_symbol: str) -> tuple[str, ...]:
        """The symbols that take their ticks from this market; none if the platform does not know it."""
        return self._by_venue_symbol.get(venue_symbol, ())
