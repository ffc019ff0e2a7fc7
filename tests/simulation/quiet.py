"""Time and log of the platform's modules while a simulation runs: virtual time, and a log that keeps errors."""

import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from openspot.kit.pacing import Widening, use_widening

_LOGGING = (
    "openspot.router.",
    "openspot.ledger.",
    "openspot.kit.bus.",
    "openspot.kit.lease",
    "openspot.kit.leader",
    "openspot.margin.",
    "openspot.market_data.owner_link_sync",
)
_BUSY_S = 1.0
"""The machine of a simulation is busy for this long, then calm for as long, and so on."""


class Log:
    """A logger that keeps errors, and nothing else."""

    def __init__(self) -> None:
        self.errors: list[tuple[str, dict[str, Any]]] = []

    def debug(self, event: str, **values: object) -> None:
        """Not kept."""

    info = warning = debug

    def error(self, event: str, **values: Any) -> None:
        """Kept."""
        self.errors.append((event, values))

    exception = error


class _Time:
    perf_counter = staticmethod(time.perf_counter)

    @staticmethod
    def monotonic() -> float:
        return asyncio.get_running_loop().time()


def _load() -> float:
    return 1.0 - asyncio.get_running_loop().time() // _BUSY_S % 2


@contextmanager
def quiet() -> Iterator[Log]:
    """Make router, ledger and margin service use virtual time, and log to the object that this yields.

    Their paces widen while the machine is busy.
    """
    log = Log()
    with ExitStack() as stack:
        use_widening(Widening(4.0, _load))
        stack.callback(use_widening, Widening())
        for name, module in list(sys.modules.items()):
            if name.startswith(_LOGGING) and hasattr(module, "log"):
                stack.enter_context(patch.object(module, "log", log))
            if name.startswith(_LOGGING) and getattr(module, "time", None) is time:
                stack.enter_context(patch.object(module, "time", _Time))
        yield log
