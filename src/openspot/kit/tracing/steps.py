"""The steps of an order's way, and the ids of their spans."""

import hashlib
from enum import StrEnum
from typing import NamedTuple


class Step(StrEnum):
    """A step that takes time. The value is the name of its span."""

    ORDER = "place order"
    """The request to the REST edge, from its body to its reply."""
    REQUEST = "request to the router"
    SUBMIT = "submit"
    """The router's work until its reply."""
    CHECKS = "checks before the trade"
    CALL = "call of the engine"
    """From the router, with the wait for a batch."""
    ENGINE = "engine"
    """The engine's own work, with the wait for a commit."""
    JOURNAL = "journal"
    """The commit of the batch that has the order, synced to the disk."""
    PUBLISH = "publish"
    """The order's events of one batch, until the bus has stored or the router holds them."""
    ROWS = "rows"
    """The order's rows of one batch, until the database has committed them."""
    SETTLE = "settle"
    """One of the order's trades as taker, until the ledger has committed it."""
    CANCEL = "cancel order"
    """The request to the REST edge to cancel one order, until its reply is known."""
    CANCEL_WORK = "cancel"
    """The router's work on it."""
    CANCEL_CALL = "call of the engine to cancel"
    AMEND = "amend order"
    """The request to the REST edge to amend orders, until its reply is known."""
    AMEND_WORK = "amend"
    """The router's work on it."""
    AMEND_CALL = "call of the engine to amend"
    """One call for all orders of the request."""


class Place(NamedTuple):
    """Where a step belongs: the service that takes it, and the step that it is a part of."""

    service: str
    parent: Step | None


PLACES = {
    Step.ORDER: Place("rest-edge", None),
    Step.REQUEST: Place("rest-edge", Step.ORDER),
    Step.SUBMIT: Place("router", Step.REQUEST),
    Step.CHECKS: Place("router", Step.SUBMIT),
    Step.CALL: Place("router", Step.SUBMIT),
    Step.ENGINE: Place("engine", Step.CALL),
    Step.JOURNAL: Place("engine", Step.ENGINE),
    Step.PUBLISH: Place("router", Step.ORDER),
    Step.ROWS: Place("router", Step.ORDER),
    Step.SETTLE: Place("ledger", Step.ORDER),
    Step.CANCEL: Place("rest-edge", None),
    Step.CANCEL_WORK: Place("router", Step.CANCEL),
    Step.CANCEL_CALL: Place("router", Step.CANCEL_WORK),
    Step.AMEND: Place("rest-edge", None),
    Step.AMEND_WORK: Place("router", Step.AMEND),
    Step.AMEND_CALL: Place("router", Step.AMEND_WORK),
}


def root_of(step: Step) -> Step:
    """The step that is no part of another and that `step` belongs to."""
    while (parent := PLACES[step].parent) is not None:
        step = parent
    return step


def trace_id_of(order_id: str, root: Step = Step.ORDER, key: str = "") -> int:
    """The id of a trace of an order: 128 bits that are not zero.

    An order has one trace of its placement and of what follows from it. Its cancel has another, and each amendment:
    `key` tells those apart. They may come days later, and would make the first picture one of waiting.
    """
    return _number(f"openspot order {order_id}" if root is Step.ORDER else f"openspot {root} {order_id} {key}", 16)


def span_id_of(order_id: str, step: Step, key: str = "") -> int:
    """The id of a span: 64 bits that are not zero. `key` tells several spans of one step apart."""
    return _number(f"openspot order {order_id} {step} {key}", 8)


def chance_of(trace_id: int) -> float:
    """A number from 0 to below 1 that is the same everywhere: an order is traced if that of its placement is below the
    share, and then with all its traces.
    """
    return (trace_id & 0xFFFFFFFF) / 2**32


def _number(text: str, size: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:size]) or 1
