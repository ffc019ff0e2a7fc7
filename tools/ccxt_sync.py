"""Make the synchronous exchange class of integrations/ccxt from the asynchronous one: the same without async and await.

With `--check` only say whether the file is the one that would be made.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "integrations/ccxt/src/openspot_ccxt"
SOURCE, TARGET = PACKAGE / "rest_async.py", PACKAGE / "rest_sync.py"
CHANGES = (
    ('"""The asynchronous exchange class, REST only."""',
     '"""The synchronous exchange class: made from rest_async.py by `tools/ccxt_sync.py`, not edited by hand."""'),
    ("from ccxt.async_support.base.exchange import", "from ccxt.base.exchange import"),
    ("async def ", "def "),
    ("await ", ""),
)  # fmt: skip


def synchronous(text: str) -> str:
    """The text of the synchronous class."""
    for before, after in CHANGES:
        assert before in text, f"{SOURCE.name} no longer has {before!r}"
        text = text.replace(before, after)
    assert "async" not in text.replace("rest_async.py", ""), "something asynchronous is left"
    # Shorter lines are broken differently, and another module sorts differently.
    for command in (("check", "--fix", "--select", "I"), ("format",)):
        ruff = [sys.executable, "-m", "ruff", *command, "--quiet", "--stdin-filename", str(TARGET), "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def main() -> int:
    """Write or check the file."""
    made = synchronous(SOURCE.read_text("utf-8"))
    if "--check" in sys.argv:
        if TARGET.read_text("utf-8") != made:
            print(f"{TARGET.relative_to(ROOT)} is out of date: run tools/ccxt_sync.py", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
