"""The log is shown by service and level, with bounds, and goes on where a reader was."""

import json
from pathlib import Path

import pytest

from openspot.kit.supervision import LogLine
from openspot.up import log_lines
from openspot.up.log_lines import TEXT_LENGTH_MAX, LogCursorError, last_lines, read_page
from openspot.up.redaction import Redactor

HIDE = Redactor({"a-generated-secret"})
NATS = "[22438] 2026/11/28 14:49:45.326777 [ERR] JetStream failed\n"
POSTGRES = "2026-11-28 14:49:45.909 UTC [22458] FATAL:  the database system is starting up\n"


def line(service: str, event: str, level: str = "info", **fields: object) -> str:
    given = {"module": "m", "event": event, "service": service, "level": level, "timestamp": "2026-11-28T14:49:48Z"}
    return json.dumps(given | fields) + "\n"


def texts(found: list[LogLine]) -> list[str]:
    return [each.text for each in found]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "openspot.log"


def test_each_kind_of_line_is_read(log: Path) -> None:
    log.write_text(
        line("ledger", "settled", trade=7, detail={"token": "t"}) + NATS + POSTGRES + "Traceback (most recent call)\n"
    )
    assert read_page(log, HIDE).lines == [
        LogLine("2026-11-28T14:49:48Z", "ledger", "info", 'm: settled trade=7 detail={"token": "***"}'),
        LogLine("2026-11-28T14:49:45.326777Z", "nats", "error", "JetStream failed"),
        LogLine("2026-11-28T14:49:45.909Z", "postgresql", "error", "the database system is starting up"),
        LogLine("", "", "warning", "Traceback (most recent call)"),
    ]


def test_lines_are_chosen_by_service_and_level_and_a_crash_belongs_to_each(log: Path) -> None:
    log.write_text(
        line("ledger", "one") + line("router", "two", "error") + line("ledger", "three", "error") + "crash\n"
    )
    assert texts(read_page(log, HIDE, services={"ledger"}).lines) == ["m: one", "m: three", "crash"]
    assert texts(read_page(log, HIDE, services={"ledger"}, level="warning").lines) == ["m: three", "crash"]
    assert texts(read_page(log, HIDE, level="error").lines) == ["m: two", "m: three"]


def test_a_reader_goes_on_where_it_was_and_waits_for_whole_lines(log: Path) -> None:
    log.write_text("".join(line("ledger", str(number)) for number in range(5)) + '{"half')
    page = read_page(log, HIDE, limit=2)
    assert (texts(page.lines), page.is_cut) == (["m: 3", "m: 4"], True)
    assert read_page(log, HIDE, after=page.cursor).lines == []
    with log.open("a") as file:
        file.write(' a line"\n' + line("ledger", "5") + line("ledger", "6"))
    following = read_page(log, HIDE, after=page.cursor, limit=2)
    assert texts(following.lines) == ['{"half a line"', "m: 5"]
    last = read_page(log, HIDE, after=following.cursor, limit=2)
    assert texts(last.lines) == ["m: 6"]
    assert read_page(log, HIDE, after=last.cursor).lines == []


def test_a_log_that_began_anew_is_shown_from_its_newest_lines(log: Path) -> None:
    log.write_text(line("ledger", "old"))
    cursor = read_page(log, HIDE).cursor
    log.rename(log.with_suffix(".log.1"))
    log.write_text(line("ledger", "new"))
    assert texts(read_page(log, HIDE, after=cursor).lines) == ["m: new"]
    with pytest.raises(LogCursorError):
        read_page(log, HIDE, after="../etc/passwd")


def test_only_the_end_of_a_large_log_is_read(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_lines, "SCAN_BYTES_MAX", 1000)
    monkeypatch.setattr(log_lines, "BLOCK_BYTES", 64)
    log.write_text(line("router", "long ago") + "".join(line("ledger", f"{number:03}") for number in range(100)))
    page = read_page(log, HIDE)
    assert page.is_cut
    assert texts(page.lines) == [f"m: {number:03}" for number in range(100 - len(page.lines), 100)]
    assert 1 < len(page.lines) < 12
    assert read_page(log, HIDE, services={"router"}).lines == []


def test_a_long_line_is_cut_after_its_secrets_are_hidden(log: Path) -> None:
    edge = "x" * (TEXT_LENGTH_MAX - 8)
    log.write_text(line("ledger", f"{edge}a-generated-secret and more"))
    (shown,) = read_page(log, HIDE).lines
    assert len(shown.text) == TEXT_LENGTH_MAX
    assert "a-gen" not in shown.text
    assert last_lines(log, HIDE, {"ledger"}, 5, 40) == [f"2026-11-28T14:49:48Z info m: {'x' * 40}"[:40]]


def test_an_empty_log_and_strange_bytes_are_no_fault(log: Path) -> None:
    log.write_bytes(b"")
    cursor = read_page(log, HIDE).cursor
    log.write_bytes(b'\xff\xfe\r{"service": 1}\n{"level": "error", "event": null}\n[1]\n\n')
    # The same file, so the cursor still counts.
    assert len(read_page(log, HIDE, after=cursor).lines) == len(read_page(log, HIDE).lines) == 3
