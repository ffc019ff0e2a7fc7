"""Runs a whole platform in one process with thousands of random seeds of faults; an independent auditor judges each.

`OPENSPOT_SIMULATION_SEEDS` is how many seeds run (2000 by default; `make test` runs the first 200 of them),
`OPENSPOT_SIMULATION_STEPS` how many steps each has. `OPENSPOT_SIMULATION_SEED` repeats a single one. A seed that goes
wrong is printed with the fewest steps after which it does, and with the command line that repeats it.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.simulation.judgement import digest, judged, report, shrunk
from tests.simulation.quiet import Log, quiet
from tests.simulation.world import World
from tests.support.parts import first_then_proof

STEPS = int(os.environ.get("OPENSPOT_SIMULATION_STEPS", "100"))
SEEDS = int(os.environ.get("OPENSPOT_SIMULATION_SEEDS", "2000"))
SEEDS_IN_A_TEST = 200
FAILURES_SHOWN = 3


def _parts() -> list[Any]:
    """All seeds, divided into parts. Each part is one test; `make test` runs the first."""
    single = os.environ.get("OPENSPOT_SIMULATION_SEED")
    if single is not None:
        return [range(int(single), int(single) + 1)]
    starts = range(0, SEEDS, SEEDS_IN_A_TEST)
    return first_then_proof(*(range(start, min(start + SEEDS_IN_A_TEST, SEEDS)) for start in starts))


@pytest.mark.spec(
    "A1.4-01", "A1.5-06", "A1.5-07", "A1.5-08", "A2.2-01", "A2.3-03", "A3.1-12", "A3.1-13", "A3.1-14",
    "A6.4-06", "A6.4-07", "A6.4-08",
)  # fmt: skip
@pytest.mark.parametrize("seeds", _parts(), ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")
def test_money_and_orders_are_the_same_everywhere_after_any_sequence_of_faults(seeds: range, log: Log) -> None:
    reports = []
    for seed in seeds:
        if judged(seed, STEPS, log):
            reports.append(report(seed, *shrunk(seed, STEPS, log)))
            if len(reports) == FAILURES_SHOWN:
                break
    assert not reports, "\n\n" + "\n\n".join(reports)


_ROOT = Path(__file__).parents[2]
_REPEAT = f"from tests.simulation import test_simulation; print(test_simulation.digest_of(11, {STEPS}))"


def digest_of(seed: int, steps: int) -> str:
    """A hash of everything that happens with a seed."""
    with quiet():
        world = World(seed)
        world.run(steps)
        return digest(world)


@pytest.mark.proof
def test_a_seed_gives_the_same_run_in_every_process() -> None:
    digests = set()
    for hash_seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        answer = subprocess.run(
            [sys.executable, "-c", _REPEAT], cwd=_ROOT, env=environment, check=True, capture_output=True
        )
        digests.add(answer.stdout.decode().strip())
    assert digests == {digest_of(11, STEPS)}


def test_some_seeds_have_edges_that_share_a_process_with_a_router() -> None:
    asked = {}
    for seed in (9, 10):
        with quiet():
            world = World(seed)
            world.run(40)
            asked[seed] = world.traders.to_edges
    assert asked[9] > 0
    assert asked[10] == 0


def test_another_seed_is_another_run() -> None:
    assert digest_of(11, 30) != digest_of(12, 30)
