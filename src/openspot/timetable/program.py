"""Runs a command of `openspot` as a program, which gives its memory back by ending."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

RUN_S_MAX = 6 * 3600
"""A program that takes longer than this many seconds is ended."""
END_S_MAX = 5.0
OUTPUT_BYTES_MAX = 64 * 1024
SAID_LENGTH_MAX = 1000
FAULT = "openspot: "
"""What a command writes before the reason of a failure."""
GIVES_WAY = 10
"""The niceness of the programs: whoever trades comes first."""


class Ended(NamedTuple):
    """The exit code of a program, and the end of what it said."""

    code: int
    said: str


async def run_once(
    command: Sequence[str], stop: asyncio.Event, variables: Mapping[str, str], run_s_max: float = RUN_S_MAX
) -> Ended | None:
    """Run `openspot` with the words of `command`. Returns None if `stop` was set before its end."""
    # A session of its own, so that a stop ends its pg_dump, too.
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "openspot.cli", *command,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        env=os.environ | {"TERM": "dumb", "COLUMNS": "1000"} | dict(variables), start_new_session=True,
    )  # fmt: skip
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, process.pid, GIVES_WAY)
    reading = asyncio.create_task(_end_of_output(process))
    stopping = asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait({reading, stopping}, timeout=run_s_max, return_when=asyncio.FIRST_COMPLETED)
        if reading in done:
            return Ended(await process.wait(), reading.result())
        await _end(process)
        return None if stopping in done else Ended(-signal.SIGKILL, f"it took longer than {run_s_max:g} s")
    finally:
        if process.returncode is None:
            await _end(process)
        for task in (reading, stopping):
            task.cancel()
        await asyncio.gather(reading, stopping, return_exceptions=True)


async def _end_of_output(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    kept = b""
    while read := await process.stdout.read(OUTPUT_BYTES_MAX):
        kept = (kept + read)[-OUTPUT_BYTES_MAX:]
    said = " ".join(kept.decode("utf-8", "replace").split())
    # The last fault that the command names, without its notes.
    return said.rpartition(FAULT)[2][-SAID_LENGTH_MAX:]


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the program and what it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            async with asyncio.timeout(END_S_MAX):
                await process.wait()
        except TimeoutError:
            continue
        return
