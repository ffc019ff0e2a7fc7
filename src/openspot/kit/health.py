"""Checks of a service's real state, for `/health` and `/ready` (design section 10).

A check is an async function that raises with the reason. `/health` runs the vital checks, without which the service
is of no use at all; `/ready` runs all of them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

Check = Callable[[], Awaitable[None]]
CHECK_TIMEOUT_S = 2.0


class Health:
    """The checks of one service."""

    def __init__(self) -> None:
        self._checks: dict[str, tuple[Check, bool]] = {}

    def add(self, name: str, check: Check, *, vital: bool = False) -> None:
        """Add a check; a `vital` one also decides `/health`."""
        self._checks[name] = (check, vital)

    async def report(self, *, vital_only: bool) -> tuple[int, dict[str, Any]]:
        """Run the checks and return the status code and the body of a health answer."""
        names = [name for name, (_, vital) in self._checks.items() if vital or not vital_only]
        results = await asyncio.gather(*(self._run(name) for name in names))
        details = dict(zip(names, results, strict=True))
        info = {name: result for name, result in details.items() if result["status"] == "up"}
        error = {name: result for name, result in details.items() if result["status"] != "up"}
        body = {"status": "error" if error else "ok", "info": info, "error": error, "details": details}
        return (503 if error else 200), body

    async def _run(self, name: str) -> dict[str, str]:
        check, _ = self._checks[name]
        try:
            await asyncio.wait_for(check(), CHECK_TIMEOUT_S)
        except Exception as error:
            return {"status": "down", "message": str(error) or type(error).__name__}
        return {"status": "up"}
