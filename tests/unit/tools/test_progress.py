"""Progress of the set-up, plain and live, and the commands that it runs."""

import io
import os
import pty
import re
import sys
import threading
from pathlib import Path

import progress as module
import psutil
import pytest
from progress import CommandFailedError, Progress

from tests.support.waiting import eventually

SAY = [sys.executable, "-c", "import sys; print(*sys.argv[1:], sep='\\n')"]


def test_a_pipe_gets_one_plain_line_for_each_step(tmp_path: Path) -> None:
    stream = io.StringIO()
    with Progress("set-up", stream) as progress:
        one, two = progress.part("packages"), progress.part("core")
        one.step("downloading")
        two.step("building")
        one.run([*SAY, "many", "lines"], folder=tmp_path)
        one.done()
        two.given_up("could not be built")
    lines = stream.getvalue().splitlines()
    assert lines[:2] == ["set-up: packages: downloading", "set-up: core: building"]
    assert re.fullmatch(r"set-up: packages: ready after \d+\.\d s", lines[2])
    assert lines[3:] == ["set-up: core: could not be built"]


def test_a_pipe_hears_from_a_step_that_takes_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REPEAT_S", 0.0)
    reader, writer = os.pipe()
    with os.fdopen(reader) as lines, os.fdopen(writer, "w") as stream, Progress("set-up", stream) as progress:
        core = progress.part("core")
        core.step("building")
        core.run([*SAY, "first", "Compiling syn"], folder=tmp_path)
        assert lines.readline() == "set-up: core: building\n"
        while not re.fullmatch(r"set-up: core: building, \d+ s · Compiling syn\n", line := lines.readline()):
            assert line.startswith("set-up: core: building")


def test_a_terminal_shows_one_line_for_each_part_and_redraws_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    leader, follower = pty.openpty()
    written: list[bytes] = []

    def read() -> None:
        try:
            while data := os.read(leader, 4096):
                written.append(data)
        except OSError:  # the other end is closed
            return

    reading = threading.Thread(target=read)
    reading.start()
    with os.fdopen(follower, "w") as stream, Progress("set-up", stream) as progress:
        packages, core = progress.part("packages"), progress.part("core")
        packages.step("downloading")
        core.step("building")
        core.run([*SAY, "x" * 100], folder=tmp_path)
        packages.done()
        core.done("built")
    reading.join(10)
    os.close(leader)
    shown = b"".join(written).decode()
    assert "\x1b[2A\x1b[J" in shown  # two lines up, and everything below erased
    last = shown.rpartition("\x1b[J")[2].split("\r\n")
    assert re.fullmatch(r"set-up: packages: ready after \d+\.\d s", last[0])
    assert re.fullmatch(r"set-up: core: built after \d+\.\d s", last[1])
    assert last[2:] == [""]
    assert max(len(line) for line in re.split(r"\r\n|\x1b\[\d*[AJ]", shown)) <= 60


def test_a_command_that_fails_tells_its_code_and_its_last_lines(tmp_path: Path) -> None:
    program = "import sys; [print(n) for n in range(100)]; print('the reason', file=sys.stderr); sys.exit(3)"
    with Progress("set-up", io.StringIO()) as progress:
        part = progress.part("core")
        with pytest.raises(CommandFailedError, match="ended with code 3") as raised:
            part.run([sys.executable, "-u", "-c", program], folder=tmp_path)
        with pytest.raises(CommandFailedError, match="nothing-here could not be started"):
            part.run([tmp_path / "nothing-here"], folder=tmp_path)
    assert raised.value.lines[-2:] == ["99", "the reason"]
    assert len(raised.value.lines) == module.LINES_KEPT


async def test_a_failure_of_one_part_ends_the_commands_of_the_others_with_their_children(tmp_path: Path) -> None:
    outcomes: list[CommandFailedError] = []
    part = None

    def build() -> None:
        assert part is not None
        try:
            part.run(["sh", "-c", "sleep 600 & echo $! > child; wait"], folder=tmp_path)
        except CommandFailedError as error:
            outcomes.append(error)

    thread = threading.Thread(target=build)
    with pytest.raises(RuntimeError, match="of the packages"), Progress("set-up", io.StringIO()) as progress:
        part = progress.part("core")
        thread.start()
        child = int(await eventually(lambda: (tmp_path / "child").exists() and (tmp_path / "child").read_text()))
        assert psutil.pid_exists(child)
        raise RuntimeError("of the packages")
    thread.join(10)
    (error,) = outcomes
    assert "ended with code" in str(error)
    await eventually(lambda: not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE)
    with pytest.raises(CommandFailedError, match="cancelled"):
        part.run([*SAY, "late"], folder=tmp_path)
