"""Which notes of operators' actions count: those whose commands the core carried out."""

from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import Command, CommandKind, Result, encode_result
from openspot.engine.state import operator_actions
from openspot.engine.state.directory import DESCRIBE_CURRENCY, NOTE_ACTION
from openspot.engine.state.operator_actions import NotedAction, OperatorActions
from tests.support.engine_state import SEED, feed, new_machine, together

REFUSED = ResultCode.UNSUPPORTED_COMMAND


def follow(actions: OperatorActions, first: int, *commands: tuple[Command, ResultCode]) -> None:
    actions.follow(
        b"".join(command.encode() for command, _ in commands),
        [(f"note {first + place}",) for place in range(len(commands))],
        b"".join(encode_result(Result(code, 0, 0, 0, 0, 0)) for _, code in commands),
        first,
    )


def note(count: int = 1) -> tuple[Command, ResultCode]:
    return Command(NOTE_ACTION, timestamp=7, order_id=count), REFUSED


def cancel(code: ResultCode) -> tuple[Command, ResultCode]:
    return Command(CommandKind.CANCEL, order_id=5), code


def test_an_action_counts_if_one_of_its_own_commands_was_carried_out() -> None:
    actions = OperatorActions()
    unknown = ResultCode.MATCHING_UNKNOWN_ORDER_ID
    follow(actions, 11, cancel(ResultCode.SUCCESS), cancel(unknown), note(2), cancel(unknown), note(1))
    described = Command(DESCRIBE_CURRENCY, symbol=1), REFUSED
    follow(actions, 16, described, note(1))
    assert list(actions.recent) == [NotedAction(13, 7, "note 13"), NotedAction(17, 7, "note 17")]
    assert actions.refused == [15]
    assert [actions.outcome(sequence) for sequence in (13, 15, 17)] == [True, False, True]


def test_only_the_newest_are_kept_and_what_is_forgotten_is_not_known() -> None:
    actions = OperatorActions()
    for first in range(1, 2 * operator_actions.RECENT_MAX + 3, 2):
        follow(actions, first, cancel(ResultCode.SUCCESS), note())
    assert (len(actions.recent), actions.floor, actions.recent[0].sequence) == (operator_actions.RECENT_MAX, 2, 4)
    for first in range(5001, 5001 + 2 * operator_actions.REFUSED_MAX + 1, 2):
        follow(actions, first, cancel(ResultCode.MATCHING_UNKNOWN_ORDER_ID), note())
    assert (len(actions.refused), actions.forgotten, actions.refused[0]) == (operator_actions.REFUSED_MAX, 5002, 5004)
    assert [actions.outcome(sequence) for sequence in (5002, 5003, 5004, 5005)] == [None, True, False, True]


def test_a_snapshot_keeps_what_was_refused_and_is_as_before_without_any() -> None:
    machine = new_machine()
    feed(machine, SEED)
    assert b"refused_actions" not in machine.snapshot()[1]
    feed(
        machine, together((Command(CommandKind.CANCEL, order_id=99).encode(), [()]), (note()[0].encode(), [("text",)]))
    )
    core, rest = machine.snapshot()
    other = new_machine()
    other.restore(core, rest)
    sequence = machine.core.command_sequence
    assert (other.actions.refused, other.actions.floor, list(other.actions.recent)) == ([sequence], sequence, [])
    assert other.snapshot() == (core, rest)
