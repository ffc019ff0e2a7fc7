"""The bytes of a snapshot (docs/protocol/snapshot.md), and the bytes that a core refuses to restore."""

import hashlib
import struct

import pytest

from openspot.domain.order import EngineOrderType, Side, StpMode
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import FLAG_ACTIVE, Command, CommandKind, CreateSymbol
from tests.support.core_commands import generate, with_reference
from tests.unit.engine.conftest import CoreFactory


def _apply(core: MatchingCore, *commands: Command | CreateSymbol) -> None:
    core.apply(b"".join(command.encode() for command in commands))


def _int128(value: int) -> bytes:
    return value.to_bytes(16, "little", signed=True)


def _sealed(state: bytes) -> bytes:
    return b"OSCORE02" + hashlib.sha256(state).digest() + state


def test_a_new_core_holds_nothing_but_the_fee_account(core_factory: CoreFactory) -> None:
    expected = b"OSCORE01" + struct.pack("<QQII", 0, 0, 0, 0)
    expected += struct.pack("<IQBBBiiI", 1, 1, 0, StpMode.NONE, 0, 0, 0, 0)
    expected += struct.pack("<QQ", 0, 0)
    assert core_factory().snapshot() == _sealed(expected)


def test_every_part_has_its_documented_bytes(core_factory: CoreFactory) -> None:
    core = core_factory()
    reserve = with_reference(Command(CommandKind.RESERVE, symbol=2, account=9, amount=10**18), 5 + (2**63 + 1 << 64))
    adjust = with_reference(Command(CommandKind.ADJUST, symbol=2, account=9, amount=-(10**18)), 4)
    _apply(
        core,
        Command(CommandKind.CREATE_CURRENCY, symbol=2),
        Command(CommandKind.CREATE_CURRENCY, symbol=1),
        CreateSymbol(7, 0, 1, 2, 10, 100, 5, 3, 25, -15),
        Command(CommandKind.CREATE_ACCOUNT, 0, StpMode.CANCEL_BOTH, FLAG_ACTIVE, account=9),
        Command(CommandKind.DEPOSIT, symbol=2, account=9, amount=10**36),
        Command(CommandKind.SET_ACCOUNT_FEES, 0, 0, FLAG_ACTIVE, account=9, order_id=8, price=-7),
        Command(CommandKind.PLACE, Side.BUY, EngineOrderType.GTC, 0, 7, 111, 50, 9, 20, 6, 30),
        Command(CommandKind.PLACE, Side.BUY, EngineOrderType.POST_ONLY, 0, 7, 112, 49, 9, 25, 3, 25),
        Command(CommandKind.PLACE, Side.BUY, EngineOrderType.GTC, 0, 7, 113, 48, 9, 20, 3, 20),
        Command(CommandKind.REDUCE, order_id=50, account=9, quantity=3),
        reserve,
        adjust,
    )
    # 12 commands. 7 events: one each for the deposit, the three orders, the reduce, the reservation and the adjustment.
    expected = b"OSCORE01" + struct.pack("<QQ", 12, 7)
    expected += struct.pack("<III", 2, 1, 2)
    expected += struct.pack("<IIIIBqqqqii", 1, 7, 1, 2, 1, 10, 100, 5, 3, 25, -15)
    expected += struct.pack("<I", 2)
    expected += struct.pack("<QBBBiiI", 1, 0, StpMode.NONE, 0, 0, 0, 0)
    expected += struct.pack("<QBBBiiI", 9, 1, StpMode.CANCEL_BOTH, 1, 8, -7, 1)
    expected += struct.pack("<I", 2) + _int128(10**36 - 10**18)
    order = struct.Struct("<QQIBBqqqqiiQ")
    expected += struct.pack("<Q", 3)
    expected += order.pack(49, 9, 7, Side.BUY, EngineOrderType.POST_ONLY, 25, 25, 3, 3, 8, -7, 112)
    expected += order.pack(50, 9, 7, Side.BUY, EngineOrderType.GTC, 20, 30, 6, 3, 8, -7, 111)
    expected += order.pack(48, 9, 7, Side.BUY, EngineOrderType.GTC, 20, 20, 3, 3, 8, -7, 113)
    reference = struct.Struct("<QQBBQI")
    expected += struct.pack("<Q", 2)
    expected += reference.pack(4, 0, CommandKind.ADJUST, 0, 9, 2) + _int128(-(10**18))
    expected += reference.pack(5, 2**63 + 1, CommandKind.RESERVE, 1, 9, 2) + _int128(10**18)
    assert core.snapshot() == _sealed(expected)
    assert core.state_hash() == hashlib.sha256(expected).hexdigest()
    # A snapshot of an older version has no seal.
    successor = core_factory()
    successor.restore(expected)
    assert successor.snapshot() == _sealed(expected)


def test_links_of_owners_stand_behind_the_movements_and_leave_no_trace_when_they_end(core_factory: CoreFactory) -> None:
    core = core_factory()
    _apply(core, *(Command(CommandKind.CREATE_ACCOUNT, flags=FLAG_ACTIVE, account=number) for number in (2, 3, 4)))
    without = core.snapshot()
    _apply(
        core,
        Command(CommandKind.SET_OWNER, account=4, order_id=2),
        Command(CommandKind.SET_OWNER, account=3, order_id=2),
        Command(CommandKind.MOVEMENT, symbol=1, order_id=2, account=3, amount=5),
    )
    links = struct.pack("<IQQQQ", 2, 3, 2, 4, 2)
    movement = struct.pack("<QQI", 2, 3, 1) + _int128(5)
    # Before `body` are the seal and the header.
    body = without[40 + 24 :]
    expected = b"OSCORE01" + struct.pack("<QQ", 6, 0) + body + struct.pack("<I", 1) + movement + links
    assert core.snapshot() == _sealed(expected)
    # Any other command ends the run of movements, and their number stays.
    _apply(core, Command(CommandKind.SET_OWNER, account=2))
    expected = b"OSCORE01" + struct.pack("<QQ", 7, 0) + body + struct.pack("<I", 0) + links
    assert core.snapshot() == _sealed(expected)
    assert core.owner_links() == [(3, 2), (4, 2)]
    successor = core_factory()
    successor.restore(core.snapshot())
    assert successor.owner_links() == core.owner_links()
    assert successor.state_hash() == core.state_hash()
    ended = [Command(CommandKind.SET_OWNER, account=number) for number in (3, 4)]
    _apply(successor, *ended)
    assert successor.owner_links() == []
    assert successor.snapshot() == _sealed(b"OSCORE01" + struct.pack("<QQ", 9, 0) + body)


