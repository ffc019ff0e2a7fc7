"""Adjustments: what operators give to users or take from them, posted in the engine and the ledger alike."""
