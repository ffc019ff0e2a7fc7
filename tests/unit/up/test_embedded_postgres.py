"""Where the embedded PostgreSQL has its binaries, when its account cannot reach the installed ones."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from openspot.up import embedded_postgres
from openspot.up.embedded_postgres import EmbeddedPostgres


def test_two_processes_that_copy_the_binaries_at_once_share_one_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "package" / "pginstall"
    installed.mkdir(parents=True)
    (installed / "postgres").write_text("binary", "utf-8")
    server = EmbeddedPostgres(tmp_path / "data")
    server._installation = installed
    monkeypatch.setattr(embedded_postgres, "_ROOT_HOME", tmp_path / "home")
    copy = shutil.copytree
    others: list[Path] = []

    def copy_while_another_does(*arguments: Any, **options: Any) -> Any:
        copied = copy(*arguments, **options)
        if not others:
            others.append(Path())
            with monkeypatch.context() as another:
                another.setattr(os, "getpid", lambda: 1)
                others[0] = server._copied_installation()
        return copied

    monkeypatch.setattr(shutil, "copytree", copy_while_another_does)
    assert [server._copied_installation()] == others
    assert (others[0] / "postgres").read_text("utf-8") == "binary"
    assert len(list((tmp_path / "home").iterdir())) == 1
