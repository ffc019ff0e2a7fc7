"""The warning about a slow build of Python comes where it is true, and nowhere else."""

from dataclasses import replace

import pytest

from openspot.up.interpreter import SLOW_BUILD, Build, slow_build

PYENV = Build(
    "cpython",
    "linux",
    "3.11.7 (main, Jan 15 2024, 10:00:00) [GCC 12.2.0]",
    "/home/trader/.pyenv/versions/3.11.7",
    "'--prefix=/home/trader/.pyenv/versions/3.11.7' '--enable-shared' 'CPPFLAGS=-I/include'",
)
DEBIAN = (
    "'--enable-shared' '--prefix=/usr' '--enable-ipv6' '--with-computed-gotos' 'CFLAGS=-g -fstack-protector-strong'"
)


def test_a_build_without_a_profile_is_slow_and_the_line_says_what_to_install() -> None:
    line = slow_build(PYENV)
    assert line == SLOW_BUILD
    assert "\n" not in line
    assert "uv" in line
    assert "make setup PYTHON=" in line


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(replace(PYENV, arguments="'--enable-optimizations' '--with-lto'"), id="with a profile"),
        pytest.param(replace(PYENV, prefix="/usr", arguments=DEBIAN), id="Debian's, with a profile that is not shown"),
        pytest.param(replace(PYENV, version="3.11.7 | packaged by conda-forge | (main)"), id="conda"),
        pytest.param(replace(PYENV, arguments=None), id="unknown arguments"),
        pytest.param(replace(PYENV, arguments=""), id="no arguments"),
        pytest.param(replace(PYENV, arguments=0), id="arguments that are no text"),
        pytest.param(replace(PYENV, platform="win32"), id="Windows"),
        pytest.param(replace(PYENV, platform="darwin"), id="macOS"),
        pytest.param(replace(PYENV, implementation="pypy"), id="another implementation"),
    ],
)
def test_no_other_build_is_called_slow(build: Build) -> None:
    assert slow_build(build) is None


def test_the_build_of_this_python_can_be_told() -> None:
    build = Build.of_this_python()
    assert build.implementation
    assert slow_build(build) in (None, SLOW_BUILD)
