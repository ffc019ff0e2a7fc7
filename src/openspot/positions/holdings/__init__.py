"""Positions, balances, trades, profit and loss, risk and statistics: what participants hold."""
