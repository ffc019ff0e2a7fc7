"""Market data: books, trades, tickers and candles of every market, made from the engine's event stream."""
