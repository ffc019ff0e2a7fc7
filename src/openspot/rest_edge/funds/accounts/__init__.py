"""Balances and ledger entries of the caller."""
