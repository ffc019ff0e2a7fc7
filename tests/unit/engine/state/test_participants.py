"""Participants and revoked tokens as part of the state machine."""

from collections.abc import Sequence

import msgspec
import pytest

from openspot.domain.order import StpMode
from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import FLAG_ACTIVE, Command, CommandKind, Result, encode_result
from openspot.engine.core.reference import ReferenceCore
from openspot.engine.state.participants import FREEZE_NOTE, REVOKE_TOKEN, ParticipantProfile, Participants
from openspot.engine.state.state_machine import StateMachine

MS = 1_000_000


def follow(participants: Participants, *steps: tuple[Command, Sequence[str], ResultCode]) -> None:
    participants.follow(
        b"".join(command.encode() for command, _, _ in steps),
        [note for _, note, _ in steps],
        b"".join(encode_result(Result(code, 1, 0, 0, 0, 0)) for _, _, code in steps),
    )


def deposit(account: int, time_ms: int) -> Command:
    return Command(CommandKind.DEPOSIT, account=account, timestamp=time_ms * MS)


def setting(account: int, active: bool, time_ms: int, mode: StpMode = StpMode.NONE) -> Command:
    flags = FLAG_ACTIVE if active else 0
    return Command(CommandKind.SET_ACCOUNT, flags=flags, order_type=mode, account=account, timestamp=time_ms * MS)


def revoking(time_ms: int) -> Command:
    return Command(REVOKE_TOKEN, timestamp=time_ms * MS)


def test_a_deposit_or_a_creation_that_the_core_accepts_adds_a_profile() -> None:
    participants = Participants()
    creation = Command(
        CommandKind.CREATE_ACCOUNT, flags=FLAG_ACTIVE, order_type=StpMode.CANCEL_BOTH, account=3, timestamp=7 * MS
    )
    follow(
        participants,
        (deposit(2, 5), ("alice", ""), ResultCode.SUCCESS),
        (creation, ("bob", "Bob", "MAKER", "hash"), ResultCode.SUCCESS),
        (deposit(4, 8), ("carol", ""), ResultCode.INVALID_AMOUNT),
        (deposit(3, 9), ("bob", ""), ResultCode.SUCCESS),
        (creation, ("bob", "Robert", "TAKER", "other"), ResultCode.ACCOUNT_ALREADY_EXISTS),
    )
    assert list(participants.profiles) == [1, 2, 3]
    assert participants.profiles[2] == ParticipantProfile("", "BOTH", "", 5)
    assert participants.profiles[3] == ParticipantProfile("Bob", "MAKER", "hash", 7, stp_mode=StpMode.CANCEL_BOTH)
    assert participants.active_count == 2


def test_a_deactivation_voids_earlier_tokens_even_after_reactivation() -> None:
    participants = Participants()
    follow(participants, (deposit(2, 5), ("alice", ""), ResultCode.SUCCESS))
    for step, active, count, sessions_from in (
        (setting(2, True, 10), True, 1, 0),
        (setting(2, False, 20, StpMode.CANCEL_BOTH), False, 0, 21),
        (setting(2, False, 30), False, 0, 31),
        (setting(2, True, 40), True, 1, 31),
    ):
        follow(participants, (step, ("alice",), ResultCode.SUCCESS))
        profile = participants.profiles[2]
        assert (profile.active, participants.active_count, profile.sessions_from_ms) == (active, count, sessions_from)
    follow(participants, (setting(2, False, 50), ("alice",), ResultCode.AUTH_INVALID_USER))
    assert participants.profiles[2].active


def test_a_freeze_lasts_until_the_participant_is_set_without_it() -> None:
    participants = Participants()
    follow(participants, (deposit(2, 5), ("alice", ""), ResultCode.SUCCESS))
    for step, note, active, frozen in (
        (setting(2, False, 10), ("alice", FREEZE_NOTE), False, True),
        (setting(2, False, 20, StpMode.CANCEL_BOTH), ("alice", FREEZE_NOTE), False, True),
        (setting(2, False, 30), ("alice",), False, False),
        (setting(2, False, 40), ("alice", FREEZE_NOTE), False, True),
    ):
        follow(participants, (step, note, ResultCode.SUCCESS))
        again = Participants()
        again.restore(participants.snapshot())
        assert (again.profiles[2].active, again.profiles[2].frozen) == (active, frozen)
    follow(participants, (setting(2, True, 50), ("alice",), ResultCode.SUCCESS))
    assert (participants.profiles[2].active, participants.profiles[2].frozen) == (True, False)


