"""Compares the engine with its mirrors (ledger, order rows and trade rows), to the last digit.

`projection` computes the engine's view from its events, and `comparison` names every difference, both without IO.
`store` reads the two sides.
"""
