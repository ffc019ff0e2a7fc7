"""The parts of a ledger process, on the test's own database and bus."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from openspot.kit.bus import Bus
from openspot.kit.clock import system_clock
from openspot.kit.settings import Settings
from openspot.ledger.handlers import RequestHandlers
from openspot.ledger.outbox import BalanceEvents
from openspot.ledger.settlement import Settlement
from openspot.ledger.store import LedgerStore
from tests.support.ledger import BalanceFeed


@pytest.fixture
def store(pool: asyncpg.Pool) -> LedgerStore:
    """The ledger's tables."""
    return LedgerStore(pool)


@pytest.fixture
async def events(bus: Bus, store: LedgerStore) -> AsyncIterator[BalanceEvents]:
    """The publisher of balance events."""
    publisher = BalanceEvents(bus, store, system_clock)
    yield publisher
    await publisher.close()


@pytest.fixture
async def settlement(store: LedgerStore, events: BalanceEvents, bus: Bus, settings: Settings) -> Settlement:
    """Settlement of trades, whose consumer is there."""
    return Settlement(store, events, bus, system_clock)


@pytest.fixture
async def desk(store: LedgerStore, events: BalanceEvents, bus: Bus) -> RequestHandlers:
    """Requests, served on the bus."""
    served = RequestHandlers(store, events)
    await served.serve(bus)
    await bus.check()
    return served


@pytest.fixture
def feed(nats_url: str) -> BalanceFeed:
    """The balance events of the stream."""
    return BalanceFeed(nats_url)
