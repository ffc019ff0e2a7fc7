"""Deposit addresses and deposits, and withdrawals to saved addresses."""
