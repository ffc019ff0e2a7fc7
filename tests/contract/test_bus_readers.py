"""Somebody reads every event, and somebody asks every question, or docs/deviations.md says why nobody does."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from openspot.contracts import subjects
from openspot.kit.description import BusAccess
from openspot.rest_edge.notifications.sources import SOURCES
from openspot.up.services import DESCRIPTORS

PAGE = Path(__file__).resolve().parents[2] / "docs/deviations.md"
HEADING = "## Events and requests that no process of the platform uses\n"
SUBJECT_OF = {source.durable: source.subject for source in SOURCES} | {
    "custody-refused": subjects.CUSTODY_WITHDRAWAL_FAILED,
    "custody-reserved": subjects.CUSTODY_WITHDRAWAL_RESERVED,
    "router-complete": subjects.CUSTODY_WITHDRAWAL_COMPLETED,
    "router-deposit": subjects.CUSTODY_DEPOSIT_CONFIRMED,
    "router-release": subjects.CUSTODY_WITHDRAWAL_FAILED,
    "router-reserve": subjects.CUSTODY_WITHDRAWAL_REQUESTED,
}
"""What the consumers of streams with several subjects read."""


def accesses() -> Iterator[BusAccess]:
    for descriptor in DESCRIPTORS:
        yield from (process.bus for process in descriptor.processes if process.bus is not None)
        if descriptor.bus is not None:
            yield descriptor.bus


def read_by(pattern: str, subject: str) -> bool:
    """Whether a subscription to `pattern` hears `subject`, which may have wildcards of its own."""
    heard, said = pattern.split("."), subject.split(".")
    if heard[-1] == ">":
        heard, said = heard[:-1], said[: len(heard) - 1] if len(said) >= len(heard) else []
    if len(heard) != len(said):
        return False
    return all("*" in (one, other) or one == other for one, other in zip(heard, said, strict=True))


def readers() -> set[str]:
    found = {pattern for access in accesses() for pattern in access.subscribes}
    for access in accesses():
        for consumer in access.consumes:
            if len(consumer.stream.subjects) == 1:
                found.add(consumer.stream.subjects[0])
            else:
                found.add(SUBJECT_OF[consumer.durable])
    return found


def unread() -> set[str]:
    patterns = readers()
    published = {subject for access in accesses() for subject in access.publishes}
    return {subject for subject in published if not any(read_by(pattern, subject) for pattern in patterns)}


def unasked() -> set[str]:
    return {subject for access in accesses() for subject in access.serves} - {
        subject for access in accesses() for subject in access.requests
    }


def excused() -> dict[str, str]:
    """The subjects of the table in docs/deviations.md, with their reasons."""
    section = PAGE.read_text("utf-8").partition(HEADING)[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return {subject: reason.strip() for names, reason in rows for subject in re.findall(r"`([^`]+)`", names)}


@pytest.mark.parametrize(
    ("pattern", "subject", "hears"),
    [
        ("orders.created", "orders.created", True),
        ("orders.*.>", "orders.created.*", True),
        ("orders.*.>", "orders.liquidation", False),
        ("balances.updated.*", "balances.updated.*", True),
        ("venue.*.bookTicker.*", "venue.*.trade.*", False),
        ("trades.executed", "trades.executed.*", False),
    ],
)
def test_a_subscription_hears_what_its_pattern_says(pattern: str, subject: str, hears: bool) -> None:
    assert read_by(pattern, subject) is hears


def test_what_nobody_reads_or_asks_for_is_named_with_a_reason_and_nothing_else_is() -> None:
    assert set(excused()) == unread() | unasked()
    assert all(len(reason) > 20 for reason in excused().values())
