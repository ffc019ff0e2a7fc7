"""Lists over all users: withdrawals, deposits and payments, on pages and as files."""
