"""What a repair says of its changes."""

import pytest

from openspot.reconcile import outcome
from openspot.reconcile.outcome import Rebuilt, format_plan


def test_a_plan_names_each_change_and_counts_them_by_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome, "CHANGES_MAX", 2)
    rebuilt = Rebuilt(1234)
    assert format_plan(rebuilt, is_plan=True) == "would change 0 rows, up to event 1,234"
    rebuilt.change("ledger entry", "t-1:buyer-fee", "write it")
    rebuilt.change("running balance", "alice USD", "of 12 entries", rows=12)
    rebuilt.change("ledger entry", "t-2:buyer-fee", "write it")
    rebuilt.count("ledger entry", 3)
    assert rebuilt.total == 17
    assert format_plan(rebuilt, is_plan=False) == (
        "  ledger entry t-1:buyer-fee: write it\n"
        "  running balance alice USD: of 12 entries\n"
        "  and 4 more\n"
        "changed 17 rows (5 of ledger entry, 12 of running balance), up to event 1,234"
    )
