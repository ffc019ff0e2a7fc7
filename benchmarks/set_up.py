"""What the browser pages add to the set-up that `make up` begins with.

    .venv/bin/python -m benchmarks.set_up

Clones this checkout into new folders and sets it up there, with empty caches of uv and npm: with the pages to build,
with pages that are built already, and with everything there. Printed are the seconds of each.
"""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = Path("web/dist")
ROUNDS = 2


def set_up(clone: Path, caches: Path) -> float:
    """Seconds of a set-up in this folder."""
    environment = os.environ | {"UV_CACHE_DIR": str(caches / "uv"), "npm_config_cache": str(caches / "npm")}
    began = time.monotonic()
    subprocess.run(["python3", "tools/setup.py"], cwd=clone, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def measure(folder: Path) -> tuple[float, float, float]:
    """Seconds with the pages to build, with pages that are built, and of a second set-up."""
    clones = folder / "building", folder / "built"
    for clone in clones:
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    building = set_up(clones[0], folder / "caches-building")
    again = set_up(clones[0], folder / "caches-building")
    shutil.copytree(clones[0] / PAGES, clones[1] / PAGES)
    return building, set_up(clones[1], folder / "caches-built"), again


def main() -> None:
    """Measure, and print."""
    print("seconds: pages to build | pages built already | everything there")
    for _ in range(ROUNDS):
        folder = Path(tempfile.mkdtemp(prefix="openspot-set-up-"))
        try:
            print(" | ".join(f"{seconds:.1f}" for seconds in measure(folder)))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
