"""`openspot reconcile` compares alone in its data directory, and what it leaves says who began it."""

import json
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from openspot.cli import app, operation
from openspot.kit.alone import BusyError, alone, under_way
from openspot.kit.comparison_outcome import FAILURE, LOCK, REPORT
from openspot.kit.settings import Settings
from openspot.reconcile import reconciliation
from openspot.reconcile.report import ReconcileReport

AGREES = ReconcileReport(
    epoch="e", first_sequence=1, engine_sequence=9, rows_sequence=9, settled_sequence=9, caught_up=True, accounts=2,
    orders=1, trades=1, entries=4, adjustments=0, seconds=0.1, differences=[],
)  # fmt: skip


@pytest.fixture
def data_dir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("OPENSPOT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("DATABASE_URL", "postgresql://127.0.0.1:1/none")
    return tmp_path


def comparing(monkeypatch: pytest.MonkeyPatch, data_dir: Path, fault: str = "") -> list[str]:
    """Let a comparison be made without a platform. Returns who held the lock during it, filled as it is made."""
    held = []

    async def compare(*_: Any) -> ReconcileReport:
        begun = under_way(data_dir / LOCK)
        held.append(begun.by if begun else "nobody")
        if fault:
            raise reconciliation.NotComparableError(fault)
        return AGREES

    monkeypatch.setattr(reconciliation, "reconcile", compare)
    return held


@pytest.mark.parametrize(("arguments", "by"), [([], "openspot reconcile"), (["--started-by=user:olga"], "user:olga")])
def test_a_report_says_who_began_the_comparison(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path, arguments: list[str], by: str
) -> None:
    held = comparing(monkeypatch, data_dir)
    assert CliRunner().invoke(app, ["reconcile", *arguments]).exit_code == 0
    kept = json.loads((data_dir / REPORT).read_bytes())
    assert (held, kept["startedBy"], kept["startedAt"] <= kept["at"]) == ([by], by, True)
    assert under_way(data_dir / LOCK) is None


def test_what_could_not_be_compared_is_kept_with_the_reason(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    comparing(monkeypatch, data_dir, "the engine does not answer")
    assert CliRunner().invoke(app, ["reconcile"]).exit_code == 2
    kept = json.loads((data_dir / FAILURE).read_bytes())
    assert (kept["error"], kept["startedBy"]) == ("the engine does not answer", "openspot reconcile")


def test_an_outcome_that_cannot_be_kept_is_no_comparison(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    comparing(monkeypatch, data_dir)
    (data_dir / REPORT).mkdir()
    assert CliRunner().invoke(app, ["reconcile"]).exit_code == 2


def test_beside_another_one_it_ends_with_3_and_compares_nothing(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = comparing(monkeypatch, data_dir)
    with alone(data_dir / LOCK, "timetable"):
        outcome = CliRunner().invoke(app, ["reconcile"])
    assert (outcome.exit_code, held) == (3, [])
    assert "another comparison of this data directory is under way" in outcome.stderr + capsys.readouterr().err
    assert not (data_dir / REPORT).exists()


def test_while_watching_another_one_is_no_outcome(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    held, pauses, other = comparing(monkeypatch, data_dir), [], ExitStack()

    def pause(seconds: float) -> None:
        pauses.append((seconds, list(held)))
        other.close()
        if len(pauses) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(operation, "time", SimpleNamespace(sleep=pause))
    other.enter_context(alone(data_dir / LOCK, "timetable"))
    assert CliRunner().invoke(app, ["reconcile", "--watch", "7"]).exit_code == 0
    assert pauses == [(7, []), (7, ["openspot reconcile"])]


def test_a_repair_waits_for_another_comparison_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path
) -> None:
    asked = []

    def refused(*_: Any, lock_wait_s: float, started_by: str, **__: Any) -> int:
        asked.append((lock_wait_s, started_by))
        raise BusyError

    monkeypatch.setattr(operation, "reconcile_once", refused)
    settings: Any = Settings(data_dir=data_dir)
    with pytest.raises(typer.Exit) as ended:
        operation.reconcile_after(settings, 1, "openspot ledger rebuild")
    assert (ended.value.exit_code, asked) == (2, [(900, "openspot ledger rebuild")])
