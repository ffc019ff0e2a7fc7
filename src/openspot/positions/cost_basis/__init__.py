"""FIFO cost basis of users: transactions, imports, lots, disposals and tax years."""
