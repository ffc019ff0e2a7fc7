"""The simulated venue's faults, by rate and seed."""

from openspot.venue_simulator.faults import GARBAGE, UNKNOWN_MARKET, FaultInjector, Faults

FRAME = b'{"u":1}'


def played(faults: Faults, seed: int = 1, count: int = 1000) -> list[bytes]:
    injector = FaultInjector(seed)
    return [frame for _ in range(count) for frame in injector.frames(faults, FRAME)]


def test_without_faults_every_message_is_sent_once() -> None:
    assert played(Faults()) == [FRAME] * 1000


def test_rates_are_parts_of_all_messages() -> None:
    assert 650 < len(played(Faults(gap_rate=0.3))) < 750
    assert 1250 < len(played(Faults(duplicate_rate=0.3))) < 1350
    garbage = [frame for frame in played(Faults(garbage_rate=0.3)) if frame != FRAME]
    assert 250 < len(garbage) < 350
    assert set(garbage) == set(GARBAGE)
    unknown = [frame for frame in played(Faults(unknown_market_rate=0.3)) if frame != FRAME]
    assert 250 < len(unknown) < 350
    assert set(unknown) == set(UNKNOWN_MARKET)
    assert played(Faults(gap_rate=1.0)) == []


def test_the_same_seed_has_the_same_faults() -> None:
    faults = Faults(gap_rate=0.2, duplicate_rate=0.2, garbage_rate=0.2)
    assert played(faults, seed=1) == played(faults, seed=1)
    assert played(faults, seed=1) != played(faults, seed=2)
