"""Every error code and every setting is named in some test."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import openspot
from openspot.contracts.refusals import RefusalCode
from openspot.kit.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
REFUSALS = re.compile(r"(?:Error|unavailable)$")
"""The names of what is raised or sent with a code."""


@cache
def words_of_tests() -> frozenset[str]:
    """Every word in the tests but this file, in small letters and without the prefix of settings."""
    found: set[str] = set()
    for path in (ROOT / "tests").rglob("*.py"):
        if path != Path(__file__).resolve():
            found.update(re.findall(r"\w+", path.read_text("utf-8").lower()))
    return frozenset(found | {word.removeprefix("openspot_") for word in found})


def raised_codes() -> Iterator[str]:
    """The codes in the code: whatever an error is made with that looks like one, and the refusals of services."""
    for path in sorted((ROOT / "src/openspot").rglob("*.py")):
        if "gen" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and REFUSALS.search(ast.unparse(node.func)):
                for value in (*node.args, *(keyword.value for keyword in node.keywords)):
                    if isinstance(value, ast.Constant) and isinstance(value.value, str) and CODE.fullmatch(value.value):
                        yield value.value
    yield from (code.name for code in RefusalCode)


def setting_names() -> Iterator[str]:
    """The settings of every process."""
    for module in pkgutil.walk_packages(openspot.__path__, "openspot."):
        if module.name.endswith("settings"):
            importlib.import_module(module.name)
    classes = [Settings]
    while classes:
        found = classes.pop()
        classes += found.__subclasses__()
        if found.__module__.startswith("openspot."):
            yield from found.model_fields


def test_every_error_code_is_named_in_a_test() -> None:
    assert not {code for code in raised_codes() if code.lower() not in words_of_tests()}


def test_every_setting_is_named_in_a_test() -> None:
    assert not {name for name in setting_names() if name not in words_of_tests()}
