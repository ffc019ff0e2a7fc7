"""The matching engine: the only authority on book, balances and fills (facts A1.2-01 to A1.2-03).

Commands flow one way: intake → journal → core (inside state) → stream. Transport and admin bring them in.

An order has two ids. `order_id` is the id that clients know, and `engine_order_id` is the number that the router
assigns. The gRPC messages call them `external_id` and `order_id`. The records of journal and core have the number
alone, as `order_id`.
"""