def test_a_balance_that_became_zero_is_not_in_the_snapshot(core_factory: CoreFactory) -> None:
    core, other = core_factory(), core_factory()
    money = Command(CommandKind.DEPOSIT, symbol=1, account=2, amount=5)
    _apply(core, Command(CommandKind.CREATE_CURRENCY, symbol=1), money, money._replace(kind=CommandKind.WITHDRAW))
    _apply(
        other,
        Command(CommandKind.CREATE_CURRENCY, symbol=1),
        Command(CommandKind.CREATE_ACCOUNT, flags=FLAG_ACTIVE, account=2),
    )
    sequences_end = 40 + 24
    assert core.snapshot()[sequences_end:] == other.snapshot()[sequences_end:]
    assert core.balances() == []


def _busy(core_factory: CoreFactory, seed: int = 3) -> MatchingCore:
    core = core_factory()
    core.apply(generate(seed=seed, count=200))
    # Links of owners stand in a part of their own at the end: without it a snapshot is whole, too.
    _apply(core, *(Command(CommandKind.SET_OWNER, account=account) for account, _ in core.owner_links()))
    assert core.open_orders()
    return core


def test_a_snapshot_cut_off_at_any_byte_is_refused(core_factory: CoreFactory) -> None:
    # A state without terms: one with terms, cut off before them, is the state of an older version.
    snapshot = _busy(core_factory, seed=4).snapshot()
    core = core_factory()
    untouched = core.state_hash()
    for end in range(len(snapshot)):
        with pytest.raises(ValueError):
            core.restore(snapshot[:end])
    for end in range(len(snapshot) - 40):
        with pytest.raises(ValueError, match="it breaks off"):
            core.restore(_sealed(snapshot[40:][:end]))
    assert core.state_hash() == untouched
    core.restore(snapshot)
    assert core.snapshot() == snapshot


def test_a_snapshot_with_bytes_behind_its_end_is_refused(core_factory: CoreFactory) -> None:
    snapshot = _busy(core_factory).snapshot()
    for longer in (snapshot + b"\0", _sealed(snapshot[40:] + b"\0")):
        with pytest.raises(ValueError):
            core_factory().restore(longer)


def test_a_snapshot_of_another_format_is_refused(core_factory: CoreFactory) -> None:
    snapshot = _busy(core_factory).snapshot()
    for magic in (b"OSCORE00", b"OSCORE03"):
        with pytest.raises(ValueError, match="it has another format"):
            core_factory().restore(magic + snapshot[8:])
    with pytest.raises(ValueError, match="it has another format"):
        core_factory().restore(_sealed(b"OSCORE02" + snapshot[48:]))


def test_any_changed_bit_of_a_snapshot_is_noticed(core_factory: CoreFactory) -> None:
    snapshot, core = _busy(core_factory).snapshot(), core_factory()
    reasons = set()
    for place in range(len(snapshot)):
        damaged = bytearray(snapshot)
        damaged[place] ^= 1 << place % 8
        with pytest.raises(ValueError, match="not a snapshot of a core: ") as caught:
            core.restore(bytes(damaged))
        reasons.add(str(caught.value).partition(": ")[2])
    assert reasons == {"it fails its checksum", "it has another format"}


def test_a_failed_restore_leaves_a_busy_core_as_it_was(core_factory: CoreFactory) -> None:
    core = _busy(core_factory)
    before = core.snapshot()
    with pytest.raises(ValueError):
        core.restore(before[:-1])
    assert core.snapshot() == before
    assert core.apply(generate(seed=3, count=1))[0]


def test_orders_of_an_unknown_symbol_are_refused(core_factory: CoreFactory) -> None:
    core = core_factory()
    symbol = CreateSymbol(7, 0, 1, 2, 1, 1, 1, 1, 0, 0)
    _apply(
        core,
        Command(CommandKind.CREATE_CURRENCY, symbol=1),
        Command(CommandKind.CREATE_CURRENCY, symbol=2),
        symbol,
        Command(CommandKind.DEPOSIT, symbol=1, account=2, amount=10**18),
        Command(CommandKind.PLACE, Side.SELL, EngineOrderType.GTC, 0, 7, 0, 1, 2, 5, 1),
    )
    snapshot = core.snapshot()
    order = struct.pack("<QQI", 1, 2, 7)
    assert snapshot.count(order) == 1
    with pytest.raises(ValueError):
        core.restore(_sealed(snapshot[40:].replace(order, struct.pack("<QQI", 1, 2, 8))))
    assert core.snapshot() == snapshot


def test_a_restore_replaces_the_whole_state(core_factory: CoreFactory) -> None:
    core, empty = _busy(core_factory), core_factory()
    core.restore(empty.snapshot())
    assert core.open_orders() == []
    assert core.balances() == []
    assert core.state_hash() == empty.state_hash()
