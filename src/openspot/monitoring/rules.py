"""What an alert and a recorded figure are."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How soon somebody must look: PAGE at once, TICKET on the next working day."""

    PAGE = "page"
    TICKET = "ticket"


class Alert(NamedTuple):
    """A condition that somebody must know of. `lasts` is how long it must hold; `action` is what to do first."""

    name: str
    expression: str
    lasts: str
    severity: Severity
    summary: str
    action: str


class Record(NamedTuple):
    """A figure that Prometheus computes regularly and keeps under a name."""

    name: str
    expression: str
    labels: Mapping[str, str]
