"""A reconciliation is told as text, as one line, and as JSON."""

import json
from pathlib import Path

import pytest

from openspot.kit.alone import Begun
from openspot.kit.comparison_outcome import ComparisonOutcome, comparison_outcome, keep_failure, keep_report
from openspot.reconcile.records import Difference
from openspot.reconcile.report import ReconcileReport, format_line, format_report, report_json

AGREES = ReconcileReport(
    epoch="abc", first_sequence=1, engine_sequence=1234, rows_sequence=1234, settled_sequence=1230, caught_up=True,
    accounts=19, orders=500, trades=300, entries=2500, adjustments=0, seconds=0.25, differences=[],
)  # fmt: skip
DIFFERS = ReconcileReport(
    epoch="abc", first_sequence=100, engine_sequence=1234, rows_sequence=1200, settled_sequence=0, caught_up=False,
    accounts=19, orders=500, trades=300, entries=2500, adjustments=2, seconds=0.25, unnamed=5,
    differences=[Difference("balance", "u1 USD", "total", "2", "1", "operator adjustment +1")],
)  # fmt: skip


def test_agreement_is_told_and_ends_with_0() -> None:
    assert AGREES.agrees
    assert AGREES.exit_code == 0
    assert format_report(AGREES).splitlines() == [
        "engine                event 1,234; rows at 1,234, newest settled trade 1,230",
        "compared              19 accounts, 500 orders, 300 trades, 2,500 ledger entries, in 0.2 s",
        "differences           none",
    ]
    assert format_line(AGREES).endswith("no differences")


def test_differences_are_counted_named_and_end_with_1() -> None:
    assert not DIFFERS.agrees
    assert DIFFERS.exit_code == 1
    told = format_report(DIFFERS)
    assert "keeps its events from 100 on only" in told
    assert "operator adjustments  2" in told
    assert "differences           6" in told
    assert "  balance u1 USD: total is 2 in the engine, 1 in the mirror (operator adjustment +1)" in told
    assert told.endswith("and 5 more")
    assert "rows 34 behind" in format_line(DIFFERS)
    assert "6 differences, the first: balance u1 USD" in format_line(DIFFERS)


def test_json_has_every_field_on_one_line() -> None:
    text = report_json(DIFFERS)
    assert "\n" not in text
    parsed = json.loads(text)
    assert parsed["engineSequence"] == 1234
    assert parsed["differences"][0]["cause"] == "operator adjustment +1"
    assert parsed["unnamed"] == 5


def test_the_newest_report_is_kept_and_beside_it_why_nothing_could_be_compared_since(tmp_path: Path) -> None:
    begun = Begun("olga@example.org", 1234)
    keep_report(tmp_path, DIFFERS, begun)
    (kept,) = tmp_path.iterdir()
    content = json.loads(kept.read_bytes())
    assert kept.name == "reconcile.json" and content["at"] > 0
    assert content["report"] == json.loads(report_json(DIFFERS))
    assert (content["startedBy"], content["startedAt"]) == ("olga@example.org", 1234)
    assert comparison_outcome(tmp_path) == ComparisonOutcome(made_at=content["at"] / 1000, differences=6)
    keep_failure(tmp_path, "the engine does not respond", Begun("timetable", 5678))
    assert json.loads(kept.read_bytes()) == content
    (path,) = set(tmp_path.iterdir()) - {kept}
    failure = json.loads(path.read_bytes())
    assert failure | {"at": 0} == {
        "at": 0, "startedBy": "timetable", "startedAt": 5678, "error": "the engine does not respond",
    }  # fmt: skip
    assert comparison_outcome(tmp_path) == ComparisonOutcome(
        content["at"] / 1000, failure["at"] / 1000, "the engine does not respond", 6
    )
    keep_report(tmp_path, AGREES, begun)
    assert list(tmp_path.iterdir()) == [kept]
    assert comparison_outcome(tmp_path).differences == 0


def test_an_outcome_that_cannot_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    keep_report(tmp_path, AGREES, Begun("olga", 1))
    (tmp_path / "reconcile-failure.json").mkdir()
    with pytest.raises(OSError, match="reconcile-failure"):
        keep_failure(tmp_path, "no engine", Begun("olga", 2))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["reconcile-failure.json", "reconcile.json"]
