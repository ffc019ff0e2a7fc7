"""make_core returns the chosen core or fails. Only `auto` falls back to the reference."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from openspot.engine.core.selection import CoreUnavailableError, make_core

RUST_IS_INSTALLED = importlib.util.find_spec("openspot_matching") is not None


@pytest.fixture
def without_rust(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulates a machine without the wheel."""
    monkeypatch.setitem(sys.modules, "openspot_matching", None)
    monkeypatch.delitem(sys.modules, "openspot.engine.core.rust_core", raising=False)


def test_the_reference_is_the_reference() -> None:
    assert make_core("reference").name == "reference"


@pytest.mark.skipif(not RUST_IS_INSTALLED, reason="the fast core is not installed: `make core` builds it")
@pytest.mark.parametrize("choice", ["rust", "auto"])
def test_rust_is_taken_where_its_wheel_is_installed(choice: str) -> None:
    assert make_core(choice).name == "rust"


@pytest.mark.skipif(not RUST_IS_INSTALLED, reason="the fast core is not installed: `make core` builds it")
def test_rust_cores_can_be_made_in_threads_that_come_and_go() -> None:
    made = """
import threading
from openspot.engine.core.selection import make_core
for _ in range(100):
    thread = threading.Thread(target=make_core, args=("rust",))
    thread.start()
    thread.join()
"""
    # With large pages, as the engine has them: the fault of an allocator ends the process.
    environment = {name: value for name, value in os.environ.items() if name != "MIMALLOC_ALLOW_THP"}
    assert subprocess.run([sys.executable, "-c", made], env=environment, check=False).returncode == 0


@pytest.mark.usefixtures("without_rust")
def test_auto_takes_the_reference_where_the_wheel_is_missing() -> None:
    assert make_core("auto").name == "reference"


@pytest.mark.usefixtures("without_rust")
def test_rust_without_its_wheel_is_an_error_that_says_how_to_build_it() -> None:
    with pytest.raises(CoreUnavailableError, match="make core"):
        make_core("rust")


@pytest.mark.parametrize("choice", ["rust", "auto"])
def test_a_wheel_that_does_not_load_is_an_error(choice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "openspot_matching.py").write_text("raise ImportError('built for another machine')", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "openspot_matching", raising=False)
    monkeypatch.delitem(sys.modules, "openspot.engine.core.rust_core", raising=False)
    with pytest.raises(ImportError, match="built for another machine"):
        make_core(choice)


def test_an_unknown_choice_is_an_error() -> None:
    with pytest.raises(ValueError, match="auto, rust, reference"):
        make_core("fast")


def test_each_core_is_a_new_one() -> None:
    assert make_core("reference") is not make_core("reference")
