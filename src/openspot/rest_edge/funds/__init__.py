"""What users hold: balances, deposits and withdrawals, saved addresses, verification of persons, fees."""