def test_a_snapshot_of_before_there_were_freezes_is_restored() -> None:
    earlier = ["Alice", "BOTH", "hash", 5, False, 0, 21]
    content = {"profiles": [[2, earlier]], "own_fees": [], "revoked": []}
    participants = Participants()
    participants.restore(msgspec.msgpack.encode(content))
    assert participants.profiles[2] == ParticipantProfile("Alice", "BOTH", "hash", 5, False, 0, 21, frozen=False)


def test_a_revocation_is_kept_until_the_token_has_expired() -> None:
    participants = Participants()
    refused = ResultCode.UNSUPPORTED_COMMAND
    follow(participants, (revoking(1000), ("a", "2000"), refused), (revoking(1500), ("b", "2500"), refused))
    assert (participants.is_revoked("a"), participants.is_revoked("b")) == (True, True)
    assert not participants.is_revoked("c")
    follow(participants, (revoking(2000), ("c", "3000"), refused))
    assert [participants.is_revoked(token) for token in "abc"] == [False, True, True]
    follow(participants, (revoking(9000), ("d", "9999"), refused))
    assert [participants.is_revoked(token) for token in "abcd"] == [False, False, False, True]


def test_a_snapshot_restores_everything() -> None:
    participants = Participants()
    follow(
        participants,
        (deposit(5, 5), ("eve", ""), ResultCode.SUCCESS),
        (deposit(2, 6), ("alice", ""), ResultCode.SUCCESS),
        (setting(2, False, 20), ("alice",), ResultCode.SUCCESS),
        (revoking(30), ("a", "2000"), ResultCode.UNSUPPORTED_COMMAND),
    )
    again = Participants()
    again.restore(participants.snapshot())
    assert again.snapshot() == participants.snapshot()
    assert list(again.profiles.items()) == list(participants.profiles.items())
    assert (again.active_count, again.is_revoked("a")) == (1, True)
    for content in (b"", b"\x01", participants.snapshot()[:-3]):
        with pytest.raises(ValueError, match="not a snapshot"):
            again.restore(content)
    assert again.snapshot() == participants.snapshot()


def test_the_state_machine_agrees_with_its_core() -> None:
    machine = StateMachine(ReferenceCore(), 10)
    steps: list[tuple[Command, tuple[str, ...]]] = [
        (Command(CommandKind.CREATE_CURRENCY, symbol=1), ("USD", "Dollar", "2")),
        (Command(CommandKind.DEPOSIT, symbol=1, account=2, amount=10), ("alice", "")),
        (Command(CommandKind.DEPOSIT, symbol=9, account=3, amount=10), ("bob", "")),
        (
            Command(CommandKind.CREATE_ACCOUNT, flags=FLAG_ACTIVE, order_type=StpMode.CANCEL_INCOMING, account=4),
            ("carol", "Carol", "MAKER", "hash"),
        ),
        (Command(CommandKind.ADJUST, symbol=1, account=5, amount=10), ("dave", "")),
        (setting(5, False, 0, StpMode.CANCEL_BOTH), ("dave",)),
        (setting(3, True, 0), ("bob",)),
    ]
    commands, notes = b"".join(command.encode() for command, _ in steps), [note for _, note in steps]
    machine.register(commands, notes)
    machine.apply(commands, notes)
    assert list(machine.participants.profiles) == [1, 2, 4, 5]
    for account, profile in machine.participants.profiles.items():
        state = machine.core.account(account)
        assert state is not None
        assert (state.active, state.stp_mode) == (profile.active, profile.stp_mode)
    assert machine.core.account(3) is None
    again = StateMachine(ReferenceCore(), 10)
    again.restore(*machine.snapshot())
    assert again.participants.profiles == machine.participants.profiles
    assert again.totals.snapshot() == machine.totals.snapshot()
