"""What the set-up decides: what is still to be done, who installs, and what follows a failure.

Stand-ins for uv, pip and cargo note their arguments. The real ones take minutes and the network.
"""

import io
import json
import os
import stat
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest
import setup
from pip_settings import UvOptions
from progress import Part, Progress
from setup import SetupError, Tools

INTERPRETER = sys.executable


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without packages in it, in place of this one."""
    root = tmp_path / "project"
    (root / ".venv/bin").mkdir(parents=True)
    (root / "requirements").mkdir()
    (root / "rust/matching/src").mkdir(parents=True)
    for name in ("run", "venue", "dev", "installer", "build"):
        (root / f"requirements/{name}.lock").write_text(f"{name}==1\n", "utf-8")
    (root / "pyproject.toml").write_text("", "utf-8")
    (root / "rust/matching/src/lib.rs").write_text("", "utf-8")
    monkeypatch.setattr(setup, "ROOT", root)
    monkeypatch.setattr(setup, "VENV", root / ".venv")
    monkeypatch.setattr(setup, "PYTHON", root / ".venv/bin/python")
    monkeypatch.setattr(setup, "REQUIREMENTS", root / "requirements")
    monkeypatch.setattr(setup, "CORE", root / "rust/matching")
    monkeypatch.setattr(setup, "TOOLS", root / ".venv/tools")
    monkeypatch.setattr(setup, "UV", root / ".venv/tools/bin/uv")
    return root


@pytest.fixture
def part() -> Part:
    """A part of a job whose output nobody reads."""
    return Progress("set-up", io.StringIO()).part("packages")


def make_program(path: Path, code: int = 0, last_line: str = "") -> Path:
    """A program that notes its arguments and PYTHONPATH beside itself, prints a line and ends with `code`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"#!{INTERPRETER}\n"
        "import json, os, sys\n"
        f"with open({str(path) + '.calls'!r}, 'a') as file:\n"
        "    file.write(json.dumps([sys.argv[1:], os.environ.get('PYTHONPATH'), os.environ.get('UV_INDEX')]) + '\\n')\n"
        f"print({last_line!r})\n"
        f"sys.exit({code})\n",
        "utf-8",
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def installs(path: Path) -> list[list[str]]:
    """The arguments of each call of a Python that installs something with pip."""
    return [arguments for arguments in calls(path) if "install" in arguments]


def calls(path: Path) -> list[list[str]]:
    """The arguments of each call of a program."""
    return [call[0] for call in notes(path)]


