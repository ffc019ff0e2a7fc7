"""Why a request to market data failed."""


class MarketDataUnavailableError(Exception):
    """No current data can be had now; the message says why, in words for clients."""


class UnknownMarketError(Exception):
    """Market data has no such market."""
