"""Find code that nothing uses. Tests and benchmarks are no use: code that only they call is dead.

Two searches. vulture finds names that stand nowhere else. A name that two modules define hides from it, so the second
search looks at imports: a module's own function, class or constant that neither the module nor an importer uses.
`dead_code.toml` lists the exceptions, each with its reason. An exception that excuses nothing is an error too.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from vulture import Vulture

ROOT = Path(__file__).resolve().parent.parent
CHECKED = "src/openspot"
USERS = (CHECKED, "tools", "integrations")
"""Everything that counts as a use."""
GENERATED = ("*/contracts/gen/*", "*/client/gen/*")
EXCEPTIONS = "tools/dead_code.toml"
RECORDS = frozenset({"BaseModel", "BaseSettings", "Struct"})
"""The fields of classes derived from these are read by what encodes and decodes them."""
CALLED_BY_FRAMEWORKS = (
    *(f"@*.{method}" for method in ("command", "callback", "delete", "get", "patch", "post", "put")),
    *("@model_validator", "@field_validator", "@BeforeValidator"),
)

Trees = dict[str, ast.Module]


class Unused(NamedTuple):
    """A name that nothing uses: the file below the repository, the line, and the name."""

    file: str
    line: int
    name: str


def parsed(root: Path = ROOT) -> Trees:
    """Every Python file that counts as a use, by its path below `root`."""
    return {
        path.relative_to(root).as_posix(): ast.parse(path.read_text("utf-8"))
        for folder in USERS
        for path in sorted((root / folder).rglob("*.py"))
        if ".venv" not in path.parts
    }


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        return _name(node.value)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def record_fields(trees: Trees) -> set[tuple[str, int]]:
    """File and line of each field of a record: a class that is derived from one of RECORDS, however far."""
    classes = [
        (file, node) for file, tree in trees.items() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    ]
    records, known = set(RECORDS), 0
    while len(records) > known:
        known = len(records)
        records |= {node.name for _, node in classes if any(_name(base) in records for base in node.bases)}
    return {
        (file, item.lineno)
        for file, node in classes
        if node.name in records
        for item in node.body
        if isinstance(item, ast.Assign | ast.AnnAssign)
    }


def unnamed(trees: Trees, root: Path = ROOT) -> Iterator[Unused]:
    """What vulture finds: names that stand nowhere else."""
    finder = Vulture(ignore_decorators=list(CALLED_BY_FRAMEWORKS))
    for file in trees:
        finder.scan((root / file).read_text("utf-8"), filename=Path(file))
    fields = record_fields(trees)
    for item in finder.get_unused_code(min_confidence=60):
        found = Unused(Path(item.filename).as_posix(), item.first_lineno, item.name)
        if (found.file, found.line) not in fields:
            yield found


def unimported(trees: Trees) -> Iterator[Unused]:
    """Functions, classes and constants of a module that neither it nor an importer uses."""
    imported: set[tuple[str, str]] = set()
    attributes = {node.attr for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    modules_as_names: set[str] = set()
    texts: set[str] = set()
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                imported |= {(node.module, alias.name) for alias in node.names}
                modules_as_names |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                modules_as_names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and ":" in node.value:
                texts.add(node.value)
    for file, tree in trees.items():
        module = file.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        for name, line in _definitions(tree):
            is_imported = (module, name) in imported or f"{module}:{name}" in texts
            by_attribute = module in modules_as_names and name in attributes
            if name not in loaded and not is_imported and not by_attribute:
                yield Unused(file, line, name)


def _definitions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            # A decorator may hand a function on, as those of commands and routes do.
            if isinstance(node, ast.ClassDef) or not node.decorator_list:
                yield node.name, node.lineno
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node.lineno
        elif isinstance(node, ast.Assign):
            yield from ((target.id, node.lineno) for target in node.targets if isinstance(target, ast.Name))


def faults(found: set[Unused], exceptions: list[dict[str, Any]]) -> list[str]:
    """A line for each dead name that no exception excuses, and for each exception that excuses nothing."""
    lines, needed = [], set()
    for item in sorted(found):
        excusing = {
            number
            for number, exception in enumerate(exceptions)
            if fnmatch(item.file, f"{CHECKED}/{exception['file']}")
            and any(fnmatch(item.name, name) for name in exception["names"])
        }
        needed |= excusing
        if not excusing:
            lines.append(f"{item.file}:{item.line}: nothing uses {item.name}")
    idle = [exception for number, exception in enumerate(exceptions) if number not in needed]
    return lines + [f"{EXCEPTIONS}: {exception['file']} {exception['names']} excuses nothing" for exception in idle]


def main() -> int:
    """Show what is dead, and what is excused for nothing; answers 1 if there is any."""
    trees = parsed()
    found = {
        item
        for item in (*unnamed(trees), *unimported(trees))
        if item.file.startswith(f"{CHECKED}/") and not any(fnmatch(item.file, pattern) for pattern in GENERATED)
    }
    lines = faults(found, tomllib.loads((ROOT / EXCEPTIONS).read_text("utf-8"))["exception"])
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
