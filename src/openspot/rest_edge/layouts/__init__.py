"""Layouts of the trading screen: where a user has put its panels."""
