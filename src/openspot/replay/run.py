"""A whole replay: the plan, the users, the flow, the comparison, and the report."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from openspot.client import ApiError, OpenSpotClient, UnreachableError
from openspot.client.transport import RetryPolicy
from openspot.domain.market import load_markets
from openspot.kit.bus import Bus, BusError, BusUnavailableError
from openspot.kit.database import TRANSIENT_ERRORS, DatabaseUnavailableError, create_pool
from openspot.reconcile.store import EngineReader, EngineUnavailableError, MirrorReader
from openspot.replay.agreement import Acknowledged, Agreement, check_agreement
from openspot.replay.lanes import run_lanes
from openspot.replay.plan import Command, ReplayPlan, make_plan
from openspot.replay.report import ReplayReport
from openspot.replay.sample import sample_events
from openspot.replay.settings import ReplaySettings
from openspot.replay.source import (
    BookEvent,
    SourceError,
    VenueTotals,
    read_events,
    read_venue_totals,
    venue_trades_path,
)
from openspot.replay.statistics import Statistics
from openspot.replay.trader import Patience, ThrottledTooLongError, Trader
from openspot.replay.users import FundingError, fund, make_user

USERS_MAX = 1_000
CONNECT_TIMEOUT_S = 10.0
SAMPLE_SEED = 1
THROTTLE_ADVICE = "the REST edge throttles; OPENSPOT_THROTTLE_ENABLED=false at its start makes this faster"
_ONE_ATTEMPT = RetryPolicy(attempts_max=1)
"""The client does not retry: a replay measures single requests, and handles a 429 itself."""


class ReplayError(Exception):
    """A replay could not be carried out. The message says why."""


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What to replay, and where.

    `settings` have the addresses and secrets of a running platform. Without `path`, a flow generated from
    `sample_seed` is played. Users may drift `look_ahead` commands apart. The mirrors may take
    `catch_up_s` seconds. `console` shows progress and remarks; None is silent.
    """

    settings: ReplaySettings
    path: Path | None = None
    symbol: str = "BTC-USD"
    users: int = 16
    events_max: int | None = None
    look_ahead: int = 64
    catch_up_s: float = 120.0
    sample_seed: int = SAMPLE_SEED
    console: Console | None = None

    def fault(self) -> str | None:
        """Why the options cannot be used, or None if they can."""
        if self.symbol not in load_markets().limits:
            return f"symbol: Market {self.symbol} not found"
        if not 1 <= self.users <= USERS_MAX:
            return f"users must be between 1 and {USERS_MAX}"
        if self.events_max is not None and self.events_max < 1:
            return "events must be at least 1"
        if self.look_ahead < 1:
            return "look-ahead must be at least 1"
        return None

    def events(self) -> Iterator[BookEvent]:
        """The flow from its beginning. Raises SourceError."""
        flow = read_events(self.path) if self.path is not None else sample_events(self.sample_seed)
        return islice(flow, self.events_max)


@dataclass(frozen=True, slots=True)
class _Platform:
    """Connections to the parts of the platform that a replay compares."""

    bus: Bus
    engine: EngineReader
    mirror: MirrorReader


async def replay(options: ReplayOptions) -> ReplayReport:
    """Play the flow through the platform and report. Raises ReplayError."""
    fault = options.fault()
    if fault is not None:
        raise ReplayError(fault)
    try:
        plan = make_plan(options.events(), options.users)
        if not plan.orders:
            raise ReplayError("there is no order to place in this flow")
        venue = _venue_totals(options.path, plan)
        async with _connected(options.settings) as platform:
            return await _replay(options, plan, venue, platform)
    except (SourceError, FundingError, ThrottledTooLongError, EngineUnavailableError) as error:
        raise ReplayError(str(error)) from error
    except (ApiError, UnreachableError) as error:
        raise ReplayError(f"REST edge: {error}") from error
    except BusError as error:
        raise ReplayError(f"bus: {error}") from error
    except (DatabaseUnavailableError, *TRANSIENT_ERRORS) as error:
        raise ReplayError(f"database: {error}") from error


