"""The matching engine: the only authority on book, balances and fills (facts A1.2-01 to A1.2-03).

Commands flow one way: intake → journal → core (inside state) → stream. Transport and admin bring them in.

An order has two ids here. `order_id` is the number that the router assigns, called `engine_order_id` outside the
engine. `external_id` is the public id that clients know.
"""
