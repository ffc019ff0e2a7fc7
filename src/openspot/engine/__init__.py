"""The matching engine: the only authority on book, balances and fills (Document A 1.2)."""
