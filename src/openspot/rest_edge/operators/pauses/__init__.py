"""Operators pause deposits or withdrawals of a coin or a network, and end that."""
