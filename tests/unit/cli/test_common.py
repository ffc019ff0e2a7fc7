"""What every command does alike."""

from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from openspot.cli import app, common


def test_a_reason_stays_on_one_line_however_narrow_the_terminal_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(common, "error_console", Console(stderr=True, width=20))
    reason = "the account of alice is below zero: see `openspot reconcile`"
    assert common.fail(reason).exit_code == 1
    assert capsys.readouterr().err == f"openspot: {reason}\n"


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ("--address=somewhere", "--address must be an IP address"),
        ("--request-id=a'b", "--request-id must have 1 to 64 letters, digits, - or _"),
        (f"--request-id={'a' * 65}", "--request-id must have 1 to 64 letters, digits, - or _"),
    ],
)
def test_a_booking_takes_no_origin_that_is_none(capsys: pytest.CaptureFixture[str], given: str, wrong: str) -> None:
    outcome = CliRunner().invoke(app, ["ledger", "book-adjustments", "--reason=the ledger lacks it", given])
    assert outcome.exit_code == 2
    assert outcome.stderr + capsys.readouterr().err == f"openspot: {wrong}\n"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("reconcile", 2),
        ("ledger rebuild", 2),
        ("ledger book-adjustments --plan", 2),
        ("positions rebuild", 2),
        ("market-data verify", 2),
        ("reserves list", 1),
        ("secrets reseal", 1),
    ],
)
def test_a_command_that_needs_the_database_says_that_nothing_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, code: int
) -> None:
    monkeypatch.setenv("OPENSPOT_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    outcome = CliRunner().invoke(app, command.split())
    assert outcome.exit_code == code
    said = f"openspot: nothing runs for {tmp_path}: `openspot up` starts it; or set DATABASE_URL\n"
    assert outcome.stderr + capsys.readouterr().err == said
