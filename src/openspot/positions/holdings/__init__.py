"""The holdings of participants: positions, balances, trades, profit and loss, risk and statistics."""
