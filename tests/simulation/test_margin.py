"""Runs platforms with margin through random faults; the auditor finds no loan lost or doubled, and finds each mutant.

`OPENSPOT_SIMULATION_MARGIN_SEEDS` is how many seeds run (60 by default), `OPENSPOT_SIMULATION_STEPS` how many steps
each has. `OPENSPOT_SIMULATION_SEED` repeats a single one.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from decimal import Decimal

import pytest

from openspot.contracts import subjects
from tests.simulation import margin_mutants as mutants
from tests.simulation.judgement import digest, judged, report, shrunk
from tests.simulation.margin_auditor import MarginAuditor
from tests.simulation.margin_tables import stored_in_memory
from tests.simulation.margin_world import MarginWorld
from tests.simulation.mutants import Fault
from tests.simulation.quiet import Log
from tests.simulation.rare_faults import seed_that_shows
from tests.support.parts import first_then_proof

STEPS = int(os.environ.get("OPENSPOT_SIMULATION_STEPS", "100"))
SEEDS = int(os.environ.get("OPENSPOT_SIMULATION_MARGIN_SEEDS", "60"))
FEW_SEEDS = 15
"""In `make test`."""
SINGLE = os.environ.get("OPENSPOT_SIMULATION_SEED")
MUTANT_STEPS = 100
MUTANT_SEEDS_MAX = 200


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
        seen["reduction"] += len(tables.all("reductions"))
        seen["part closed"] += sum(each.closing_quantity is not None for each in tables.positions)
    print(dict(sorted(seen.items())))
    if SINGLE is None and len(seeds) >= 60:
        rare = (
            "borrow refused", "loss done", "out done", "position closed", "position liquidated", "repay done",
            "reduction", "part closed",
        )  # fmt: skip
        missing = [what for what in rare if not seen[what]]
        assert not missing, f"the runs had no {missing}, so they prove nothing about it"


def test_a_seed_gives_the_same_run_again(log: Log) -> None:
    def digest_of(seed: int) -> str:
        world = MarginWorld(seed)
        world.run(50)
        return digest(world) + repr(world.margin_tables.rows)

    assert digest_of(3) == digest_of(3)
    assert digest_of(3) != digest_of(4)


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
        (mutants.reductions_are_not_noted, "closed more than"),
        (mutants.users_are_not_told, "notifications of liquidation"),
        (mutants.repeated_steps_have_new_ids, "notifications of liquidation"),
        (mutants.losses_are_forgiven, "loan"),
        (mutants.unsure_prices_are_used, "was sure"),
        (mutants.liquidations_have_no_floor, "is fair"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_fault_of_the_service_is_found(fault: Callable[[], Fault], finding: str, log: Log) -> None:
    def is_shown_by(seed: int) -> bool:
        return any(finding in text for text in judged(seed, MUTANT_STEPS, log, MarginWorld))

    with fault():
        assert seed_that_shows(fault.__name__, range(MUTANT_SEEDS_MAX), is_shown_by) is not None


WALK_DOWN = ("81.00", "65.61", "53.14", "43.04", "34.86")
WALK_UP = ("119.00", "141.00", "168.00", "200.00", "238.00")
"""Each within the price band around the last print."""


def attacked(walk: Sequence[str], make_fault: Callable[[MarginWorld], Fault] | None = None) -> MarginWorld:
    """A world in which two accounts of one person walk a price away, while others have a long and a short."""
    world = MarginWorld(1)
    try:
        world._prepare()
        for user, side in (("ann", "buy"), ("bob", "sell")):
            world.borrowers.open_position(user, "BTC-USD", side, "1.2", "10")
            world.come_to_rest()
        with make_fault(world) if make_fault is not None else nullcontext():
            for price in walk:
                world.print_at("BTC-USD", price)
                world.loop.advance(1.1)
                world.commit()
        last = max(world.rows.trades.values(), key=lambda trade: trade.sequence)
        assert Decimal(last.price) == Decimal(walk[-1])
    finally:
        world._end()
    return world


@pytest.mark.parametrize("walk", [WALK_DOWN, WALK_UP], ids=["down", "up"])
def test_prices_that_two_linked_accounts_print_liquidate_nobody(walk: Sequence[str], log: Log) -> None:
    world = attacked(walk)
    assert [each.status for each in world.margin_tables.positions] == ["open", "open"]
    assert world.margin_tables.liquidations == []


@pytest.mark.parametrize(("walk", "victim"), [(WALK_DOWN, "ann"), (WALK_UP, "bob")], ids=["down", "up"])
def test_a_margin_service_that_believes_the_last_trade_liquidates_the_innocent(
    walk: Sequence[str], victim: str, log: Log
) -> None:
    world = attacked(walk, lambda world: mutants.last_trades_are_believed(world.rows))
    assert {each.liquidation.account_id for each in world.margin_tables.liquidations} == {f"margin:{victim}"}


def liquidated_in_a_thin_market() -> tuple[list[str], list[str]]:
    """What is wrong with a liquidation where the market absorbs 1 BTC at once, and its orders."""
    world = MarginWorld(1)
    try:
        world._prepare()
        world.borrowers.open_position("ann", "BTC-USD", "buy", "3", "10")
        world.come_to_rest()
        world.market_data.set("BTC-USD", absorbed="1")
        world.loop.advance(20.0)
        world.market_data.set("BTC-USD", price="88.00")
        for _ in range(60):
            world.loop.advance(1.0)
            world.commit()
        auditor = MarginAuditor(world.history(), world.margin_tables, world.borrowers.told)
        auditor.look_at_prices(world.server.stored, world.market_data)
        stored = [each.payload for each in world.server.stored if each.subject == subjects.ORDERS_LIQUIDATION]
        return auditor.findings, [json.loads(payload)["quantity"] for payload in stored]
    finally:
        world._end()


def test_a_liquidation_trades_in_slices_that_the_market_absorbs(log: Log) -> None:
    assert liquidated_in_a_thin_market() == ([], ["1", "1", "1"])


def test_a_liquidation_that_trades_all_at_once_is_found(log: Log) -> None:
    with mutants.liquidations_trade_all_at_once():
        findings, quantities = liquidated_in_a_thin_market()
    assert quantities == ["3"]
    assert any("whether the market absorbs" in finding for finding in findings)
