"""docs/conformance.md: each fact of docs/facts.md with the tests that name it.

Python tests name facts with `@pytest.mark.spec("A1.4-02", …)`, Rust and browser tests with a comment `spec: A1.4-02`.
`@pytest.mark.spec("A1.5-01", side="consumer")` says that the fact is proved from the consumer's side only: the service
that publishes the event or sends the request is not built yet, and the test stands in for it. One such mark is enough;
take the keyword away when the service is there.

A test with `@pytest.mark.proof`, or of a file with `pytestmark = pytest.mark.proof`, or in Rust, runs in `make proof`
only; the page says so. Every fact of money, orders and matching is proved in `make test`.

`--check` writes nothing and fails on an unknown id, an unknown side, a fact of money, orders or matching that only
`make proof` proves, or an out-of-date page.
"""

import argparse
import ast
import itertools
import os
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FACTS = ROOT / "docs/facts.md"
PAGE = ROOT / "docs/conformance.md"
FACT_ROW = re.compile(r"^\| ([AB][\d.]*-\d+) \| (.*) \| (\w+) \|$")
FACT_ID = re.compile(r"[AB]\d(?:\.\d)?-\d{2}")
COMMENT = re.compile(r"spec: ((?:[AB]\d(?:\.\d)?-\d{2}[, ]*)+)")


CONSUMER = "consumer"
SPEC, PROOF = "pytest.mark.spec", "pytest.mark.proof"
PROVED_IN_MAKE_TEST = ("A1", "A2", "A3", "A6.4")
"""The sections about money, orders and matching."""


class Mark(NamedTuple):
    """A test that names a fact. `side` is CONSUMER, or None if the whole fact is proved.

    `is_proof` tells that the test runs in `make proof` only.
    """

    fact_id: str
    test: str
    side: str | None = None
    is_proof: bool = False


class Fact(NamedTuple):
    """One numbered statement of the two documents."""

    fact_id: str
    text: str
    kind: str
    section: str


def read_facts() -> list[Fact]:
    """The facts in the order of the page, each with its section's title."""
    facts, section = [], ""
    for line in FACTS.read_text("utf-8").splitlines():
        if line.startswith("### "):
            section = line.removeprefix("### ")
        elif match := FACT_ROW.match(line):
            facts.append(Fact(match[1], match[2], match[3], section))
    return facts


