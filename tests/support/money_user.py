"""A user of a running `openspot up`, and the operator's commands beside it."""

import asyncio
import json
import os
import secrets
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

from openspot.deposit.deposit import deposit
from openspot.up.child_platform import ChildPlatform
from tests.support.engine_client import EngineClient
from tests.support.rest_client import Reply, RestClient
from tests.support.waiting import STARVED, eventually, stretched, unstarved

WAIT_S = 60.0
"""A platform on a machine that does much else may take this long."""
BASIC_INFORMATION = {
    "firstName": "Ada", "lastName": "Lovelace", "dateOfBirth": "1990-12-10", "country": "GB", "city": "London",
    "street": "12 Square", "postalCode": "SW1Y 4JH",
}  # fmt: skip


async def openspot(platform: ChildPlatform, *arguments: str) -> str:
    """Run a command beside the platform, and return what it prints. Fails with that if the command fails."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "openspot.cli", *arguments,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        env=os.environ | {"OPENSPOT_DATA_DIR": str(platform.data_dir)},
    )  # fmt: skip
    printed = (await process.communicate())[0].decode()
    assert process.returncode == 0, f"openspot {' '.join(arguments)}: {printed}"
    return printed


async def assert_every_book_agrees(platform: ChildPlatform) -> None:
    """Engine, ledger and rows agree on all accounts, those of the house too."""
    report = json.loads(await openspot(platform, "reconcile", "--json", "--wait", str(stretched(WAIT_S))))
    assert (report["caughtUp"], report["differences"], report["unnamed"]) == (True, [], 0)


async def house_totals(platform: ChildPlatform, account: str) -> dict[str, Decimal]:
    """What an account of the house holds in the engine, by asset."""
    engine = EngineClient(platform.settings)
    try:
        return {asset: Decimal(row.total) for asset, row in (await engine.balances(account)).items()}
    finally:
        await engine.close()


async def credit(platform: ChildPlatform, account: str, asset: str, amount: str) -> None:
    """Deposit at once, without a chain, as `openspot deposit` does."""
    await deposit(platform.settings, account, asset, amount, secrets.token_hex(32))


async def log_in(client: RestClient, credentials: dict[str, str]) -> str:
    """The access token of a new session."""
    reply = await unstarved(lambda: client("POST", "/auth/login", credentials))
    assert reply.status == 200, reply.body
    return str(reply.body["accessToken"])


class MoneyUser:
    """A user who has registered and logged in. Made with `money_user`."""

    def __init__(self, platform: ChildPlatform, client: RestClient, user_id: str, credentials: dict[str, str]) -> None:
        self.platform = platform
        self.client = client
        self.user_id = user_id
        self.credentials = credentials
        """What the user logs in with."""

    async def __call__(self, method: str, path: str, body: Any = None, *, status: int = 200, **headers: str) -> Any:
        """The body of the reply, which must have that status. Repeated while a starved platform says "later"."""

        def ask() -> Awaitable[Reply]:
            return self.client(method, path, body, headers=headers)

        reply = await (ask() if status in STARVED else unstarved(ask))
        assert reply.status == status, f"{method} {path}: {reply.status} {reply.body}"
        return reply.body

    async def verify(self) -> None:
        """Reach the level verified, as the development provider decides."""
        await self("POST", "/kyc/basic-info", BASIC_INFORMATION)
        await self("POST", "/kyc/start", {"level": "verified"}, status=201)
        assert await openspot(self.platform, "kyc", "review", self.user_id, "GREEN") == "applied\n"
        assert (await self("GET", "/kyc/status"))["level"] == "verified"

    async def total(self, asset: str) -> Decimal:
        """What the user has of an asset."""
        return Decimal((await self("GET", f"/accounts/balances/{asset}"))["total"])

    async def has(self, asset: str, total: str) -> None:
        """Wait until the user has exactly this, and nothing of it is reserved."""

        async def reached() -> bool:
            row = await self("GET", f"/accounts/balances/{asset}")
            return (Decimal(row["total"]), Decimal(row["reserved"])) == (Decimal(total), 0)

        await eventually(reached, WAIT_S, 0.1)

    async def credit(self, asset: str, amount: str) -> None:
        """Deposit at once, without a chain."""
        await credit(self.platform, self.user_id, asset, amount)

    async def quoted(self, wanted: dict[str, str]) -> Any:
        """A quote of a conversion, as soon as the orders that it needs have stood for long enough."""

        async def given() -> Any:
            reply = await unstarved(lambda: self.client("POST", "/conversions/quote", wanted))
            assert reply.status in (201, 409), reply.body
            return reply.body if reply.status == 201 else None

        return await eventually(given, WAIT_S, 0.2)

    async def shows(self, path: str, **values: Any) -> Any:
        """Wait until a response has these values, and return it."""

        async def found() -> Any:
            body = await self("GET", path)
            return body if all(body[name] == value for name, value in values.items()) else None

        return await eventually(found, WAIT_S, 0.1)


@asynccontextmanager
async def money_user(platform: ChildPlatform) -> AsyncIterator[MoneyUser]:
    """Register a user with a random address, and log in."""
    client = RestClient(platform.settings)
    try:
        credentials = {"email": f"{secrets.token_hex(6)}@money.example", "password": secrets.token_urlsafe(16)}
        registered = await unstarved(lambda: client("POST", "/auth/register", credentials))
        assert registered.status == 201, registered.body
        client.token = await log_in(client, credentials)
        yield MoneyUser(platform, client, registered.body["userId"], credentials)
    finally:
        await client.close()
