"""What the service of operators' alerts and the REST edge say to each other: the kinds of alerts, and the bodies."""

from enum import StrEnum
from typing import Literal

from openspot.contracts.messages.message import TimeText
from openspot.http.validation import Body, ResponseBody, example


class Severity(StrEnum):
    """How urgent an alert is, as in docs/operations/monitoring.md."""

    PAGE = "page"
    """Money or the market waits: wake somebody."""
    TICKET = "ticket"
    """It can wait until the next working day."""


class AlertKind(StrEnum):
    """What may be wrong."""

    DISK_LOW = "disk_low"
    SERVICE_DOWN = "service_down"
    SERVICE_RESTARTED = "service_restarted"
    CONSUMER_LAGS = "consumer_lags"
    BREAKER_OPEN = "breaker_open"
    BOOKS_DIFFER = "books_differ"
    COMPARISON_FAILS = "comparison_fails"
    COMPARISON_LATE = "comparison_late"
    BACKUP_FAILS = "backup_fails"
    BACKUP_LATE = "backup_late"
    HOUSE_ACCOUNT_LOW = "house_account_low"
    PRICE_DISPUTED = "price_disputed"
    PRICE_STALE = "price_stale"
    LOGINS_FAIL = "logins_fail"
    LARGE_WITHDRAWAL = "large_withdrawal"
    DOCUMENTS_FILL = "documents_fill"
    MARKET_INTERRUPTED = "market_interrupted"


class TryBody(Body):
    """The alert that is tried."""

    model_config = example({"kind": "disk_low"})

    kind: AlertKind


class AlertResponse(ResponseBody):
    """One alert: what it means, and its state.

    `unknown`: nothing that shows it has been seen since the service started. `pending`: its condition is there, but not
    for long enough. `lastRaisedAt` and `lastEndedAt` are null if it never was.
    """

    kind: AlertKind
    title: str
    severity: Severity
    condition: str
    action: str
    state: Literal["unknown", "fine", "pending", "raised"]
    text: str
    since: TimeText | None
    last_told_at: TimeText | None
    last_ended_at: TimeText | None
    count: int


class DestinationResponse(ResponseBody):
    """A destination: how many messages wait for it, and what became of the newest attempt. `fault` is empty if it
    arrived; both are null before the first attempt.
    """

    name: str
    waiting: int
    left_out: int
    sent_this_hour: int
    last_at: TimeText | None
    fault: str | None


class AlertsResponse(ResponseBody):
    """Every alert, and where they go."""

    alerts: list[AlertResponse]
    destinations: list[DestinationResponse]


class TriedDestination(ResponseBody):
    """What became of a try: `fault` is empty if the destination has taken it."""

    name: str
    fault: str


class TryResponse(ResponseBody):
    """What became of a try, by destination."""

    destinations: list[TriedDestination]
