"""Actions of two persons: one operator asks, another decides before the request expires."""
