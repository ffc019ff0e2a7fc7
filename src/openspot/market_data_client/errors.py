"""The reasons why a request to market data can fail."""


class MarketDataUnavailableError(Exception):
    """Market data has no current data, or does not reply. The message says why, in words for clients."""


class UnknownMarketError(Exception):
    """Market data has no such market."""
