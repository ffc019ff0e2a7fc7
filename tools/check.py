"""The house rules, side by side on all cores; the first that is broken ends the run.

tools/check.py            all of them (`make check`)
tools/check.py --quick    all but the costly ones, of which no fact depends (`make test`)
tools/check.py --costly   what `--quick` leaves out (`make proof`)
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path

from setup import cargo_path

from web import NOT_POSSIBLE

ROOT = Path(__file__).resolve().parent.parent
CHECKS = (
    ("types", ("mypy",)),
    ("format", ("ruff", "format", "--check", "--quiet", ".")),
    ("lint", ("ruff", "check", "--quiet", ".")),
    ("layers", ("lint-imports",)),
    ("generated code", ("python", "tools/generate_protocol.py", "--check")),
    ("HTTP pages", ("python", "tools/http_pages.py", "--check")),
    ("WebSocket document", ("python", "tools/websocket_document.py", "--check")),
    ("document of the order connection", ("python", "tools/order_connection_document.py", "--check")),
    ("records of the client", ("python", "tools/client_records.py", "--check")),
    ("calls of the synchronous client", ("python", "tools/client_sync.py", "--check")),
    ("conformance", ("python", "tools/conformance.py", "--check")),
    ("settings page", ("python", "tools/settings_page.py", "--check")),
    ("table of processes", ("python", "tools/process_table.py", "--check")),
)
COSTLY_CHECKS = (("dead code", ("python", "tools/dead_code.py")),)
RUST_CHECKS = (("Rust format", ("fmt", "--check")),)
COSTLY_RUST_CHECKS = (
    ("Rust tests", ("test", "--quiet")),
    ("Rust lint", ("clippy", "--quiet", "--all-targets", "--all-features", "--", "-D", "warnings")),
)
Check = tuple[str, tuple[str, ...]]
"""A name, and the program with its arguments."""


def passes(name: str, command: list[str], folder: Path) -> bool:
    """Whether a check passes; shows its output if not."""
    outcome = subprocess.run(command, cwd=folder, check=False, text=True, capture_output=True)
    if outcome.returncode != 0:
        print(f"{outcome.stdout}{outcome.stderr}\ncheck failed: {name}", file=sys.stderr)
        return False
    print(f"check passed: {name}", flush=True)
    return True


def has_component(cargo: str, component: str) -> bool:
    """Whether a part of the Rust toolchain is installed: format and lint are optional."""
    return subprocess.run([cargo, component, "--version"], check=False, capture_output=True).returncode == 0


def pages_pass(*options: str) -> bool:
    """Whether the checks of web/ pass. Without Node and its packages they are left out, except in CI."""
    command = [sys.executable, str(ROOT / "tools/web.py"), "check", *options]
    outcome = subprocess.run(command, cwd=ROOT, check=False, text=True, capture_output=True)
    if outcome.returncode == NOT_POSSIBLE and not os.environ.get("CI"):
        print(f"{outcome.stdout}{outcome.stderr}CHECK LEFT OUT: pages", flush=True)
        return True
    if outcome.returncode != 0:
        print(f"{outcome.stdout}{outcome.stderr}\ncheck failed: pages", file=sys.stderr)
        return False
    print("check passed: pages", flush=True)
    return True


def rust_passes(checks: Sequence[Check]) -> bool:
    """Whether these checks of the Rust core pass. They run one after the other, since each locks the build folder."""
    cargo = cargo_path()
    if cargo is None:
        print("no Rust toolchain here: the Rust core is neither checked nor tested", flush=True)
        return True
    for name, (component, *arguments) in checks:
        if component != "test" and not has_component(cargo, component):
            print(f"check left out, cargo {component} is not installed: {name}", flush=True)
        elif not passes(name, [cargo, component, *arguments], ROOT / "rust/matching"):
            return False
    return True


def main() -> int:
    """Run the checks; answers 1 and shows the output of the first that fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_mutually_exclusive_group()
    parts.add_argument("--quick", action="store_true", help="all but the costly ones")
    parts.add_argument("--costly", action="store_true", help="the costly ones alone")
    options = parser.parse_args()
    rust = (*(() if options.costly else RUST_CHECKS), *(() if options.quick else COSTLY_RUST_CHECKS))
    others = (*(() if options.costly else CHECKS), *(() if options.quick else COSTLY_CHECKS))
    # Those that take longest begin first, so that the cores end together.
    checks: list[Callable[[], bool]] = [
        partial(pages_pass, *(["--quick"] if options.quick else [])),
        partial(rust_passes, rust),
    ]
    checks += [
        partial(passes, name, [str(Path(sys.executable).parent / program), *arguments], ROOT)
        for name, (program, *arguments) in others
    ]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for outcome in as_completed([threads.submit(check) for check in checks]):
            if not outcome.result():
                threads.shutdown(wait=False, cancel_futures=True)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
