"""Real order flow through the whole platform: `openspot replay FILE`, and `--sample` for a generated one.

A level-3 file (every order that was created, changed or deleted on a venue) is played through the REST edge by
several users, in file order. Afterwards engine, ledger, order rows and trade rows must agree to the last digit.
"""
