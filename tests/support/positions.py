"""A running position service for tests, and requests to it."""

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg

from openspot.kit.settings import Settings, environment_of
from openspot.positions.app import PREFIX
from openspot.up.supervisor import is_ready
from tests.support.in_process_platform import running
from tests.support.rest_client import Reply, RestClient
from tests.support.waiting import START_S_MAX, eventually, stretched

ADMIN = "an-admin"
SERVICE_HEADERS = {"x-api-key": "test-key", "x-api-secret": "test-api-secret", "x-participant-type": "SYSTEM"}


class PositionClient(RestClient):
    """Requests to the position service, as one caller at a time."""

    def __init__(self, settings: Any) -> None:
        super().__init__(settings, base_url=settings.positions_url)

    async def ask(self, caller: str, method: str, path: str, body: Any = None, **options: Any) -> Reply:
        """Send a request as a participant, or as the administrator ADMIN."""
        self.as_user(caller, "admin" if caller == ADMIN else "user")
        return await self(method, path, body, prefix=PREFIX, **options)

    async def get(self, caller: str, path: str) -> Any:
        """The body of a GET that succeeds."""
        reply = await self.ask(caller, "GET", path)
        assert reply.status == 200, reply.body
        return reply.body

    async def post(self, caller: str, path: str, body: Any = None, status: int = 201) -> Any:
        """The body of a POST that ends with `status`."""
        reply = await self.ask(caller, "POST", path, body)
        assert reply.status == status, reply.body
        return reply.body

    async def import_file(
        self, caller: str, content: str | bytes, query: str = "", media_type: str = "text/csv"
    ) -> Reply:
        """Import a file of FIFO transactions."""
        raw = content.encode() if isinstance(content, str) else content
        path = f"/fifo/transactions/import{query}"
        return await self.ask(caller, "POST", path, raw=raw, headers={"Content-Type": media_type})

    async def report_order(self, **changes: Any) -> Any:
        """Report a completed order that fits, but for `changes`."""
        report = {
            "orderId": "broker-1", "participantId": "alice", "symbol": "BTC-USD", "side": "buy", "quantity": "2",
            "price": "100", "fee": "1", "feeAsset": "USD", "completedAt": "2026-05-02T10:00:00Z",
        } | changes  # fmt: skip
        reply = await self.ask(ADMIN, "POST", "/bvi/order-completed", report)
        assert reply.status in (200, 201, 202), reply.body
        return reply.body


@asynccontextmanager
async def running_positions(settings: Settings, **changes: Any) -> AsyncIterator[PositionClient]:
    """The service, started as in production, with `changes` to the settings, and stopped cleanly at the end."""
    changed = settings.model_copy(update=changes)
    async with running(changed, "positions"):
        client = PositionClient(changed)
        try:
            yield client
        finally:
            await client.close()


async def register_users(pool: asyncpg.Pool, *user_ids: str) -> None:
    """Put users into the platform's table."""
    await pool.executemany(
        "INSERT INTO users (user_id, email, password_hash, role) VALUES ($1, $1 || '@example.org', 'x', 'user')",
        [(user_id,) for user_id in user_ids],
    )


class PositionProcess:
    """The service as a child process, to be killed and measured."""

    def __init__(self, settings: Settings) -> None:
        self.settings: Any = settings
        self.log_path = settings.data_dir / "positions.log"
        self.process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start it and wait until it is ready."""
        self._launch()
        await eventually(lambda: is_ready(self.settings.host, self.settings.positions_port, stretched(3)), START_S_MAX)

    def _launch(self) -> None:
        code = (
            "import sys\n"
            "from openspot.kit.service import run_service\n"
            "from openspot.positions.service import run\n"
            "from openspot.positions.settings import PositionSettings\n"
            'sys.exit(run_service("positions", run, PositionSettings()))\n'
        )
        environment = os.environ | environment_of(self.settings)
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=log, stdout=log)

    def kill(self) -> None:
        """kill -9."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def peak_bytes(self) -> int:
        """The most memory that it has ever held."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024


@asynccontextmanager
async def position_process(settings: Settings, **changes: Any) -> AsyncIterator[PositionProcess]:
    """A ready service in a child process, with `changes` to the settings."""
    process = PositionProcess(settings.model_copy(update=changes))
    try:
        await process.start()
        yield process
    finally:
        if process.process is not None and process.process.poll() is None:
            process.kill()
