"""What the engine sends itself: activations, expiries and ends of phases, never too early, in bounded batches."""

from collections.abc import Callable
from typing import Any

import pytest

from openspot.domain.market_phase import MarketPhase
from openspot.engine.core.protocol import OrderExpiry, SymbolPhase
from openspot.engine.core.records import Command, CommandKind, Event, EventType, decode_commands, encode_event
from openspot.engine.intake import upkeep as module
from openspot.engine.intake.phase_upkeep import PhaseUpkeep
from openspot.engine.intake.sequencer import EngineStoppedError, NotStoredError
from openspot.engine.intake.upkeep import Upkeep
from openspot.engine.state.directory import Note
from openspot.engine.state.event_batch import EventBatch
from openspot.engine.state.state_machine import AppliedBatch

SECOND = 1_000_000_000
NOW = 1_000 * SECOND


class Timer:
    """A timer of the fake loop."""

    def __init__(self, delay_s: float, callback: Callable[[], None]) -> None:
        self.delay_s = delay_s
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Submission:
    """Commands that were submitted, and a future that `apply` completes."""

    def __init__(self, commands: bytes, notes: list[Any]) -> None:
        self.commands = list(decode_commands(commands))
        self.notes = notes
        self._callbacks: list[Callable[[Any], None]] = []
        self._error: Exception | None = None
        self._is_cancelled = False

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self._callbacks.append(callback)

    def cancelled(self) -> bool:
        return self._is_cancelled

    def exception(self) -> Exception | None:
        assert not self._is_cancelled
        return self._error

    def apply(self) -> None:
        for callback in self._callbacks:
            callback(self)

    def fail(self) -> None:
        self._error = EngineStoppedError("the engine stops")
        self.apply()

    def cancel(self) -> None:
        self._is_cancelled = True
        self.apply()


class Engine:
    """A core, a sequencer and a loop, as far as the upkeep asks them."""

    def __init__(self) -> None:
        self.core = self
        self.time = NOW
        self.tracks_prices = True
        self.has_ended = False
        self.is_disk_full = False
        self.due: list[int] = []
        self.open: dict[int, int] = {}
        """Order id → its expiry."""
        self.rows: list[SymbolPhase] = []
        self.submitted: list[Submission] = []
        self.timers: list[Timer] = []

    # The core

    def expiries(self) -> list[OrderExpiry]:
        return [OrderExpiry(order_id, time_ns) for order_id, time_ns in self.open.items() if time_ns]

    def order(self, order_id: int) -> object | None:
        return order_id if order_id in self.open else None

    def activations_due(self) -> list[int]:
        return self.due

    def phases(self) -> list[SymbolPhase]:
        return self.rows

    # The sequencer

    def now(self) -> int:
        return self.time

    def check(self) -> None:
        if self.has_ended:
            raise EngineStoppedError("the engine stops")
        if self.is_disk_full:
            raise NotStoredError("the disk is full")

    def submit(self, commands: bytes, notes: list[Any]) -> Submission:
        self.submitted.append(Submission(commands, notes))
        return self.submitted[-1]

    # The loop

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> Timer:
        self.timers.append(Timer(delay_s, callback))
        return self.timers[-1]

    @property
    def timer(self) -> Timer:
        """The only timer that runs."""
        (running,) = [timer for timer in self.timers if not timer.is_cancelled]
        return running

    def ring(self, seconds: float) -> None:
        """Let time pass until the next timer runs out."""
        timer = min((timer for timer in self.timers if not timer.is_cancelled), key=lambda timer: timer.delay_s)
        assert timer.delay_s == seconds
        self.time += int(seconds * SECOND)
        self.timers.remove(timer)
        timer.callback()

    def kinds(self, number: int = -1) -> list[tuple[int, int]]:
        """(kind, symbol or order) of the commands of a submission."""
        return [(each.kind, each.symbol or each.order_id) for each in self.commands(number)]

    def commands(self, number: int = -1) -> list[Command]:
        return [each for each in self.submitted[number].commands if isinstance(each, Command)]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    made = Engine()
    monkeypatch.setattr("asyncio.get_running_loop", lambda: made)
    return made


def upkeep_of(engine: Any) -> Upkeep:
    return Upkeep(engine, engine)


