"""Which Chromium is found or installed, with programs that stand for browsers and for the package manager."""

import os
import shutil
from pathlib import Path

import browser
import pytest

PACKAGE_MANAGER = """#!/bin/sh
echo "$*" >> {log}
case "$*" in
    *chromium-headless-shell*) {outcome} ;;
    *install*) exit 1 ;;
esac
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of all programs, for a user who is root."""
    folder, environment, tools = tmp_path / "bin", tmp_path / "venv", tmp_path / "tools"
    folder.mkdir()
    tools.mkdir()
    chmod = shutil.which("chmod")
    assert chmod is not None
    # The folder of the system may have a browser.
    (tools / "chmod").symlink_to(chmod)
    monkeypatch.setenv("PATH", f"{folder}:{tools}")
    monkeypatch.delenv("OPENSPOT_CHROMIUM", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(browser, "NAMES", ("chromium-headless-shell", "chromium"))
    monkeypatch.setattr(browser, "COMPLETE", ("complete-chromium",))
    monkeypatch.setattr(browser, "VENV", environment)
    monkeypatch.setattr(browser, "UNPACKED", environment / "chromium")
    monkeypatch.setattr(browser, "TRIED", environment / "tried")
    return folder


def program(path: Path, text: str = "#!/bin/sh\n") -> str:
    """A program that ends at once."""
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def package_manager(programs: Path, outcome: str) -> Path:
    """A package manager that has one package; returns what it was told, a line a call."""
    log = programs / "apt.log"
    program(programs / "apt-get", PACKAGE_MANAGER.format(log=log, outcome=outcome))
    return log


def test_a_browser_without_windows_is_installed_beside_a_complete_one(programs: Path) -> None:
    program(programs / "chromium")
    shell = programs / "chromium-headless-shell"
    log = package_manager(programs, f"printf '#!/bin/sh\\n' > {shell}; chmod 755 {shell}")
    assert browser.find_or_install() == str(shell)
    assert len(log.read_text().splitlines()) == 1
    assert browser.find_or_install() == str(shell)
    assert len(log.read_text().splitlines()) == 1


def test_a_complete_browser_is_used_where_the_other_cannot_be_had_and_asked_for_once(programs: Path) -> None:
    complete = program(programs / "chromium")
    log = package_manager(programs, "exit 100")
    assert browser.find_or_install() == complete
    called = log.read_text().splitlines()
    assert [line.split()[-1] for line in called] == ["chromium-headless-shell", "update", "chromium-headless-shell"]
    assert browser.find_or_install() == complete
    assert log.read_text().splitlines() == called


def test_nothing_is_installed_beside_a_chosen_browser_or_by_a_user(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete = program(programs / "chromium")
    log = package_manager(programs, "exit 0")
    with monkeypatch.context() as choice:
        choice.setenv("OPENSPOT_CHROMIUM", complete)
        assert browser.find_or_install() == complete
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert browser.find_or_install() == complete
    assert not log.exists()


def test_a_complete_browser_is_found_beside_the_other(programs: Path) -> None:
    program(programs / "chromium-headless-shell")
    package_manager(programs, "exit 100")
    with pytest.raises(browser.BrowserError, match="no complete Chromium"):
        browser.complete()
    complete = program(programs / "complete-chromium")
    assert browser.complete() == complete
