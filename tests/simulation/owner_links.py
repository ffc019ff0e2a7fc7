"""The operators of the simulation who link users, and the market data that tells the engine, by its real code."""

import random
from itertools import combinations
from typing import cast

from openspot.domain.owners import Owners
from openspot.market_data.fair_price_store import FairPriceStore
from openspot.market_data.owner_link_sync import OwnerLinkSync
from tests.simulation.clients import STRANGER, USERS
from tests.simulation.engine import SimulatedEngine
from tests.simulation.engine_access import SimulatedEngineClient
from tests.simulation.process import Process


class OwnerLinks:
    """The links that count, as a table, and what compares the engine's with them."""

    def __init__(self, process: Process, client: SimulatedEngineClient, chance: random.Random) -> None:
        self._process = process
        self._chance = chance
        self._sync = OwnerLinkSync(cast(FairPriceStore, self), client)
        self._links: set[tuple[str, str]] = set()
        self.waiting = 0
        """Comparisons that have not ended."""

    async def owner_links(self) -> list[tuple[str, str]]:
        """What the table says."""
        return sorted(self._links)

    def decide(self) -> None:
        """An operator links two users, of whom one may have no account, or ends a link."""
        if self._links and self._chance.random() < 0.4:
            self._links.remove(self._chance.choice(sorted(self._links)))
        else:
            first, second = sorted(self._chance.sample((*USERS, STRANGER), 2))
            self._links.add((first, second))

    def compare(self) -> None:
        """Let the engine change what differs."""
        self.waiting += 1
        self._process.start(self._compare())

    async def _compare(self) -> None:
        try:
            await self._sync.compare()
        finally:
            self.waiting -= 1

    def differences(self, engine: SimulatedEngine) -> list[tuple[str, str]]:
        """The pairs of users who are one owner here and not in the engine, or the other way round."""
        owners = Owners(self._links)
        known = dict(engine.machine.core.owner_links())
        accounts = engine.machine.directory.accounts

        def in_engine(user: str) -> int:
            return known.get(accounts[user], accounts[user])

        return [
            (one, other)
            for one, other in combinations(USERS, 2)
            if (owners.of_user(one) == owners.of_user(other)) != (in_engine(one) == in_engine(other))
        ]
