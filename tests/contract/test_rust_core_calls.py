"""The Rust core's calls for single commands: each does what its record does, and keeps its events for a drain."""

from collections.abc import Callable

import pytest

from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import (
    EVENT_SIZE,
    Command,
    CommandKind,
    CreateSymbol,
    decode_commands,
    decode_results,
)
from tests.support.core_commands import generate

rust_core = pytest.importorskip(
    "openspot.engine.core.rust_core", reason="the wheel openspot-matching is not installed", exc_type=ImportError
)


def calls_of(core: MatchingCore) -> dict[int, Callable[[Command], int]]:
    """The call for each kind of command that has one."""
    assert isinstance(core, rust_core.RustCore)
    return {
        CommandKind.PLACE: lambda c: core.place(
            *(c.order_id, c.account, c.symbol, c.side, c.order_type, c.price, c.quantity, c.amount, c.timestamp)
        ),
        CommandKind.CANCEL: lambda c: core.cancel(c.order_id, c.account, c.symbol, c.timestamp),
        CommandKind.MOVE: lambda c: core.move_order(c.order_id, c.account, c.price, c.timestamp),
        CommandKind.REDUCE: lambda c: core.reduce(c.order_id, c.account, c.quantity, c.timestamp),
    }


@pytest.mark.parametrize("seed", range(10))
def test_a_call_does_what_its_record_does(seed: int) -> None:
    by_record, by_call = rust_core.RustCore(), rust_core.RustCore()
    calls = calls_of(by_call)
    called = 0
    for command in decode_commands(generate(seed, 900)):
        if isinstance(command, Command) and command.kind == CommandKind.PLACE:
            # The call has no bound for the test of a FOK.
            command = command._replace(flags=0)
        results, events = by_record.apply(command.encode())
        if isinstance(command, CreateSymbol) or command.kind not in calls:
            assert by_call.apply(command.encode()) == (results, events)
            continue
        called += 1
        assert calls[command.kind](command) == next(decode_results(results)).code
        assert by_call.drain_events() == events
        assert by_call.state_hash() == by_record.state_hash()
    assert called > 300


def test_events_of_calls_wait_in_order_and_no_batch_returns_them() -> None:
    core = rust_core.RustCore()
    place = (1, 5, 1, 1, 1, 100, 1, 100, 7)
    assert core.place(*place) == ResultCode.INVALID_SYMBOL
    currency = Command(CommandKind.CREATE_CURRENCY, symbol=3)
    deposit = Command(CommandKind.DEPOSIT, symbol=3, account=5, amount=1)
    _, events = core.apply(currency.encode() + deposit.encode())
    assert len(events) == EVENT_SIZE
    assert core.place(*place) == ResultCode.INVALID_SYMBOL
    snapshot = core.snapshot()
    core.restore(snapshot)
    assert len(core.drain_events()) == 2 * EVENT_SIZE
    assert core.drain_events() == b""
    assert core.event_sequence == 3


@pytest.mark.parametrize(
    "arguments",
    [
        (-1, 5, 1, 1, 1, 100, 1, 100, 7),
        (2**64, 5, 1, 1, 1, 100, 1, 100, 7),
        (1, 5, 2**32, 1, 1, 100, 1, 100, 7),
        (1, 5, 1, 256, 1, 100, 1, 100, 7),
        (1, 5, 1, 1, 1, 2**63, 1, 100, 7),
        (1, 5, 1, 1, 1, 100, 1, 2**127, 7),
    ],
)
def test_a_number_outside_its_field_raises_overflow_error_and_changes_nothing(arguments: tuple[int, ...]) -> None:
    core = rust_core.RustCore()
    with pytest.raises(OverflowError):
        core.place(*arguments)
    assert core.command_sequence == 0


def test_the_widest_amounts_are_accepted() -> None:
    core = rust_core.RustCore()
    for amount in (2**63, 2**127 - 1, -(2**127)):
        assert core.place(1, 5, 1, 1, 4, 0, 1, amount, 7) == ResultCode.INVALID_SYMBOL


def test_the_expected_orders_set_memory_aside() -> None:
    few, many = rust_core.RustCore(1_000), rust_core.RustCore(100_000)
    assert many.memory_bytes() - few.memory_bytes() >= 99_000 * 64
    with pytest.raises(ValueError, match="at most"):
        rust_core.RustCore(2**28 + 1)
