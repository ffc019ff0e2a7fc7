"""What to say while nobody knows what markets offer."""

from openspot.domain.market import MarketConfiguration
from openspot.http.errors import service_unavailable

OFFERS_UNKNOWN = {503: "the matching engine has not said yet what its markets offer"}
"""The refusal of `require_known_offers`, for a route."""


def require_known_offers(markets: MarketConfiguration) -> None:
    """Raise HttpError (503) until the engine's list was read, where the edge follows it."""
    if not markets.knows_offers:
        raise service_unavailable("the matching engine has not said yet what its markets offer: try again")
