"""The newest ends of processes are kept, with a cause in words."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from openspot.kit.process_ends import FILE_NAME, KEPT_MAX, ProcessEnd, cause_of, note_end, read_ends


@pytest.mark.parametrize(
    ("code", "fault", "text"),
    [
        (-9, "", "signal SIGKILL"),
        (-9, "ignored", "signal SIGKILL"),
        (-99, "", "signal 99"),
        (1, "", "exit code 1"),
        (1, "no space", "exit code 1: no space"),
        (1, "x" * 301, "exit code 1: " + "x" * 300),
    ],
)
def test_a_cause_is_the_signal_or_the_code_with_the_last_fault(code: int, fault: str, text: str) -> None:
    assert cause_of(code, fault) == text


def test_the_newest_ends_are_kept_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    ends = [ProcessEnd("ledger", "Ledger", number, "signal SIGKILL") for number in range(KEPT_MAX + 1)]
    for end in ends:
        note_end(tmp_path, end)
    assert read_ends(tmp_path) == ends[1:]
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o077 == 0


def test_ends_of_one_moment_are_all_kept(tmp_path: Path) -> None:
    def note(number: int) -> None:
        note_end(tmp_path, ProcessEnd(f"p{number}", "A process", number, "signal SIGKILL"))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(note, range(64)))
    assert sorted(end.at_ms for end in read_ends(tmp_path)) == list(range(64))


@pytest.mark.parametrize("content", ["", "{", "[1]", "{}", '[{"process": "x"}]', "null"])
def test_a_damaged_file_is_no_end(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE_NAME).write_text(content)
    assert read_ends(tmp_path) == []
