"""Runs a service: one async function, which takes its settings and runs until a signal comes."""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from openspot.kit.log import configure_log, get_logger
from openspot.kit.pacing import MachineLoad, Widening, use_widening
from openspot.kit.settings import Settings

ServiceMain = Callable[[Any, asyncio.Event], Awaitable[None]]
"""Takes the service's settings, runs until the event is set, then ends what it began."""

SUPERVISED = "OPENSPOT_SUPERVISED"
"""Set in the environment of a child of `openspot up`."""

GARBAGE_THRESHOLD = 10_000
"""New objects between two searches for cyclic garbage. A batch of events creates thousands of objects and no cycle."""

log = get_logger("service")


class StatedFaultError(Exception):
    """A fault whose message says all that an operator needs: it ends a service without a traceback in the log."""


class NotStartedError(Exception):
    """Database or bus went away while a service was starting. Its supervisor starts it again.

    `shows_place` says that a fault of the program raises the same, so that the log needs the place.
    """

    def __init__(self, text: str, *, shows_place: bool = False) -> None:
        super().__init__(text)
        self.shows_place = shows_place


def run_service(name: str, main: ServiceMain, settings: Settings) -> int:
    """Run `main` until SIGTERM or SIGINT, and return the exit code of the process."""
    configure_log(settings, name)
    use_widening(Widening(settings.pace_widening_max, MachineLoad()))
    # The objects that exist now stay until the end, so the collector need not search them.
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)
    if sys.platform == "win32":
        return asyncio.run(_run(name, main, settings))
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_run(name, main, settings))


async def _run(name: str, main: ServiceMain, settings: Settings) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if os.environ.get(SUPERVISED):
        # The supervisor holds the other end of stdin. It closes when the supervisor ends, in whatever way.
        loop.add_reader(sys.stdin.fileno(), stop.set)
    log.info("starting")
    try:
        await main(settings, stop)
    except NotStartedError as error:
        log.error("not started", error=str(error), exc_info=error.shows_place)
        return 1
    except StatedFaultError as error:
        log.error("ended by a fault", error=str(error))
        return 1
    except Exception as error:
        log.exception("ended by a fault", error=str(error))
        return 1
    log.info("stopped")
    return 0
