"""Commands of `openspot` that the web server runs as processes of their own.

A command knows the secrets of its machine's data directory. The web server knows none, and passes none on.
"""

import asyncio
import os
import sys
from collections import deque
from pathlib import Path

from openspot.kit.service import SUPERVISED

STOP_S_MAX = 5.0
PROGRAM = (sys.executable, "-m", "openspot.cli")


def environment_for(data_dir: Path) -> dict[str, str]:
    """The environment of a command on the platform of that data directory."""
    environment = dict(os.environ)
    if SUPERVISED in environment:
        # The state file of `openspot up` knows every setting; those of this process are the web server's alone.
        environment = {name: value for name, value in environment.items() if not name.startswith("OPENSPOT_")}
    return environment | {"OPENSPOT_DATA_DIR": str(data_dir)}


async def last_line(stream: asyncio.StreamReader | None) -> str:
    """The last line of an output that is not an empty line, cut to 500 characters."""
    assert stream is not None
    lines: deque[str] = deque(maxlen=1)
    while chunk := await stream.read(65_536):
        lines.extend(line for line in chunk.decode(errors="replace").splitlines() if line.strip())
    return lines[0][-500:] if lines else ""


async def end(process: asyncio.subprocess.Process) -> None:
    """End the process if it still runs."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(STOP_S_MAX):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
