"""A whole platform in one process, controlled by one random generator.

`World(seed).run(steps)` takes that many random steps, good and bad ones. Then it calms the weather and runs until
nothing is left to do. All randomness comes from the seed, in the order of the steps: the first n steps of a longer
run are the run of n steps.
"""

import asyncio
import functools
import random
from collections.abc import Callable

import msgspec

from openspot.contracts.engine_events import EngineEvent
from openspot.kit.clock import NANOSECONDS_PER_MS
from openspot.kit.settings import Settings
from openspot.up.services import PlatformSettings
from tests.simulation.book_auditor import book_findings
from tests.simulation.bus import BusServer, SimulatedBus
from tests.simulation.clients import USERS, Custody, Told, Traders
from tests.simulation.engine import ASSETS, SimulatedEngine
from tests.simulation.engine_access import SimulatedEngineClient
from tests.simulation.history import History
from tests.simulation.ledger import Ledger, LedgerTables
from tests.simulation.loop import VirtualLoop
from tests.simulation.owner_links import OwnerLinks
from tests.simulation.process import Process, Weather
from tests.simulation.router import Router
from tests.simulation.rows import Rows
from tests.simulation.rule_steps import COMPLETE_STEPS
from tests.simulation.rules.audit import RulesAuditor
from tests.simulation.rules.holds import Shown
from tests.simulation.rules.volatility import VOLATILITY
from tests.simulation.storm import LEASE_S, step
from tests.simulation.terms_auditor import TermsAuditor
from tests.simulation.transfers import ToldOfTransfers, Transfers

ROUTERS = LEDGERS = 2
FIRST_DEPOSITS = {"USD": "2000.00", "BTC": "5", "ETH": "5.5"}
ROUNDS_MAX = 120
ONE_PROCESS_EVERY = 3
"""One of so many seeds has a REST edge in the process of each router."""
DIVISIONS = ((1, 1), (1, 1), (2, 2), (2, 3), (3, 1), (1, 2))
"""Numbers of partitions, by the seed: at the start, and after a restart of all routers at step CHANGE_AT."""
CHANGE_AT = 50
COMPLETE_OF, COMPLETE = 5, (1, 2, 4)
"""Of so many seeds, those with these remainders have the complete rules of orders."""


def has_complete_rules(seed: int) -> bool:
    """Whether a seed's world has the complete rules of orders."""
    return seed % COMPLETE_OF in COMPLETE


_decode = msgspec.json.Decoder(list[EngineEvent]).decode


class RestlessError(AssertionError):
    """The platform does not come to rest although no more faults happen."""


@functools.cache
def _settings(partitions: int) -> Settings:
    return PlatformSettings(translator_lease_s=LEASE_S, translator_partitions=partitions)


