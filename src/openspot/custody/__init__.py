"""The custody simulator: addresses, deposits, and withdrawals under the wallet policy (facts A8-22 to A8-41)."""
