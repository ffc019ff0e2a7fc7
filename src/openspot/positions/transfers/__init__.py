"""Transfers: deposits, withdrawals and adjustments of balances."""
