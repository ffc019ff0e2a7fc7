"""Markets, read-only: specifications, books, trades, tickers."""
