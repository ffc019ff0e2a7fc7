"""Processes that stand for another machine: they take the processor only while what is measured leaves it free."""

import os
from pathlib import Path

LOWEST = 19


def lower_priority(pid: int) -> None:
    """Give a process group, which must be a session of its own, the lowest priority."""
    os.setpriority(os.PRIO_PGRP, os.getpgid(pid), LOWEST)
    # Where the kernel shares time out by sessions, it compares priorities within a session alone.
    share = Path(f"/proc/{pid}/autogroup")
    if share.exists():
        share.write_text(str(LOWEST))


def yield_to_others() -> None:
    """Give this process a session of its own and the lowest priority."""
    os.setsid()
    lower_priority(os.getpid())
