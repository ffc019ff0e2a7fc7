"""The values and rules of trading.

They need only the standard library. They use no clock, no network and no randomness, and read no file but markets.toml.
"""
