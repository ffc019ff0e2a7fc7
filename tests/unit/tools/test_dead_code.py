"""The search for dead code finds what only tests use, and excuses only what is listed and dead."""

import ast

import pytest
from dead_code import Unused, faults, record_fields, unimported

FILE = "src/openspot/a.py"


def found(text: str, user: str = "") -> list[str]:
    trees = {FILE: ast.parse(text), "src/openspot/b.py": ast.parse(user)}
    return [item.name for item in unimported(trees) if item.file == FILE]


@pytest.mark.parametrize(
    ("text", "user", "dead"),
    [
        ("def replay(): pass", "", ["replay"]),
        ("def replay(): pass", "def replay(): pass\nreplay()", ["replay"]),
        ("def replay(): pass", "from openspot.a import replay", []),
        ("def replay(): pass", "from openspot import a\na.replay()", []),
        ("def replay(): pass\nreplay()", "", []),
        ("def documented(): pass", 'HTTP = "openspot.a:documented"', []),
        ("SOURCES = (1, 2)", "SOURCES = 3\nprint(SOURCES)", ["SOURCES"]),
        ("class Lot: pass", "", ["Lot"]),
        ("@app.get('/x')\ndef show(): pass", "", []),
    ],
)
def test_a_definition_is_dead_unless_its_module_or_an_importer_uses_it(text: str, user: str, dead: list[str]) -> None:
    assert found(text, user) == dead


def test_fields_of_records_are_no_dead_code_and_those_of_other_classes_may_be() -> None:
    text = "class A(Struct):\n    x: int\nclass B(A):\n    y: int\nclass C(Other):\n    z: int"
    assert record_fields({FILE: ast.parse(text)}) == {(FILE, 2), (FILE, 4)}


def test_an_exception_excuses_its_name_in_its_file_and_an_idle_one_is_a_fault() -> None:
    dead = {Unused(FILE, 3, "run"), Unused(FILE, 4, "walk")}
    exceptions = [{"file": "a.py", "names": ["run"]}, {"file": "b.py", "names": ["walk"]}]
    assert faults(dead, exceptions) == [
        f"{FILE}:4: nothing uses walk",
        "tools/dead_code.toml: b.py ['walk'] excuses nothing",
    ]
