"""Await a condition instead of sleeping, with deadlines that a slow or busy machine stretches."""

import asyncio
import hashlib
import inspect
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from nats.aio.client import Client

from openspot.client import ApiError, UnreachableError
from openspot.kit.settings import Settings

Value = TypeVar("Value")

_WORK_S = 0.008
"""How long the measured work takes on a quiet machine of 2024."""
_SLOWNESS_MAX = 8.0


def _slowness() -> float:
    """How many times slower than that machine this one is: by its speed, its load, or the processes of tests a core."""

    def work_s() -> float:
        began = time.perf_counter()
        hashlib.pbkdf2_hmac("sha256", b"openspot", b"tests", 20_000)
        return time.perf_counter() - began

    own = statistics.median(work_s() for _ in range(7)) / _WORK_S
    cores = os.cpu_count() or 1
    waiting = os.getloadavg()[0] / cores
    # They all begin at once, before the load of the machine shows them.
    beside = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) / cores
    return min(max(1.0, own, waiting, beside), _SLOWNESS_MAX)


SLOWNESS = _slowness()
"""Measured once, when this process of tests starts."""


def stretched(seconds: float) -> float:
    """A deadline that takes `seconds` on a quiet machine, for this one."""
    return seconds * SLOWNESS


PAUSE_S_MAX, PAUSE_GROWTH = 0.05, 1.25
"""A condition that takes long is asked less and less often: asking costs the processor that what it waits for needs."""
START_S_MAX = 120.0
"""Limit of one process's start on a quiet machine."""


def hasty(settings: Settings) -> Settings:
    """These settings, but a request that the bus does not answer fails after a second, stretched, instead of five."""
    return settings.model_copy(update={"request_timeout_s": min(stretched(1.0), settings.request_timeout_s)})


async def eventually(
    condition: Callable[[], Value | Awaitable[Value]], timeout_s: float = 30.0, pause_s: float = 0.01
) -> Value:
    """The first true value of `condition`. Fails, naming the last value, when `timeout_s`, stretched, has passed.

    The pauses between two attempts grow from `pause_s` to PAUSE_S_MAX.
    """
    timeout_s = stretched(timeout_s)
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if inspect.isawaitable(value):
            value = await value
        if value:
            return value  # type: ignore[return-value]
        assert time.monotonic() < deadline, f"still {value!r} after {timeout_s} s"
        await asyncio.sleep(pause_s)
        pause_s = max(pause_s, min(pause_s * PAUSE_GROWTH, PAUSE_S_MAX))


def until(condition: Callable[[], Value], wanted: str = "", pause_s: float = 0.05, *, wait_s: float = 30.0) -> Value:
    """The first true value of `condition`, for tests without asyncio, such as those with a browser.

    Fails, naming what was `wanted` and the last value, when `wait_s`, stretched, has passed. What a page shows is
    awaited by Playwright's `expect`; this is for what the exchange says, and for places on a page.
    """
    deadline = time.monotonic() + stretched(wait_s)
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{wanted}: still {value!r}"
        time.sleep(pause_s)
    return value


STARVED = frozenset({429, 503})
"""Statuses by which a platform that gets no processor says "later"."""


async def eventually_served(
    condition: Callable[[], Awaitable[Value]],
    timeout_s: float = 30.0,
    pause_s: float = 0.01,
    *,
    refusals: frozenset[int] = STARVED,
) -> Value:
    """As `eventually`, for a condition that asks a platform: no reply, or a status of `refusals`, means "not yet"."""
    last: ApiError | UnreachableError | None = None

    async def served() -> Value | None:
        nonlocal last
        try:
            value = await condition()
        except UnreachableError as error:
            last = error
            return None
        except ApiError as error:
            if error.status not in refusals:
                raise
            last = error
            return None
        last = None
        return value

    try:
        return await eventually(served, timeout_s, pause_s)  # type: ignore[return-value]
    except AssertionError as error:
        if last is not None:
            error.add_note(f"the last request failed: {last!r}")
        raise


class HasStatus(Protocol):
    """A reply of a platform."""

    @property
    def status(self) -> int:
        """The HTTP status."""


Answer = TypeVar("Answer", bound=HasStatus)


async def unstarved(ask: Callable[[], Awaitable[Answer]], timeout_s: float = 60.0, pause_s: float = 0.1) -> Answer:
    """The first reply of `ask` whose status is not of STARVED, which say that nothing was done.

    It is the last reply, whatever it is, when `timeout_s`, stretched, has passed.
    """
    deadline = time.monotonic() + stretched(timeout_s)
    while (reply := await ask()).status in STARVED and time.monotonic() < deadline:
        await asyncio.sleep(pause_s)
    return reply


async def subscribed(client: Client) -> None:
    """Wait until the server knows every subscription that `client` has made.

    Not with `flush`: the ping that it sends may overtake them. A message to ourselves does not.
    """
    inbox = client.new_inbox()
    returned = await client.subscribe(inbox)
    await client.publish(inbox)
    await returned.next_msg(timeout=stretched(10))
    await returned.unsubscribe()
