"""The fair price of a market: what money decisions believe, instead of the last trade.

- `model`: the price with its state, and the two careful prices of it.
- `crossing`: the prices of assets in a valuation asset, through one or several markets.
- `band`: how far from it an order's price may be.
"""
