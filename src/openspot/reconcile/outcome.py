"""What a repair does or would do, in words."""

from collections import Counter
from dataclasses import dataclass, field

CHANGES_MAX = 1000
"""At most this many changes are named. All are counted."""
PROBLEMS_MAX = 1000


class NotRebuiltError(Exception):
    """The repair could not begin or finish; the message says why. What was written stays."""


@dataclass(slots=True)
class Rebuilt:
    """The changes that a repair made, or would make, up to the engine's event `until`.

    `changes` names them, and `unnamed` is how many more there are. `counts` has the number of rows by what they are,
    for example `ledger entry`. `problems` names what cannot be repaired, with the reason.
    """

    until: int
    changes: list[str] = field(default_factory=list)
    unnamed: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """The number of all rows that are changed."""
        return self.counts.total()

    def change(self, kind: str, name: str, what: str, rows: int = 1) -> None:
        """Add a change of one row, or of some that belong together."""
        self.counts[kind] += rows
        if len(self.changes) < CHANGES_MAX:
            self.changes.append(f"{kind} {name}: {what}")
        else:
            self.unnamed += 1

    def count(self, kind: str, number: int) -> None:
        """Add changes that are not named one by one."""
        self.counts[kind] += number
        self.unnamed += number

    def problem(self, text: str) -> None:
        """Add a problem."""
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append(text)


def format_plan(rebuilt: Rebuilt, *, is_plan: bool) -> str:
    """The changes as text: a line for each, and their numbers."""
    lines = [f"  {change}" for change in rebuilt.changes]
    if rebuilt.unnamed:
        lines.append(f"  and {rebuilt.unnamed:,} more")
    counts = ", ".join(f"{number:,} of {kind}" for kind, number in sorted(rebuilt.counts.items()) if number)
    verb = "would change" if is_plan else "changed"
    lines.append(f"{verb} {rebuilt.total:,} rows{f' ({counts})' if counts else ''}, up to event {rebuilt.until:,}")
    return "\n".join(lines)
