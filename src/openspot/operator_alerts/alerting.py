"""Looks, judges, keeps and sends: the work of the service.

One task looks at the platform and writes what has to be told into the outboxes. One task for each destination sends
from its outbox, so that a slow mail server delays no webhook. What is to be sent is kept before it is sent.
"""

import asyncio
import time
from collections.abc import Callable, Sequence

from prometheus_client import Counter, Gauge

from openspot.http.operator_alerts import AlertKind
from openspot.kit.health import DegradedError
from openspot.kit.log import get_logger
from openspot.kit.tasks import is_set_within
from openspot.operator_alerts.book import TEST, AlertBook, AlertMessage, AlertState
from openspot.operator_alerts.destinations import Destination, NotDeliveredError
from openspot.operator_alerts.keeper import Keeper, Kept
from openspot.operator_alerts.kinds import ABOUT
from openspot.operator_alerts.observer import Observer
from openspot.operator_alerts.outbox import Batch, Outbox, Outcome
from openspot.operator_alerts.rules import Rules

log = get_logger("alerts")

SENT = Counter("openspot_operator_alerts_sent_total", "Batches of alerts handed over", ["way"])
GIVEN_UP = Counter("openspot_operator_alerts_given_up_total", "Batches of alerts that were given up", ["way"])
RAISED = Gauge("openspot_operator_alert_raised", "1 while an alert of operators is raised", ["kind"])
SEND_INTERVAL_S = 1.0
"""An outbox is looked at this often, besides at once after a message."""
FAULT_LENGTH_MAX = 200
TRY_S_MAX = 12.0
"""A person waits for a try."""


class Alerting:
    """The alerts of the platform, and the ways to those who are told."""

    def __init__(
        self,
        observer: Observer,
        rules: Rules,
        keeper: Keeper,
        destinations: Sequence[Destination],
        *,
        check_s: float,
        repeat_s: float,
        per_hour: int,
        now: Callable[[], float] = time.time,
    ) -> None:
        kept = keeper.read()
        self._observer = observer
        self._rules = rules
        self._keeper = keeper
        self._destinations = destinations
        self._check_s = check_s
        self._per_hour = per_hour
        self._now = now
        self._book = AlertBook(kept.alerts, repeat_s)
        # What waited for somebody who is not told any more is gone.
        self._outboxes = {each.name: kept.outboxes.get(each.name) or Outbox() for each in destinations}
        self._added = {each.name: asyncio.Event() for each in destinations}

    @property
    def states(self) -> dict[AlertKind, AlertState]:
        """The state of each alert."""
        return self._book.states

    @property
    def outboxes(self) -> dict[str, Outbox]:
        """What waits, by destination."""
        return self._outboxes

    async def watch(self, stop: asyncio.Event) -> None:
        """Look at the platform until `stop` is set. A fault of one look is logged and stops no other."""
        while not stop.is_set():
            try:
                await self.look()
            except Exception:
                log.exception("the platform was not looked at")
            await is_set_within(stop, self._check_s)

    async def look(self) -> None:
        """Look once, and let wait what has to be told."""
        found = self._rules.judge(await self._observer.observe())
        messages = self._book.take(found, self._now())
        for message in messages:
            log.warning("alert", kind=message.kind.value, alert_event=message.event, text=message.text)
            for name, outbox in self._outboxes.items():
                outbox.add(message)
                self._added[name].set()
        for kind, state in self._book.states.items():
            RAISED.labels(kind.value).set(state.raised_at is not None)
        self.keep()

    async def send(self, destination: Destination, stop: asyncio.Event) -> None:
        """Send what waits for one destination until `stop` is set."""
        added = self._added[destination.name]
        while not stop.is_set():
            added.clear()
            try:
                await self.send_due(destination)
            except Exception:
                log.exception("a batch of alerts was not sent", destination=destination.name)
            await is_set_within(added, SEND_INTERVAL_S)

    async def send_due(self, destination: Destination) -> bool:
        """Make one attempt for the batch that is due. False if there is none, or if it did not arrive."""
        outbox = self._outboxes[destination.name]
        batch = outbox.due(self._now(), self._per_hour)
        if batch is None:
            return False
        # Kept first: after a kill this very batch is sent, not another one.
        self.keep()
        way = destination.name.partition(" ")[0]
        try:
            await destination.send(batch, self._now())
        except NotDeliveredError as error:
            fault = str(error)[:FAULT_LENGTH_MAX]
            is_given_up = outbox.failed(self._now(), fault, is_final=error.is_final)
            if is_given_up:
                GIVEN_UP.labels(way).inc()
            log.error("alerts not delivered", destination=destination.name, fault=fault, given_up=is_given_up)
            self.keep()
            return False
        outbox.delivered(self._now())
        SENT.labels(way).inc()
        self.keep()
        return True

    async def try_out(self, kind: AlertKind) -> dict[str, str]:
        """Send a test of an alert to every destination, at once and once. Returns what went wrong by destination.

        A try counts among the messages of the hour, and is not made where those are used up.
        """
        at = self._now()
        about, milliseconds = ABOUT[kind], round(at * 1000)
        message = AlertMessage(
            f"{kind}-{TEST}-{milliseconds}", kind, TEST, about.severity, about.title,
            f"somebody tries this alert from the console. It is raised when {about.condition}", about.action,
            milliseconds, milliseconds,
        )  # fmt: skip
        faults = await asyncio.gather(*(self._try(each, message) for each in self._destinations))
        self.keep()
        return {each.name: fault for each, fault in zip(self._destinations, faults, strict=True)}

    async def _try(self, destination: Destination, message: AlertMessage) -> str:
        outbox = self._outboxes[destination.name]
        if not outbox.may_send(self._now(), self._per_hour):
            return "the messages of this hour are used up: see OPENSPOT_ALERT_MESSAGES_PER_HOUR"
        outbox.sent.append(self._now())
        fault = ""
        try:
            async with asyncio.timeout(TRY_S_MAX):
                await destination.send(Batch(message.id, [message]), self._now())
        except NotDeliveredError as error:
            fault = str(error)[:FAULT_LENGTH_MAX]
        except TimeoutError:
            fault = f"no answer within {TRY_S_MAX:g} s"
        outbox.last = Outcome(self._now(), fault)
        return fault

    def keep(self) -> None:
        """Write everything that a restart must know."""
        self._keeper.write(Kept(self._book.states, self._outboxes))

    async def check(self) -> None:
        """Raise DegradedError if the newest attempt for a destination failed."""
        failing = [
            f"{name}: {outbox.last.fault}"
            for name, outbox in self._outboxes.items()
            if outbox.last is not None and outbox.last.fault
        ]
        if failing:
            raise DegradedError("alerts do not arrive: " + "; ".join(failing))
