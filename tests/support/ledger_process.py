"""Ledger processes: as tasks of the test, and as child processes that can be killed."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType

import aiohttp

from openspot.kit.settings import Settings
from tests.support.waiting import eventually

START_TIMEOUT_S = 30


async def get(settings: Settings, port: int, path: str) -> tuple[int, str, str]:
    """(status, content type, body) of a request to a process's HTTP port."""
    address = f"http://{settings.host}:{port}{path}"
    async with aiohttp.ClientSession() as session, session.get(address) as response:
        return response.status, response.content_type, await response.text()


async def is_ready(settings: Settings, port: int) -> bool:
    """Whether a process listens and has everything it needs."""
    try:
        return (await get(settings, port, "/ready"))[0] == 200
    except aiohttp.ClientError:
        return False


@asynccontextmanager
async def running(module: ModuleType, settings: Settings, port: int) -> AsyncIterator[None]:
    """`module.run` as a task of the test, ready."""
    stop = asyncio.Event()
    task = asyncio.create_task(module.run(settings, stop))

    async def ready() -> bool:
        assert not task.done(), task.result()
        return await is_ready(settings, port)

    try:
        await eventually(ready, START_TIMEOUT_S)
        yield
    finally:
        stop.set()
        await task


class ChildProcess:
    """`openspot run <service>` as a process of its own."""

    def __init__(self, service: str, settings: Settings, folder: Path, **environment: str) -> None:
        self._service = service
        self._settings = settings
        self._folder = folder
        self._environment = {
            "DATABASE_URL": settings.database_url,
            "NATS_URL": settings.nats_url,
            "JWT_SECRET": settings.jwt_secret,
            "OPENSPOT_DATA_DIR": str(folder),
            "OPENSPOT_LEDGER_PORT": str(settings.ledger_port),
            "OPENSPOT_LEDGER_WORKER_PORT": str(settings.ledger_worker_port),
        } | environment
        self.process: asyncio.subprocess.Process | None = None

    @property
    def port(self) -> int:
        """Its HTTP port."""
        return self._settings.ledger_port if self._service == "ledger" else self._settings.ledger_worker_port

    @property
    def log(self) -> str:
        """What it has logged."""
        return (self._folder / f"{self._service}-{self.port}.log").read_text("utf-8", "replace")

    async def start(self) -> None:
        """Start it and wait until it is ready."""
        with (self._folder / f"{self._service}-{self.port}.log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                "from openspot.cli import app; app()",
                "run",
                self._service,
                env={**os.environ, **self._environment},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

        async def ready() -> bool:
            assert self.process is not None
            assert self.process.returncode is None, self.log[-3000:]
            return await is_ready(self._settings, self.port)

        await eventually(ready, START_TIMEOUT_S)

    async def kill(self) -> None:
        """End it at once, as a crash would."""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    async def stop(self) -> int:
        """End it with a signal and return its exit code."""
        assert self.process is not None
        if self.process.returncode is None:
            self.process.terminate()
        return await self.process.wait()


@asynccontextmanager
async def child(service: str, settings: Settings, folder: Path, **environment: str) -> AsyncIterator[ChildProcess]:
    """A child process that runs for the time of the context, unless it is killed before."""
    process = ChildProcess(service, settings, folder, **environment)
    try:
        await process.start()
        yield process
    finally:
        await process.kill()
