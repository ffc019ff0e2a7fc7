"""Orders that this process has just answered, laid over the rows of the database.

Rows are written a moment after the answer, so a client that places or cancels an order and lists its orders at
once would see the past. A record that was answered counts until its row is at least as new. Rules without IO;
time is passed in, in seconds of a clock that never goes back.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from openspot.contracts.messages import OrderRecord
from openspot.domain.order import TERMINAL

KEPT_S = 5.0
KEPT_MAX = 50_000


@dataclass(frozen=True, slots=True)
class OrderFilter:
    """What a list of one user's orders is narrowed to; an empty field narrows nothing."""

    statuses: Sequence[str] = ()
    symbol: str | None = None
    side: str | None = None
    client_order_id: str | None = None

    def takes(self, record: OrderRecord) -> bool:
        """Whether an order belongs into the list."""
        return (
            (not self.statuses or record.status in self.statuses)
            and self.symbol in (None, record.symbol)
            and self.side in (None, record.side)
            and self.client_order_id in (None, record.client_order_id)
        )


def fresher(row: OrderRecord | None, answered: OrderRecord | None) -> OrderRecord | None:
    """The newer of two records of one order; of two of the same moment the one that has ended, else the row."""
    if row is None or answered is None:
        return row or answered
    if answered.updated_at != row.updated_at:
        return answered if answered.updated_at > row.updated_at else row
    return answered if answered.status in TERMINAL and row.status not in TERMINAL else row


def place_of(record: OrderRecord) -> tuple[str, str]:
    """Where an order stands in a list; the larger is the newer. Times of one format compare as texts."""
    return record.created_at, record.order_id


class RecentOrders:
    """The records that were answered within the last seconds, up to a bound."""

    def __init__(self) -> None:
        self._of_user: dict[str, dict[str, OrderRecord]] = {}
        self._ages: deque[tuple[float, OrderRecord]] = deque()

    def __len__(self) -> int:
        return len(self._ages)

    def note(self, record: OrderRecord, now: float) -> None:
        """Remember what a client was answered."""
        self._of_user.setdefault(record.user_id, {})[record.order_id] = record
        self._ages.append((now + KEPT_S, record))
        self.forget_old(now)

    def forget_old(self, now: float) -> None:
        """Drop what is older than KEPT_S, and the oldest beyond KEPT_MAX."""
        ages = self._ages
        while ages and (ages[0][0] <= now or len(ages) > KEPT_MAX):
            record = ages.popleft()[1]
            orders = self._of_user.get(record.user_id, {})
            if orders.get(record.order_id) is record:
                del orders[record.order_id]
                if not orders:
                    del self._of_user[record.user_id]

    def get(self, user_id: str, order_id: str) -> OrderRecord | None:
        """The newest record that this user was answered for that order."""
        return self._of_user.get(user_id, {}).get(order_id)

    def laid_over(
        self,
        user_id: str,
        rows: Sequence[OrderRecord],
        wanted: OrderFilter,
        after: tuple[str, str] | None,
        before: tuple[str, str] | None,
    ) -> list[OrderRecord]:
        """A page of rows, newest first, as it will look when the rows are written.

        The page stands between the places `after`, where it begins, and `before`, where the next one begins;
        None is the end of the list.
        """
        answered = self._of_user.get(user_id)
        if not answered:
            return list(rows)
        page = {row.order_id: row for row in rows}
        for order_id, record in answered.items():
            place = place_of(record)
            if order_id in page or ((after is None or place < after) and (before is None or place > before)):
                newest = fresher(page.get(order_id), record)
                assert newest is not None
                page[order_id] = newest
        return sorted((record for record in page.values() if wanted.takes(record)), key=place_of, reverse=True)