def applied(*events: Event) -> AppliedBatch:
    return AppliedBatch(b"", EventBatch(1, b"".join(encode_event(event) for event in events), [()] * len(events)))


def taken(event_type: EventType, order_id: int, expiry: int) -> Event:
    values = dict.fromkeys(Event._fields, 0) | {"type": event_type, "order_id": order_id, "amount": expiry}
    return Event(**values)


def test_fired_orders_are_activated_in_batches_one_at_a_time_until_none_is_left(engine: Engine) -> None:
    engine.due = [3, 7]
    kept = upkeep_of(engine)
    kept.start()
    assert engine.kinds() == [(CommandKind.ACTIVATE, 3)] * 16 + [(CommandKind.ACTIVATE, 7)] * 16
    assert {command.timestamp for command in engine.commands()} == {NOW}
    assert engine.submitted[0].notes == [()] * 32
    kept.note(applied())
    assert len(engine.submitted) == 1, "the first batch is on its way"
    engine.due = [7]
    engine.time += 5
    engine.submitted[0].apply()
    assert engine.kinds() == [(CommandKind.ACTIVATE, 7)] * 16
    assert {command.timestamp for command in engine.commands()} == {NOW + 5}
    engine.due = []
    engine.submitted[1].apply()
    assert len(engine.submitted) == 2
    engine.due = [1]
    kept.note(applied())
    assert engine.kinds() == [(CommandKind.ACTIVATE, 1)] * 16


@pytest.mark.parametrize("end", [Submission.fail, Submission.cancel])
def test_a_batch_that_the_engine_did_not_take_is_the_last_one(
    engine: Engine, end: Callable[[Submission], None]
) -> None:
    engine.due = [3]
    kept = upkeep_of(engine)
    kept.start()
    end(engine.submitted[0])
    kept.note(applied())
    assert len(engine.submitted) == 1


def test_an_engine_that_stops_gets_nothing_more(engine: Engine) -> None:
    engine.has_ended = True
    engine.due = [3]
    engine.open = {1: NOW + 2 * SECOND}
    engine.rows = [SymbolPhase(2, MarketPhase.HALTED, NOW, 0, True)]
    upkeep_of(engine).start()
    engine.ring(2.0)
    assert engine.submitted == []
    assert engine.timers == [], "nothing is tried again"


def test_what_falls_due_while_the_disk_refuses_commands_is_done_once_it_takes_them(engine: Engine) -> None:
    engine.open = {1: NOW + SECOND}
    kept = upkeep_of(engine)
    kept.start()
    engine.is_disk_full = True
    engine.ring(1.0)
    engine.due = [3]
    engine.rows = [SymbolPhase(8, MarketPhase.HALTED, NOW + SECOND, 0, True)]
    kept.note(applied())
    assert engine.submitted == []
    for _ in range(3):
        engine.ring(0.5)
        engine.ring(0.0)
        assert engine.submitted == []
    engine.is_disk_full = False
    engine.ring(0.5)
    assert engine.kinds(0) == [(CommandKind.ACTIVATE, 3)] * 16
    assert engine.kinds(1) == [(CommandKind.ADVANCE_PHASE, 8)]
    engine.ring(0.0)
    assert engine.kinds(2) == [(CommandKind.EXPIRE, 1)]
    assert {command.timestamp for number in range(3) for command in engine.commands(number)} == {NOW + 3 * SECOND}
    assert engine.timers == []


def test_after_the_end_nothing_that_the_disk_refused_is_tried_again(engine: Engine) -> None:
    engine.is_disk_full = True
    engine.due = [3]
    kept = upkeep_of(engine)
    kept.start()
    kept.close()
    assert engine.timers[0].is_cancelled


def test_an_order_expires_at_its_time_and_not_before(engine: Engine) -> None:
    engine.open = {1: NOW + 3 * SECOND, 2: NOW + 2 * SECOND, 3: 0}
    upkeep_of(engine).start()
    assert engine.submitted == []
    engine.ring(2.0)
    assert engine.kinds() == [(CommandKind.EXPIRE, 2)]
    assert engine.commands()[0].timestamp == NOW + 2 * SECOND
    assert engine.timers == [], "the next look comes once this is applied"
    engine.submitted[0].apply()
    del engine.open[1]
    engine.ring(1.0)
    assert len(engine.submitted) == 1, "the other one has ended by itself"
    assert engine.timers == []


