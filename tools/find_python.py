"""Finds the Python that the project is set up with, where nobody has named one.

That is the Python of the present `.venv`. Without one it is the Python that asks, or the system's, if the one that asks
was compiled without the compiler's profile and the system's was not: that makes the platform a tenth faster.

Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "src"
SYSTEM_PYTHON = Path("/usr/bin/python3")
_IS_FAST = f"""
import ensurepip, sys, venv
sys.path.insert(0, {str(SOURCES)!r})
from openspot.up.interpreter import Build, slow_build
sys.exit(sys.version_info < (3, 11) or slow_build(Build.of_this_python()) is not None)
"""
"""What a Python is asked. One of Debian without the package python3-venv has no ensurepip and cannot be used."""


def python_to_use(environment: Path) -> Path:
    """The Python to set the project up with; `environment` is the folder of the virtual environment."""
    present = _python_of(environment)
    if present is not None:
        return present
    asking = Path(sys.executable)
    return asking if _is_fast(asking) or not _is_fast(SYSTEM_PYTHON) else SYSTEM_PYTHON


def _python_of(environment: Path) -> Path | None:
    """The Python that a virtual environment was made of; None if there is no environment, or that Python is gone."""
    try:
        lines = (environment / "pyvenv.cfg").read_text("utf-8").splitlines()
    except OSError:
        return None
    values = dict(line.split(" = ", 1) for line in lines if " = " in line)
    python = Path(values.get("executable", ""))
    return python if _ends_well(python, "") else None


def _is_fast(python: Path) -> bool:
    return _ends_well(python, _IS_FAST)


def _ends_well(python: Path, code: str) -> bool:
    try:
        asked = subprocess.run([python, "-I", "-c", code], check=False, capture_output=True, stdin=subprocess.DEVNULL)
    except OSError:
        return False
    return asked.returncode == 0
