"""A leader: one of several processes does a piece of work, and another takes over when that process ends or hangs.

Each process waits for a lease (lease.py). The process that holds it leads. A leader session begins when the process
gets the lease, and ends when it loses the lease, when the work ends, or when the process ends. Then the process
releases the lease and pauses, so that another process can take it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from prometheus_client import Gauge

from openspot.kit.log import get_logger
from openspot.kit.tasks import end_tasks, first_ended

log = get_logger("leader")

STAND_BACK_S = 1.0
"""The pause after a session, in seconds. Meanwhile another process takes the lease, and may succeed."""


class LeaderLease(Protocol):
    """What a leader needs of its lease: kit/lease.py has the real one."""

    @property
    def life_s(self) -> float:
        """Seconds for which the lease outlives its last renewal."""

    @property
    def is_held(self) -> bool:
        """Whether this process is certain to hold the lease now."""

    def check(self) -> None:
        """Raise LeaseLostError unless this process is certain to hold the lease."""

    async def acquire(self) -> None:
        """Wait until the lease is free, and take it."""

    async def keep(self) -> None:
        """Renew the lease until cancelled; raises LeaseLostError when it is lost."""

    async def release(self) -> None:
        """Release the lease."""


class LeaderBus(Protocol):
    """What a leader needs of the bus on which its lease is."""

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""


class NotLeadingError(Exception):
    """This process cannot do the work, and knows of no other process that does it. The message says why."""


class Leader:
    """Does `lead` whenever this process holds `lease`.

    `lead` works until it is cancelled, or raises the error that ended its work. It checks the lease before each step.
    The leader renews the lease meanwhile, until `lead` has ended. `work` names the work in the log, and `gauge` counts
    the sessions of this process.
    """

    def __init__(
        self,
        bus: LeaderBus,
        lease: LeaderLease,
        lead: Callable[[], Awaitable[None]],
        *,
        work: str,
        gauge: Gauge,
        fault: str | None = None,
    ) -> None:
        """`fault` is the fault until the first session. With None the process counts as healthy until then."""
        self._bus = bus
        self._lease = lease
        self._lead = lead
        self._work = work
        self._gauge = gauge
        self._leads = False
        self.fault = fault
        """Why the work is not done: the error that ended the last session. None while another process leads.

        During a session the work itself may set the fault, and clears it when it succeeds.
        """

    @property
    def leads(self) -> bool:
        """Whether a session runs. The lease may be lost already; `lead` therefore checks the lease itself."""
        return self._leads

    def check(self) -> None:
        """Raise NotLeadingError if there is a fault."""
        if self.fault is not None:
            raise NotLeadingError(self.fault)

    async def run(self) -> None:
        """Lead whenever this process holds the lease, until cancelled."""
        while True:
            await self._acquire()
            await self._session()
            await asyncio.sleep(STAND_BACK_S)

    async def _acquire(self) -> None:
        acquiring = asyncio.create_task(self._lease.acquire())
        try:
            done, _ = await asyncio.wait({acquiring}, timeout=self._lease.life_s)
            if not done and self._bus.is_connected:
                # Another process holds the lease and leads, so this process's fault no longer matters. Without the bus
                # this process cannot know that: nobody can take the lease.
                self.fault = None
            await acquiring
        finally:
            await end_tasks(acquiring)

    async def _session(self) -> None:
        """Work and renew the lease until one of the two ends."""
        log.info("leading", work=self._work)
        self._leads = True
        self._gauge.inc()
        leading, keeping = asyncio.ensure_future(self._lead()), asyncio.ensure_future(self._lease.keep())
        try:
            await first_ended(leading, keeping)
        except Exception as error:
            cause = _cause(error)
            self.fault = str(cause) or repr(cause)
            log.error("leader session ended", work=self._work, error=repr(cause))
        finally:
            # The work ends first. The lease is renewed until then, so that the work can end what it began.
            await end_tasks(leading)
            await end_tasks(keeping)
            self._leads = False
            self._gauge.dec()
            await self._lease.release()


def _cause(error: BaseException) -> BaseException:
    """The first error of a task group, or the error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
