"""Properties of a core under any commands; tests/support/core_auditor.py checks them."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from openspot.domain.order import EngineOrderType, Side, StpMode
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import (
    COMMAND_SIZE,
    FLAG_ACTIVE,
    RESULT_SIZE,
    Command,
    CommandKind,
    CreateSymbol,
)
from tests.support.core_auditor import Auditor
from tests.support.core_commands import CommandStream, generate, unsigned_64, with_reference
from tests.unit.engine.conftest import CoreFactory

ACCOUNTS = (2, 3, 4)
SYMBOLS = (1, 2)
WORLD: tuple[Command | CreateSymbol, ...] = (
    *(Command(CommandKind.CREATE_CURRENCY, symbol=currency) for currency in (1, 2, 3)),
    CreateSymbol(1, 0, 1, 2, 1, 1, 1, 1, 25, 15),
    CreateSymbol(2, 0, 3, 2, 100, 10, 2, 5, 10, -2),
    *(Command(CommandKind.DEPOSIT, symbol=c, account=a, amount=400 * 10**18) for c in (1, 2, 3) for a in ACCOUNTS),
)

# The health check is off because the fixture only makes cores: examples share no state through it.
several = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
seeds = st.integers(0, 2**32 - 1)
accounts = st.sampled_from(ACCOUNTS)
order_ids = st.integers(1, 50)
scaled = st.integers(1, 12)


def _place(
    side: Side, order_type: EngineOrderType, symbol: int, account: int, price: int, lots: int, more: int
) -> Command:
    tick, lot = (1, 1) if symbol == 1 else (2, 5)
    amount = (price + more) * tick
    if order_type == EngineOrderType.FOK_BUDGET:
        amount = (price + more) * lots * tick * lot * (10**18 if symbol == 1 else 10**15)
    return Command(
        CommandKind.PLACE,
        side=side,
        order_type=order_type,
        symbol=symbol,
        account=account,
        price=price * tick,
        quantity=lots * lot,
        amount=amount,
    )


def _money(kind: CommandKind, currency: int, account: int, whole: int, reference: int) -> Command:
    return with_reference(Command(kind, symbol=currency, account=account, amount=whole * 10**18), reference)


def _account_fees(account: int, own: bool, taker: int, maker: int) -> Command:
    return Command(
        CommandKind.SET_ACCOUNT_FEES,
        flags=FLAG_ACTIVE if own else 0,
        account=account,
        order_id=unsigned_64(taker),
        price=maker,
    )


places = st.builds(
    _place,
    st.sampled_from(list(Side)),
    st.sampled_from(list(EngineOrderType)),
    st.sampled_from(SYMBOLS),
    accounts,
    scaled,
    scaled,
    st.integers(0, 3),
)
changes = st.builds(
    lambda kind, order_id, account, figure: Command(
        kind, order_id=order_id, account=account, price=figure, quantity=figure
    ),
    st.sampled_from([CommandKind.CANCEL, CommandKind.MOVE, CommandKind.REDUCE, CommandKind.AMEND]),
    order_ids,
    st.sampled_from((0, *ACCOUNTS)),
    scaled,
)
others = st.one_of(
    st.builds(
        _money,
        st.sampled_from([CommandKind(kind) for kind in range(CommandKind.DEPOSIT, CommandKind.ADJUST + 1)]),
        st.integers(1, 3),
        accounts,
        st.integers(-50, 450),
        st.integers(0, 4),
    ),
    st.builds(
        lambda account, mode: Command(CommandKind.SET_ACCOUNT, flags=FLAG_ACTIVE, order_type=mode, account=account),
        accounts,
        st.sampled_from(list(StpMode)),
    ),
    st.builds(_account_fees, accounts, st.booleans(), st.integers(0, 1_000), st.integers(-1_000, 1_000)),
)
steps_of_a_day = st.one_of(places, places, places, changes, others)
# Draw the length first. Otherwise most lists would be too short for orders to meet.
market_days = st.integers(0, 50).flatmap(lambda length: st.lists(steps_of_a_day, min_size=length, max_size=length))


def _records(steps: list[Command]) -> list[bytes]:
    """The records of WORLD and the steps. The order id of a PLACE is its position, which other steps can guess."""
    numbered = [
        step._replace(order_id=position) if step.kind == CommandKind.PLACE else step
        for position, step in enumerate(steps, start=1)
    ]
    return [command.encode() for command in WORLD] + [command.encode() for command in numbered]


@pytest.mark.spec("A1-01", "A1-02", "A1-03", "A1.4-10", "A1.4-11", "A1.4-12", "A1.4-13", "A1.4-15", "A2.2-01")
@several
@given(steps=market_days)
def test_the_auditor_accepts_every_result_in_a_small_market(core_factory: CoreFactory, steps: list[Command]) -> None:
    auditor = Auditor(core_factory())
    for record in _records(steps):
        auditor.apply(record)


@settings(several, max_examples=15)
@given(seed=seeds)
# Random bytes that are an order of a list, directly after terms; the next command ends the run.
@example(seed=347)
def test_the_auditor_accepts_every_result_of_a_random_stream(core_factory: CoreFactory, seed: int) -> None:
    core = core_factory()
    auditor, stream = Auditor(core), CommandStream(seed)
    for _ in range(250):
        auditor.apply(stream.next(core))


@several
@given(steps=market_days, cut=st.integers(0, 50))
def test_a_restored_core_is_the_same_and_has_the_same_future(
    core_factory: CoreFactory, steps: list[Command], cut: int
) -> None:
    records = _records(steps)
    past, future = records[: len(WORLD) + cut], records[len(WORLD) + cut :]
    core, restored = core_factory(), core_factory()
    core.apply(b"".join(past))
    restored.restore(core.snapshot())
    assert _everything(restored) == _everything(core)
    for record in future:
        assert restored.apply(record) == core.apply(record)
    assert _everything(restored) == _everything(core)


def _everything(core: MatchingCore) -> tuple[object, ...]:
    return (
        core.state_hash(),
        core.snapshot(),
        core.command_sequence,
        core.event_sequence,
        core.balances(),
        core.open_orders(),
        core.symbols(),
        core.currencies(),
        [core.depth(symbol, 0) for symbol in SYMBOLS],
        [core.account(account) for account in (1, *ACCOUNTS)],
    )


@settings(several, max_examples=15)
@given(seed=seeds, sizes=st.lists(st.integers(0, 60), max_size=8))
def test_a_batch_gives_the_results_of_its_commands_one_by_one(
    core_factory: CoreFactory, seed: int, sizes: list[int]
) -> None:
    records = generate(seed, sum(sizes))
    batched, single = core_factory(), core_factory()
    start = 0
    for size in sizes:
        batch = records[start * COMMAND_SIZE : (start + size) * COMMAND_SIZE]
        answers = [single.apply(batch[at : at + COMMAND_SIZE]) for at in range(0, len(batch), COMMAND_SIZE)]
        expected = tuple(b"".join(parts) for parts in zip(*answers, strict=True)) or (b"", b"")
        assert batched.apply(batch) == expected
        start += size
    assert batched.state_hash() == single.state_hash()


@several
@given(noise=st.lists(st.tuples(st.integers(0, 20), st.binary(min_size=COMMAND_SIZE - 1, max_size=COMMAND_SIZE - 1))))
def test_a_core_handles_any_bytes_as_a_record(core_factory: CoreFactory, noise: list[tuple[int, bytes]]) -> None:
    auditor = Auditor(core_factory())
    for record in _records([]):
        auditor.apply(record)
    for kind, rest in noise:
        auditor.apply(bytes([kind]) + rest)


@several
@given(size=st.integers(1, 10 * COMMAND_SIZE).filter(lambda size: size % COMMAND_SIZE != 0))
def test_a_batch_that_is_not_a_whole_number_of_records_is_not_applied(core_factory: CoreFactory, size: int) -> None:
    core = core_factory()
    records = Command(CommandKind.CREATE_CURRENCY, symbol=1).encode() * 10
    with pytest.raises(ValueError, match="not a whole number"):
        core.apply(records[:size])
    assert core.command_sequence == 0
    assert core.currencies() == []


def test_an_empty_batch_returns_nothing(core_factory: CoreFactory) -> None:
    assert core_factory().apply(b"") == (b"", b"")


def test_each_command_has_one_result(core_factory: CoreFactory) -> None:
    core = core_factory()
    results, _ = core.apply(generate(seed=11, count=200))
    assert len(results) == 200 * RESULT_SIZE
    assert core.command_sequence == 200
