"""The metrics of the newest comparison and the newest backup are what the files of the data directory say."""

import json
import math
import time
from pathlib import Path

import msgspec
import pytest
from prometheus_client import REGISTRY

from openspot.kit.alone import Begun
from openspot.kit.backup_outcome import LAST, note_backup, note_failure
from openspot.kit.comparison_outcome import keep_failure, keep_report
from openspot.kit.intervals import IntervalSettings
from openspot.reconcile.records import Difference
from openspot.reconcile.report import ReconcileReport
from openspot.web_server.health_report import last_reconcile
from openspot.web_server.outcomes import show_outcomes

REPORT = ReconcileReport(
    epoch="e", first_sequence=1, engine_sequence=9, rows_sequence=9, settled_sequence=9, caught_up=True, accounts=2,
    orders=1, trades=1, entries=4, adjustments=0, seconds=0.1, unnamed=3,
    differences=[Difference("order", "o1", "filled", "1", "2", "")],
)  # fmt: skip
BEGUN = Begun("olga@example.org", 1)


def figure(name: str) -> float:
    value = REGISTRY.get_sample_value(f"openspot_{name}")
    assert value is not None
    return value


def test_without_files_there_is_no_figure(tmp_path: Path) -> None:
    show_outcomes(IntervalSettings(data_dir=tmp_path))
    for name in ("reconcile_differences", "reconcile_time_seconds", "backup_time_seconds"):
        assert math.isnan(figure(name))


def test_the_differences_are_those_of_the_newest_comparison(tmp_path: Path) -> None:
    show_outcomes(IntervalSettings(data_dir=tmp_path))
    keep_report(tmp_path, REPORT, BEGUN)
    assert figure("reconcile_differences") == 4
    assert figure("reconcile_time_seconds") == json.loads((tmp_path / "reconcile.json").read_bytes())["at"] / 1000
    keep_report(tmp_path, msgspec.structs.replace(REPORT, differences=[], unnamed=0), BEGUN)
    assert (figure("reconcile_differences"), figure("reconcile_failing")) == (0, 0)


def test_a_comparison_that_failed_ends_no_difference_and_renews_no_time(tmp_path: Path) -> None:
    show_outcomes(IntervalSettings(data_dir=tmp_path))
    keep_report(tmp_path, REPORT, BEGUN)
    outcome = json.loads((tmp_path / "reconcile.json").read_bytes()) | {"at": 1500}
    (tmp_path / "reconcile.json").write_text(json.dumps(outcome), "utf-8")
    keep_failure(tmp_path, "the engine does not answer", BEGUN)
    assert (figure("reconcile_differences"), figure("reconcile_time_seconds")) == (4, 1.5)
    assert figure("reconcile_failing") == 1
    told = last_reconcile(tmp_path)
    assert told is not None
    assert (told["at"], told["report"], told["error"]) == (1500, outcome["report"], "the engine does not answer")
    assert told["failedAt"] > 1500


@pytest.mark.parametrize("is_of_an_earlier_release", [False, True])
def test_where_nothing_was_ever_compared_a_failure_is_told_without_figures(
    tmp_path: Path, is_of_an_earlier_release: bool
) -> None:
    show_outcomes(IntervalSettings(data_dir=tmp_path))
    if is_of_an_earlier_release:
        (tmp_path / "reconcile.json").write_text('{"at": 1500, "error": "the engine does not answer"}', "utf-8")
    else:
        keep_failure(tmp_path, "the engine does not answer", BEGUN)
    told = last_reconcile(tmp_path)
    assert told is not None and (told["at"] >= 1500, told["error"]) == (True, "the engine does not answer")
    assert math.isnan(figure("reconcile_differences")) and math.isnan(figure("reconcile_time_seconds"))


def test_the_time_of_the_newest_backup_is_shown(tmp_path: Path) -> None:
    show_outcomes(IntervalSettings(data_dir=tmp_path))
    (tmp_path / LAST).write_text(json.dumps({"name": "b", "takenAt": "x", "time": 1234.5}), "utf-8")
    assert figure("backup_time_seconds") == 1234.5
    assert figure("backup_failing") == 0
    note_failure(tmp_path, "no space")
    assert (figure("backup_time_seconds"), figure("backup_failing")) == (1234.5, 1)


def test_a_work_is_late_after_the_intervals_of_its_settings(tmp_path: Path) -> None:
    settings = IntervalSettings(
        data_dir=tmp_path, backup_every_s=7200, alert_backup_intervals=3, reconcile_every_s=7200,
        alert_reconcile_intervals=2,
    )  # fmt: skip
    show_outcomes(settings)
    assert (figure("backup_late"), figure("reconcile_late")) == (0, 0), "the watch has just begun"
    note_backup(tmp_path, "b", "then")
    keep_report(tmp_path, REPORT, BEGUN)
    for age_s, late in ((14_300, (0, 0)), (14_500, (0, 1)), (21_500, (0, 1)), (21_700, (1, 1))):
        set_back(tmp_path / LAST, "time", time.time() - age_s)
        set_back(tmp_path / "reconcile.json", "at", 1000 * (time.time() - age_s))
        assert (figure("backup_late"), figure("reconcile_late")) == late
    show_outcomes(settings.model_copy(update={"backup_every_s": 0, "reconcile_every_s": 0}))
    assert (figure("backup_late"), figure("reconcile_late")) == (0, 0), "nobody expects any"


def set_back(path: Path, field: str, value: float) -> None:
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {field: value}), "utf-8")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"at": "then"}', b'{"at": 1, "report": null}'])
def test_a_file_that_cannot_be_read_shows_no_figure(tmp_path: Path, content: bytes) -> None:
    show_outcomes(IntervalSettings(data_dir=tmp_path))
    (tmp_path / "reconcile.json").write_bytes(content)
    assert math.isnan(figure("reconcile_differences"))
