"""What anybody may know about the state of the exchange: which of its functions work, and since when.

Services and their checks have no names here. A function is down if a service that it needs is not ready or does not
respond, and degraded if a check of such a service is.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from openspot.web_server.health_report import ServiceHealth

FUNCTIONS = {
    "trading": ("Matching engine", "Order router", "REST edge"),
    "prices": ("Market data",),
    "live": ("WebSocket edge",),
    "account": ("REST edge",),
    "funds": ("Custody simulator", "Ledger", "Ledger worker", "REST edge"),
    "positions": ("Position service",),
    "margin": ("Margin risk service",),
    "subscriptions": ("Subscription service",),
}
"""The services that each function needs, by their titles in OPENSPOT_WATCHED_SERVICES."""
WORKS, DEGRADED, DOWN = "works", "degraded", "down"
WATCHED_S = 15.0
"""How often the states are looked at while nobody asks for them."""
_SEVERITY = (WORKS, DEGRADED, DOWN)


class FunctionState(msgspec.Struct, frozen=True):
    """A function, its state, and since when it is known to be in it, in milliseconds since 1970."""

    name: str
    state: str
    since: int


class PublicStatus:
    """The states of the functions. It remembers when each began, as long as the process runs."""

    def __init__(self, services: Callable[[], Awaitable[Sequence[ServiceHealth]]]) -> None:
        """`services` returns what the services say of themselves now."""
        self._services = services
        self._known: dict[str, FunctionState] = {}

    async def watch(self) -> None:
        """Look at the states again and again, so that it is known since when they are what they are."""
        while True:
            await self.report()
            await asyncio.sleep(WATCHED_S)

    async def report(self) -> bytes:
        """The functions as JSON. A function none of whose services is watched is left out."""
        states = {service.title: state_of(service) for service in await self._services()}
        now = time.time_ns() // 1_000_000
        for name, titles in FUNCTIONS.items():
            found = [states[title] for title in titles if title in states]
            if not found:
                continue
            state = max(found, key=_SEVERITY.index)
            known = self._known.get(name)
            if known is None or known.state != state:
                self._known[name] = FunctionState(name, state, now)
        return msgspec.json.encode({"at": now, "functions": list(self._known.values())})


def state_of(service: ServiceHealth) -> str:
    """Whether a service works, is degraded or is down."""
    if service.state != "READY":
        return DOWN
    return DEGRADED if any(check.message for check in service.checks) else WORKS
