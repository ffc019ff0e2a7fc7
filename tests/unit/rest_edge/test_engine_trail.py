"""The entry that an action at the engine gets in the operators' trail."""

from typing import Any

import pytest

from openspot.contracts.engine_actions import EngineAction, JournalledAction
from openspot.kit.clock import ms_from_datetime, utc_now
from openspot.rest_edge.operators.engine_trail import LATE_MS, entry_of
from openspot.rest_edge.operators.markets.rules import most_orders
from openspot.rest_edge.operators.trail import OperatorAction


def journalled(late_ms: int = 0, *, is_certain: bool = True, **fields: Any) -> JournalledAction:
    given = {"operator": "engine:admin", "action": "balances.adjust", "subject_kind": "participant", "reason": "ok"}
    action = EngineAction(**({"subject_id": "alice", "after": {"amount": "5"}} | given | fields))
    at = ms_from_datetime(utc_now()) - late_ms
    return JournalledAction(sequence=41, at=at, action=action, address="192.0.2.7", is_certain=is_certain)


def test_an_entry_says_all_that_the_journal_says() -> None:
    assert entry_of("e1", journalled()) == OperatorAction(
        operator="engine:admin",
        action="balances.adjust",
        subject_kind="participant",
        subject_id="alice",
        reason="reason: ok",
        before={},
        after={"amount": "5"},
        request_id="e1:41",
        address="192.0.2.7",
    )
    assert entry_of("e1", journalled(request_id="r1", reason="ticket 1")).request_id == "r1"


def test_an_entry_that_is_late_or_not_certain_says_so() -> None:
    late = entry_of("e1", journalled(LATE_MS + 5000, is_certain=False))
    assert set(late.after) == {"amount", "doneAt", "outcome"}
    assert late.after["outcome"] == "not known"


@pytest.mark.parametrize("fields", [{"operator": "a name"}, {"subject_id": ""}, {"before": {"x": "y" * 20_000}}])
def test_an_action_that_the_trail_cannot_take_keeps_out_no_other(fields: dict[str, Any]) -> None:
    entry = entry_of("e1", journalled(**fields))
    assert (entry.operator, entry.action, entry.subject_id) == ("service", "engine.unreadable", "e1:41")
    assert next(iter(fields)) in entry.reason


@pytest.mark.parametrize(("confirmed", "most"), [(0, 10), (9, 19), (10, 21), (1200, 1330)])
def test_a_confirmed_count_admits_a_tenth_more_and_ten(confirmed: int, most: int) -> None:
    assert most_orders(confirmed) == most
