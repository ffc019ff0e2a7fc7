"""`restore` of both cores over damaged snapshots: both accept with the same state, or both refuse for the same reason.

Real snapshots are damaged in ways that keep their shape: a field gets a value at one of its bounds, a byte changes,
a record is repeated, left out or swapped with its neighbour. So most of the damage reaches a check of the content.
"""

import random
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import pytest

from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import AMOUNT_MAX
from openspot.domain.order import TriggerKind
from openspot.domain.symbol import SCALED_MAX
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import (
    ACTIVATIONS_MAX,
    FLAG_ACTIVE,
    UNCROSS_STEPS_MAX,
    Command,
    CommandKind,
    CreateSymbol,
)
from openspot.engine.core.reference import ReferenceCore
from openspot.engine.core.selection import CoreUnavailableError, make_core
from openspot.engine.core.snapshot_records import (
    ACCOUNT,
    BALANCE,
    COUNT_32,
    COUNT_64,
    CURRENCY,
    FIRED_ORDER,
    HEADER,
    ICEBERG,
    LIST_MEMBER,
    MOVEMENT,
    ORDER,
    ORDER_LIST,
    ORDER_TERMS,
    OWNER_LINK,
    PHASE,
    REFERENCE_PRICES,
    SYMBOL,
    TERMS,
    TRANSFER,
    WAITING_ORDER,
    sealed,
    state_of,
)
from tests.support.core_commands import generate
from tests.support.waiting import stretched

SNAPSHOTS = 12
DAMAGED_COPIES = 400
PREFIX = "not a snapshot of a core: "
REASONS = {
    "it breaks off",
    "it fails its checksum",
    "it has another format",
    "a sequence is too large",
    "a currency number is 0 or repeated",
    "a symbol number is 0 or repeated",
    "a symbol breaks a rule of its specification",
    "an STP mode is unknown",
    "a fee is out of range",
    "the first account is not the inactive fee account",
    "an account number is 0 or repeated",
    "a balance has no currency",
    "a balance is out of range",
    "a balance is repeated",
    "the supply of a currency is too large",
    "an order id is 0 or repeated",
    "an order has no account that may own it",
    "an order has no symbol",
    "an order has no side",
    "an order of this type cannot rest",
    "an order's price is out of range",
    "an order's reserve price is out of range",
    "an order's quantity is out of range",
    "a reference is 0 or repeated",
    "a transfer has no valid kind",
    "a transfer has no valid status",
    "a transfer's amount is out of range",
    "a transfer has no account",
    "a transfer has no currency",
    "a wrong number of movements waits",
    "a link has no account that may be linked, or is repeated",
    "a link has no account that may be its owner",
    "a wrong number of terms waits",
    "terms have no order that rests, or are repeated",
    "terms of an order are out of range",
    "an order of this type cannot wait",
    "a trigger breaks a rule",
    "a fired order does not wait, or is repeated",
    "a fired order has no price that fired it",
    "a price has no symbol, or is repeated",
    "a reference price is out of range",
    "a phase has no symbol, or is repeated",
    "a phase is unknown",
    "a phase breaks a rule",
    "a waiting order's trigger was reached",
    "a wrong number of orders waits for their list",
    "an order list breaks a rule",
    "a list has nothing to arm, or is repeated",
    "a list is not armed",
    "a wrong number of placements is stopped",
    "an iceberg has no order that rests alone, or is repeated",
    "an iceberg breaks a rule",
    "an account holds more than it owns",
    "a book is crossed",
    "it is not in canonical form",
}
"""Every reason that docs/protocol/snapshot.md lists."""

_UNSIGNED_64_MAX = 2**64 - 1
_AMOUNT_MAX_HIGH = AMOUNT_MAX >> 64
_EDGES = (
    *(0, 1, 2, 3, 5, 2**31, 2**32 - 1, 2**63 - 1, 2**63, _UNSIGNED_64_MAX),
    *(SCALED_MAX, SCALED_MAX + 1, _AMOUNT_MAX_HIGH - 1, _AMOUNT_MAX_HIGH),
)
_FIELD_SIZES = {"B": 1, "I": 4, "i": 4, "Q": 8, "q": 8}

CoreFactory = Callable[[], MatchingCore]


@pytest.fixture(scope="module")
def rust() -> CoreFactory:
    """Makes Rust cores; skips where there is no wheel."""
    try:
        make_core("rust")
    except CoreUnavailableError as absent:
        pytest.skip(f"nothing to compare the reference core with: {absent}")
    return lambda: make_core("rust")


