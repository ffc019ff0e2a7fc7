"""Checks of a service's real state, for `/health` and `/ready` (fact A7-22).

A check is an async function. It raises if something is wrong, and the message says what. `/health` runs the vital
checks: if one of them fails, the service is of no use at all. `/ready` runs all checks. If a check raises
DegradedError, it is shown as `degraded`: the service does less than it should, but it serves, so the answer stays 200.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from openspot.kit.metrics import Shows

Check = Callable[[], Awaitable[None]]
Checks = Callable[[], Mapping[str, Check]]
"""Returns checks by name, for parts that come and go."""


class DegradedError(Exception):
    """A part does not work, but the service is useful without it. The message says what does not happen, and why."""


class Health:
    """The checks of one service."""

    def __init__(self) -> None:
        self._checks: dict[str, Check] = {}
        self._vital: set[str] = set()
        self._sources: list[Checks] = []
        self.timeout_s = 2.0
        """A check that takes longer than this many seconds fails."""
        self.shows: Shows | None = None
        """Which of the metrics of the process belong to this service; None: all."""

    def add(self, name: str, check: Check, *, vital: bool = False) -> None:
        """Add a check. `/health` runs it only if it is `vital`."""
        self._checks[name] = check
        if vital:
            self._vital.add(name)

    def add_all_of(self, source: Checks) -> None:
        """Add the checks of `source`, which is called for each report. None of them is vital."""
        self._sources.append(source)

    async def report(self, *, vital_only: bool) -> tuple[int, dict[str, Any]]:
        """Run the checks and return the status code and the body of a health answer."""
        checks = {name: check for name, check in self._checks.items() if name in self._vital or not vital_only}
        if not vital_only:
            for source in self._sources:
                checks.update(source())
        results = await asyncio.gather(*(self._result_of(check) for check in checks.values()))
        details = dict(zip(checks, results, strict=True))
        info = {name: result for name, result in details.items() if result["status"] != "down"}
        error = {name: result for name, result in details.items() if result["status"] == "down"}
        body = {"status": "error" if error else "ok", "info": info, "error": error, "details": details}
        return (503 if error else 200), body

    async def _result_of(self, check: Check) -> dict[str, str]:
        try:
            async with asyncio.timeout(self.timeout_s) as limit:
                await check()
        except DegradedError as error:
            return {"status": "degraded", "message": str(error)}
        except Exception as error:
            late = f"no answer within {self.timeout_s:g} s" if limit.expired() else ""
            return {"status": "down", "message": late or str(error) or type(error).__name__}
        return {"status": "up"}
