"""What waits for one destination, and what is on its way to it. Pure: times are given, in seconds since 1970.

What waits is sent together, as one batch, so that a storm of alerts is few mails. A batch that is begun keeps its id
and its messages until it is delivered or given up. A process that dies between the delivery and the note of it sends
the batch once more: a destination gets at most that one twice, and loses none.
"""

import random
from collections.abc import Callable

import msgspec

from openspot.http.operator_alerts import Severity
from openspot.kit.backoff import pause_s
from openspot.operator_alerts.book import GREW, OVER, RAISED, REPEATED, AlertMessage

WAITING_MAX = 200
BATCH_MAX = 50
ATTEMPTS_MAX = 10
"""About half an hour of attempts. Then the batch is given up; what lasts is told again anyway."""
FIRST_PAUSE_S = 5.0
LONGEST_PAUSE_S = 600.0
HOUR_S = 3600.0
_GIVE_WAY = (REPEATED, GREW, OVER, RAISED)
"""What gives way first if too much waits. Of one event, that of a ticket goes before that of a page."""


class Batch(msgspec.Struct, rename="camel"):
    """Messages that are sent together. `left_out` counts those before them that were not sent."""

    id: str
    messages: list[AlertMessage]
    left_out: int = 0
    attempts: int = 0
    next_at: float = 0.0


class Outcome(msgspec.Struct, rename="camel", frozen=True):
    """What became of the newest attempt, `at` in seconds since 1970. `fault` is empty if it was delivered."""

    at: float
    fault: str


class Outbox(msgspec.Struct, rename="camel"):
    """What waits for a destination, its batch on the way, and when batches and tries were sent within the last hour."""

    waiting: list[AlertMessage] = []
    batch: Batch | None = None
    sent: list[float] = []
    left_out: int = 0
    last: Outcome | None = None

    def add(self, message: AlertMessage) -> None:
        """Let a message wait. If too many do, the oldest of the least important gives way."""
        self.waiting.append(message)
        if len(self.waiting) > WAITING_MAX:
            self.waiting.remove(min(self.waiting, key=_importance))
            self.left_out += 1

    def may_send(self, now: float, per_hour: int) -> bool:
        """Whether another batch, or a try, may be sent within this hour."""
        self.sent = [at for at in self.sent if now - HOUR_S < at <= now]
        return len(self.sent) < per_hour

    def due(self, now: float, per_hour: int) -> Batch | None:
        """The batch that is to be sent now. None if nothing is, or if the hour has had its share."""
        if self.batch is None and self.waiting and self.may_send(now, per_hour):
            messages, self.waiting = self.waiting[:BATCH_MAX], self.waiting[BATCH_MAX:]
            self.batch = Batch(messages[0].id, messages, self.left_out)
            self.left_out = 0
            self.sent.append(now)
        return self.batch if self.batch is not None and self.batch.next_at <= now else None

    def delivered(self, now: float) -> None:
        """The batch has arrived."""
        self.batch = None
        self.last = Outcome(now, "")

    def failed(self, now: float, fault: str, *, is_final: bool, chance: Callable[[], float] = random.random) -> bool:
        """The batch has not arrived; it is tried again later. True if it is given up instead."""
        assert self.batch is not None
        self.batch.attempts += 1
        self.last = Outcome(now, fault)
        if is_final or self.batch.attempts >= ATTEMPTS_MAX:
            self.left_out += self.batch.left_out + len(self.batch.messages)
            self.batch = None
            return True
        self.batch.next_at = now + pause_s(self.batch.attempts, FIRST_PAUSE_S, LONGEST_PAUSE_S, chance)
        return False


def _importance(message: AlertMessage) -> tuple[int, bool]:
    return _GIVE_WAY.index(message.event), message.severity is Severity.PAGE