class Record(NamedTuple):
    """A record of a snapshot, or a count before records. `offset` is where it begins."""

    layout: struct.Struct
    offset: int

    @property
    def end(self) -> int:
        """The offset behind the record."""
        return self.offset + self.layout.size


def records_of(snapshot: bytes) -> list[Record]:
    """The records of a valid snapshot, in order."""
    found = [Record(HEADER, 0)]

    def add(layout: struct.Struct) -> tuple[int, ...]:
        found.append(Record(layout, found[-1].end))
        return layout.unpack_from(snapshot, found[-1].offset)

    for count, layout in ((COUNT_32, CURRENCY), (COUNT_32, SYMBOL), (COUNT_32, ACCOUNT)):
        for _ in range(add(count)[0]):
            fields = add(layout)
            if layout is ACCOUNT:
                *_, balances = fields
                for _ in range(balances):
                    add(BALANCE)
    for layout in (ORDER, TRANSFER):
        for _ in range(add(COUNT_64)[0]):
            add(layout)
    if found[-1].end < len(snapshot):
        for _ in range(add(COUNT_32)[0]):
            add(MOVEMENT)
    if found[-1].end < len(snapshot):
        for _ in range(add(COUNT_32)[0]):
            add(OWNER_LINK)
    if found[-1].end < len(snapshot):
        for count, layout in (
            (COUNT_32, TERMS),
            (COUNT_64, ORDER_TERMS),
            (COUNT_64, WAITING_ORDER),
            (COUNT_64, FIRED_ORDER),
            (COUNT_32, REFERENCE_PRICES),
        ):
            for _ in range(add(count)[0]):
                add(layout)
    if found[-1].end < len(snapshot):
        for _ in range(add(COUNT_32)[0]):
            add(PHASE)
    if found[-1].end < len(snapshot):
        for _ in range(2 * add(COUNT_32)[0]):
            add(TERMS)
        for _ in range(add(COUNT_64)[0]):
            *_, exits, plans = add(ORDER_LIST)
            for layout in (LIST_MEMBER,) * exits + (WAITING_ORDER,) * plans:
                add(layout)
        for _ in range(add(COUNT_64)[0]):
            add(LIST_MEMBER)
    if found[-1].end < len(snapshot):
        add(COUNT_32)
        for _ in range(add(COUNT_64)[0]):
            add(ICEBERG)
    assert found[-1].end == len(snapshot)
    return found


def with_edge(snapshot: bytes, records: list[Record], generator: random.Random) -> bytes:
    """`snapshot` with one field at a bound, or next to its value."""
    record = generator.choice(records)
    if generator.random() < 0.5:
        # Now each kind of record is equally likely, however many there are of it.
        layout = generator.choice(list(dict.fromkeys(record.layout for record in records)))
        record = generator.choice([record for record in records if record.layout is layout])
    start = record.offset
    kinds = [kind for kind in record.layout.format if kind in _FIELD_SIZES]
    chosen = generator.randrange(len(kinds))
    start += (8 if record.layout is HEADER else 0) + sum(_FIELD_SIZES[kind] for kind in kinds[:chosen])
    size = _FIELD_SIZES[kinds[chosen]]
    present = int.from_bytes(snapshot[start : start + size], "little")
    value = generator.choice((*_EDGES, present + 1, present - 1, -present, present * 2))
    return snapshot[:start] + (value % (1 << 8 * size)).to_bytes(size, "little") + snapshot[start + size :]


def with_other_records(snapshot: bytes, records: list[Record], generator: random.Random) -> bytes:
    """`snapshot` with a record repeated over its neighbour, or two neighbours of one kind swapped."""
    neighbours = [(first, second) for first, second in pairwise(records) if first.layout is second.layout]
    first, second = generator.choice(neighbours)
    before, after = snapshot[: first.offset], snapshot[second.end :]
    one, other = snapshot[first.offset : first.end], snapshot[second.offset : second.end]
    return before + generator.choice((one + one, other + other, other + one)) + after


def with_other_byte(snapshot: bytes, _: list[Record], generator: random.Random) -> bytes:
    """`snapshot` with one byte changed."""
    place = generator.randrange(len(snapshot))
    return snapshot[:place] + bytes([generator.randrange(256)]) + snapshot[place + 1 :]


def with_other_length(snapshot: bytes, _: list[Record], generator: random.Random) -> bytes:
    """`snapshot` cut off, or with bytes behind its end."""
    return generator.choice((snapshot[: generator.randrange(len(snapshot))], snapshot + b"\0"))


