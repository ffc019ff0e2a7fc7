"""The margin service of the simulation: its real parts, tables in memory, and the users who borrow.

Users ask over the bus, as the REST edge does. Whoever got no certain reply asks again with the same request id.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from openspot.contracts import subjects
from openspot.contracts.messages import (
    BorrowMargin,
    CloseMarginPosition,
    MarginReply,
    OpenMarginPosition,
    ReduceMarginPositions,
    RepayMargin,
    SubmitOrder,
    TransferCollateral,
)
from openspot.contracts.refusals import UNCERTAIN, RefusalCode
from openspot.domain.margin_offer import margin_offer
from openspot.domain.symbol import SymbolSpec
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine.admin.freezing import state_of
from openspot.engine.transport.balance_views import balance_views
from openspot.engine_client.commands import TransferOutcome
from openspot.engine_client.errors import EngineUnreachableError
from openspot.engine_client.queries import EngineBalance
from openspot.kit.bus import RequestFailedError
from openspot.margin.dependencies import Dependencies
from openspot.margin.handlers import RequestHandlers
from openspot.margin.loans import Loans
from openspot.margin.marks import MarkPriceCache
from openspot.margin.positions import Positions
from openspot.margin.service import MarginLeader
from openspot.margin.settings import MarginSettings
from tests.simulation.bus import BusServer, SimulatedBus
from tests.simulation.clients import USERS, Told
from tests.simulation.engine import SYMBOLS, SimulatedEngine, configuration
from tests.simulation.engine_access import SimulatedEngineClient
from tests.simulation.fair_prices import STALE_S
from tests.simulation.margin_tables import MarginTables, SimulatedPool
from tests.simulation.process import Place, Process, Weather
from tests.simulation.rows import Rows
from tests.simulation.transfers import ToldOfTransfers, TransferRequest

POOL, INTEREST, INSURANCE = "house:lending", "house:interest", "house:insurance"
PRICES = ("40.00", "70.00", "88.00", "95.00", "100.00", "100.00", "104.00", "125.00", "180.00")


class MarginBus(SimulatedBus):
    """The bus of a margin process. The orders that it submits are noted for the auditor as those of a trader."""

    def __init__(self, server: BusServer, process: Process, told: Told, weather: Weather) -> None:
        super().__init__(server, process)
        self._told = told

    async def request(
        self, subject: str, message: msgspec.Struct, reply_type: type[Any], timeout_s: float | None = None
    ) -> Any:
        """As `SimulatedBus.request`. Raises AssertionError if an order id is used for two orders."""
        if not isinstance(message, SubmitOrder):
            return await super().request(subject, message, reply_type, timeout_s)
        told, order_id = self._told, message.order.order_id
        told.checked_anew.add(order_id)
        if order_id in told.asked:
            told.repeated.add(order_id)
            told.refused.pop(order_id, None)
            first, again = told.asked[order_id].order, message.order
            # The quantity that closes a short grows with its interest; the engine takes the first one.
            is_same = (first.symbol, first.side, first.type) == (again.symbol, again.side, again.type)
            assert is_same, f"order {order_id} is sent with two contents"
        told.asked[order_id] = message
        reply = await super().request(subject, message, reply_type, timeout_s)
        if reply.success:
            told.accepted.setdefault(order_id, []).append(reply.order)
        elif reply.code not in UNCERTAIN and order_id not in told.repeated:
            told.refused[order_id] = reply.error or ""
        return reply


class MarginEngineClient(SimulatedEngineClient):
    """The engine as a margin process commands it. Its transfers are noted for the auditor."""

    def __init__(self, engine: SimulatedEngine, process: Process, weather: Weather, told: ToldOfTransfers) -> None:
        super().__init__(engine, process, weather)
        self._told = told

    async def transfer(self, reference: str, movements: Sequence[Movement], kind: TransferKind) -> TransferOutcome:
        """Carry out a transfer."""
        request = TransferRequest(reference, kind, tuple(movements))
        self._told.asked.append(request)
        outcome = await super().transfer(reference, movements, kind)
        self._told.answers.append((request, outcome))
        return outcome


class SimulatedQueries:
    """`EngineQueries` without HTTP."""

    def __init__(self, engine: SimulatedEngine, process: Process, specs: dict[str, SymbolSpec]) -> None:
        self._engine = engine
        self._process = process
        self._specs = specs

    async def symbols(self) -> dict[str, SymbolSpec]:
        """The symbols."""
        await self._reach()
        return self._specs

    async def balances(self, user_id: str) -> list[EngineBalance]:
        """What a user holds."""
        await self._reach()
        return [
            EngineBalance(view.currency, view.total, view.available, view.locked, view.reserved)
            for view in balance_views(self._engine.machine, user_id)
        ]

    async def participant_state(self, participant_id: str) -> str | None:
        """Whether a participant may place orders."""
        await self._reach()
        account = self._engine.machine.directory.account(participant_id)
        profile = self._engine.machine.participants.profiles.get(account)
        return None if profile is None else state_of(profile)

    async def _reach(self) -> None:
        await self._process.act(Place.ENGINE, lambda: None)
        if not self._engine.is_up:
            raise EngineUnreachableError("the matching engine is not reachable")


class Margin:
    """A margin process, from its start to its end."""

    def __init__(
        self,
        process: Process,
        settings: MarginSettings,
        server: BusServer,
        engine: SimulatedEngine,
        tables: MarginTables,
        rows: Rows,
        told: Told,
        transfers: ToldOfTransfers,
    ) -> None:
        self.process = process
        weather = server.weather
        bus: Any = MarginBus(server, process, told, weather)
        pool: Any = SimulatedPool(tables, rows, process, weather)
        queries: Any = SimulatedQueries(engine, process, dict(engine.machine.directory.symbols))
        self._bus = bus
        self._marks = MarkPriceCache(bus, "USD", margin_offer().markets, STALE_S, weather.loop.time)
        dependencies = Dependencies(
            settings=settings,
            pool=pool,
            bus=bus,
            commands=MarginEngineClient(engine, process, weather, transfers),
            queries=queries,
            marks=self._marks,
            markets=configuration(),
            clock=engine.now,
        )
        loans = Loans(dependencies)
        positions = Positions(dependencies, loans)
        self.leader = MarginLeader(dependencies, positions, bus)
        dependencies.wake = self.leader.wake
        self._handlers = RequestHandlers(dependencies, loans, positions)
        process.start(self._run())

    @property
    def scans(self) -> bool:
        """Whether it believes that it holds the lease."""
        return self.leader._scanner is not None

    async def _run(self) -> None:
        await self._marks.follow()
        await self._handlers.serve(self._bus)
        await self.leader.follow()
        await self.leader.run()


MarginRequest = (
    TransferCollateral | BorrowMargin | RepayMargin | OpenMarginPosition | CloseMarginPosition | ReduceMarginPositions
)
_SUBJECTS: dict[type[Any], str] = {
    TransferCollateral: subjects.RISK_MARGIN_TRANSFER,
    BorrowMargin: subjects.RISK_MARGIN_BORROW,
    RepayMargin: subjects.RISK_MARGIN_REPAY,
    OpenMarginPosition: subjects.RISK_MARGIN_OPEN,
    CloseMarginPosition: subjects.RISK_MARGIN_CLOSE,
    ReduceMarginPositions: subjects.RISK_MARGIN_REDUCE,
}


@dataclass(slots=True)
class ToldOfMargin:
    """What the users asked for and were told."""

    asked: dict[str, MarginRequest] = field(default_factory=dict)
    done: dict[str, list[MarginReply]] = field(default_factory=dict)
    """Request id → each reply that said it was done."""
    refused: dict[str, str] = field(default_factory=dict)
    """Request id → why nothing was done. Requests with an uncertain attempt are not here."""
    unknown: dict[str, None] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)


class Borrowers:
    """Users who move collateral, borrow, repay, open and close."""

    def __init__(self, process: Process, server: BusServer, chance: random.Random) -> None:
        self._process = process
        self._bus = SimulatedBus(server, process)
        self._chance = chance
        self.told = ToldOfMargin()
        self.waiting = 0
        """Requests without a reply so far."""

    def ask(self) -> None:
        """Ask for something new, or again for something whose outcome is unknown or known already."""
        told, chance = self.told, self._chance
        repeatable = list(told.unknown) or list(told.asked)[-5:]
        if repeatable and chance.random() < 0.25:
            self._send(chance.choice(repeatable))
            return
        request_id = f"m-{len(told.asked) + 1}"
        told.asked[request_id] = self._any(request_id, chance.choice(USERS))
        self._send(request_id)

    def repeat_unknown(self) -> None:
        """Ask again for everything whose outcome is unknown, one after the other."""
        if not self.waiting and self.told.unknown:
            self._send(next(iter(self.told.unknown)))

    def move_in(self, user: str, asset: str, amount: str) -> None:
        """Move collateral in."""
        self._send_new(TransferCollateral(self._new_id(), user, asset, amount, "in"))

    def open_position(self, user: str, symbol: str, side: str, quantity: str, leverage: str) -> None:
        """Open a position."""
        self._send_new(OpenMarginPosition(self._new_id(), user, symbol, side, quantity, leverage))

    def _new_id(self) -> str:
        return f"m-{len(self.told.asked) + 1}"

    def _send_new(self, asked: MarginRequest) -> None:
        self.told.asked[asked.request_id] = asked
        self._send(asked.request_id)

    def _any(self, request_id: str, user: str) -> MarginRequest:
        chance = self._chance
        replies = [reply for found in self.told.done.values() for reply in found]
        kind = chance.random()
        if kind < 0.1:
            direction = chance.choice(("in", "in", "out"))
            asset, amounts = chance.choice((("USD", ("60", "15.5", "100000")), ("BTC", ("0.4", "0.07"))))
            return TransferCollateral(request_id, user, asset, chance.choice(amounts), direction)
        if kind < 0.22:
            asset, amounts = chance.choice((("USD", ("30", "150.25", "700")), ("BTC", ("0.3", "2"))))
            return BorrowMargin(request_id, user, asset, chance.choice(amounts))
        if kind < 0.34:
            loans = [(self._user_of(reply), reply.loan_id) for reply in replies if reply.loan_id is not None]
            if loans:
                owner, loan_id = chance.choice(loans[-8:])
                return RepayMargin(request_id, owner, loan_id, chance.choice((None, None, "7.5", "0.1")))
        elif kind < 0.45:
            positions = [(self._user_of(reply), reply.position_id) for reply in replies if reply.position_id]
            if positions:
                owner, position_id = chance.choice(positions[-8:])
                return CloseMarginPosition(request_id, owner, position_id)
        elif kind < 0.55:
            opened = [told for key in self.told.done if isinstance(told := self.told.asked[key], OpenMarginPosition)]
            if opened:
                last = chance.choice(opened[-8:])
                side = "sell" if last.side == "buy" else "buy"
                quantity = chance.choice((None, "0.6", "2"))
                return ReduceMarginPositions(request_id, last.user_id, last.symbol, side, quantity)
        side, symbol = chance.choice(("buy", "sell")), chance.choice(SYMBOLS)
        return OpenMarginPosition(
            request_id, user, symbol, side, chance.choice(("0.3", "1.2", "3", "5")), chance.choice(("3", "10", "10"))
        )

    @staticmethod
    def _user_of(reply: MarginReply) -> str:
        assert reply.account is not None, "a reply that something was done shows the account"
        return reply.account.user_id

    def _send(self, request_id: str) -> None:
        told = self.told
        if request_id in told.done or request_id in told.refused or request_id in told.unknown:
            told.repeated.add(request_id)
        told.refused.pop(request_id, None)
        told.unknown[request_id] = None
        self.waiting += 1
        self._process.start(self._ask(told.asked[request_id]))

    async def _ask(self, asked: MarginRequest) -> None:
        told, request_id = self.told, asked.request_id
        try:
            reply: MarginReply = await self._bus.request(_SUBJECTS[type(asked)], asked, MarginReply)
        except RequestFailedError:
            return
        finally:
            self.waiting -= 1
        if reply.code is RefusalCode.STATUS_UNKNOWN:
            return
        told.unknown.pop(request_id, None)
        if reply.success:
            told.done.setdefault(request_id, []).append(reply)
        elif request_id not in told.repeated:
            told.refused[request_id] = reply.error or ""
