"""The client of the market data service, for other services: requests over the bus.

- `requests`: books, tickers, trades and candles.
- `fair_prices`: the fair prices of all markets, followed.
- `errors`: the reasons why a request can fail.
"""
