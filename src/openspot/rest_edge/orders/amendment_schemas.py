"""Request bodies of the routes that amend orders."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from openspot.contracts.messages import OrderAmendment
from openspot.http.validation import Body, PositiveDecimal, example, rule_broken
from openspot.rest_edge.orders.schemas import BATCH_MAX, OrderId


class AmendmentBody(Body):
    """What an open limit order shall have from now on. What is not given stays as it is; give at least one.

    `quantity` is the whole quantity of the order, with what is filled already. A stop or take profit order that waits
    for its trigger can get another `stopPrice`, which must not fire at once; one without a price keeps its distance
    from it. A trailing stop keeps its trigger: to change that, replace the order. An order of a list, also an exit that
    is planned, gets another `price` or `stopPrice` with which the list still fits together; its quantity is that of all
    orders of the list, and stays.
    """

    model_config = example({"price": "65010.50", "quantity": "0.01"})

    price: PositiveDecimal | None = None
    quantity: PositiveDecimal | None = None
    stop_price: PositiveDecimal | None = None

    @model_validator(mode="before")
    @classmethod
    def other_terms_stay(cls, data: Any) -> Any:
        """Refuse another distance or displayed quantity with a reason: the engine has no such change."""
        if isinstance(data, dict):
            for name in ("trailingAmount", "trailingBps", "displayQuantity"):
                if name in data:
                    raise rule_broken(f"{name} cannot be changed: replace the order")
        return data

    @model_validator(mode="after")
    def something_is_given(self) -> Self:
        """Refuse an amendment of nothing."""
        if self.price is None and self.quantity is None and self.stop_price is None:
            raise rule_broken("price, quantity or stopPrice is required")
        return self


class AmendmentOfOrder(AmendmentBody):
    """An amendment in a batch."""

    model_config = example({"orderId": "01HZX3V9Q2M4N6P8R0T2V4X6", "price": "65010.50"})

    order_id: OrderId = Field(strict=True)

    def to_request(self) -> OrderAmendment:
        """The amendment as the router receives it."""
        return OrderAmendment(self.order_id, self.price, self.quantity, self.stop_price)


class AmendmentBatchBody(Body):
    """Amendments of up to BATCH_MAX orders, each order once. They reach the engine together."""

    model_config = example({"orders": [{"orderId": "01HZX3V9Q2M4N6P8R0T2V4X6", "quantity": "0.01"}]})

    orders: Annotated[list[AmendmentOfOrder], Field(min_length=1, max_length=BATCH_MAX)]

    @model_validator(mode="after")
    def each_order_is_named_once(self) -> Self:
        """Refuse two amendments of one order: it would be unclear which one holds."""
        if len({order.order_id for order in self.orders}) < len(self.orders):
            raise rule_broken("orders must name each order once")
        return self
