"""What the doctor found: one line each, with what to do."""

from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec


class Level(StrEnum):
    """How bad a finding is."""

    FINE = "fine"
    WARNING = "warning"
    """It works, and is not what a platform with real money should have."""
    PROBLEM = "problem"
    """It does not work, loses data or lets strangers in."""


class Finding(msgspec.Struct, frozen=True):
    """What was found at one point. `name` stays the same in all releases; `remedy` is empty if nothing is wrong."""

    name: str
    level: Level
    text: str
    remedy: str = ""

    @property
    def line(self) -> str:
        """The finding as one line."""
        return f"{self.text}; {self.remedy}" if self.remedy else self.text


def fine(name: str, text: str) -> Finding:
    """Nothing is wrong."""
    return Finding(name, Level.FINE, text)


def warning(name: str, text: str, remedy: str) -> Finding:
    """See Level.WARNING."""
    return Finding(name, Level.WARNING, text, remedy)


def problem(name: str, text: str, remedy: str) -> Finding:
    """See Level.PROBLEM."""
    return Finding(name, Level.PROBLEM, text, remedy)


def or_fine(name: str, text: str, found: Iterable[Finding]) -> Iterator[Finding]:
    """What was found, or that nothing is wrong."""
    findings = list(found)
    yield from findings or [fine(name, text)]


def exit_code(findings: Iterable[Finding]) -> int:
    """1 if there is a problem, else 0."""
    return int(any(finding.level is Level.PROBLEM for finding in findings))
