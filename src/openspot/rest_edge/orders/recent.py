"""Orders that this process has just sent to clients, merged into the rows of the database.

Rows are written shortly after the response. So a client that places or cancels an order and then lists its orders
would see an old state. A sent record replaces its row until the row is at least as new. Rules without IO: callers pass
the time, in seconds of a monotonic clock.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from openspot.contracts.messages import OrderRecord
from openspot.domain.order import TERMINAL

KEPT_S = 5.0
KEPT_MAX = 50_000


@dataclass(frozen=True, slots=True)
class OrderFilter:
    """The filter of a list of one user's orders. An empty field filters nothing."""

    statuses: Sequence[str] = ()
    symbol: str | None = None
    side: str | None = None
    client_order_id: str | None = None
    since: datetime | None = None
    """Only orders that were created at this time or later."""
    until: datetime | None = None
    """Only orders that were created before this time."""
    list_id: str | None = None

    def takes(self, record: OrderRecord) -> bool:
        """Whether an order passes the filter."""
        return (
            (not self.statuses or record.status in self.statuses)
            and self.symbol in (None, record.symbol)
            and self.side in (None, record.side)
            and self.client_order_id in (None, record.client_order_id)
            and (self.list_id is None or self.list_id == record.list_id)
            and (self.since is None or datetime.fromisoformat(record.created_at) >= self.since)
            and (self.until is None or datetime.fromisoformat(record.created_at) < self.until)
        )


def newer_record(row: OrderRecord | None, sent: OrderRecord | None) -> OrderRecord | None:
    """The newer of two records of one order. If their times are equal, the record that has ended, or else the row.

    The row of an order that has ended counts whatever its time is: only the state of a list changes after that.
    """
    if row is None or sent is None:
        return row or sent
    if row.status in TERMINAL and not row.list_id:
        return row
    if sent.updated_at != row.updated_at:
        return sent if sent.updated_at > row.updated_at else row
    return sent if sent.status in TERMINAL and row.status not in TERMINAL else row


def place_of(record: OrderRecord) -> tuple[str, str]:
    """The sort key of an order in a list. A newer order has a larger key, because ISO times sort as texts."""
    return record.created_at, record.order_id


class Window(NamedTuple):
    """The part of a list that a page shows.

    It begins after the key `after`, and ends at the key `before`, where the next page begins. None is an end of the
    list.
    """

    after: tuple[str, str] | None = None
    before: tuple[str, str] | None = None


class RecentOrderRecords:
    """The records that this process sent within the last KEPT_S seconds, at most KEPT_MAX."""

    def __init__(self) -> None:
        self._of_user: dict[str, dict[str, OrderRecord]] = {}
        self._ages: deque[tuple[float, OrderRecord]] = deque()

    def __len__(self) -> int:
        return len(self._ages)

    def note(self, record: OrderRecord, now: float) -> None:
        """Remember a record that was sent to its user."""
        self._of_user.setdefault(record.user_id, {})[record.order_id] = record
        self._ages.append((now + KEPT_S, record))
        self.forget_old(now)

    def forget_old(self, now: float) -> None:
        """Drop records older than KEPT_S, and the oldest beyond KEPT_MAX."""
        ages = self._ages
        while ages and (ages[0][0] <= now or len(ages) > KEPT_MAX):
            record = ages.popleft()[1]
            orders = self._of_user.get(record.user_id, {})
            if orders.get(record.order_id) is record:
                del orders[record.order_id]
                if not orders:
                    del self._of_user[record.user_id]

    def get(self, user_id: str, order_id: str) -> OrderRecord | None:
        """The newest record of an order that was sent to this user, None if there is none."""
        return self._of_user.get(user_id, {}).get(order_id)

    def of_list(self, user_id: str, list_id: str) -> list[OrderRecord]:
        """The newest records of the orders of a list that were sent to this user."""
        return [record for record in self._of_user.get(user_id, {}).values() if record.list_id == list_id]

    def beside_the_page(
        self, user_id: str, rows: Sequence[OrderRecord], wanted: OrderFilter, window: Window
    ) -> list[str]:
        """The ids of the sent orders that belong to a page by what was sent, while the page lacks their rows.

        A row that was written since may say that such an order has ended, and so does not pass the filter. Without a
        filter by status there are none: the other fields of an order never change.
        """
        if not wanted.statuses:
            return []
        page = {row.order_id for row in rows}
        return [
            record.order_id
            for record in self._within(user_id, window)
            if record.order_id not in page and wanted.takes(record)
        ]

    def merged_with_recent(
        self,
        user_id: str,
        rows: Sequence[OrderRecord],
        wanted: OrderFilter,
        window: Window,
        beside: Mapping[str, OrderRecord],
    ) -> list[OrderRecord]:
        """A page of rows, newest first, as it will be when all rows are written.

        `beside` has the rows of the orders that `beside_the_page` names, by their ids.
        """
        page = {row.order_id: row for row in rows}
        for record in self._within(user_id, window):
            order_id = record.order_id
            newest = newer_record(page.get(order_id) or beside.get(order_id), record)
            assert newest is not None
            page[order_id] = newest
        return sorted((record for record in page.values() if wanted.takes(record)), key=place_of, reverse=True)

    def _within(self, user_id: str, window: Window) -> Iterator[OrderRecord]:
        """The records of a user that are in the window of a page."""
        after, before = window
        for record in self._of_user.get(user_id, {}).values():
            place = place_of(record)
            if (after is None or place < after) and (before is None or place > before):
                yield record
