"""The auditor finds what is wrong: each fault in mutants.py within a few seeds, and nothing in a sound platform."""

from collections.abc import Callable

import pytest

from tests.simulation import mutants
from tests.simulation.judgement import judged, report, shrunk
from tests.simulation.ledger import LedgerTables
from tests.simulation.mutants import Fault
from tests.simulation.quiet import Log
from tests.simulation.rare_faults import seed_that_shows
from tests.simulation.rows import Rows
from tests.simulation.world import World

pytestmark = pytest.mark.proof

STEPS = 100
SEEDS_MAX = 1000
"""The rarest fault shows in one seed of two hundred: which one that is changes with the weights of the steps."""


def _seed_that_shows(fault: str, finding: str, log: Log, make_world: Callable[[int], World]) -> int | None:
    """A seed with a finding of that text, None if no seed has one."""
    return seed_that_shows(
        fault, range(SEEDS_MAX), lambda seed: any(finding in text for text in judged(seed, STEPS, log, make_world))
    )


@pytest.mark.parametrize(
    ("fault", "finding"),
    [
        (mutants.seller_pays_no_fee, "ledger account"),
        (mutants.balance_events_share_ids, "newest balance event"),
        (mutants.position_before_events, "trades.executed"),
        (mutants.position_passes_held_events, "events of order"),
        (mutants.rows_pass_held_events, "events of order"),
        (mutants.events_in_any_order, "events of order"),
        (mutants.makers_forget_fills, "row of order"),
        (mutants.amendments_are_not_sent, "and never was that"),
        (mutants.amendments_keep_the_quantity, "row of order"),
        (mutants.deposits_without_reference, "deposit tx-"),
        (mutants.unknown_is_refused, "was refused"),
        (mutants.order_ids_count_again, "taken twice"),
        (mutants.journal_in_memory, "lost"),
        (mutants.movements_are_not_gathered, "transfers.executed"),
        (mutants.position_inside_a_transfer, "transfers.executed"),
        (mutants.last_movement_is_not_posted, "ledger account"),
        (mutants.transfers_lose_their_reference, "was done 2 times"),
        (mutants.links_prevent_nothing, "traded with itself"),
        (mutants.links_never_end, "links of owners"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_fault_in_the_logic_is_found(fault: Callable[[], Fault], finding: str, log: Log) -> None:
    with fault():
        assert _seed_that_shows(fault.__name__, finding, log, World) is not None


@pytest.mark.parametrize(
    ("tables", "rows", "finding"),
    [
        (mutants.ForgetfulTables, Rows, "ledger account"),
        (mutants.GenerousTables, Rows, "ledger account"),
        (mutants.TransfersAgainTables, Rows, "ledger account"),
        (LedgerTables, mutants.UnfencedRows, "row of order"),
    ],
)
def test_a_fault_in_the_tables_is_found(tables: type[LedgerTables], rows: type[Rows], finding: str, log: Log) -> None:
    fault = tables.__name__ if rows is Rows else rows.__name__
    assert _seed_that_shows(fault, finding, log, lambda seed: World(seed, tables=tables, rows=rows)) is not None


def test_a_seed_that_goes_wrong_is_shrunk_and_can_be_repeated(log: Log) -> None:
    with mutants.position_before_events():
        seed = _seed_that_shows("position_before_events", "trades.executed", log, World)
        assert seed is not None
        steps, findings = shrunk(seed, STEPS, log)
        assert judged(seed, steps, log) == findings
        assert not judged(seed, steps - 1, log)
        text = report(seed, steps, findings)
    assert f"OPENSPOT_SIMULATION_SEED={seed} OPENSPOT_SIMULATION_STEPS={steps} pytest tests/simulation" in text
    assert findings[0] in text


def test_a_sound_seed_cannot_be_shrunk(log: Log) -> None:
    with pytest.raises(ValueError, match="does not go wrong"):
        shrunk(0, 3, log)
