"""Users of the embedded bus: each may do what its process's descriptor says, and nothing else."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nats.aio.client import Client

from openspot.contracts import subjects
from openspot.contracts.messages import OrderRequest, SubmitOrder, SubmitOrderReply
from openspot.kit.bus import Bus, BusUnavailableError
from openspot.kit.settings import Settings
from openspot.up.bus_users import ACCESSES, OPERATOR
from tests.support.embedded_bus import EmbeddedBus
from tests.support.waiting import stretched

PUBLISHERS = {
    # The edge's are payments that their provider has confirmed, the demo market's are funds of its bots.
    subjects.CUSTODY_DEPOSIT_CONFIRMED: {"custody", "rest-edge", "demo", OPERATOR},
    subjects.CUSTODY_WITHDRAWAL_REQUESTED: {"custody"},
    subjects.CUSTODY_WITHDRAWAL_COMPLETED: {"custody", "rest-edge"},
    subjects.CUSTODY_WITHDRAWALS_CREATE: {"rest-edge"},
    subjects.TRADES_EXECUTED: {"router"},
    subjects.TRANSFERS_EXECUTED: {"router"},
    "venue.binance.trade.BTC-USD": {"venue"},
    subjects.LEDGER_CREDIT: {"router"},
    subjects.LEDGER_DEBIT: {"router"},
    # The margin service's are those of margin accounts.
    subjects.ORDERS_SUBMIT: {"rest-edge", "margin"},
    subjects.RISK_MARGIN_TRANSFER: {"rest-edge"},
    subjects.RISK_MARGIN_BORROW: {"rest-edge"},
    subjects.ORDERS_LIQUIDATION: {"margin"},
    # The router's are of order lists whose exits could not be placed.
    subjects.NOTIFICATIONS_SEND: {"margin", "router", "subscriptions"},
    f"{subjects.BALANCES_UPDATED}.alice": {"ledger", "ledger-worker"},
    f"{subjects.ORDERS_FILLED}.alice": {"router"},
    "$JS.API.STREAM.DELETE.TRADES": set(),
    "$JS.API.STREAM.PURGE.CUSTODY": set(),
    "$JS.API.CONSUMER.DELETE.TRADES.ledger-settlement": set(),
    # The operator's are those of a demoted administrator.
    "$KV.sessions-revoked.someone": {"rest-edge", OPERATOR},
    "$KV.router-lease.translator": {"router"},
    "$KV.market-data-lease.leader": {"market-data"},
    "$KV.margin-lease.scanner": {"margin"},
    f"{subjects.MARKETDATA_ORDERBOOK}.BTC-USD": {"market-data"},
    f"{subjects.MARKETDATA_TRADE}.BTC-USD": {"market-data"},
    f"{subjects.MARKETDATA_AGGREGATE}.BTC-USD": {"market-data"},
    # Beside its owner, those whom it may ask, because they reply there.
    "_INBOX.router.x": {"router", "ledger", "ledger-worker", "market-data"},
    "_INBOX.ledger.x": {"ledger"},
    "deliver.ledger-settlement": set(),
}
"""Who may publish what moves money, ends sessions, or undoes what others keep."""
LISTENERS = {
    ">": set(),
    "_INBOX.>": set(),
    "_INBOX.rest-edge.>": {"rest-edge"},
    subjects.ORDERS_SUBMIT: {"router"},
    subjects.LEDGER_CREDIT: {"ledger", "ledger-worker"},
    "deliver.ledger-settlement": {"ledger", "ledger-worker"},
    "deliver.ledger-transfers": {"ledger", "ledger-worker"},
    "deliver.router-deposit": {"router"},
    "custody.>": set(),
    "venue.>": set(),
    f"{subjects.BALANCES_UPDATED}.*": {"router", "ws-edge"},
}
"""Who may subscribe to what, beside the operator, who hears everything."""


@pytest.fixture(scope="module")
def urls(run_folder: Path) -> Iterator[dict[str, str]]:
    """The address of a server with the users of the platform, for each of them, and "" for nobody."""
    bus = EmbeddedBus(run_folder / "bus-users")
    bus.start()
    yield {name: bus.url(name) for name in ACCESSES} | {"": bus.server.url}
    bus.stop()


class Attempts:
    """A connection that notes what the server refuses."""

    def __init__(self) -> None:
        self.client = Client()
        self.refusals: list[str] = []

    async def note(self, error: Exception) -> None:
        self.refusals.append(str(error).lower())

    async def was_refused(self) -> bool:
        """Whether something was refused since the last call.

        The server deals with what a connection sends in its order: once a message to itself is back, it has said all.
        """
        inbox = self.client.new_inbox()
        back = await self.client.subscribe(inbox)
        await self.client.publish(inbox, b"")
        await back.next_msg(stretched(10))
        refusals, self.refusals = self.refusals, []
        assert all("permissions violation" in refusal for refusal in refusals), refusals
        return bool(refusals)


@asynccontextmanager
async def attempts(urls: dict[str, str], name: str) -> AsyncIterator[Attempts]:
    found = Attempts()
    await found.client.connect(
        urls[name], error_cb=found.note, allow_reconnect=False, inbox_prefix=subjects.inbox_of(name)
    )
    try:
        yield found
    finally:
        await found.client.close()


@pytest.mark.parametrize("subject", PUBLISHERS)
async def test_only_their_owners_publish(urls: dict[str, str], subject: str) -> None:
    publishers = set()
    for name in urls:
        if name:
            async with attempts(urls, name) as attempt:
                await attempt.client.publish(subject, b"{}")
                if not await attempt.was_refused():
                    publishers.add(name)
    assert publishers == PUBLISHERS[subject]


@pytest.mark.parametrize("subject", LISTENERS)
async def test_only_those_who_need_them_hear_subjects(urls: dict[str, str], subject: str) -> None:
    listeners = set()
    for name in urls:
        if name:
            async with attempts(urls, name) as attempt:
                await attempt.client.subscribe(subject)
                if not await attempt.was_refused():
                    listeners.add(name)
    assert listeners == LISTENERS[subject] | {OPERATOR}


@pytest.mark.parametrize("url_with", ["", "mallory:", "router:wrong", "token"])
async def test_nobody_connects_without_the_credentials_of_a_user(urls: dict[str, str], url_with: str) -> None:
    address = urls[""].replace("://", f"://{url_with}@") if url_with else urls[""]
    with pytest.raises(BusUnavailableError, match="refuses these credentials"):
        await Bus.connect(Settings(nats_url=address), "stranger")


async def test_a_provider_replies_to_what_it_is_asked_and_to_nobody_else(urls: dict[str, str]) -> None:
    router = await Bus.connect(Settings(nats_url=urls["router"]), "router")
    edge = await Bus.connect(Settings(nats_url=urls["rest-edge"]), "rest-edge")
    try:

        async def submit(_: SubmitOrder) -> SubmitOrderReply:
            return SubmitOrderReply(True)

        await router.serve(subjects.ORDERS_SUBMIT, "q", SubmitOrder, submit, SubmitOrderReply.refused)
        await router.check()
        request = SubmitOrder("alice", OrderRequest("o", symbol="BTC-USD", side="buy", type="market", quantity="1"))
        for _ in range(2):
            assert (await edge.request(subjects.ORDERS_SUBMIT, request, SubmitOrderReply)).success
    finally:
        await edge.close()
        await router.close()
    async with attempts(urls, "router") as attempt:
        await attempt.client.publish("_INBOX.ledger.x", b"{}")
        assert await attempt.was_refused()


async def test_a_provider_that_asks_itself_may_not_reply_where_it_likes(urls: dict[str, str]) -> None:
    async with attempts(urls, "market-data") as attempt:
        inbox = attempt.client.new_inbox()
        own = await attempt.client.subscribe(inbox)
        await attempt.client.publish(inbox, b"", reply=subjects.CUSTODY_WITHDRAWALS_CREATE)
        await own.next_msg(stretched(10))
        await attempt.client.publish(subjects.CUSTODY_WITHDRAWALS_CREATE, b"{}")
        assert await attempt.was_refused()
