"""Renew requirements/run.lock and requirements/dev.lock from pyproject.toml: all hashes, no download address."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def compile_lock(target: Path, *extra: str) -> None:
    """Write one lock file for every supported Python and platform."""
    environment = {name: value for name, value in os.environ.items() if name != "PIP_FIND_LINKS"}
    command = ["uv", "pip", "compile", "--universal", "--python-version", "3.11", "--generate-hashes"]
    command += ["--no-emit-index-url", "--no-header", "--quiet", "pyproject.toml", "-o", str(target), *extra]
    subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=True, env=environment)
    assert "://" not in target.read_text("utf-8"), "a lock file holds no download address"


def main() -> None:
    """Write both lock files; what both have is the same version in both."""
    run_lock = ROOT / "requirements/run.lock"
    compile_lock(run_lock)
    compile_lock(ROOT / "requirements/dev.lock", "--extra", "dev", "--constraint", str(run_lock))


if __name__ == "__main__":
    main()
