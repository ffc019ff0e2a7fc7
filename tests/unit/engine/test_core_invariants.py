"""A state that contradicts itself ends the core, instead of booking wrong money.

The Rust core's tests are beside its code (rust/matching): its state cannot be broken from here.
"""

from collections.abc import Callable

import pytest

from openspot.domain.order import EngineOrderType, Side
from openspot.engine.core.records import FLAG_ACTIVE, Command, CommandKind, CreateSymbol
from openspot.engine.core.reference import ReferenceCore
from openspot.engine.core.reference_state import BrokenInvariantError, CoreState

BUY = Command(CommandKind.PLACE, Side.BUY, EngineOrderType.GTC, 0, 7, 5, 1, 2, 10, 3, 10)
SELL = Command(CommandKind.PLACE, Side.SELL, EngineOrderType.GTC, 0, 7, 5, 2, 3, 10, 3)
CANCEL = Command(CommandKind.CANCEL, order_id=1, account=2)
WITHDRAW = Command(CommandKind.WITHDRAW, symbol=2, account=2, amount=5)


def traded() -> ReferenceCore:
    """A core in which account 2 has an open BUY and account 3 can sell."""
    core = ReferenceCore()
    commands = [
        Command(CommandKind.CREATE_CURRENCY, symbol=1),
        Command(CommandKind.CREATE_CURRENCY, symbol=2),
        CreateSymbol(7, 0, 1, 2, 1, 1, 1, 1, 0, 0),
        *(Command(CommandKind.CREATE_ACCOUNT, flags=FLAG_ACTIVE, account=number) for number in (2, 3)),
        Command(CommandKind.DEPOSIT, symbol=2, account=2, amount=10**20),
        Command(CommandKind.DEPOSIT, symbol=1, account=3, amount=10**20),
        BUY,
    ]
    core.apply(b"".join(command.encode() for command in commands))
    assert core.order(1) is not None
    return core


def less_held(state: CoreState) -> None:
    state.accounts[2].held[2] -= 1


def no_funds(state: CoreState) -> None:
    state.accounts[2].totals[2] = 5


def no_supply(state: CoreState) -> None:
    state.supplies[2] = 4


def released_reservation(state: CoreState) -> None:
    state.accounts[2].held[2] = 0


@pytest.mark.parametrize(
    ("damage", "command", "rule"),
    [
        (less_held, CANCEL, "more is released than is held"),
        (less_held, SELL, "more is released than is held"),
        (no_funds, SELL, "a balance is below zero"),
        (no_supply, WITHDRAW, "the supply of a currency is below zero"),
    ],
)
def test_a_broken_state_ends_the_core_and_names_the_rule(
    damage: Callable[[CoreState], None], command: Command, rule: str
) -> None:
    core = traded()
    whole = core.snapshot()
    damage(core._state)
    with pytest.raises(BrokenInvariantError, match=f"broken invariant of the matching core: {rule}, in command 9"):
        core.apply(command.encode())
    for use in (lambda: core.apply(CANCEL.encode()), core.snapshot):
        with pytest.raises(RuntimeError, match="the core is unusable"):
            use()
    core.restore(whole)
    assert core.snapshot() == whole
    core.apply(CANCEL.encode())


def test_a_reservation_that_nothing_holds_cannot_be_released() -> None:
    core = traded()
    core.apply(Command(CommandKind.RESERVE, symbol=2, account=2, amount=10**18, price=77).encode())
    released_reservation(core._state)
    with pytest.raises(BrokenInvariantError, match="more is released than is held"):
        core.apply(Command(CommandKind.RELEASE, price=77).encode())