class World:
    """One run."""

    may_be_complete = True
    """Whether some seeds have the complete rules of orders."""

    test = "tests/simulation/test_simulation.py -k money"
    """The test that repeats a seed."""

    def __init__(
        self, seed: int, *, tables: Callable[[], LedgerTables] = LedgerTables, rows: Callable[[], Rows] = Rows
    ) -> None:
        self.chance = chance = random.Random(seed)
        self.is_complete = self.may_be_complete and has_complete_rules(seed)
        # The pauses between attempts are random, too (kit/backoff.py).
        random.seed(seed)
        self.loop = VirtualLoop()  # type: ignore[abstract]  # the platform needs no more of a loop
        asyncio._set_running_loop(self.loop)
        try:
            self.weather = Weather(self.loop, chance)
            self.server = BusServer(self.weather)
            self.engine = SimulatedEngine(self.loop, VOLATILITY if self.is_complete else None)
        finally:
            asyncio._set_running_loop(None)
        self.rows = rows()
        self.partitions, self._later_partitions = DIVISIONS[seed % len(DIVISIONS)]
        self.is_divided = self.partitions > 1 or self._later_partitions > 1
        self._steps = 0
        self.tables = tables()
        self.told = Told()
        self.custody = Custody(self.server, chance, self.told)
        self._names = 0
        self.edge = Process("edge", self.weather)
        self.is_one_process = seed % ONE_PROCESS_EVERY == 0
        """Whether each router shares its process with a REST edge."""
        now_ms = self._now_ms if self.is_complete else None
        self.traders = Traders(self.edge, self.server, chance, self.told, self._edges, now_ms)
        self.shown: list[Shown] = []
        """What the engine showed after each commit."""
        client = SimulatedEngineClient(self.engine, self.edge, self.weather)
        self.transfers = Transfers(self.edge, client, chance)
        self.links = OwnerLinks(self.edge, client, chance)
        self._specs = dict(self.engine.machine.directory.symbols)
        self._symbols = [spec.symbol_id for spec in self._specs.values()]
        self.routers = [self._new_router() for _ in range(ROUTERS)]
        self.ledgers = [self._new_ledger() for _ in range(LEDGERS)]

    # Running

    def run(self, steps: int) -> None:
        """Prepare, take `steps` steps, then come to rest. Raises AssertionError if something goes wrong on the way."""
        try:
            self._prepare()
            self.weather.is_calm = False
            for _ in range(steps):
                self.take_step()
            self.come_to_rest()
            self.engine.kill()
            self.engine.restart(from_zero=True)
        finally:
            self._end()

    def take_step(self) -> None:
        """Have one thing happen."""
        step(self, COMPLETE_STEPS if self.is_complete else None)
        self._steps += 1
        if self._steps == CHANGE_AT and self._later_partitions != self.partitions:
            self.partitions = self._later_partitions
            for router in self.routers:
                router.process.kill()

    def _prepare(self) -> None:
        for user in USERS:
            for asset in ASSETS:
                self.custody.deposit(user, asset, FIRST_DEPOSITS[asset])
        self.come_to_rest()
        self.transfers.fund_house()
        if self.is_complete:
            self.traders.trade_first()
        self.come_to_rest()

    def commit(self) -> None:
        """Let the engine commit its waiting commands, if it is up."""
        if self.engine.is_up and self.engine.waits:
            self.engine.commit()
            if self.is_complete:
                core = self.engine.machine.core
                depths = {symbol: core.depth(symbol, 0) for symbol in self._symbols}
                self.shown.append(Shown(core.command_sequence, core.balances(), depths))
            self.loop.run_ready()

    def _now_ms(self) -> int:
        return self.engine.now() // NANOSECONDS_PER_MS

    def come_to_rest(self) -> None:
        """Run in calm weather until nothing is left to do. Raises RestlessError if that takes too long."""
        self.weather.is_calm = True
        for _ in range(ROUNDS_MAX):
            self._mend()
            self.loop.run_ready()
            self.commit()
            self.custody.carry_out()
            self.transfers.repeat_unknown()
            self.links.compare()
            for consumer in self.server.consumers.values():
                consumer.deliver(self.weather, 100)
            self.loop.run_ready()
            if not self._unfinished():
                return
            self.loop.advance(0.3)
        raise RestlessError(f"not finished: {self._unfinished()}")

    def _mend(self) -> None:
        for process in self.processes:
            process.trap = None
            self.loop.thaw(process)
        self.revive()
        self.weather.go_on(len(self.weather.held_up))

    def _unfinished(self) -> list[str]:
        position = self.rows.position
        unfinished = {
            "the engine's commits": self.engine.waits,
            "the engine's own work": self.engine.overdue,
            "answers to traders": self.traders.waiting,
            "transfers": self.transfers.waiting or self.transfers.told.unknown,
            "links of owners": self.links.waiting or self.links.differences(self.engine),
            "rows": (0 if position is None else position.least) < len(self.engine.messages),
            "the outbox": self.tables.outbox,
            "events that the bus did not take": self.rows.held
            or any(router.translator.held for router in self.routers),
            "refused orders": any(router.rejections.waiting for router in self.routers),
            **{durable: consumer.places for durable, consumer in self.server.consumers.items()},
        }
        return [name for name, is_left in unfinished.items() if is_left]

    def _end(self) -> None:
        for process in (self.edge, *self.processes):
            process.kill()
        self.loop.run_ready()

    @property
    def told_of_transfers(self) -> ToldOfTransfers:
        """What all senders of transfers asked for and were told."""
        return self.transfers.told

    def further_findings(self, history: History) -> list[str]:
        """What is wrong with more than the core of a platform."""
        if not self.is_complete:
            return []
        rules = RulesAuditor(self.engine.journal, self.engine.records, self.shown, VOLATILITY, self.engine.begun_at)
        rules.finish(self.engine.now(), self.engine.machine.core)
        terms = TermsAuditor(history, self.told, self.rows)
        terms.look_at_rows()
        terms.look_at_commands(rules.story)
        terms.look_at_ends()
        events = _decode(b"[" + b",".join(self.engine.messages) + b"]")
        terms.rebuild(events)
        markets = {spec.symbol_id: history.market(spec.symbol_id) for spec in self._specs.values()}
        return rules.findings + terms.findings + book_findings(events, rules.queues, markets)

    # Processes

    def _new_process(self, kind: str) -> Process:
        self._names += 1
        return Process(f"{kind}-{self._names}", self.weather)

    def _new_router(self) -> Router:
        return Router(
            self._new_process("router"), _settings(self.partitions), self.server, self.engine, self.rows, self._specs,
            has_an_edge=self.is_one_process, has_complete_rules=self.is_complete,
        )  # fmt: skip

    def _edges(self) -> list[tuple[Process, SimulatedBus]]:
        """The edges that share a process with a router, and run."""
        if not self.is_one_process:
            return []
        return [(router.process, router.edge) for router in self.routers if router.process.is_alive]

    def _new_ledger(self) -> Ledger:
        return Ledger(self._new_process("ledger"), self.server, self.tables, self.engine.now)

    @property
    def processes(self) -> list[Process]:
        """Routers and ledgers."""
        return [router.process for router in self.routers] + [ledger.process for ledger in self.ledgers]

    def revive(self) -> None:
        """Restart the engine and every process that is dead."""
        if not self.engine.is_up:
            self.engine.restart()
        for router in [router for router in self.routers if not router.process.is_alive]:
            self.server.disconnect(router.process)
            self.routers[self.routers.index(router)] = self._new_router()
        for ledger in [ledger for ledger in self.ledgers if not ledger.process.is_alive]:
            self.server.disconnect(ledger.process)
            self.ledgers[self.ledgers.index(ledger)] = self._new_ledger()
