"""Rules of the house that no linter knows."""

import re
import subprocess
from pathlib import Path

from tests.conftest import FIRST

ROOT = Path(__file__).resolve().parents[2]
CODE = (".py", ".rs", ".ts", ".tsx")
LINES_MAX = 600


def tracked(*endings: str) -> list[Path]:
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    # Names below the root: where the checkout lies must not matter.
    paths = [ROOT / name for name in names.split("\0") if name.endswith(endings) and "/gen/" not in name]
    return [path for path in paths if path.exists()]


def test_no_file_has_grown_too_long() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in tracked(*CODE)
        if (count := len(path.read_text("utf-8").splitlines())) > LINES_MAX
    }
    assert not long


def test_nothing_is_left_for_later() -> None:
    word = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")
    found = [str(path.relative_to(ROOT)) for path in tracked(*CODE) if word.search(path.read_text("utf-8"))]
    assert not found


def test_lock_files_hold_no_download_address() -> None:
    locks = [*tracked(".lock"), *tracked("package-lock.json")]
    assert any(path.name == "dev.lock" for path in locks)
    # Cargo.lock is kept as cargo writes it.
    assert not [path.name for path in locks if path.name != "Cargo.lock" and "://" in path.read_text("utf-8")]


def test_every_package_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in tracked(".py")
        if str(path).startswith(str(ROOT / "src")) and not path.read_text("utf-8").lstrip().startswith('"""')
    ]
    assert not silent


def test_the_ranks_of_the_test_run_name_what_exists() -> None:
    assert [start for start in FIRST if not (ROOT / start).exists()] == []
