"""What every command does alike."""

import pytest
from rich.console import Console

from openspot.cli import common


def test_a_reason_stays_on_one_line_however_narrow_the_terminal_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(common, "error_console", Console(stderr=True, width=20))
    reason = "the account of alice is below zero: see `openspot reconcile`"
    assert common.fail(reason).exit_code == 1
    assert capsys.readouterr().err == f"openspot: {reason}\n"
