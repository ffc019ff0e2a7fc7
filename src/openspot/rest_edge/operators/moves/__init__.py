"""Moves: money that operators move, alone or with the approval of another person.

Adjustments (`adjustments`) and the house's transfers and flows (`treasury`) are kinds of moves. What is the same of
all kinds is here:

- `model`: a move, with the part that its kind has of its own.
- `kind`: what a kind says of itself.
- `rules`: what an operator may move alone, and what an amount must be.
- `table`: the SQL of a kind's table.
- `service`: begin at once or ask, begin what was approved, show one or a page.
- `settling`: the engine's decision becomes the row's.

A further kind has a table (a migration), an `ActionKind`, a dataclass of the columns of its own, a `MoveKind`, and a
service that says what is checked under which locks, in the order of the transaction; then its routes. `people.py` lists
the kinds and the services.
"""
