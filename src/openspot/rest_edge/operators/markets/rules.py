"""What one request of an operator about a market may do: how many orders it cancels, and what else it needs. Pure."""

from openspot.engine_client.listing_schemas import TermsChange
from openspot.http.policy import Permission

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


def needed_beside(body: TermsChange) -> list[Permission]:
    """What a change of a market needs beside the permission of its route.

    One permission decides what users pay and what the platform pays them, another the limits of orders.
    """
    money = (body.taker_fee, body.maker_fee, body.payments, body.staking)
    limits = (
        body.quantity_min,
        body.quantity_max,
        body.notional_min,
        body.notional_max,
        body.deviation_bps_max,
        body.slippage_bps_max,
    )
    needed = {Permission.FEES_CONFIGURE: money, Permission.RISK_SET_LIMITS: limits}
    return [permission for permission, terms in needed.items() if any(each is not None for each in terms)]
