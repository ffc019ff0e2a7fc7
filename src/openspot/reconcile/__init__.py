"""Does every mirror say what the engine says? Engine against ledger, order rows and trade rows, to the last digit.

`projection` makes the engine's view out of its events, `comparison` names every difference, both without IO;
`store` gathers the two sides.
"""
