"""Renew the lock files in requirements/: every hash, and no download address.

run.lock, venue.lock and dev.lock come from pyproject.toml, the others from requirements/*.in.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def compile_lock(name: str, source: str, *extra: str) -> None:
    """Write requirements/NAME from `source`, for every supported Python and platform."""
    target = ROOT / "requirements" / name
    environment = {name: value for name, value in os.environ.items() if name != "PIP_FIND_LINKS"}
    command = ["uv", "pip", "compile", "--universal", "--python-version", "3.11", "--generate-hashes"]
    command += ["--no-emit-index-url", "--no-header", "--quiet", source, "-o", str(target), *extra]
    subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=True, env=environment)
    assert "://" not in target.read_text("utf-8"), "a lock file holds no download address"


def main() -> None:
    """Write the lock files. A package that stands in several has the same version in all of them."""
    compile_lock("run.lock", "pyproject.toml", "--extra", "parquet")
    compile_lock("dev.lock", "pyproject.toml", "--extra", "dev", "--constraint", "requirements/run.lock")
    extras = ("--extra", "venue", "--extra", "parquet")
    compile_lock("venue.lock", "pyproject.toml", *extras, "--constraint", "requirements/dev.lock")
    for name in ("installer", "build", "web"):
        compile_lock(f"{name}.lock", f"requirements/{name}.in", "--constraint", "requirements/dev.lock")
    # Foreign programs that tests drive. They have environments of their own: they pin what the platform has newer.
    for name in ("ccxt", "freqtrade", "moto"):
        compile_lock(f"{name}.lock", f"requirements/{name}.in")


if __name__ == "__main__":
    main()
