"""Which markets a margin account needs: those on which a liquidation trades, and those without which there is no price.

Pure rules. An account without debt and without a position needs none: nothing of it is ever liquidated.
"""

from collections.abc import Collection


def assets_of(symbol: str) -> tuple[str, str]:
    """The base asset and the quote asset of a market."""
    base, _, quote = symbol.partition("-")
    return base, quote


def needs_market(symbol: str, involved: Collection[str], others: Collection[str], valuation_asset: str) -> bool:
    """Whether an account needs a market. `involved` are the assets that it holds or owes, or has positions in.

    `others` are the markets that stay. The account needs the market if a liquidation trades there: it has the base
    asset, and the quote asset is the other one that it has, or the valuation asset, over which everything else is
    sold and bought. Or if it has an asset that no chain of the other markets values.
    """
    base, quote = assets_of(symbol)
    if base in involved and (quote == valuation_asset or quote in involved):
        return True
    return not valued_only_with(symbol, others, valuation_asset).isdisjoint(involved)


def valued_only_with(symbol: str, others: Collection[str], valuation_asset: str) -> set[str]:
    """The assets that chains of markets connect with the valuation asset, and none without this market."""
    return _connected({*others, symbol}, valuation_asset) - _connected(others, valuation_asset)


def _connected(markets: Collection[str], valuation_asset: str) -> set[str]:
    pairs = [assets_of(symbol) for symbol in markets]
    known, size = {valuation_asset}, 0
    while len(known) > size:
        size = len(known)
        known.update(asset for pair in pairs if not known.isdisjoint(pair) for asset in pair)
    return known
