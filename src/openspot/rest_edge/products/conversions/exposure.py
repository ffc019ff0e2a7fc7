"""How much the inventory may be exposed to conversions in an hour: rules without IO. Values are US cents."""

from dataclasses import dataclass
from datetime import timedelta

from openspot.domain.fair_price.reference import DOLLAR
from openspot.rest_edge.products.conversions.store import Exposure, Quote

WINDOW = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class ExposureLimits:
    """The most that one user may convert within the window, and all users together of one asset."""

    user_cents: int
    asset_cents: int


class ExposureError(Exception):
    """A limit does not leave room for a conversion. The message says which, and what to do."""


def check_exposure(limits: ExposureLimits, before: Exposure, quote: Quote) -> None:
    """Raise ExposureError if `quote` on top of what counts already exceeds a limit. Limits are inclusive."""
    if before.of_user + quote.value_cents > limits.user_cents:
        raise ExposureError(
            f"you can convert {_dollars(limits.user_cents)} USD within an hour, of which {_dollars(before.of_user)} "
            f"are used, and this conversion is worth {_dollars(quote.value_cents)}: take less, or try again later"
        )
    for asset, used in ((quote.source_asset, before.of_source), (quote.destination_asset, before.of_destination)):
        # The inventory is not exposed to the asset in which values are counted.
        if asset != DOLLAR and used + quote.value_cents > limits.asset_cents:
            raise ExposureError(
                f"conversions of {asset} have reached what the platform takes within an hour: take less, or try again "
                "later, or place an order"
            )


def _dollars(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"
