"""Make the environment of a foreign program that tests drive: `ccxt`, `freqtrade` or `moto`. Prints its folder.

It has a folder of its own in `.external`, named for the contents of its lock file, and is made once. uv installs, from
the index that pip is configured for; where uv cannot do it, pip does.
"""

import argparse
import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from pip_settings import NoCounterpartError, read_settings, uv_options

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".external"
NAMES = ("ccxt", "freqtrade", "moto")


def environment_path(name: str) -> Path:
    """Where the environment is, once it is made."""
    lock = ROOT / f"requirements/{name}.lock"
    digest = hashlib.sha256(sys.version.encode() + lock.read_bytes()).hexdigest()
    return FOLDER / f"{name}-{digest[:16]}"


def install(python: Path, lock: Path) -> None:
    """Install the packages of a lock file. Raises CalledProcessError if neither uv nor pip can."""
    packages = ["--require-hashes", "-r", str(lock)]
    with contextlib.suppress(NoCounterpartError, subprocess.CalledProcessError):
        listing = subprocess.run(
            [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
        )
        options = uv_options(read_settings(listing.stdout), os.environ)
        uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(python)]
        subprocess.run([*uv, *options.arguments, *packages], env=os.environ | options.environment, check=True)
        return
    subprocess.run([python, "-m", "ensurepip", "--default-pip"], stdout=sys.stderr, check=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, *packages], stdout=sys.stderr, check=True)


def make(name: str) -> Path:
    """Make the environment if it is not there; returns its folder. Raises CalledProcessError."""
    folder = environment_path(name)
    if folder.exists():
        return folder
    FOLDER.mkdir(exist_ok=True)
    for outdated in FOLDER.glob(f"{name}-*"):
        shutil.rmtree(outdated)
    # Finished under another name first: what was interrupted is never taken for an environment.
    unfinished = FOLDER / f"unfinished-{name}-{os.getpid()}"
    try:
        venv.create(unfinished, symlinks=True)
        install(unfinished / "bin/python", ROOT / f"requirements/{name}.lock")
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def main() -> int:
    """Make one environment and print where it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=NAMES)
    name = parser.parse_args().name
    try:
        folder = make(name)
    except subprocess.CalledProcessError as error:
        print(f"the environment of {name} could not be made: {error}", file=sys.stderr)
        return 1
    print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
