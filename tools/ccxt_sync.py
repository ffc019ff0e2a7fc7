"""Make the synchronous exchange class of integrations/ccxt from the asynchronous one: the same without async and await.

With `--check` only say whether the files are those that would be made.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "integrations/ccxt/src/openspot_ccxt"
NAMES = ("rest", "funds", "lists")
CHANGES = (
    ("from ccxt.async_support.base.exchange import", "from ccxt.base.exchange import"),
    ("from openspot_ccxt.funds_async import", "from openspot_ccxt.funds_sync import"),
    ("from openspot_ccxt.lists_async import", "from openspot_ccxt.lists_sync import"),
    ("async def ", "def "),
    ("await ", ""),
)  # fmt: skip


def synchronous(source: Path, target: Path) -> str:
    """The text of the synchronous class."""
    text = source.read_text("utf-8")
    head = r'"""The synchronous \1: made from ' + source.name + ' by `tools/ccxt_sync.py`."""'
    text = re.sub('^"""The asynchronous (.*)\\."""', head, text)
    for before, after in CHANGES:
        text = text.replace(before, after)
    assert "async" not in text.replace(source.name, ""), f"something asynchronous is left of {source.name}"
    # Shorter lines are broken differently, and another module sorts differently.
    for command in (("check", "--fix", "--select", "I"), ("format",)):
        ruff = [sys.executable, "-m", "ruff", *command, "--quiet", "--stdin-filename", str(target), "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def main() -> int:
    """Write or check the files."""
    for name in NAMES:
        source, target = PACKAGE / f"{name}_async.py", PACKAGE / f"{name}_sync.py"
        made = synchronous(source, target)
        if "--check" not in sys.argv:
            target.write_text(made, "utf-8")
        elif not target.exists() or target.read_text("utf-8") != made:
            print(f"{target.relative_to(ROOT)} is out of date: run tools/ccxt_sync.py", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