def test_a_timer_that_rings_too_early_is_set_again(engine: Engine) -> None:
    engine.open = {1: NOW + 90 * SECOND}
    kept = upkeep_of(engine)
    kept.start()
    engine.ring(60.0)
    assert engine.submitted == []
    engine.ring(30.0)
    assert engine.kinds() == [(CommandKind.EXPIRE, 1)]


def test_orders_whose_time_is_over_at_the_start_expire_in_bounded_batches(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EXPIRIES_MAX", 2)
    engine.open = {1: NOW - 1, 2: NOW, 3: NOW - 2, 4: NOW + 1}
    upkeep_of(engine).start()
    engine.ring(0.0)
    assert engine.kinds() == [(CommandKind.EXPIRE, 3), (CommandKind.EXPIRE, 1)]
    engine.submitted[0].apply()
    engine.ring(0.0)
    assert engine.kinds() == [(CommandKind.EXPIRE, 2)]
    assert module.ACTIVATES_MAX == 16


def test_a_batch_of_expiries_has_500_orders() -> None:
    assert (module.EXPIRIES_MAX, module.SLEEP_MAX_S) == (500, 60.0)


@pytest.mark.parametrize("event_type", [EventType.ACCEPTED, EventType.WAITING])
def test_an_order_that_comes_with_an_expiry_is_kept_in_mind(engine: Engine, event_type: EventType) -> None:
    kept = upkeep_of(engine)
    kept.start()
    engine.open = {4: 0, 5: 0, 6: 0}
    kept.note(applied(taken(event_type, 4, 0), taken(event_type, 5, NOW + 5 * SECOND)))
    assert engine.timer.delay_s == 5.0
    first = engine.timer
    kept.note(applied(taken(event_type, 6, NOW + 9 * SECOND), taken(EventType.TRIGGERED, 4, 1)))
    assert engine.timer is first, "the first one comes first"
    kept.note(applied(taken(event_type, 6, NOW + SECOND)))
    assert first.is_cancelled
    engine.ring(1.0)
    assert engine.kinds() == [(CommandKind.EXPIRE, 6)]


def test_an_engine_whose_core_remembers_no_prices_looks_at_nothing(engine: Engine) -> None:
    engine.tracks_prices = False
    kept = upkeep_of(engine)
    engine.due = [1]
    kept.note(applied(taken(EventType.ACCEPTED, 1, NOW + SECOND)))
    assert (engine.submitted, engine.timers) == ([], [])


def test_after_the_end_no_timer_runs(engine: Engine) -> None:
    engine.open = {1: NOW + SECOND}
    engine.rows = [SymbolPhase(1, MarketPhase.AUCTION, NOW + SECOND, 0, True)]
    kept = upkeep_of(engine)
    kept.start()
    assert len(engine.timers) == 2
    kept.close()
    assert all(timer.is_cancelled for timer in engine.timers)
    kept.close()


def test_the_upkeep_sends_the_ends_of_phases_too(engine: Engine) -> None:
    engine.rows = [SymbolPhase(2, MarketPhase.UNCROSSING, 0, 0, True)]
    kept = upkeep_of(engine)
    kept.start()
    assert engine.kinds() == [(CommandKind.ADVANCE_PHASE, 2)]
    engine.rows = [SymbolPhase(2, MarketPhase.UNCROSSING, 0, 0, True), SymbolPhase(9, 1, NOW, 0, True)]
    kept.note(applied())
    assert engine.kinds() == [(CommandKind.ADVANCE_PHASE, 9)]


class Phases:
    """A PhaseUpkeep, and what it sent."""

    def __init__(self, engine: Any, volatility: Any = None) -> None:
        self.sent: list[tuple[list[Command], Callable[[], None]]] = []
        self.notes: list[Note] = []
        self.may_be_sent = True
        self.upkeep = PhaseUpkeep(engine, engine, self, volatility)

    def may_send(self) -> bool:
        return self.may_be_sent

    def send(self, commands: list[Command], then: Callable[[], None], note: Note = ()) -> None:
        self.sent.append((commands, then))
        self.notes.append(note)


def row(symbol: int, phase: MarketPhase, ends: int, *, active: bool = True) -> SymbolPhase:
    return SymbolPhase(symbol, phase, ends, 0, active)


def test_each_market_advances_when_it_is_due_and_only_once_at_a_time(engine: Engine) -> None:
    phases = Phases(engine)
    engine.rows = [
        row(5, MarketPhase.UNCROSSING, NOW + 99 * SECOND),
        row(2, MarketPhase.HALTED, NOW),
        row(3, MarketPhase.HALTED, 0),
        row(4, MarketPhase.AUCTION, NOW + 2 * SECOND),
        row(6, MarketPhase.AUCTION, NOW + 1 * SECOND),
        row(7, MarketPhase.UNCROSSING, 0, active=False),
    ]
    phases.upkeep.note()
    ((commands, then),) = phases.sent
    assert commands == [Command(CommandKind.ADVANCE_PHASE, symbol=symbol) for symbol in (2, 5)]
    assert engine.timer.delay_s == 1.0
    phases.upkeep.note()
    assert len(phases.sent) == 1, "both are on their way"
    assert engine.timer.delay_s == 1.0
    engine.rows.append(row(8, MarketPhase.HALTED, NOW))
    for _ in range(2):
        phases.upkeep.note()
        assert [commands for commands, _ in phases.sent[1:]] == [[Command(CommandKind.ADVANCE_PHASE, symbol=8)]]
    engine.rows = engine.rows[:1]
    then()
    assert [commands for commands, _ in phases.sent[2:]] == [[Command(CommandKind.ADVANCE_PHASE, symbol=5)]]
    assert all(timer.is_cancelled for timer in engine.timers)


def test_a_market_that_is_due_is_advanced_when_its_timer_rings(engine: Engine) -> None:
    phases = Phases(engine)
    engine.rows = [row(4, MarketPhase.AUCTION, NOW + 61 * SECOND)]
    phases.upkeep.note()
    assert phases.sent == []
    engine.ring(60.0)
    engine.ring(1.0)
    assert [commands for commands, _ in phases.sent] == [[Command(CommandKind.ADVANCE_PHASE, symbol=4)]]


def test_without_a_market_in_another_phase_there_is_no_timer(engine: Engine) -> None:
    phases = Phases(engine)
    engine.rows = [row(4, MarketPhase.AUCTION, NOW + SECOND)]
    phases.upkeep.note()
    engine.rows = []
    phases.upkeep.note()
    assert engine.timers[0].is_cancelled
    assert len(engine.timers) == 1


class Guard:
    """Lets the auctions of these markets go on."""

    def __init__(self, *symbols: int) -> None:
        self.symbols = symbols

    def extension(self, phase: SymbolPhase) -> Command | None:
        return Command(CommandKind.SET_PHASE, symbol=phase.symbol) if phase.symbol in self.symbols else None


def test_an_auction_that_the_guard_lets_go_on_is_not_ended_and_the_others_are(engine: Engine) -> None:
    phases = Phases(engine, Guard(5))
    engine.rows = [row(5, MarketPhase.AUCTION, NOW), row(6, MarketPhase.AUCTION, NOW)]
    phases.upkeep.note()
    assert [commands for commands, _ in phases.sent] == [
        [Command(CommandKind.SET_PHASE, symbol=5)],
        [Command(CommandKind.ADVANCE_PHASE, symbol=6)],
    ]
    assert phases.notes == [("volatility-extension",), ()]
    phases.upkeep.note()
    assert len(phases.sent) == 2, "both are on their way"


def test_a_market_that_may_not_be_advanced_now_is_not_taken_for_advanced(engine: Engine) -> None:
    phases = Phases(engine, Guard(5))
    engine.rows = [row(5, MarketPhase.AUCTION, NOW), row(6, MarketPhase.AUCTION, NOW + 2 * SECOND)]
    phases.may_be_sent = False
    phases.upkeep.note()
    assert phases.sent == []
    assert engine.timer.delay_s == 2.0
    phases.may_be_sent = True
    phases.upkeep.note()
    assert [commands for commands, _ in phases.sent] == [[Command(CommandKind.SET_PHASE, symbol=5)]]
