"""Reports: fee income, volumes, users, balances, and liabilities against reserves, by day and month."""
