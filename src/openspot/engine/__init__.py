"""The matching engine: the only authority on book, balances and fills (Document A 1.2).

Commands flow one way: intake → journal → core (inside state) → stream. Transport and admin sit on top.

An order has two ids here. `order_id` is the number that the router assigns, called `engine_order_id` outside the
engine. `external_id` is the public id that clients know.
"""
