"""The last fault of a process is found at the end of a log, whatever else is there."""

from pathlib import Path

from openspot.up.last_fault import TAIL_BYTES, last_fault

LINE = '{"service": "%s", "level": "%s", "event": "background work failed", "error": "%s"}\n'


def test_the_newest_error_of_the_process_counts(tmp_path: Path) -> None:
    log = tmp_path / "openspot.log"
    log.write_text(
        LINE % ("ledger", "error", "first")
        + LINE % ("ledger", "error", "second")
        + LINE % ("ledger", "info", "later")
        + LINE % ("router", "error", "other")
        + 'not json "service": "ledger" "level": "error"\n'
    )
    assert last_fault(log, {"ledger"}) == "second"
    assert last_fault(log, {"engine"}) == ""


def test_a_large_log_is_read_at_its_end_alone(tmp_path: Path) -> None:
    log = tmp_path / "openspot.log"
    log.write_text(LINE % ("ledger", "error", "long ago") + "x" * TAIL_BYTES)
    assert last_fault(log, {"ledger"}) == ""
