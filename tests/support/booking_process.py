"""Books adjustments of the engine in a process of its own, which kills itself at a chosen place.

Arguments: the place, one of PLACES. The settings are in the environment. Prints how many adjustments it booked.
"""

import asyncio
import os
import signal
import sys
from typing import Any

from openspot.kit.settings import load
from openspot.reconcile import book_adjustments as booking
from openspot.rest_edge.settings import RestEdgeSettings

PLACES = ("before the entries", "after the entries", "before the commit", "after the commit")


def kill() -> None:
    """End this process at once, as a power cut does."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(place: str) -> None:
    """Have the booking reach that place, and no further."""
    apply, record = booking.apply_with, booking.record

    async def killing_apply(*arguments: Any) -> Any:
        if place == "before the entries":
            kill()
        applied = await apply(*arguments)
        if place == "after the entries":
            kill()
        return applied

    async def killing_record(*arguments: Any) -> None:
        await record(*arguments)
        if place == "before the commit":
            kill()

    booking.apply_with, booking.record = killing_apply, killing_record


async def main(place: str) -> None:
    """Book, and die."""
    die_at(place)
    # Without market data nobody knows a value.
    booking.value_in_cents = lambda amount, _price: int(abs(amount) * 100)
    settings = load(RestEdgeSettings)
    booked = await booking.book_adjustments(settings, operator="user:ada", reason="the ledger lacks it", is_plan=False)
    if place == "after the commit":
        kill()
    print(len(booked.adjustments))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
