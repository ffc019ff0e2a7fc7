"""The modules of the pages import each other without a circle, types included."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

WEB = Path(__file__).resolve().parents[2] / "web"
FOLDERS = ("console/src", "lib", "trade/src")
IMPORTED = re.compile(r"""(?:\bfrom\s|\bimport\(|^import\s)\s*["']([.#][^"']+\.tsx?)["']""", re.MULTILINE)


def imports_of(path: Path) -> set[str]:
    """The modules of web/ that a file imports, at once or later."""
    named = IMPORTED.findall(path.read_text("utf-8"))
    files = (WEB / name.removeprefix("#") if name.startswith("#") else path.parent / name for name in named)
    return {str(file.resolve().relative_to(WEB)) for file in files}


def test_no_two_modules_of_the_pages_import_each_other_in_a_circle() -> None:
    paths = [path for folder in FOLDERS for path in (WEB / folder).rglob("*.ts*")]
    found = {str(path.relative_to(WEB)): imports_of(path) for path in paths}
    assert "trade/src/orders/draft.ts" in found["trade/src/orders/review.ts"]
    assert "lib/decimal.ts" in found["trade/src/orders/review.ts"]
    # It raises CycleError, which names the modules of the circle.
    TopologicalSorter(found).prepare()
