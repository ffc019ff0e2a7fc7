"""Code that runs as another account of this machine: what a stranger who has a login here can do."""

import os
import pickle
import pwd
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

STRANGER = "nobody"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another account")


def as_account(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """What `function` returns in a child process that runs as the account. Fails with its traceback if it raises.

    The child is a fork: another program could be out of reach of the account.
    """
    account = pwd.getpwnam(name)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.setgroups([])
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)
            try:
                outcome = (True, function(*arguments))
            except BaseException:
                outcome = (False, traceback.format_exc())
            with os.fdopen(writer, "wb") as file:
                pickle.dump(outcome, file)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        content = file.read()
    os.waitpid(child, 0)
    succeeded, value = pickle.loads(content)
    assert succeeded, value
    return value


def readable(paths: list[Path]) -> list[Path]:
    """Those of `paths` that this process can list or read."""
    found = []
    for path in paths:
        try:
            if path.is_dir():
                list(path.iterdir())
            else:
                path.open("rb").close()
        except OSError:
            continue
        found.append(path)
    return found


def visible_in_proc() -> dict[str, bytes]:
    """What this process can read of every process's command line and environment, by path."""
    found = {}
    for kind in ("cmdline", "environ"):
        for path in Path("/proc").glob(f"[0-9]*/{kind}"):
            try:
                found[str(path)] = path.read_bytes()
            except OSError:
                continue
    return found