def notes(path: Path) -> list[tuple[list[str], str | None, str | None]]:
    """Arguments, PYTHONPATH and UV_INDEX of each call of a program."""
    file = path.with_name(path.name + ".calls")
    return [tuple(json.loads(line)) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


def missing(*, development: bool = False, venue: bool = False) -> str:
    return setup.missing_packages(development, venue)


def test_packages_are_installed_again_when_the_lock_file_changes(project: Path) -> None:
    assert missing() == "run.lock"
    setup.note_done("packages", setup.packages_digest("run.lock"))
    assert missing() == ""
    assert missing(venue=True) == "venue.lock"
    assert missing(development=True) == "dev.lock"
    (project / "requirements/run.lock").write_text("run==2\n", "utf-8")
    assert missing() == "run.lock"


def test_the_packages_of_the_venue_adapter_include_those_of_every_run(project: Path) -> None:
    setup.note_done("packages-venue", setup.packages_digest("venue.lock"))
    assert missing() == missing(venue=True) == ""
    assert missing(development=True) == "dev.lock"
    (project / "requirements/venue.lock").write_text("venue==2\n", "utf-8")
    assert (missing(), missing(venue=True)) == ("run.lock", "venue.lock")


def test_the_packages_of_development_include_the_others(project: Path) -> None:
    setup.note_done("packages-development", setup.packages_digest("dev.lock"))
    assert missing() == missing(venue=True) == missing(development=True) == ""
    (project / "pyproject.toml").write_text("[project]\n", "utf-8")
    assert missing(development=True, venue=True) == "dev.lock"


def test_the_core_is_built_again_when_a_source_changes(project: Path) -> None:
    setup.note_done("core", setup.core_digest())
    assert setup.is_done("core", setup.core_digest())
    (project / "rust/matching/src/lib.rs").write_text("// changed", "utf-8")
    assert not setup.is_done("core", setup.core_digest())


def test_cargo_is_found_where_its_installer_puts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert setup.cargo_path() is None
    cargo = make_program(tmp_path / ".cargo/bin/cargo")
    assert setup.cargo_path() == str(cargo)


def test_uv_installs_with_the_options_of_pip_and_without_the_build_tools_on_its_path(part: Part) -> None:
    uv, python = make_program(setup.UV), make_program(setup.PYTHON)
    tools = Tools(UvOptions({"UV_INDEX": "https://two/simple"}, ("--no-index",)), has_uv=True, has_build_tools=True)
    tools.install(part, "--require-hashes", "-r", "run.lock")
    ((arguments, python_path, index),) = notes(uv)
    expected = ["pip", "install", "--python", str(python), "--compile-bytecode", "--no-index"]
    assert arguments == [*expected, "--require-hashes", "-r", "run.lock"]
    # pip and uv would count the build tools as packages that are installed already.
    assert python_path == os.environ.get("PYTHONPATH")
    assert index == "https://two/simple"
    assert calls(python) == []


@pytest.mark.parametrize(("lock", "compiles"), [("run.lock", True), ("dev.lock", False)])
def test_the_packages_of_development_are_compiled_when_they_are_imported(part: Part, lock: str, compiles: bool) -> None:
    uv, python = make_program(setup.UV), make_program(setup.PYTHON)
    setup.install_packages(part, Tools(has_uv=True), lock)
    by_uv = [arguments for arguments, *_ in notes(uv) if "--require-hashes" in arguments]
    setup.install_packages(part, Tools(), lock)
    by_pip = [arguments for arguments in calls(python) if "--require-hashes" in arguments]
    assert ["--compile-bytecode" in arguments for arguments in by_uv] == [compiles]
    assert ["--no-compile" in arguments for arguments in by_pip] == [not compiles]


def test_what_has_to_be_built_finds_the_locked_build_tools(part: Part) -> None:
    uv = make_program(setup.UV)
    Tools(has_uv=True, has_build_tools=True).install(part, "--no-deps", "--editable", "x", builds=True)
    ((arguments, python_path, _),) = notes(uv)
    assert arguments[-1] == "--no-build-isolation"
    assert (python_path or "").split(os.pathsep)[0] == str(setup.TOOLS)


def test_pip_takes_over_once_uv_has_failed(part: Part) -> None:
    uv, python = make_program(setup.UV, 2, "no such option"), make_program(setup.PYTHON)
    tools = Tools(has_uv=True)
    tools.install(part, "-r", "run.lock")
    tools.install(part, "--reinstall", "core.whl")
    assert len(calls(uv)) == 1
    assert [arguments[-2:] for arguments in installs(python)] == [["-r", "run.lock"], ["--force-reinstall", "core.whl"]]


def test_a_uv_that_cannot_be_started_is_replaced_by_pip(part: Part) -> None:
    setup.UV.parent.mkdir(parents=True)
    setup.UV.write_bytes(b"\x7fELF of another processor")
    setup.UV.chmod(0o755)
    python = make_program(setup.PYTHON)
    Tools(has_uv=True).install(part, "-r", "run.lock")
    assert len(installs(python)) == 1


def test_when_pip_fails_too_its_last_lines_and_a_remedy_are_told(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "add_pip", lambda _: None)
    make_program(setup.UV, 2, "uv is sad")
    make_program(setup.PYTHON, 1, "ERROR: No matching distribution found for aiohttp")
    with pytest.raises(SetupError, match=r"No matching distribution found for aiohttp(.|\n)*pip config list"):
        Tools(has_uv=True).install(part, "-r", "run.lock")


def stand_in_python(monkeypatch: pytest.MonkeyPatch, path: Path, code: int = 0) -> Path:
    """A Python that runs this set-up, in place of the real one."""
    python = make_program(path, code)
    monkeypatch.setattr(sys, "executable", str(python))
    return python


def test_uv_comes_from_its_own_lock_file_and_brings_the_build_tools(
    part: Part, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = stand_in_python(monkeypatch, tmp_path / "python")
    uv = make_program(tmp_path / "wheel/bin/uv")

    def install(self: Part, command: list[object], **_: object) -> None:
        words = [str(word) for word in command]
        commands.append(words)
        if words[0] == str(python):  # as pip would
            uv.parent.parent.rename(setup.TOOLS)

    commands: list[list[str]] = []
    monkeypatch.setattr(Part, "run", install)
    tools = setup.make_tools(part)
    assert (tools.has_uv, tools.has_build_tools) == (True, True)
    by_pip, by_uv = commands
    assert by_pip[-3:] == ["--require-hashes", "-r", str(setup.REQUIREMENTS / "installer.lock")]
    assert "--only-binary" in by_pip
    assert by_uv[0] == str(setup.UV)
    assert by_uv[-3:] == ["--require-hashes", "-r", str(setup.REQUIREMENTS / "build.lock")]

    commands.clear()
    again = setup.make_tools(part)
    assert (again.has_uv, again.has_build_tools, commands) == (True, True, [])


def test_without_a_wheel_of_uv_pip_installs(part: Part, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = stand_in_python(monkeypatch, tmp_path / "python")
    make_program(python, 1, "ERROR: No matching distribution found for uv")
    assert setup.make_tools(part) == Tools()


def test_pip_is_added_to_the_environment_if_this_python_has_none(
    part: Part, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in_python(monkeypatch, tmp_path / "python")
    monkeypatch.setattr(setup, "find_spec", lambda name: None)
    monkeypatch.setattr(setup, "works", lambda *_: False)
    make_program(setup.PYTHON)
    make_program(setup.UV)
    monkeypatch.setattr(setup.shutil, "rmtree", lambda *_, **__: None)
    setup.make_tools(part)
    commands = [arguments[:4] for arguments in calls(setup.PYTHON)]
    assert commands[0] == ["-m", "ensurepip", "--default-pip"]
    assert [*setup.PIP, "install"] in commands


def test_a_python_that_can_add_no_pip_is_told_with_the_package_that_brings_it(part: Part) -> None:
    make_program(setup.PYTHON, 1, "No module named ensurepip")
    with pytest.raises(SetupError, match=r"No module named ensurepip(.|\n)*python3-venv"):
        setup.add_pip(part)


def test_an_environment_whose_python_is_gone_is_made_anew(project: Path) -> None:
    assert not setup.is_usable()
    setup.note_done("packages", setup.packages_digest("run.lock"))
    setup.make_environment()
    assert setup.is_usable()
    assert missing() == "run.lock"


def failed(reason: str) -> Future[Path]:
    future: Future[Path] = Future()
    future.set_exception(setup.CommandFailedError(["maturin"], reason, ["error: linker `cc` not found"]))
    return future


def test_a_core_that_cannot_be_built_is_told_with_its_last_lines(
    part: Part, capsys: pytest.CaptureFixture[str]
) -> None:
    assert setup.core_wheel(part, failed("ended with code 1"), required=False) is None
    printed = capsys.readouterr().out
    assert "error: linker `cc` not found" in printed
    assert "the Python reference core runs instead" in printed
    assert "make core" in printed


def test_a_core_that_is_required_and_cannot_be_built_ends_the_set_up(part: Part) -> None:
    with pytest.raises(SetupError, match=r"linker `cc` not found(.|\n)*could not be built"):
        setup.core_wheel(part, failed("ended with code 1"), required=True)


@pytest.mark.parametrize(("arguments", "code"), [([], 0), (["--core"], 1)])
def test_without_cargo_the_set_up_says_so_and_fails_only_if_the_core_is_asked_for(
    arguments: list[str], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["setup.py", *arguments])
    monkeypatch.setattr(setup, "cargo_path", lambda: None)
    monkeypatch.setattr(setup.signal, "signal", lambda *_: None)
    make_program(setup.PYTHON)
    setup.note_done("packages", setup.packages_digest("run.lock"))
    if code:
        with pytest.raises(SystemExit, match="no Rust toolchain here"):
            setup.main()
    else:
        setup.main()
        assert "no Rust toolchain here: the Python reference core runs instead" in capsys.readouterr().out