def cascade() -> Iterator[Command | CreateSymbol]:
    """Orders of a symbol of their own, of which a mark price fires more than one command activates."""
    yield Command(CommandKind.CREATE_CURRENCY, symbol=20)
    yield Command(CommandKind.CREATE_CURRENCY, symbol=21)
    yield CreateSymbol(20, 0, 20, 21, 1, 1, 1, 1, 5, 5)
    yield Command(CommandKind.DEPOSIT, symbol=21, account=20, amount=10**24)
    yield Command(CommandKind.SET_ACCOUNT, account=20, flags=FLAG_ACTIVE)
    yield Command(CommandKind.SET_MARK_PRICE, symbol=20, price=100)
    for order_id in range(10_000, 10_006 + ACTIVATIONS_MAX):
        kind = order_id % 3 + 1
        price = 105 if kind == TriggerKind.FIXED else 500 if kind == TriggerKind.TRAILING_BASIS_POINTS else 5
        yield Command(CommandKind.TERMS, kind, flags=1, order_id=order_id, price=price)
        yield Command(CommandKind.PLACE, 1, 1, symbol=20, order_id=order_id, account=20, price=1, quantity=1, amount=1)
    yield Command(CommandKind.SET_MARK_PRICE, symbol=20, price=106)
    for order_id in range(11_000, 11_003):
        yield Command(CommandKind.TERMS, order_id - 10_999, flags=1, order_id=order_id, price=200)
        yield Command(CommandKind.PLACE, 1, 1, symbol=20, order_id=order_id, account=20, price=9, quantity=1, amount=9)


def listed_orders() -> Iterator[Command | CreateSymbol]:
    """Lists of each type on a symbol of their own: armed, planned, and more filled ones than one command arms."""
    yield Command(CommandKind.CREATE_CURRENCY, symbol=20)
    yield Command(CommandKind.CREATE_CURRENCY, symbol=21)
    yield CreateSymbol(20, 0, 20, 21, 1, 1, 1, 1, 5, 5)
    for account in (20, 21):
        for currency in (20, 21):
            yield Command(CommandKind.DEPOSIT, symbol=currency, account=account, amount=10**24)
        yield Command(CommandKind.SET_ACCOUNT, account=account, flags=FLAG_ACTIVE)
    exits = ((2, 110, 0, 0), (2, 80, 1, 90))
    for list_id, price in enumerate((99, 98, *(100,) * (ACTIVATIONS_MAX + 3)), 1):
        list_type, orders = (2, exits[1:]) if list_id % 2 else (3, exits)
        yield from _members(list_id, [(1, price, 0, 0), *orders], 4)
        yield Command(CommandKind.PLACE_LIST, order_id=list_id, order_type=list_type)
    yield from _members(50, list(exits), 4)
    yield Command(CommandKind.PLACE_LIST, order_id=50, order_type=1)
    quantity = 4 * (ACTIVATIONS_MAX + 2) + 1
    yield Command(
        CommandKind.PLACE, 2, 2, symbol=20, order_id=19_000, account=21, price=100, quantity=quantity, amount=0
    )
    yield from icebergs()
    yield from _members(60, list(exits), 4)


def icebergs() -> Iterator[Command]:
    """Orders that show a part of their quantity."""
    for order_id, display in ((30_000, 3), (30_001, 2), (30_002, 5)):
        yield Command(CommandKind.TERMS, order_id=order_id, quantity=display)
        yield Command(CommandKind.PLACE, 2, 1, 0, 20, 0, order_id, 20, 200, 9)


def _members(list_id: int, orders: list[tuple[int, int, int, int]], quantity: int) -> Iterator[Command]:
    """The pairs of TERMS and LIST_ORDER for orders of (side, price, kind of trigger, trigger)."""
    for place, (side, price, kind, trigger) in enumerate(orders):
        order_id = 20_000 + 10 * list_id + place
        yield Command(CommandKind.TERMS, kind, flags=2 * kind, order_id=order_id, price=trigger)
        yield Command(
            CommandKind.LIST_ORDER,
            side,
            1,
            symbol=20,
            order_id=order_id,
            account=20,
            price=price,
            quantity=quantity,
            amount=price if side == 1 else 0,
        )


