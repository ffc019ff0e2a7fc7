"""The house rules, one after the other; the first that is broken ends the run."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKS = (
    ("format", ("ruff", "format", "--check", "--quiet", ".")),
    ("lint", ("ruff", "check", "--quiet", ".")),
    ("types", ("mypy",)),
    ("layers", ("lint-imports",)),
    ("generated code", ("python", "tools/generate_protocol.py", "--check")),
    ("conformance", ("python", "tools/conformance.py", "--check")),
    ("settings page", ("python", "tools/settings_page.py", "--check")),
)


def main() -> int:
    """Run every check; answers 1 and shows the output of the first that fails."""
    for name, (program, *arguments) in CHECKS:
        command = [str(Path(sys.executable).parent / program), *arguments]
        outcome = subprocess.run(command, cwd=ROOT, check=False, text=True, capture_output=True)
        if outcome.returncode != 0:
            print(f"{outcome.stdout}{outcome.stderr}\ncheck failed: {name}", file=sys.stderr)
            return 1
        print(f"check passed: {name}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