def python_marks(path: Path) -> list[Mark]:
    """Every spec marker in a Python file, on a test or on one of its cases.

    Cases may stand in a list of the module. Then the mark belongs to each test whose decorators use the list.
    Raises ValueError for a mark that no test has.
    """
    marks: list[Mark] = []
    source = path.read_text("utf-8")
    if SPEC not in source:
        return marks
    tree = ast.parse(source)
    owners: dict[ast.AST, list[str]] = defaultdict(list)
    lists = {
        target.id: list(ast.walk(node.value))
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    is_proof = _is_proof_file(tree)
    proofs: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if PROOF in map(ast.unparse, node.decorator_list):
                proofs.add(node.name)
            for decorator in node.decorator_list:
                own = list(ast.walk(decorator))
                used = [lists.get(name.id, []) for name in own if isinstance(name, ast.Name)]
                for part in itertools.chain(own, *used):
                    owners[part].append(node.name)
    for node in ast.walk(tree):
        # To unparse every call would take seconds.
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "spec":
            continue
        if ast.unparse(node.func) == SPEC:
            if not owners[node]:
                raise ValueError(f"{path.name}:{node.lineno}: no test has this mark")
            side = next((ast.literal_eval(keyword.value) for keyword in node.keywords if keyword.arg == "side"), None)
            facts = [str(argument.value) for argument in node.args if isinstance(argument, ast.Constant)]
            marks += [
                Mark(fact_id, owner, side, is_proof or owner in proofs) for owner in owners[node] for fact_id in facts
            ]
    return marks


def _is_proof_file(tree: ast.Module) -> bool:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            return PROOF in ast.unparse(node.value)
    return False


def commented_marks(path: Path) -> list[Mark]:
    """Every `spec:` comment in another file, which stands for the test."""
    found = COMMENT.findall(path.read_text("utf-8"))
    return [Mark(fact_id, path.name) for group in found for fact_id in FACT_ID.findall(group)]


def _own_files(folder: Path) -> list[Path]:
    """The files below a folder, without the tens of thousands of packages and of what was built."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = set(folders) - {"node_modules", "target"}
        found += (Path(place) / name for name in names)
    return sorted(found)


def read_marks() -> dict[str, list[Mark]]:
    """Marks by fact id, each with the test's path and name."""
    marks: dict[str, list[Mark]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for mark in python_marks(path):
            marks[mark.fact_id].append(mark._replace(test=f"`{path.relative_to(ROOT / 'tests')}::{mark.test}`"))
    for folder, endings in (("rust", (".rs",)), ("web", (".ts", ".tsx")), ("tests/browser", (".ts",))):
        for path in _own_files(ROOT / folder):
            if path.suffix in endings:
                for mark in commented_marks(path):
                    test = f"`{folder}/…/{mark.test}`"
                    marks[mark.fact_id].append(mark._replace(test=test, is_proof=folder == "rust"))
    return marks


def state_of(fact: Fact, marks: list[Mark]) -> str:
    """How far a fact is proved, as the page says it."""
    if fact.kind == "outside":
        return "outside"
    if not marks:
        return "**uncovered**"
    return "consumer's side" if any(mark.side == CONSUMER for mark in marks) else "covered"


def render(facts: list[Fact], marks: dict[str, list[Mark]]) -> str:
    """The page."""
    testable = [fact for fact in facts if fact.kind != "outside"]
    states = {fact.fact_id: state_of(fact, marks.get(fact.fact_id, [])) for fact in facts}
    named = [fact for fact in testable if fact.fact_id in marks]
    consumer_only = [fact.fact_id for fact in testable if states[fact.fact_id] == "consumer's side"]
    in_make_test = {fact.fact_id for fact in named if not all(mark.is_proof for mark in marks[fact.fact_id])}
    lines = [
        "# Conformance",
        "",
        "Generated by `make conformance` from [facts.md](facts.md) and the tests' markers; not edited by hand.",
        "",
        f"{len(named)} of {len(testable)} testable facts are named by a test: {len(in_make_test)} by a test that "
        "`make test` runs, the others by tests that take longer and run in `make proof` (marked *proof*). Every fact "
        "of money, orders and matching (sections A1 to A3 and A6.4) is proved in `make test`.",
        "",
        f"{len(consumer_only)} of these are proved "
        "from the consumer's side only: the service that publishes the event or sends the request is not built yet "
        "([deviations.md](deviations.md)), and the test stands in for it.",
        "",
        "| Section | Facts | Named by a test | Of these, in `make test` | Consumer's side only |",
        "|---|---|---|---|---|",
    ]
    sections = list(dict.fromkeys(fact.section for fact in facts))
    for section in sections:
        mine = [fact for fact in testable if fact.section == section]
        tested = sum(fact.fact_id in marks for fact in mine)
        one_sided = sum(fact.fact_id in consumer_only for fact in mine)
        quick = sum(fact.fact_id in in_make_test for fact in mine)
        lines.append(f"| {section} | {len(mine)} | {tested} | {quick} | {one_sided or ''} |")
    for section in sections:
        lines += ["", f"## {section}", "", "| Fact | Kind | Statement | State | Tests |", "|---|---|---|---|---|"]
        for fact in (fact for fact in facts if fact.section == section):
            tests = list(dict.fromkeys(_shown(mark) for mark in marks.get(fact.fact_id, [])))
            state = states[fact.fact_id]
            lines.append(f"| {fact.fact_id} | {fact.kind} | {fact.text} | {state} | {', '.join(tests)} |")
    return "\n".join(lines) + "\n"


def _shown(mark: Mark) -> str:
    return f"{mark.test} *(proof)*" if mark.is_proof else mark.test


def proved_late(facts: list[Fact], marks: dict[str, list[Mark]]) -> list[str]:
    """The facts of money, orders and matching that only `make proof` proves."""
    return [
        fact.fact_id
        for fact in facts
        if fact.fact_id.startswith(PROVED_IN_MAKE_TEST)
        and marks.get(fact.fact_id)
        and all(mark.is_proof for mark in marks[fact.fact_id])
    ]


def main() -> int:
    """Write or check the page.

    Returns 1 for an unknown id or side, for a fact that is proved too late and, with --check, for a page that is out of
    date.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    facts, marks = read_facts(), read_marks()
    unknown = sorted(set(marks) - {fact.fact_id for fact in facts})
    for fact_id in unknown:
        print(f"unknown fact {fact_id}, named by {', '.join(mark.test for mark in marks[fact_id])}", file=sys.stderr)
    strange = [mark for named in marks.values() for mark in named if mark.side not in (None, CONSUMER)]
    for mark in strange:
        print(f"unknown side {mark.side!r} of {mark.fact_id}, in {mark.test}", file=sys.stderr)
    late = proved_late(facts, marks)
    for fact_id in late:
        print(f"{fact_id} is proved in `make proof` only: it belongs into `make test`", file=sys.stderr)
    if unknown or strange or late:
        return 1
    page = render(facts, marks)
    if check:
        if not PAGE.exists() or PAGE.read_text("utf-8") != page:
            print("docs/conformance.md is out of date: run `make conformance`", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(page, "utf-8")
    covered = sum(fact.fact_id in marks for fact in facts)
    print(f"docs/conformance.md: {covered} of {len(facts)} facts are named by a test")
    return 0


if __name__ == "__main__":
    sys.exit(main())
