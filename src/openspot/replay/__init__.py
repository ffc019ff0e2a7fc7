"""Plays real order flow through the whole platform: `openspot replay FILE`, or `--sample` for a generated flow.

A level-3 file lists every order that was created, changed or deleted on a venue. Several users play it through the REST
edge, in file order. Afterwards engine, ledger, order rows and trade rows must agree to the last digit.
"""
