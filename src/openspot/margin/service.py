"""The composition root of the margin risk service (facts B4.3-14 to B4.3-16).

Any number of processes serve requests. One of them at a time holds the lease: it scans, posts interest and finishes
unfinished work.
"""

import asyncio
import time

from openspot.contracts import subjects
from openspot.contracts.messages import ExecutedTrade, MarginPositionUpdated
from openspot.domain.accounts import MARGIN_PREFIX
from openspot.domain.margin_offer import margin_offer
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineError
from openspot.engine_client.live_markets import followed_markets
from openspot.engine_client.queries import EngineQueries
from openspot.http.server import serve_health
from openspot.kit.bus import Bus
from openspot.kit.clock import Clock, system_clock
from openspot.kit.leader import Leader
from openspot.kit.lease import Lease
from openspot.kit.log import get_logger
from openspot.kit.secrets_file import with_secrets
from openspot.kit.service_frame import ServiceFrame
from openspot.margin import liquidation_store, store
from openspot.margin.dependencies import Dependencies
from openspot.margin.descriptor import LEASE_BUCKET
from openspot.margin.handlers import RequestHandlers
from openspot.margin.liquidation import IDLE_ROUNDS_ALARM
from openspot.margin.liquidator import Liquidator
from openspot.margin.loans import Loans
from openspot.margin.marks import MarkPriceCache
from openspot.margin.metrics import LEADS
from openspot.margin.positions import Positions
from openspot.margin.scanner import Scanner
from openspot.margin.settings import MarginSettings

log = get_logger("margin")

NAME = "margin"
KEY = "scanner"
CONNECTIONS_MAX = 12
DEPARTURES_PAUSE_S = 1.0
SCANS_MISSED_MAX = 3
"""Not ready when the newest scan is older than this many intervals."""


async def run(settings: MarginSettings, stop: asyncio.Event, *, clock: Clock = system_clock) -> None:
    """Work until `stop` is set.

    Raises BusError, DatabaseUnavailableError or PortTakenError if it cannot start, ValueError for a wrong setting.
    """
    settings = with_secrets(settings)
    offer = margin_offer()
    if settings.margin_valuation_asset not in offer.assets:
        raise ValueError(f"OPENSPOT_MARGIN_VALUATION_ASSET must be one of {', '.join(sorted(offer.assets))}")
    async with ServiceFrame(NAME, settings, stop) as frame:
        bus = await frame.connect_bus()
        await bus.ensure_streams()
        markets_changed, departures_changed = asyncio.Event(), asyncio.Event()

        async def note_change() -> None:
            markets_changed.set()
            departures_changed.set()

        markets = await followed_markets(settings, frame, note_change)
        pool = await frame.connect_database(CONNECTIONS_MAX)
        commands = EngineCommands(settings)
        frame.at_end(commands.close)
        queries = EngineQueries(settings)
        frame.at_end(queries.close)
        marks = MarkPriceCache(
            bus, settings.margin_valuation_asset, offer.markets, settings.margin_mark_stale_s, time.monotonic
        )
        await marks.follow()
        dependencies = Dependencies(
            settings=settings,
            pool=pool,
            bus=bus,
            commands=commands,
            queries=queries,
            marks=marks,
            markets=markets,
            clock=clock,
            offer=offer,
            markets_changed=markets_changed,
        )
        frame.start("departures", _follow_departures(dependencies, departures_changed))
        loans = Loans(dependencies)
        positions = Positions(dependencies, loans)
        leader = MarginLeader(dependencies, positions, bus)
        dependencies.wake = leader.wake

        frame.health.add("engine", queries.check)
        frame.health.add("mark prices", marks.check)
        frame.health.add("scan", leader.check)
        frame.health.add("liquidations", lambda: _check_liquidations(dependencies))
        await serve_health(frame, settings.margin_port, "OpenSpot margin risk service", settings.margin_host)

        await RequestHandlers(dependencies, loans, positions).serve(bus)
        await leader.follow()
        # Requests end right after the leader, and before the database closes.
        frame.at_end(bus.stop_serving)
        frame.start("leader", leader.run())
        await frame.until_stopped()


class NotScanningError(Exception):
    """This process does not scan margin accounts, and no other does. The message says why."""


class MarginLeader:
    """Scans while this process holds the lease."""

    def __init__(self, dependencies: Dependencies, positions: Positions, bus: Bus) -> None:
        self._dependencies = dependencies
        self._positions = positions
        self._bus = bus
        self._scanner: Scanner | None = None
        self._lease = Lease.on(bus, LEASE_BUCKET, KEY, dependencies.settings.margin_lease_s)
        self._leader = Leader(
            bus, self._lease, self._lead, work="margin scans", gauge=LEADS, fault="nobody is known to scan yet"
        )

    def wake(self) -> None:
        """Scan at once, if this process scans."""
        if self._scanner is not None:
            self._scanner.wake()

    async def follow(self) -> None:
        """Scan an account when it trades or when one of its positions changes (facts A6.2-02 to A6.2-03)."""
        await self._bus.subscribe(subjects.TRADES_EXECUTED, ExecutedTrade, self._take_trade)
        await self._bus.subscribe(subjects.MARGIN_POSITION_UPDATED, MarginPositionUpdated, self._take_position)

    async def check(self) -> None:
        """Raise, with the reason, unless this process scans or another process does."""
        if self._scanner is None:
            self._leader.check()
            return
        late_s = SCANS_MISSED_MAX * self._dependencies.settings.margin_scan_s
        if time.monotonic() - self._scanner.scanned_at > late_s:
            raise NotScanningError(f"no scan has ended in {late_s:g} s: {self._scanner.fault}")

    async def run(self) -> None:
        """Scan whenever this process holds the lease, until cancelled."""
        await self._leader.run()

    async def _lead(self) -> None:
        self._scanner = Scanner(self._dependencies, self._positions, Liquidator(self._dependencies), self._lease)
        try:
            await self._scanner.run()
        finally:
            self._scanner = None

    async def _take_trade(self, subject: str, trade: ExecutedTrade) -> None:
        parties = [each for each in (trade.buyer_id, trade.seller_id) if each.startswith(MARGIN_PREFIX)]
        if parties and self._scanner is not None:
            self._scanner.mark(parties)

    async def _take_position(self, subject: str, event: MarginPositionUpdated) -> None:
        if self._scanner is not None and event.margin_account_id.startswith(MARGIN_PREFIX):
            self._scanner.mark([event.margin_account_id])


async def _follow_departures(dependencies: Dependencies, changed: asyncio.Event) -> None:
    """Know which markets are delisted, also while nobody asks for anything."""
    while True:
        changed.clear()
        try:
            await dependencies.departures()
        except EngineError as error:
            log.warning("the markets that leave margin are not known", error=str(error))
            await asyncio.sleep(DEPARTURES_PAUSE_S)
        else:
            await changed.wait()


async def _check_liquidations(dependencies: Dependencies) -> None:
    idle = await liquidation_store.idle_liquidations(dependencies.pool, IDLE_ROUNDS_ALARM)
    if idle:
        raise NotScanningError(
            f"{idle} liquidations go on, but nobody trades near the fair price: an operator has to look"
        )
    uncovered = await store.uncovered_losses(dependencies.pool)
    if uncovered:
        raise NotScanningError(f"{uncovered} losses wait for funds in the insurance account")
