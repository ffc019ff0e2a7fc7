"""Money that conversions, staking and payments move, by the engine's command Transfer (design section 8).

`model.py` says what a transfer is, `store.py` keeps it beside the row that it belongs to, `runner.py` sends it until
its outcome is known.
"""
