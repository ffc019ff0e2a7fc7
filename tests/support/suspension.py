"""Processes that stand still: their connections stay open, but no reply comes."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.support.waiting import stretched

STILL_S_MAX = stretched(5)


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    """Suspend a process and its children during the context. It begins when all of their threads stand still."""
    process = psutil.Process(pid)
    family = [process]
    try:
        # Suspend the parent first, so that it starts no more children.
        process.suspend()
        family += process.children(recursive=True)
        for member in family[1:]:
            _if_there(member.suspend)
        _wait_until_still(family)
        yield
    finally:
        for member in reversed(family):
            _if_there(member.resume)


def _if_there(act: Callable[[], None]) -> None:
    try:
        act()
    except psutil.NoSuchProcess:
        return


def _wait_until_still(family: list[psutil.Process]) -> None:
    """The signal returns before the process has stopped: a thread on another core may send one more reply."""
    deadline = time.monotonic() + STILL_S_MAX
    while any(_runs(task) for member in family for task in Path(f"/proc/{member.pid}/task").glob("*")):
        assert time.monotonic() < deadline, f"{family} do not stand still after {STILL_S_MAX} s"
        time.sleep(0.001)


def _runs(task: Path) -> bool:
    try:
        # The state stands behind the name, which may itself hold spaces and parentheses.
        state = (task / "stat").read_text().rpartition(") ")[2][0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "TtZX"
