"""The Rust core against the reference: after each of many random commands, results and state are equal.

Each seed gives a stream of a few hundred commands for fresh cores. After every command, results, events and state
hashes must be equal; every few commands, and at the end, so must all queries. Then a third core applies the whole
stream as one batch. If the cores differ, the test shrinks the commands to a list that still shows the difference
and from which none can be left out.

OPENSPOT_DIFFERENTIAL_COMMANDS sets the number of commands (a million by default, of which `make test` runs the first
forty thousand), OPENSPOT_DIFFERENTIAL_SEED the first seed.
"""

import os
from collections.abc import Callable, Sequence

import pytest

from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import (
    COMMAND_SIZE,
    CommandKind,
    decode_commands,
    decode_events,
    decode_results,
)
from openspot.engine.core.reference import ReferenceCore
from openspot.engine.core.selection import CoreUnavailableError, make_core
from tests.support.core_commands import CommandStream, generate
from tests.support.list_commands import ListStream
from tests.support.parts import first_then_proof

COMMANDS = int(os.environ.get("OPENSPOT_DIFFERENTIAL_COMMANDS", "1000000"))
FIRST_SEED = int(os.environ.get("OPENSPOT_DIFFERENTIAL_SEED", "0"))
COMMANDS_OF_SEED = 400
SEEDS = range(FIRST_SEED, FIRST_SEED + -(-COMMANDS // COMMANDS_OF_SEED))
SEEDS_IN_A_TEST = 100
PARTS = [SEEDS[start : start + SEEDS_IN_A_TEST] for start in range(0, len(SEEDS), SEEDS_IN_A_TEST)]
LIST_SEEDS = range(FIRST_SEED, FIRST_SEED + -(-COMMANDS // (4 * COMMANDS_OF_SEED)))
LIST_PARTS = [
    LIST_SEEDS[start : start + SEEDS_IN_A_TEST // 5] for start in range(0, len(LIST_SEEDS), SEEDS_IN_A_TEST // 5)
]
QUERIES_EVERY = 50

CoreFactory = Callable[[], MatchingCore]


@pytest.fixture
def rust() -> CoreFactory:
    """Makes Rust cores; skips where there is no wheel."""
    try:
        make_core("rust")
    except CoreUnavailableError as absent:
        pytest.skip(f"nothing to compare the reference core with: {absent}")
    return lambda: make_core("rust")


def queries(core: MatchingCore) -> dict[str, object]:
    """The results of all queries of a core."""
    orders = core.open_orders()
    balances = core.balances()
    accounts = sorted({balance.account for balance in balances} | {1, 2, 77})
    symbols = core.symbols()
    return {
        "sequences": (core.command_sequence, core.event_sequence),
        "open orders": orders,
        "orders by owner and symbol": [
            core.open_orders(account, symbol.symbol) for account in accounts[:3] for symbol in symbols
        ],
        "single orders": [core.order(order.order_id) for order in orders] + [core.order(2**63)],
        "balances": balances,
        "balances by account": [core.balances(account) for account in accounts],
        "accounts": [core.account(account) for account in accounts],
        "owner links": core.owner_links(),
        "waiting orders": core.waiting_orders(),
        "single waiting orders": [core.waiting_order(order.order_id) for order in orders],
        "icebergs": [core.iceberg(order.order_id) for order in orders],
        "order lists": core.order_lists(),
        "expiries": core.expiries(),
        "activations due": core.activations_due(),
        "phases": core.phases(),
        "reference prices": core.reference_prices(),
        "symbols": symbols,
        "currencies": core.currencies(),
        "depth": [core.depth(symbol.symbol, levels) for symbol in symbols for levels in (0, 1, 3)],
        "depth of none": core.depth(99, 0),
        "volumes": [core.volumes(symbol.symbol, levels) for symbol in symbols for levels in (0, 1, 3)],
        "volumes of none": core.volumes(99, 0),
    }


def difference(reference: MatchingCore, twin: MatchingCore, record: bytes) -> str | None:
    """Apply one command to both cores and return how they differ, or None."""
    expected, found = reference.apply(record), twin.apply(record)
    if expected[0] != found[0]:
        return f"results: {list(decode_results(expected[0]))}, not {list(decode_results(found[0]))}"
    if expected[1] != found[1]:
        return f"events: {list(decode_events(expected[1]))}, not {list(decode_events(found[1]))}"
    if reference.state_hash() != twin.state_hash():
        return "state hashes"
    return None


def first_difference(records: Sequence[bytes], make_twin: CoreFactory) -> str | None:
    """Apply `records` to fresh cores and return their first difference, or None."""
    reference, twin = ReferenceCore(), make_twin()
    for record in records:
        if found := difference(reference, twin, record):
            return found
    return None


def shrunk(records: Sequence[bytes], make_twin: CoreFactory) -> list[bytes]:
    """A part of `records` that still shows a difference, and from which none can be left out (delta debugging)."""
    kept = list(records)
    size = len(kept) // 2
    while size:
        start = 0
        while start < len(kept):
            fewer = kept[:start] + kept[start + size :]
            if first_difference(fewer, make_twin):
                kept = fewer
            else:
                start += size
        size //= 2
    return kept


def report(seed: int, records: Sequence[bytes], make_twin: CoreFactory) -> str:
    """The text of a failed seed."""
    fewest = shrunk(records, make_twin)
    commands = "\n".join(f"  {command}" for command in decode_commands(b"".join(fewest)))
    return (
        f"seed {seed} differs after {len(records)} commands; so do these {len(fewest)}:\n{commands}\n"
        f"{first_difference(fewest, make_twin)}"
    )


def run_seed(
    seed: int, count: int, make_twin: CoreFactory, make_stream: Callable[[int], CommandStream] = CommandStream
) -> str | None:
    """Apply one stream to fresh cores and return a report if they differ."""
    reference, twin, stream = ReferenceCore(), make_twin(), make_stream(seed)
    records: list[bytes] = []
    answers: list[tuple[bytes, bytes]] = []
    for number in range(1, count + 1):
        records.append(stream.next(reference))
        expected = reference.apply(records[-1])
        found = twin.apply(records[-1])
        answers.append(expected)
        if expected != found or reference.state_hash() != twin.state_hash():
            return report(seed, records, make_twin)
        if number % QUERIES_EVERY == 0 and (wrong := _wrong_queries(reference, twin)):
            return f"seed {seed}, after {number} commands: {wrong}"
    batch = make_twin().apply(b"".join(records))
    if batch != (b"".join(results for results, _ in answers), b"".join(events for _, events in answers)):
        return f"seed {seed}: one batch of all commands gives other results than the commands one by one"
    return None


def _wrong_queries(reference: MatchingCore, twin: MatchingCore) -> str | None:
    expected, found = queries(reference), queries(twin)
    wrong = [f"{name}: {expected[name]}, not {found[name]}" for name in expected if expected[name] != found[name]]
    return "\n".join(wrong) or None


@pytest.mark.parametrize("seeds", first_then_proof(*PARTS), ids=str)
def test_both_cores_give_equal_results_events_and_state_after_every_command(rust: CoreFactory, seeds: range) -> None:
    for seed in seeds:
        if found := run_seed(seed, COMMANDS_OF_SEED, rust):
            pytest.fail(found, pytrace=False)


@pytest.mark.parametrize("seeds", first_then_proof(*LIST_PARTS), ids=str)
def test_both_cores_treat_order_lists_alike_after_every_command(rust: CoreFactory, seeds: range) -> None:
    for seed in seeds:
        if found := run_seed(seed, COMMANDS_OF_SEED, rust, ListStream):
            pytest.fail(found, pytrace=False)


def test_each_core_restores_the_snapshots_of_the_other_at_every_command_of_a_list(rust: CoreFactory) -> None:
    for seed in range(6):
        reference, twin, stream = ReferenceCore(), rust(), ListStream(20_000 + seed)
        for _ in range(250):
            record = stream.next(reference)
            assert reference.apply(record) == twin.apply(record)
            crossed_reference, crossed_twin = ReferenceCore(), rust()
            crossed_reference.restore(twin.snapshot())
            crossed_twin.restore(reference.snapshot())
            reference, twin = crossed_reference, crossed_twin
        assert queries(reference) == queries(twin)


def test_each_core_restores_the_snapshots_of_the_other(rust: CoreFactory) -> None:
    for seed in range(20):
        reference, twin, stream = ReferenceCore(), rust(), CommandStream(10_000 + seed)
        for _ in range(6):
            for _ in range(60):
                record = stream.next(reference)
                reference.apply(record)
                twin.apply(record)
            assert reference.snapshot() == twin.snapshot()
            crossed_reference, crossed_twin = ReferenceCore(), rust()
            crossed_reference.restore(twin.snapshot())
            crossed_twin.restore(reference.snapshot())
            assert queries(crossed_reference) == queries(crossed_twin) == queries(reference)
            reference, twin = crossed_reference, crossed_twin


def test_both_cores_refuse_bytes_that_are_not_a_snapshot(rust: CoreFactory) -> None:
    reference = ReferenceCore()
    reference.apply(generate(5, 200))
    snapshot = reference.snapshot()
    damaged = [b"", snapshot[:-1], snapshot + b"\0", b"X" + snapshot[1:], snapshot[: len(snapshot) // 2]]
    for core in (ReferenceCore(), rust()):
        core.restore(snapshot)
        for broken in damaged:
            with pytest.raises(ValueError, match="snapshot"):
                core.restore(broken)
        assert core.snapshot() == snapshot


class LyingCore(ReferenceCore):
    """A reference core with one fault: a MOVE loses its events."""

    def apply(self, commands: bytes) -> tuple[bytes, bytes]:
        results, events = super().apply(commands)
        return results, b"" if commands[:1] == bytes([CommandKind.MOVE]) else events


def test_a_difference_is_found_and_shrunk_to_the_commands_that_it_needs() -> None:
    found = run_seed(3, 400, LyingCore)
    assert found is not None
    lines = found.splitlines()
    assert lines[0].startswith("seed 3 differs after")
    # A currency for each side, a symbol, money, an order, its move.
    assert len(lines) - 2 <= 7
    assert any(f"kind={int(CommandKind.MOVE)}," in line for line in lines[1:-1])
    assert lines[-1].startswith("events:")


def test_both_cores_refuse_a_batch_that_breaks_off_and_apply_nothing(rust: CoreFactory) -> None:
    for core in (ReferenceCore(), rust()):
        with pytest.raises(ValueError, match=f"{COMMAND_SIZE}-byte commands"):
            core.apply(generate(1, 3)[:-1])
        assert core.command_sequence == 0
