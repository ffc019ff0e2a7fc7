"""The custody simulator: deposit addresses, deposits, and withdrawals under the wallet policy (Document A 8)."""
