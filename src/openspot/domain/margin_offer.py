"""What is offered on margin: the markets and assets that the platform began with, whatever is listed later.

A market that is listed later is not traded on margin, and its coin is neither lent nor collateral
(docs/adr/0134-what-is-listed-later-is-not-on-margin.md).
"""

from dataclasses import dataclass

from openspot.domain.market import load_markets


@dataclass(frozen=True, slots=True)
class MarginOffer:
    """The markets in which positions are opened, and the assets that are lent and secure debts."""

    markets: frozenset[str]
    assets: frozenset[str]


def margin_offer() -> MarginOffer:
    """Those of domain/markets.toml."""
    seed = load_markets()
    return MarginOffer(frozenset(seed.limits), frozenset(seed.assets))
