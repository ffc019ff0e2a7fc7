"""What one request of an operator about a market may do: how many orders it cancels, and what else it needs. Pure."""

from openspot.engine_client.listing_schemas import TermsChange

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


def changes_money(body: TermsChange) -> bool:
    """Whether a change says what users pay, or what the platform pays them."""
    return any(terms is not None for terms in (body.taker_fee, body.maker_fee, body.payments, body.staking))
