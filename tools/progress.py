"""Progress of several parts of a job at once, and the commands that they run.

On a terminal each part has one line that is redrawn in place. Elsewhere each step is one plain line, and a part that
takes long repeats itself every ten seconds. Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

LINES_KEPT = 25
"""Lines of a command's output that are shown if it fails."""
DETAIL_LENGTH_MAX = 80
REDRAW_S = 0.1
REPEAT_S = 10.0


class CommandFailedError(Exception):
    """A command could not be started or ended with another exit code than 0. `lines` is the end of its output."""

    def __init__(self, command: Sequence[str], reason: str, lines: Sequence[str]) -> None:
        super().__init__(f"{Path(command[0]).name} {reason}")
        self.lines = list(lines)

    @property
    def last_line(self) -> str:
        """The last line of output, where most programs name the reason; without output, what happened."""
        return self.lines[-1] if self.lines else str(self)


class Part:
    """One part of the job, with the step that it is at."""

    def __init__(self, progress: Progress, name: str) -> None:
        self.name = name
        self.began = time.monotonic()
        self.text = ""
        self.detail = ""
        self.active = False
        self.said_at = self.began
        self._progress = progress

    def step(self, text: str) -> None:
        """Begin a step."""
        self._progress.update(self, text, active=True)

    def done(self, text: str = "ready") -> None:
        """End the part; the seconds since the job began are added."""
        self._progress.update(self, f"{text} after {time.monotonic() - self.began:.1f} s", active=False)

    def given_up(self, text: str) -> None:
        """End the part without success."""
        self._progress.update(self, text, active=False)

    def run(self, command: Sequence[str | Path], *, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        """Run a command and show its latest line of output beside the step. Raises CommandFailedError."""
        self._progress.run(self, [str(word) for word in command], folder, environment)


class Progress:
    """Shows the parts of a job while it runs; use it as a context manager.

    Leaving the context by an exception ends every command that still runs.
    """

    def __init__(self, title: str, stream: TextIO = sys.stdout) -> None:
        self._title = title
        self._stream = stream
        self._live = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._parts: list[Part] = []
        self._drawn = 0
        self._lock = threading.RLock()
        self._processes: set[subprocess.Popen[str]] = set()
        self._ended = threading.Event()
        self._cancelled = False
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Progress:
        self._ticker.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.cancel()
        self._ended.set()
        self._ticker.join()
        with self._lock:
            self._erase()
            self._draw()

    def part(self, name: str) -> Part:
        """Add a part. Its line appears with its first step."""
        part = Part(self, name)
        with self._lock:
            self._parts.append(part)
        return part

    def say(self, text: str) -> None:
        """Print lines that stay."""
        with self._lock:
            self._erase()
            self._write(f"{text}\n")
            self._draw()

    def update(self, part: Part, text: str, *, active: bool) -> None:
        """Show a new step of a part."""
        with self._lock:
            part.text, part.detail, part.active, part.said_at = text, "", active, time.monotonic()
            if self._live:
                self._erase()
                self._draw()
            else:
                self._write(f"{self._title}: {part.name}: {text}\n")

    def run(self, part: Part, command: list[str], folder: Path, environment: Mapping[str, str] | None) -> None:
        """Run a command for a part. Raises CommandFailedError."""
        lines: deque[str] = deque(maxlen=LINES_KEPT)
        try:
            process = self._start(command, folder, environment)
        except OSError as error:
            raise CommandFailedError(command, f"could not be started: {error}", []) from error
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if text := line.rstrip():
                    lines.append(text)
                    part.detail = text.strip()
            code = process.wait()
        finally:
            with self._lock:
                self._processes.discard(process)
        if code != 0:
            raise CommandFailedError(command, f"ended with code {code}", lines)

    def cancel(self) -> None:
        """End every command that runs, with all its children; later ones are not started."""
        with self._lock:
            self._cancelled = True
            for process in self._processes:
                try:
                    os.killpg(process.pid, signal.SIGTERM)
                except ProcessLookupError:
                    continue

    def _start(self, command: list[str], folder: Path, environment: Mapping[str, str] | None) -> subprocess.Popen[str]:
        # Started under the lock, so that `cancel` misses no command. The process group is one that it can end.
        with self._lock:
            if self._cancelled:
                raise CommandFailedError(command, "was not started: the job was cancelled", [])
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                process_group=0,
            )
            self._processes.add(process)
            return process

    def _tick(self) -> None:
        while not self._ended.wait(REDRAW_S):
            with self._lock:
                if self._live:
                    self._erase()
                    self._draw()
                    continue
                for part in self._parts:
                    if part.active and time.monotonic() - part.said_at > REPEAT_S:
                        part.said_at = time.monotonic()
                        self._write(f"{self._title}: {self._line_of(part)}\n")

    def _line_of(self, part: Part) -> str:
        if not part.active:
            return f"{part.name}: {part.text}"
        detail = f" · {part.detail[:DETAIL_LENGTH_MAX]}" if part.detail else ""
        return f"{part.name}: {part.text}, {time.monotonic() - part.began:.0f} s{detail}"

    def _draw(self) -> None:
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            lines = [f"{self._title}: {self._line_of(part)}"[:width] for part in self._parts if part.text]
            self._write("".join(f"{line}\n" for line in lines))
            self._drawn = len(lines)

    def _erase(self) -> None:
        if self._drawn:
            self._write(f"\x1b[{self._drawn}A\x1b[J")
            self._drawn = 0

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
