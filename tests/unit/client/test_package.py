"""The wheel of the client alone holds all that the client imports, and asks for no package of the platform."""

import ast
import re
import sys
import tomllib
from pathlib import Path

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "src"
PROJECT = tomllib.loads((ROOT / "packages/client/pyproject.toml").read_text("utf-8"))
WITH_AIOHTTP = {"yarl"}
"""Packages that come with aiohttp, of whose interface they are a part."""


def dependencies() -> dict[str, str]:
    """The packages that the wheel needs, and the bounds of their versions."""
    found = (re.match(r"([a-z]+)(.*)", text) for text in PROJECT["project"]["dependencies"])
    return {match[1]: match[2] for match in found if match is not None}


def included() -> list[str]:
    """The files and folders of the wheel, as in `src`."""
    given: dict[str, str] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for source, target in given.items():
        assert source == f"../../src/{target}"
        assert (SOURCES / target).exists(), target
    return list(given.values())


def imports_of(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def test_the_wheel_holds_every_module_that_it_imports() -> None:
    parts = included()
    files = [
        file
        for part in parts
        for file in ([SOURCES / part] if part.endswith(".py") else (SOURCES / part).rglob("*.py"))
    ]
    modules = {".".join(file.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__") for file in files}
    packages = set(dependencies()) | WITH_AIOHTTP | set(sys.stdlib_module_names)
    assert "openspot.client.sync" in modules
    for file in files:
        for name in imports_of(file):
            if name.split(".")[0] == "openspot":
                assert name in modules, f"{file.name} imports {name}"
            else:
                assert name.split(".")[0] in packages, f"{file.name} imports {name}"


def test_the_licence_and_python_are_those_of_the_platform() -> None:
    platform = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for field in ("license", "requires-python"):
        assert PROJECT["project"][field] == platform[field]
    assert set(dependencies()) <= set(platform["dependencies"])
    assert (ROOT / "packages/client/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert PROJECT["project"]["license-files"] == ["LICENSE"]


def test_every_dependency_has_bounds_that_the_locked_version_keeps() -> None:
    locked = dict(re.findall(r"^([a-z]+)==([0-9.]+)", (ROOT / "requirements/dev.lock").read_text("utf-8"), re.M))
    for name, bounds in dependencies().items():
        assert bounds.startswith(">="), name
        assert SpecifierSet(bounds).contains(locked[name]), name


def test_the_wheel_holds_no_table_of_an_operator() -> None:
    for part in included():
        for file in [SOURCES / part] if (SOURCES / part).is_file() else (SOURCES / part).rglob("*"):
            assert file.suffix not in {".toml", ".json", ".sql"}, file
