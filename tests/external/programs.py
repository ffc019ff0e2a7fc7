"""Environments of foreign programs, and programs that run in them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import stretched

ROOT = Path(__file__).resolve().parents[2]
INTEGRATION = ROOT / "integrations/ccxt/src"
MAKE_S_MAX = stretched(600)


def must_run() -> bool:
    """Whether a missing environment is a failure: in CI, where nobody would read the word about a skipped test."""
    return bool(os.environ.get("CI")) or (ROOT.parent / "shared").exists()


def environment(name: str) -> Path:
    """The folder of an environment, made if need be. Where no package index can be reached, the test is skipped."""
    made = subprocess.run(
        [sys.executable, str(ROOT / "tools/external.py"), name],
        capture_output=True, text=True, timeout=MAKE_S_MAX, check=False,
    )  # fmt: skip
    if made.returncode == 0:
        return Path(made.stdout.strip())
    reason = f"NOT TESTED: the environment of {name} could not be made:\n{made.stderr[-2000:]}"
    if must_run():
        pytest.fail(reason)
    pytest.skip(reason)


def packages_of(folder: Path) -> Path:
    """Where an environment has its packages."""
    return next(folder.glob("lib/python*/site-packages"))
