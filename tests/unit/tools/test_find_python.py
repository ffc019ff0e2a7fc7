"""Which Python the project is set up with, where nobody has named one."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import find_python
import pytest
import setup

from openspot.up.interpreter import Build, slow_build

ROOT = Path(__file__).resolve().parents[3]


def python(path: Path, *, is_fast: bool) -> Path:
    """A program that says of itself whether it is fast, and that runs anything else."""
    path.write_text(f'#!/bin/sh\ntest -z "$3" || exit {0 if is_fast else 1}\n', "utf-8")
    path.chmod(0o700)
    return path


@pytest.fixture
def pythons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The Python that asks, which is slow, and the system's, which is fast."""
    asking, system = python(tmp_path / "asking", is_fast=False), python(tmp_path / "system", is_fast=True)
    monkeypatch.setattr(find_python.sys, "executable", str(asking))
    monkeypatch.setattr(find_python, "SYSTEM_PYTHON", system)
    return asking, system


def environment(folder: Path, python: Path) -> Path:
    """A virtual environment that was made of a Python."""
    made = folder / ".venv"
    made.mkdir()
    (made / "pyvenv.cfg").write_text(f"home = {python.parent}\nversion = 3.11.7\nexecutable = {python}\n", "utf-8")
    return made


def test_a_slow_python_gives_way_to_a_fast_one_of_the_system(tmp_path: Path, pythons: tuple[Path, Path]) -> None:
    assert find_python.python_to_use(tmp_path / ".venv") == pythons[1]


def test_a_fast_python_is_used_itself(tmp_path: Path, pythons: tuple[Path, Path]) -> None:
    python(pythons[0], is_fast=True)
    assert find_python.python_to_use(tmp_path / ".venv") == pythons[0]


def test_a_slow_python_is_used_where_the_systems_is_slow_too_or_is_not_there(
    tmp_path: Path, pythons: tuple[Path, Path]
) -> None:
    asking, system = pythons
    python(system, is_fast=False)
    assert find_python.python_to_use(tmp_path / ".venv") == asking
    system.unlink()
    assert find_python.python_to_use(tmp_path / ".venv") == asking


def test_an_environment_keeps_its_python(tmp_path: Path, pythons: tuple[Path, Path]) -> None:
    third = python(tmp_path / "third", is_fast=False)
    made = environment(tmp_path, third)
    assert find_python.python_to_use(made) == third
    third.unlink()
    assert find_python.python_to_use(made) == pythons[1]


@pytest.mark.skipif(find_spec("ensurepip") is None, reason="a Python without ensurepip is not used")
def test_a_python_judges_its_build_as_the_platform_does() -> None:
    assert find_python._is_fast(Path(sys.executable)) == (slow_build(Build.of_this_python()) is None)


def test_the_set_up_goes_on_with_another_python_and_the_same_options(
    tmp_path: Path, pythons: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asking, system = pythons
    run: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda program, arguments: run.append([str(program), *arguments]))
    monkeypatch.setattr(sys, "argv", ["tools/setup.py", "--development", "--find-python"])
    monkeypatch.setattr(setup, "PYTHON", tmp_path / ".venv/bin/python")
    setup.go_on_with(asking)
    assert run == []
    setup.go_on_with(system)
    assert run == [[str(system), str(system), "tools/setup.py", "--development"]]
    said = capsys.readouterr().out
    assert said == f"set-up: with {system}, which is faster than {asking}; PYTHON=… names another\n"


@pytest.mark.parametrize(("arguments", "looks"), [((), True), (("PYTHON=python3.12",), False)])
def test_make_looks_for_a_python_unless_one_is_named(arguments: tuple[str, ...], looks: bool) -> None:
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHON", "MAKEFLAGS")}
    asked = subprocess.run(
        ["make", "--dry-run", "setup", *arguments],
        cwd=ROOT, env=variables, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert ("--find-python" in asked.stdout) == looks
