"""The wing of users' funds: balances, deposits and withdrawals, saved addresses, verification of persons, fees."""
