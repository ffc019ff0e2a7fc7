"""Which market the engine interrupts, and whose auction goes on, by its state and by what waits for the journal."""

from types import SimpleNamespace
from typing import Any

import pytest

from openspot.domain.market_phase import MarketPhase
from openspot.domain.volatility import VolatilityRules
from openspot.engine.core.protocol import SymbolPhase
from openspot.engine.core.records import Command, CommandKind
from openspot.engine.intake.volatility import LEVELS_MAX, VolatilityGuard
from openspot.engine.settings import EngineSettings
from openspot.engine.state.interruptions import Interruption, Interruptions
from tests.unit.router.orders import SPEC

SECOND = 1_000_000_000
NOW = 1_700_000_000 * SECOND
SYMBOL = SPEC.symbol_id
RULES = VolatilityRules(move_bps=500, window_ns=60 * SECOND, auction_ns=10 * SECOND, pause_ns=600 * SECOND)
AUCTION = SymbolPhase(SYMBOL, MarketPhase.AUCTION, NOW, 0, True)


class Engine:
    """A machine and a sequencer, as far as the guard asks them."""

    def __init__(self) -> None:
        self.core: Any = self
        self.directory = SimpleNamespace(symbol=lambda _: SPEC)
        self.interruptions = Interruptions()
        self.rows: list[SymbolPhase] = []
        self.pending: set[tuple[CommandKind, int]] = set()
        self.bids: list[tuple[int, int]] = []
        self.asks: list[tuple[int, int]] = []
        self.time = NOW
        self.fair = 10_000

    def phases(self) -> list[SymbolPhase]:
        return self.rows

    def reference_prices(self) -> list[Any]:
        return [SimpleNamespace(symbol=SYMBOL, mark_price=self.fair)]

    def symbols(self) -> list[Any]:
        return [SimpleNamespace(symbol=SYMBOL, tick=1)]

    def volumes(self, symbol: int, levels: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        assert symbol == SYMBOL
        return self.bids[:levels], self.asks[:levels]

    def now(self) -> int:
        return self.time

    def is_pending(self, kind: CommandKind, symbol: int) -> bool:
        return (kind, symbol) in self.pending


def guard_of(engine: Any) -> VolatilityGuard:
    return VolatilityGuard(engine, engine, RULES)


def moved(engine: Engine) -> Command | None:
    """What a guard says to a move of 10 %."""
    guard = guard_of(engine)
    assert guard.interruption(SPEC, 10_000, 0) is None
    return guard.interruption(SPEC, 11_000, 0)


def test_a_market_that_trades_is_interrupted_until_a_time() -> None:
    command = moved(Engine())
    assert command is not None
    assert (command.kind, command.symbol, command.order_type) == (CommandKind.SET_PHASE, SYMBOL, MarketPhase.AUCTION)
    assert command.amount == NOW + 10 * SECOND


def test_an_operators_phase_that_is_on_its_way_is_not_overridden() -> None:
    engine = Engine()
    engine.pending = {(CommandKind.SET_PHASE, SYMBOL)}
    assert moved(engine) is None
    engine.pending = {(CommandKind.SET_PHASE, SYMBOL + 1)}
    assert moved(engine) is not None


def test_a_market_with_a_phase_or_with_a_recent_interruption_is_not_interrupted() -> None:
    engine = Engine()
    engine.rows = [AUCTION]
    assert moved(engine) is None
    engine.rows = []
    engine.interruptions = Interruptions([Interruption(SYMBOL, NOW - 599 * SECOND, "")])
    assert moved(engine) is None
    engine.interruptions = Interruptions([Interruption(SYMBOL, NOW - 600 * SECOND, "")])
    assert moved(engine) is not None


@pytest.mark.parametrize("price", [0, -5, 2**63 - 1])
def test_a_price_that_the_core_refuses_is_no_move(price: int) -> None:
    guard = guard_of(Engine())
    guard.interruption(SPEC, 10_000, 0)
    assert guard.interruption(SPEC, price, 0) is None


@pytest.mark.parametrize(
    ("cause", "bid", "ask", "goes_on"),
    [
        ("volatility", 9_000, 8_900, True),
        ("volatility", 10_100, 9_900, False),
        ("volatility", 8_900, 9_000, False),
        ("volatility-extension", 9_000, 8_900, False),
        ("", 9_000, 8_900, False),
    ],
)
def test_only_an_interruption_that_would_end_too_far_away_goes_on_and_only_once(
    cause: str, bid: int, ask: int, goes_on: bool
) -> None:
    engine = Engine()
    engine.interruptions = Interruptions([Interruption(SYMBOL, NOW - SECOND, cause)])
    engine.bids, engine.asks = [(bid, 5)], [(ask, 5)]
    assert (guard_of(engine).extension(AUCTION) is not None) is goes_on
    engine.pending = {(CommandKind.SET_PHASE, SYMBOL)}
    assert guard_of(engine).extension(AUCTION) is None


def test_a_book_that_is_crossed_too_deep_to_look_at_goes_on() -> None:
    engine = Engine()
    engine.interruptions = Interruptions([Interruption(SYMBOL, NOW - SECOND, "volatility")])
    engine.fair = 100_000
    engine.bids = [(100_000 - place, 5) for place in range(LEVELS_MAX)]
    engine.asks = [(99_000, 5)]
    assert guard_of(engine).extension(AUCTION) is not None, "99,000 is near, but more bids may be crossed"
    del engine.bids[-1]
    assert guard_of(engine).extension(AUCTION) is None


def test_the_rules_are_on_only_with_a_move_under_the_complete_rules() -> None:
    given: dict[str, Any] = {"volatility_window_s": 60, "volatility_auction_s": 10, "volatility_pause_s": 5}
    settings = EngineSettings(rules="complete", volatility_move_bps=500, **given)
    assert settings.volatility_rules == RULES._replace(pause_ns=20 * SECOND), "a pause is twice the auction at least"
    assert EngineSettings(rules="complete", **given).volatility_rules is None
    assert EngineSettings(volatility_move_bps=500, **given).volatility_rules is None
