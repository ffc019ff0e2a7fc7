"""Bodies of the routes of an operator's markets that are not the engine's own."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from openspot.http.validation import Body, NoBoolean, ResponseBody, example, rule_broken
from openspot.rest_edge.operators.schemas import Reason


class CancelOrdersBody(Body):
    """Cancel all open orders of a market, and why. A dry run counts them; in earnest, that count is confirmed."""

    model_config = example({"dryRun": False, "confirmedOrders": 1200, "reason": "the market is stopped after a fault"})

    dry_run: Annotated[bool, Field(strict=True)]
    confirmed_orders: Annotated[int | None, Field(ge=0, le=2**31 - 1), NoBoolean] = None
    reason: Reason

    @model_validator(mode="after")
    def earnest_is_confirmed(self) -> Self:
        """Refuse to cancel what nobody has counted."""
        if not self.dry_run and self.confirmed_orders is None:
            raise rule_broken("confirmedOrders must be the count of a dry run")
        return self


class CancelOrdersResponse(ResponseBody):
    """How many orders were cancelled, and how many are open now."""

    symbol: str
    dry_run: bool
    cancelled: int
    open_orders: int
