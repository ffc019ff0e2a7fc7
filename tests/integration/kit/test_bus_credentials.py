"""Between services the bus has no authentication by default; with credentials in NATS_URL every service uses them."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import nats
import nats.errors
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import LedgerBalancesReply, LedgerBalancesRequest, LedgerPosting, LedgerPostingReply
from openspot.kit.bus import Bus, BusUnavailableError
from openspot.kit.settings import Settings
from openspot.up.embedded_nats import EmbeddedNats
from openspot.up.nats_configuration import NatsConfiguration, NatsUser
from tests.support.engine_client import EngineClient
from tests.support.in_process_platform import running
from tests.support.ledger_process import running as running_ledger
from tests.support.ports import free_port
from tests.support.rest_client import RestClient
from tests.support.waiting import stretched
from tests.support.websocket_edge import open_as, receive

USER, PASSWORD = "openspot", "s3cret-of-the-bus"


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[EmbeddedNats]:
    """A NATS server that asks for a user and a password."""
    configuration = NatsConfiguration(users=(NatsUser(USER, PASSWORD),), is_synced=False)
    server = EmbeddedNats(tmp_path / "guarded", free_port(), configuration=configuration)
    server.start()
    yield server
    server.stop()


def address(server: EmbeddedNats, credentials: str) -> str:
    return server.url.replace("nats://", f"nats://{credentials}@" if credentials else "nats://")


@pytest.mark.spec("A5-32")
async def test_by_default_anybody_on_the_bus_is_a_service(
    nats_server: EmbeddedNats, settings: Settings, bus: Bus
) -> None:
    from openspot.ledger import service

    assert "@" not in settings.nats_url
    assert Settings.model_fields["nats_url"].default == ""
    async with running_ledger(service, settings, settings.ledger_port):
        # No user, no password, no token: and money is credited.
        stranger = await nats.connect(settings.nats_url)
        posting = {"transactionId": "t1", "userId": "eve", "asset": "USD", "amount": "5", "entryType": "deposit",
                   "referenceType": "custody", "referenceId": "t1"}  # fmt: skip
        reply = await stranger.request(subjects.LEDGER_CREDIT, json.dumps(posting).encode(), timeout=stretched(5))
        await stranger.close()
    assert json.loads(reply.data) == {"success": True, "newBalance": "5", "error": None, "code": None}


@pytest.mark.spec("A5-32")
@pytest.mark.parametrize("credentials", ["", "openspot:wrong", f"somebody:{PASSWORD}", "openspot", "openspot:"])
async def test_a_guarded_bus_lets_nobody_in_without_its_credentials(
    settings: Settings, guarded: EmbeddedNats, credentials: str
) -> None:
    url = address(guarded, credentials)
    with pytest.raises(nats.errors.Error):
        await nats.connect(url, allow_reconnect=False, connect_timeout=2)
    # A service does not wait for better times: it says why it cannot start.
    with pytest.raises(BusUnavailableError, match=r"NATS_URL|given address"):
        async with asyncio.timeout(stretched(30)):
            await Bus.connect(settings.model_copy(update={"nats_url": url}), "stranger")


@pytest.mark.spec("A5-32")
async def test_every_service_works_on_a_bus_that_asks_for_a_password(settings: Settings, guarded: EmbeddedNats) -> None:
    settings = settings.model_copy(update={"nats_url": address(guarded, f"{USER}:{PASSWORD}")})
    async with running(
        settings,
        "engine",
        "ledger",
        "router",
        "ws-edge",
        "rest-edge",
    ):
        engine, rest, bus = EngineClient(settings), RestClient(settings), await Bus.connect(settings, "test")
        try:
            for user in ("alice", "bob"):
                await engine.fund(user)
            async with open_as(settings, "alice") as client:
                for user, side in (("alice", "buy"), ("bob", "sell")):
                    rest.as_user(user)
                    order = {"symbol": "BTC-USD", "side": side, "type": "limit", "quantity": "1", "price": "100"}
                    assert (await rest("POST", "/orders", order)).status == 201
                # The ledger settled it: the consumer of trades has the credentials too. It may be the quicker one.
                events = [(await receive(client))["event"] for _ in range(3)]
                assert sorted(events) == ["balance.updated", "order.created", "order.filled"]
            posting = LedgerPosting("t1", "eve", "USD", "5", "deposit", "custody", "t1")
            assert (await bus.request(subjects.LEDGER_CREDIT, posting, LedgerPostingReply)).success
            question = LedgerBalancesRequest("eve", "USD")
            (balance,) = (await bus.request(subjects.LEDGER_BALANCES_GET, question, LedgerBalancesReply)).balances
            assert balance.available == "5"
        finally:
            await bus.close()
            await rest.close()
            await engine.close()
