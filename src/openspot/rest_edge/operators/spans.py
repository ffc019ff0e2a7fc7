"""The span of time that a list is narrowed to."""

from datetime import datetime
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Query

from openspot.http.validation import UtcDatetime
from openspot.kit.clock import ms_from_datetime


class Span(NamedTuple):
    """Moments from `since` on and before `until`; None bounds nothing."""

    since: datetime | None = None
    until: datetime | None = None

    def conditions(self, column: str, values: list[Any]) -> list[str]:
        """The conditions of SQL on a column of times. Their values are added to `values`, which are numbered from 1."""
        found = []
        for sign, moment in ((">=", self.since), ("<", self.until)):
            if moment is not None:
                values.append(moment)
                found.append(f"{column} {sign} ${len(values)}")
        return found

    def milliseconds(self) -> tuple[int | None, int | None]:
        """Both bounds in milliseconds since 1970, as messages have them."""
        since, until = (None if moment is None else ms_from_datetime(moment) for moment in self)
        return since, until

    def texts(self) -> dict[str, str | None]:
        """What the trail notes of it."""
        return {
            "from": None if self.since is None else self.since.isoformat(),
            "to": None if self.until is None else self.until.isoformat(),
        }


async def _span(
    since: Annotated[UtcDatetime | None, Query(alias="from", description="The first moment")] = None,
    until: Annotated[UtcDatetime | None, Query(alias="to", description="The first moment that is too late")] = None,
) -> Span:
    return Span(since, until)


SpanQuery = Annotated[Span, Depends(_span)]
