"""Set the project up: `.venv`, the locked packages, the package itself, and the fast core if it can be built.

Standard library only, since it runs before anything is installed. Doing it again costs a moment: each step
is skipped while what it depends on is unchanged.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
CORE = ROOT / "rust/matching"
PYTHON_MINIMUM = (3, 11)


def say(text: str) -> None:
    """Tell the user what happens."""
    print(text, flush=True)


def run(*command: str | Path, quiet: bool = False) -> None:
    """Run a command in the project's root. Ends the set-up with its output if it fails."""
    outcome = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        check=False,
        text=True,
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
    )
    if outcome.returncode != 0:
        if outcome.stdout:
            say(outcome.stdout)
        raise SystemExit(f"set-up failed at: {' '.join(str(part) for part in command)}")


def digest_of(*paths: Path) -> str:
    """A digest over the contents of files, to see whether a step is still up to date."""
    digest = hashlib.sha256(sys.version.encode())
    for path in paths:
        digest.update(str(path.relative_to(ROOT)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_done(step: str, digest: str) -> bool:
    """Whether `step` was done for this very digest."""
    stamp = VENV / f".{step}"
    return stamp.exists() and stamp.read_text("utf-8") == digest


def note_done(step: str, digest: str) -> None:
    """Remember that `step` is done."""
    (VENV / f".{step}").write_text(digest, "utf-8")


def make_environment() -> Path:
    """Make `.venv` if it is missing or unusable; answers its Python."""
    python = VENV / "bin/python"
    usable = (
        python.exists()
        and subprocess.run([python, "-c", "import pip"], check=False, capture_output=True).returncode == 0
    )
    if not usable:
        say("set-up: making the virtual environment in .venv")
        shutil.rmtree(VENV, ignore_errors=True)
        try:
            venv.create(VENV, with_pip=True)
        except (subprocess.CalledProcessError, OSError) as error:
            shutil.rmtree(VENV, ignore_errors=True)
            raise SystemExit(
                f"set-up: Python cannot make a virtual environment ({error}).\n"
                "On Debian and Ubuntu install the package python3-venv, then try again."
            ) from error
    return python


def install_packages(python: Path, development: bool) -> None:
    """Install the locked packages and the project, if the lock file or pyproject.toml changed."""
    lock = ROOT / "requirements" / ("dev.lock" if development else "run.lock")
    step = "packages-development" if development else "packages"
    digest = digest_of(lock, ROOT / "pyproject.toml")
    if is_done(step, digest) or (
        not development
        and is_done("packages-development", digest_of(ROOT / "requirements/dev.lock", ROOT / "pyproject.toml"))
    ):
        return
    say(f"set-up: installing the packages of requirements/{lock.name} (about a minute the first time)")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", lock)
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--editable", ".")
    note_done(step, digest)


def cargo_path() -> str | None:
    """The Rust build tool, also where the installer put it without the shell knowing yet."""
    return shutil.which("cargo") or shutil.which("cargo", path=str(Path.home() / ".cargo/bin"))


def build_core(python: Path, required: bool) -> None:
    """Build and install the fast core; without a toolchain say so, and that the reference core runs instead."""
    if not (CORE / "Cargo.toml").exists():
        return
    sources = sorted([*CORE.rglob("src/**/*.rs"), CORE / "Cargo.toml", CORE / "Cargo.lock", CORE / "pyproject.toml"])
    digest = digest_of(*(path for path in sources if path.exists()))
    if is_done("core", digest):
        return
    cargo = cargo_path()
    if cargo is None:
        message = "no Rust toolchain here: the Python reference core runs instead (same rules, slower)"
        if required:
            raise SystemExit(f"set-up: {message}")
        say(f"set-up: {message}")
        return
    say("set-up: building the Rust core (about a minute the first time)")
    environment = os.environ | {"PATH": f"{Path(cargo).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    outcome = subprocess.run(
        [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--force-reinstall",
            "--no-deps",
            str(CORE),
        ],
        cwd=ROOT,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
    )
    if outcome.returncode == 0:
        note_done("core", digest)
        return
    if required:
        raise SystemExit(f"{outcome.stdout}\nset-up: the Rust core could not be built")
    say(outcome.stdout[-1500:])
    say("set-up: the Rust core could not be built (see above): the Python reference core runs instead")


def main() -> None:
    """Run the steps that are needed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--development", action="store_true", help="also what tests and checks need")
    parser.add_argument("--core", action="store_true", help="fail if the Rust core cannot be built")
    options = parser.parse_args()
    if sys.version_info < PYTHON_MINIMUM:
        raise SystemExit(
            f"OpenSpot needs Python {PYTHON_MINIMUM[0]}.{PYTHON_MINIMUM[1]} or newer; this is {sys.version.split()[0]}"
        )
    python = make_environment()
    install_packages(python, options.development)
    build_core(python, options.core)


if __name__ == "__main__":
    main()
