"""The demo market: bots that quote and trade on every market around invented prices, as ordinary users."""
