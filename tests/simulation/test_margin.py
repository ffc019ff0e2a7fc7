"""Runs platforms with margin through random faults; the auditor finds no loan lost or doubled, and finds each mutant.

`OPENSPOT_SIMULATION_MARGIN_SEEDS` is how many seeds run (60 by default), `OPENSPOT_SIMULATION_STEPS` how many steps
each has. `OPENSPOT_SIMULATION_SEED` repeats a single one.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.simulation import margin_mutants as mutants
from tests.simulation.judgement import digest, judged, report, shrunk
from tests.simulation.margin_tables import stored_in_memory
from tests.simulation.margin_world import MarginWorld
from tests.simulation.mutants import Fault
from tests.simulation.quiet import Log
from tests.support.parts import first_then_proof

STEPS = int(os.environ.get("OPENSPOT_SIMULATION_STEPS", "100"))
SEEDS = int(os.environ.get("OPENSPOT_SIMULATION_MARGIN_SEEDS", "60"))
FEW_SEEDS = 15
"""In `make test`."""
SINGLE = os.environ.get("OPENSPOT_SIMULATION_SEED")
MUTANT_STEPS = 100
MUTANT_SEEDS_MAX = 60


@pytest.fixture(autouse=True)
def stored() -> Iterator[None]:
    """The margin tables in memory."""
    with stored_in_memory():
        yield


@pytest.mark.parametrize("seeds", first_then_proof(range(min(SEEDS, FEW_SEEDS)), range(SEEDS)), ids=len)
def test_no_loan_is_lost_or_doubled_after_any_sequence_of_faults(log: Log, seeds: range) -> None:
    seen = Counter[str]()

    def make(seed: int) -> MarginWorld:
        worlds.append(MarginWorld(seed))
        return worlds[-1]

    worlds: list[MarginWorld] = []
    for seed in [int(SINGLE)] if SINGLE is not None else seeds:
        worlds.clear()
        findings = judged(seed, STEPS, log, make)
        if findings:
            fewest = shrunk(seed, STEPS, log, MarginWorld)
            pytest.fail("\n\n" + report(seed, *fewest, MarginWorld.test))
        tables = worlds[0].margin_tables
        seen.update(f"{each.purpose} {each.status}" for each in tables.transfers)
        seen.update(f"position {each.status}" for each in tables.positions)
        seen["liquidation"] += len(tables.liquidations)
        seen["interest"] += len(tables.all("interest"))
    print(dict(sorted(seen.items())))
    if SINGLE is None and len(seeds) >= 60:
        rare = ("borrow refused", "loss done", "out done", "position closed", "position liquidated", "repay done")
        missing = [what for what in rare if not seen[what]]
        assert not missing, f"the runs had no {missing}, so they prove nothing about it"


def test_a_seed_gives_the_same_run_again(log: Log) -> None:
    def digest_of(seed: int) -> str:
        world = MarginWorld(seed)
        world.run(50)
        return digest(world) + repr(world.margin_tables.rows)

    assert digest_of(3) == digest_of(3)
    assert digest_of(3) != digest_of(4)


def _is_found(finding: str, log: Log, make_world: Callable[[int], MarginWorld]) -> bool:
    for seed in range(MUTANT_SEEDS_MAX):
        if any(finding in text for text in judged(seed, MUTANT_STEPS, log, make_world)):
            return True
    return False


@pytest.mark.proof
@pytest.mark.parametrize(
    ("fault", "finding"),
    [
        (mutants.loans_lose_their_reference, "was done 2 times"),
        (mutants.an_unknown_outcome_is_a_refusal, "in the engine"),
        (mutants.repayments_are_not_noted, "principal of loan"),
        (mutants.interest_goes_to_the_pool, "of the pool with what is owed"),
        (mutants.orders_have_new_ids, "quantity of position"),
        (mutants.an_order_in_flight_is_given_up, "has failed"),
        (mutants.loans_have_new_ids, "loans that nobody asked for"),
        (mutants.users_are_not_told, "notifications of liquidation"),
        (mutants.repeated_steps_have_new_ids, "notifications of liquidation"),
        (mutants.losses_are_forgiven, "loan"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_fault_of_the_service_is_found(fault: Callable[[], Fault], finding: str, log: Log) -> None:
    with fault():
        assert _is_found(finding, log, MarginWorld)
