"""Where the embedded PostgreSQL has its binaries, when its account cannot reach the installed ones."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from openspot.up import embedded_postgres
from openspot.up.embedded_postgres import EmbeddedPostgres


def test_every_account_can_use_a_copy_that_was_made_with_a_strict_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    umask = os.umask(0o077)
    try:
        installed = tmp_path / "package/pginstall"
        (installed / "bin").mkdir(parents=True)
        (installed / "bin/postgres").write_text("binary", "utf-8")
        (installed / "bin/postgres").chmod(0o700)
        (installed / "share.txt").write_text("text", "utf-8")
        (installed / "link").symlink_to("share.txt")
        server = EmbeddedPostgres(tmp_path / "data")
        server._installation = installed
        monkeypatch.setattr(embedded_postgres, "_ROOT_HOME", tmp_path / "home")
        copy = server._copied_installation()
    finally:
        os.umask(umask)
    folders = [tmp_path / "home", *(folder for folder in copy.parents if folder.is_relative_to(tmp_path / "home"))]
    assert [folder for folder in (*folders, copy, copy / "bin") if folder.stat().st_mode & 0o777 != 0o755] == []
    assert (copy / "bin/postgres").stat().st_mode & 0o777 == 0o755
    assert (copy / "share.txt").stat().st_mode & 0o777 == 0o644


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
