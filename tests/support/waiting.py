"""Await a condition instead of sleeping."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from nats.aio.client import Client

Value = TypeVar("Value")

START_S_MAX = 120.0
"""Limit of one process's start: seconds of work, which a busy machine stretches. A neighbour's load is no fault."""


async def eventually(
    condition: Callable[[], Value | Awaitable[Value]], timeout_s: float = 30.0, pause_s: float = 0.01
) -> Value:
    """The first true value of `condition`. Fails, naming the last value, when `timeout_s` has passed."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if inspect.isawaitable(value):
            value = await value
        if value:
            return value  # type: ignore[return-value]
        assert time.monotonic() < deadline, f"still {value!r} after {timeout_s} s"
        await asyncio.sleep(pause_s)


async def subscribed(client: Client) -> None:
    """Wait until the server knows every subscription that `client` has made.

    Not with `flush`: the ping that it sends may overtake them. A message to ourselves does not.
    """
    inbox = client.new_inbox()
    returned = await client.subscribe(inbox)
    await client.publish(inbox)
    await returned.next_msg(timeout=10)
    await returned.unsubscribe()