def auctions() -> Iterator[Command | CreateSymbol]:
    """Markets in phases: one whose uncross is under way, one in an auction with an end, one halted."""
    yield CreateSymbol(21, 0, 20, 21, 1, 1, 1, 1, 5, 5)
    yield CreateSymbol(22, 0, 20, 21, 1, 1, 1, 1, 5, 5)
    yield Command(CommandKind.DEPOSIT, symbol=20, account=21, amount=10**24)
    yield Command(CommandKind.SET_PHASE, order_type=MarketPhase.HALTED, symbol=22)
    yield Command(CommandKind.SET_PHASE, order_type=MarketPhase.AUCTION, symbol=20, amount=9)
    yield Command(CommandKind.SET_PHASE, order_type=MarketPhase.AUCTION, symbol=21)
    yield Command(CommandKind.PLACE, 1, 1, 0, 21, 0, 20_000, 20, 9, 2 * UNCROSS_STEPS_MAX, 9)
    for order_id in range(20_001, 20_002 + UNCROSS_STEPS_MAX):
        yield Command(CommandKind.PLACE, 2, 1, 0, 21, 0, order_id, 21, 8, 1)
    yield Command(CommandKind.SET_PHASE, order_type=MarketPhase.CONTINUOUS, symbol=21)


def damaged(seed: int, copies: int) -> Iterator[bytes]:
    """Damaged copies of the snapshot of a busy core; some are damaged twice.

    Each second one gets a new seal after the damage; the others have none, as older snapshots. Of some, the seal itself
    is damaged.
    """
    generator = random.Random(seed)
    core = ReferenceCore()
    core.apply(generate(seed, 300))
    if seed % 3 == 1:
        core.apply(b"".join(command.encode() for command in (*cascade(), *auctions())))
    if seed % 3 == 2:
        core.apply(b"".join(command.encode() for command in listed_orders()))
    if seed % 2:
        core.apply(Command(CommandKind.MOVEMENT, order_id=2, account=3, symbol=1, amount=seed).encode() * 3)
    if seed % 3 == 0:
        links = [Command(CommandKind.SET_OWNER, account=account) for account in range(2, 7)]
        core.apply(b"".join(command.encode() for command in links))
    if seed % 4 == 2:
        core.apply(Command(CommandKind.TERMS, side=1, order_id=1, price=1, amount=-1).encode())
    if seed % 4 == 0:
        # A PLACE that came next would not be attempted.
        core.apply(Command(CommandKind.REPLACE, order_id=2**40, account=20).encode())
    snapshot = state_of(core.snapshot())
    records = records_of(snapshot)
    ways = (with_edge, with_other_records, with_other_byte, with_other_length)
    for number in range(copies):
        if number % 50 == 0:
            yield with_other_byte(core.snapshot(), records, generator)
        copy = snapshot
        for _ in range(generator.choice((1, 1, 2))):
            (way,) = generator.choices(ways, (12, 4, 3, 1))
            if len(copy) == len(snapshot):
                copy = way(copy, records, generator)
        yield sealed(copy) if number % 2 else copy


def outcome(core: MatchingCore, snapshot: bytes) -> str:
    """The state hash after a restore, or the reason of the refusal, which must leave the core as it was."""
    before = core.state_hash()
    try:
        core.restore(snapshot)
    except ValueError as error:
        assert core.state_hash() == before, "a refused restore changed the core"
        return str(error)
    return core.state_hash()


@pytest.mark.timeout(stretched(300))
def test_both_cores_accept_and_refuse_the_same_snapshots_for_the_same_reasons(rust: CoreFactory) -> None:
    reference, twin = ReferenceCore(), rust()
    reasons: Counter[str] = Counter()
    accepted = 0
    for seed in range(SNAPSHOTS):
        for number, snapshot in enumerate(damaged(seed, DAMAGED_COPIES)):
            expected, found = outcome(reference, snapshot), outcome(twin, snapshot)
            assert expected == found, f"copy {number} of seed {seed}"
            accepted += not expected.startswith(PREFIX)
            reasons[expected.removeprefix(PREFIX)] += expected.startswith(PREFIX)
    assert accepted > SNAPSHOTS, "some damage, such as another timestamp, leaves a valid state"
    assert {reason for reason, count in reasons.items() if count} == REASONS


def test_an_accepted_snapshot_is_written_again_byte_for_byte(rust: CoreFactory) -> None:
    for core in (ReferenceCore(), rust()):
        for snapshot in damaged(99, 300):
            if not outcome(core, snapshot).startswith(PREFIX):
                assert core.snapshot() == sealed(state_of(snapshot))
