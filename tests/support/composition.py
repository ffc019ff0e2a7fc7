"""A service's composition root without a bus, a database or a server: which parts it makes, and with what."""

import asyncio
from collections.abc import Coroutine
from types import ModuleType
from typing import Any
from unittest.mock import AsyncMock, MagicMock

import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.health import Health
from openspot.kit.settings import Settings


class StandInFrame:
    """Stands for a service's frame. Bus and database take every call; the service is stopped as soon as it waits."""

    def __init__(
        self, name: str, settings: Settings, stop: asyncio.Event, health: Health | None = None, **_: Any
    ) -> None:
        self.health = health or Health()
        self.bus, self.pool = MagicMock(spec=Bus), MagicMock(spec=asyncpg.Pool)
        self.works: list[str] = []
        self._ends: list[Any] = []

    async def __aenter__(self) -> "StandInFrame":
        return self

    async def __aexit__(self, *_: object) -> None:
        for end in reversed(self._ends):
            outcome = end()
            if outcome is not None:
                await outcome

    def at_end(self, end: Any) -> None:
        """Call `end` at the end."""
        self._ends.append(end)

    async def connect_database(self, *_: Any, **__: Any) -> MagicMock:
        """The stand-in for the database."""
        return self.pool

    async def connect_bus(self, **_: Any) -> MagicMock:
        """The stand-in for the bus."""
        return self.bus

    async def serve(self, server: Any) -> None:
        """Start nothing."""

    def start(self, name: str, work: Coroutine[Any, Any, Any], **_: Any) -> None:
        """Note the work, and do none of it."""
        self.works.append(name)
        work.close()

    async def until_stopped(self) -> None:
        """Do not wait."""


class Composed:
    """The parts that a composition root makes of the classes (or by the functions) that `names` names in `module`."""

    def __init__(self, patch: pytest.MonkeyPatch, module: ModuleType, *names: str) -> None:
        self.made: dict[str, Any] = {}
        self.given: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        self.frame: Any = None
        for name in names:
            patch.setattr(module, name, self._noting(name, getattr(module, name)))
        if hasattr(module, "ServiceFrame"):
            patch.setattr(module, "ServiceFrame", self._framed)
        for name, stand_in in (("serve_health", AsyncMock()), ("with_secrets", lambda settings: settings)):
            if hasattr(module, name):
                patch.setattr(module, name, stand_in)

    def _noting(self, name: str, make: Any) -> Any:
        def noted(*arguments: Any, **options: Any) -> Any:
            self.given[name] = (arguments, options)
            self.made[name] = make(*arguments, **options)
            return self.made[name]

        return noted

    def _framed(self, *arguments: Any, **options: Any) -> StandInFrame:
        self.frame = StandInFrame(*arguments, **options)
        return self.frame
