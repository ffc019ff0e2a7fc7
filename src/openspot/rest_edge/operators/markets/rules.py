"""How many orders of a market one request of an operator may cancel. Pure."""

ORDERS_A_COMMIT = 500
"""So many at a time, so that the commands of others come between."""
CANCELS_MAX = 20_000
"""Orders that one request cancels at most; the reply says how many are left."""
_MORE = 10


def most_orders(confirmed: int) -> int:
    """The most orders that may be open when an operator has confirmed a count: a tenth more, and ten.

    A market goes on while the operator reads, so the same count would hardly ever be found again.
    """
    return confirmed + confirmed // 10 + _MORE
