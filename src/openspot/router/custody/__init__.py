"""Deposits and withdrawals that custody announces, carried out in the engine and the ledger."""
