"""Set the project up: `.venv`, the locked packages, the project, and the Rust core and the pages if they can be built.

The packages are installed with uv while cargo builds the core and Node builds the pages. Where uv cannot do it, pip
does. Each step is skipped while what it depends on is unchanged, so a second run takes a moment.

Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import venv
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from find_python import python_to_use
from pip_settings import NoCounterpartError, UvOptions, read_settings, uv_options
from progress import CommandFailedError, Part, Progress
from web_build import InstallWheel, WebError
from web_build import build as build_web
from web_build import is_built as web_is_built

PYTHON_MINIMUM = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin/python"
REQUIREMENTS = ROOT / "requirements"
CORE = ROOT / "rust/matching"
TOOLS = VENV / "tools"
"""Folder of uv and of what builds the project and the core, apart from the project's own packages."""
UV = TOOLS / "bin/uv"
PIP = ("-m", "pip", "--disable-pip-version-check")
ADDING_PIP = threading.Lock()


STEPS = {"run.lock": "packages", "venue.lock": "packages-venue", "dev.lock": "packages-development"}
"""The step that a lock file's packages belong to."""


class SetupError(Exception):
    """The set-up cannot go on; the message says why and what to do."""


def digest_of(*paths: Path) -> str:
    """A digest over the contents of files and the Python version: it changes when a step must be done again."""
    digest = hashlib.sha256(sys.version.encode())
    for path in paths:
        digest.update(str(path.relative_to(ROOT)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_done(step: str, digest: str) -> bool:
    """Whether `step` was done with the same digest."""
    stamp = VENV / f".{step}"
    return stamp.exists() and stamp.read_text("utf-8") == digest


def note_done(step: str, digest: str) -> None:
    """Remember that `step` is done."""
    (VENV / f".{step}").write_text(digest, "utf-8")


def packages_digest(name: str) -> str:
    """Digest of the packages step for the lock file `name`."""
    return digest_of(REQUIREMENTS / name, ROOT / "pyproject.toml")


def missing_packages(development: bool, venue: bool) -> str:
    """The lock file to install packages from, empty if none is needed. Those for development include all others."""
    if is_done("packages-development", packages_digest("dev.lock")):
        return ""
    if development:
        return "dev.lock"
    # The packages of venue.lock include those of run.lock, in the same versions.
    if is_done("packages-venue", packages_digest("venue.lock")):
        return ""
    if venue:
        return "venue.lock"
    return "" if is_done("packages", packages_digest("run.lock")) else "run.lock"


def core_digest() -> str:
    """Digest of the core step."""
    names = ("Cargo.toml", "Cargo.lock", "pyproject.toml")
    sources = sorted([*CORE.rglob("src/**/*.rs"), *(CORE / name for name in names if (CORE / name).exists())])
    return digest_of(*sources)


def cargo_path() -> str | None:
    """The Rust build tool, also where its installer puts it before the shell knows."""
    return shutil.which("cargo") or shutil.which("cargo", path=str(Path.home() / ".cargo/bin"))


def works(*command: str | Path) -> bool:
    """Whether a command can be run and ends well."""
    try:
        return subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def is_usable() -> bool:
    """Whether `.venv` is there and its Python still runs."""
    return works(PYTHON, "-c", "")


def make_environment() -> None:
    """Make `.venv` anew, without pip. Raises SetupError."""
    shutil.rmtree(VENV, ignore_errors=True)
    try:
        venv.create(VENV)
    except (subprocess.CalledProcessError, OSError) as error:
        raise SetupError(f"Python cannot make a virtual environment in {VENV}: {error}") from error


def add_pip(part: Part) -> None:
    """Put pip into `.venv`, if it is not there: uv does without it, but its users may miss it. Raises SetupError."""
    try:
        with ADDING_PIP:
            if not works(PYTHON, *PIP, "--version"):
                part.run([PYTHON, "-m", "ensurepip", "--default-pip"], folder=ROOT)
    except CommandFailedError as error:
        raise SetupError(
            f"Python has no pip and cannot add it ({error.last_line}).\n"
            "On Debian and Ubuntu install the package python3-venv, then try again."
        ) from error


@dataclass
class Tools:
    """What installs and builds: uv and the tools of requirements/build.lock, or pip where they cannot be used."""

    options: UvOptions = field(default_factory=UvOptions)
    has_uv: bool = False
    has_build_tools: bool = False

    def install(self, part: Part, *arguments: str | Path, builds: bool = False, compiles: bool = True) -> None:
        """Install into `.venv`; with `builds` something that has to be built. Raises SetupError if it fails.

        With `compiles` Python's bytecode is made at once, and not when a module is first imported.
        """
        words = [str(argument) for argument in arguments]
        environment = dict(os.environ)
        if builds and self.has_build_tools:
            words.append("--no-build-isolation")
            paths = [str(TOOLS), *filter(None, [os.environ.get("PYTHONPATH")])]
            environment["PYTHONPATH"] = os.pathsep.join(paths)
        if self.has_uv:
            command = [str(UV), "pip", "install", "--python", str(PYTHON)]
            if compiles:
                command.append("--compile-bytecode")
            try:
                part.run(
                    [*command, *self.options.arguments, *words],
                    folder=ROOT,
                    environment=environment | self.options.environment,
                )
            except CommandFailedError as error:
                self.has_uv = False
                part.step(f"uv failed ({error.last_line}); pip does it instead")
            else:
                return
        add_pip(part)
        words = ["--force-reinstall" if word == "--reinstall" else word for word in words]
        if not compiles:
            words.insert(0, "--no-compile")
        try:
            part.run([PYTHON, *PIP, "install", "--progress-bar", "off", *words], folder=ROOT, environment=environment)
        except CommandFailedError as error:
            part.given_up("could not be installed")
            raise SetupError(
                "\n".join(error.lines) + "\nThe packages could not be installed (the end of pip's output is above).\n"
                "See that the package index can be reached (`pip config list` names it) and that the disk is not full,"
                "\nthen run the same command again."
            ) from error


def make_tools(part: Part) -> Tools:
    """Install uv with pip, then the build tools with uv. What does not work is left to pip. Raises SetupError.

    The pip of the Python that runs this is used if it has one, since it takes seconds to add one to `.venv`.
    """
    installer, build = REQUIREMENTS / "installer.lock", REQUIREMENTS / "build.lock"
    digest = digest_of(installer, build)
    python = Path(sys.executable)
    if find_spec("pip") is None:
        add_pip(part)
        python = PYTHON
    hashed = ["--require-hashes", "-r"]
    with subprocess.Popen([python, *PIP, "config", "list"], stdout=subprocess.PIPE, text=True) as listing:
        try:
            if not is_done("tools", digest):
                part.step("downloading uv")
                shutil.rmtree(TOOLS, ignore_errors=True)
                # Without a wheel pip would begin to compile uv, which takes longer than what uv saves.
                place = ["--quiet", "--no-user", "--target", str(TOOLS), "--only-binary", ":all:", "--no-deps"]
                outside = os.environ | {"PIP_REQUIRE_VIRTUALENV": "0", "PIP_ROOT_USER_ACTION": "ignore"}
                part.run([python, *PIP, "install", *place, *hashed, installer], folder=ROOT, environment=outside)
            options = uv_options(read_settings(listing.communicate()[0]), os.environ)
            if not is_done("tools", digest):
                part.step("downloading the build tools")
                place = ["--python", sys.executable, "--target", str(TOOLS), "--no-build", *options.arguments]
                followed = os.environ | options.environment
                part.run([UV, "pip", "install", *place, *hashed, build], folder=ROOT, environment=followed)
                note_done("tools", digest)
        except CommandFailedError as error:
            part.step(f"uv cannot be used, pip installs instead: {error.last_line}")
            return Tools()
        except NoCounterpartError as error:
            part.step(f"pip installs, not uv: {error}")
            return Tools()
    return Tools(options, has_uv=True, has_build_tools=True)


def install_packages(part: Part, tools: Tools, lock: str) -> None:
    """Install the packages of a lock file, the project and pip. Raises SetupError."""
    part.step(f"installing the packages of requirements/{lock}")
    # A platform starts a dozen processes at once, each of which would compile. Tests and checks import one module of
    # five, so they compile those that they need.
    tools.install(part, "--require-hashes", "-r", REQUIREMENTS / lock, compiles=lock != "dev.lock")
    tools.install(part, "--no-deps", "--editable", ROOT, builds=True)
    note_done(STEPS[lock], packages_digest(lock))
    with contextlib.suppress(SetupError):
        add_pip(part)
    part.done()


def build_core(part: Part, cargo: str, made: Future[Tools]) -> Path:
    """Build the core's wheel; returns its path. Raises CommandFailedError."""
    variables = os.environ | {"PATH": f"{Path(cargo).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    part.step("downloading the crates")
    with contextlib.suppress(CommandFailedError):  # the build downloads what is still missing, and says why it cannot
        part.run([cargo, "fetch", "--locked"], folder=CORE, environment=variables)
    tools = made.result()
    wheels = CORE / "target/wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    part.step("building with cargo")
    if tools.has_build_tools:
        options = ["--release", "--locked", "--compatibility", "off", "--interpreter", sys.executable]
        part.run([TOOLS / "bin/maturin", "build", *options, "--out", wheels], folder=CORE, environment=variables)
    else:
        add_pip(part)
        part.run([PYTHON, *PIP, "wheel", "--no-deps", "--wheel-dir", wheels, CORE], folder=CORE, environment=variables)
    return next(wheels.glob("*.whl"))


def core_wheel(part: Part, built: Future[Path], required: bool) -> Path | None:
    """The core's wheel, or None if it could not be built. Raises SetupError if it is required."""
    try:
        return built.result()
    except CommandFailedError as error:
        part.given_up("could not be built")
        lines = "\n".join(error.lines)
        if required:
            raise SetupError(f"{lines}\nThe Rust core could not be built ({error}).") from error
        print(
            f"{lines}\nset-up: the Rust core could not be built ({error}; the end of its output is above).\n"
            "set-up: the Python reference core runs instead: same rules, slower. `make core` tries again.",
            flush=True,
        )
        return None


def node_installer(made: Future[Tools] | None = None) -> InstallWheel:
    """Installs the wheel of Node with the tools that are `made`, or with tools of its own."""

    def install(part: Part, lock: Path, folder: Path) -> None:
        tools = made.result() if made else make_tools(part)
        tools.install(part, "--target", folder, "--require-hashes", "-r", lock)

    return install


def build_pages(part: Part, made: Future[Tools], *, development: bool) -> None:
    """Build the browser pages; if that fails, say why: everything else works without them."""
    try:
        build_web(part, node_installer(made), development=development)
    except (WebError, CommandFailedError, OSError) as error:
        lines = "".join(f"{line}\n" for line in getattr(error, "lines", []))
        part.given_up("could not be built")
        print(
            f"{lines}set-up: the pages could not be built: {error}\n"
            "set-up: everything else works without them. `python3 tools/web.py build` tries again.",
            flush=True,
        )


def set_up(development: bool, venue: bool, cargo: str | None, core_required: bool) -> None:
    """Do what is not done yet; `cargo` is None if the core is not to be built. Raises SetupError."""
    with ThreadPoolExecutor() as threads, Progress("set-up") as progress:
        packages, core, pages = (progress.part(name) for name in ("packages", "Rust core", "pages"))
        if not is_usable():
            packages.step("making the virtual environment in .venv")
            make_environment()
        tools = threads.submit(make_tools, packages)
        built = threads.submit(build_core, core, cargo, tools) if cargo else None
        if not web_is_built():
            threads.submit(build_pages, pages, tools, development=development)
        if lock := missing_packages(development, venue):
            install_packages(packages, tools.result(), lock)
        elif packages.text:
            packages.done()
        if built and (wheel := core_wheel(core, built, core_required)):
            core.step("installing")
            tools.result().install(core, "--no-deps", "--reinstall", wheel)
            note_done("core", core_digest())
            core.done()


def go_on_with(python: Path) -> None:
    """Run this again with another Python, unless it is the one that runs."""
    if python.samefile(sys.executable):
        return
    if not is_usable():
        print(f"set-up: with {python}, which is faster than {sys.executable}; PYTHON=… names another", flush=True)
    arguments = [argument for argument in sys.argv if argument != "--find-python"]
    os.execv(python, [str(python), *arguments])


def main() -> None:
    """Set up what the options ask for, as far as it is not done yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--development", action="store_true", help="also what tests and checks need")
    parser.add_argument("--venue", action="store_true", help="also the library of the venue adapter")
    parser.add_argument("--core", action="store_true", help="fail if the Rust core cannot be built")
    parser.add_argument("--find-python", action="store_true", help="go on with the best Python that is here")
    options = parser.parse_args()
    if options.find_python:
        go_on_with(python_to_use(VENV))
    if sys.version_info < PYTHON_MINIMUM:
        raise SystemExit(
            f"OpenSpot needs Python {PYTHON_MINIMUM[0]}.{PYTHON_MINIMUM[1]} or newer; this is {sys.version.split()[0]}"
        )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("set-up: ended"))
    cargo = None
    if not is_done("core", core_digest()):
        cargo = cargo_path()
        if cargo is None:
            message = "set-up: no Rust toolchain here: the Python reference core runs instead (same rules, slower)"
            if options.core:
                raise SystemExit(message)
            print(message, flush=True)
    if is_usable() and not cargo and not missing_packages(options.development, options.venue) and web_is_built():
        return
    try:
        set_up(options.development, options.venue, cargo, options.core)
    except SetupError as error:
        raise SystemExit(f"set-up failed:\n{error}") from error
    except KeyboardInterrupt:
        raise SystemExit("set-up: interrupted; what is done is kept") from None


if __name__ == "__main__":
    main()
