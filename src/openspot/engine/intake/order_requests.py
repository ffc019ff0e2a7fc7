"""What the command intake takes and returns for orders, in terms of exchange.v1."""

import asyncio
from typing import NamedTuple, Protocol

from openspot.domain.result_code import ResultCode
from openspot.engine.intake.sequencer import CommandOutcome
from openspot.engine.intake.terms import RequestedTerms


class PlacementRequest(RequestedTerms, Protocol):
    """The fields of exchange.v1.PlaceOrderRequest that the intake reads, under the names that they have there."""

    @property
    def order_id(self) -> int: ...

    @property
    def participant_id(self) -> str: ...

    @property
    def symbol(self) -> str: ...

    @property
    def side(self) -> int: ...

    @property
    def type(self) -> int: ...

    @property
    def price(self) -> int: ...

    @property
    def quantity(self) -> int: ...

    @property
    def reserve_price(self) -> int: ...

    @property
    def budget(self) -> str: ...

    @property
    def external_id(self) -> str: ...

    @property
    def metadata(self) -> str: ...

    @property
    def post_only(self) -> int: ...

    @property
    def client_order_id(self) -> str: ...


class PlacedOrders(NamedTuple):
    """The result of placing several orders.

    `refusals` has the result codes of the refused orders by their index in the call. `submitted_ids` are the engine
    order ids of the others, with a TERMS_COMMAND before each that has terms or replaces another, and `future` is the
    outcome of all these commands, or None if all were refused. `conflicting_ids` has the order ids that the refusals
    with DUPLICATE_CLIENT_ORDER_ID name, by the same index.
    """

    refusals: dict[int, ResultCode]
    submitted_ids: list[int]
    future: asyncio.Future[CommandOutcome] | None
    conflicting_ids: dict[int, str]


class CancelledOrders(NamedTuple):
    """The orders that one bulk cancel names, oldest first on each side of a symbol.

    `future` is the outcome, with one result for each order; None if there are none. `more_remain` says that the account
    had more such orders than one bulk cancel takes.
    """

    engine_order_ids: list[int]
    more_remain: bool
    future: asyncio.Future[CommandOutcome] | None


class AmendmentRequest(Protocol):
    """The fields of exchange.v1.AmendOrderRequest that the intake reads, under the names that they have there."""

    @property
    def order_id(self) -> int: ...

    @property
    def participant_id(self) -> str: ...

    @property
    def symbol(self) -> str: ...

    @property
    def price(self) -> int: ...

    @property
    def quantity(self) -> int: ...

    @property
    def trigger_price(self) -> int: ...


class AmendedOrders(NamedTuple):
    """The result of amending several orders.

    `refusals` has the result codes of the refused amendments by their index in the call. `future` is the outcome of the
    others, in the order of the call; None if all were refused.
    """

    refusals: dict[int, ResultCode]
    future: asyncio.Future[CommandOutcome] | None
