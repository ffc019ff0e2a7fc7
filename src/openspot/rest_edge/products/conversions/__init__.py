"""Conversions: one asset into another at a price that is quoted for the whole amount."""