def _venue_totals(path: Path | None, plan: ReplayPlan) -> VenueTotals | None:
    trades = venue_trades_path(path) if path is not None else None
    return read_venue_totals(trades, plan.last_timestamp) if trades is not None else None


@asynccontextmanager
async def _connected(settings: ReplaySettings) -> AsyncIterator[_Platform]:
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                bus = await Bus.connect(settings, "replay")
        except TimeoutError as error:
            raise BusUnavailableError(
                f"nobody answered within {CONNECT_TIMEOUT_S:g} s: does the platform run?"
            ) from error
        stack.push_async_callback(bus.close)
        pool = await create_pool(settings, connections_max=2, timeout_s=5)
        stack.push_async_callback(pool.close)
        engine = await stack.enter_async_context(EngineReader(settings))
        yield _Platform(bus, engine, MirrorReader(pool))


async def _replay(
    options: ReplayOptions, plan: ReplayPlan, venue: VenueTotals | None, platform: _Platform
) -> ReplayReport:
    run_id = f"replay{secrets.token_hex(4)}"
    statistics = Statistics()
    patience = Patience(statistics, lambda: _remark(options, THROTTLE_ADVICE))
    first_event = (await platform.engine.position()).last_seq + 1
    async with AsyncExitStack() as stack:
        traders = [
            await _make_trader(options, stack, run_id, number, patience, statistics) for number in range(options.users)
        ]
        users = [trader.user_id for trader in traders]
        await fund(platform.bus, platform.engine, platform.mirror, options.symbol, run_id, users, plan.funds)

        async def work(lane: int, command: Command) -> None:
            await traders[lane].do(command)

        began = time.perf_counter()
        with _progress(options, plan.events) as show:
            await run_lanes(options.events(), options.users, options.look_ahead, work, show)
        seconds = time.perf_counter() - began
    _remark(options, "comparing engine, ledger and rows …")
    acknowledged = Acknowledged(
        set().union(*(trader.accepted for trader in traders)), set().union(*(trader.cancelled for trader in traders))
    )
    agreement = await check_agreement(
        platform.engine, platform.mirror, users, acknowledged, first_event, options.catch_up_s
    )
    return _report(options, plan, venue, statistics, seconds, agreement)


async def _make_trader(
    options: ReplayOptions,
    stack: AsyncExitStack,
    run_id: str,
    number: int,
    patience: Patience,
    statistics: Statistics,
) -> Trader:
    settings = options.settings
    client = OpenSpotClient(settings.rest_url, settings.ws_url, retry=_ONE_ATTEMPT)
    await stack.enter_async_context(client)
    user_id = await make_user(client, run_id, number, patience)
    return Trader(client, user_id, options.symbol, run_id, patience, statistics)


def _report(
    options: ReplayOptions,
    plan: ReplayPlan,
    venue: VenueTotals | None,
    statistics: Statistics,
    seconds: float,
    agreement: Agreement,
) -> ReplayReport:
    return ReplayReport(
        source=options.path.name if options.path is not None else f"a sample flow (seed {options.sample_seed})",
        symbol=options.symbol,
        users=options.users,
        events=plan.events,
        statistics=statistics,
        seconds=seconds,
        trades=agreement.trades,
        volume=agreement.volume,
        venue=venue,
        caught_up=agreement.caught_up,
        accounts_compared=agreement.accounts_compared,
        orders_compared=agreement.orders_compared,
        trades_compared=agreement.trades,
        differences=agreement.differences,
    )


def _remark(options: ReplayOptions, text: str) -> None:
    if options.console is not None:
        options.console.print(text, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def _progress(options: ReplayOptions, events: int) -> Iterator[Callable[[int], None]]:
    if options.console is None:
        yield lambda _: None
        return
    columns = (
        TextColumn("events"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=options.console) as bar:
        task = bar.add_task("events", total=events)
        yield lambda done: bar.update(task, completed=done)
