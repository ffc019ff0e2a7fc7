"""`openspot archive` moves nothing that nobody asked for, and nothing that is young."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openspot.archive.settings import ArchiveSettings
from openspot.cli import app
from openspot.kit.settings import SettingsError, load


def invoke(tmp_path: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    outcome = CliRunner().invoke(app, ["archive", *arguments], env={"OPENSPOT_DATA_DIR": str(tmp_path)} | variables)
    return outcome.exit_code, outcome.output


def test_nothing_leaves_without_a_setting(tmp_path: Path) -> None:
    assert invoke(tmp_path) == (
        0, "nothing leaves: no OPENSPOT_ARCHIVE_…_DAYS is set, and no --before is given\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--before", "yesterday"), "--before 'yesterday' is no date"),
        # It is still too young if the tests began before midnight.
        (("--before", f"{datetime.now(UTC) - timedelta(days=29):%Y-%m-%d}"), "--before must be at least 31 days ago"),
        (("--kind", "users"), "--kind 'users' is none of entries, trades, orders, audit"),
        (("--before", "2020-01-01", "--dry-run"), "DATABASE_URL is not set"),
    ],
)
def test_a_bad_argument_is_named(tmp_path: Path, arguments: tuple[str, ...], reason: str) -> None:
    code, output = invoke(tmp_path, *arguments)
    assert (code, reason in output) == (1, True), output


def test_a_young_age_is_refused_and_names_the_setting() -> None:
    for name in ("archive_orders_days", "archive_trades_days", "archive_entries_days", "archive_audit_days"):
        with pytest.raises(SettingsError, match=f"OPENSPOT_{name.upper()}: .*must be 0 or at least 31"):
            load(ArchiveSettings, **{name: 30})
        assert load(ArchiveSettings, **{name: 31}).archive_days[name.split("_")[1]] == 31
    assert set(ArchiveSettings().archive_days.values()) == {0}


def test_the_folder_is_in_the_data_directory_unless_it_is_set(tmp_path: Path) -> None:
    assert load(ArchiveSettings, data_dir=tmp_path).archive_folder == tmp_path / "archive"
    assert load(ArchiveSettings, archive_dir="/var/archive").archive_folder == Path("/var/archive")


def test_verify_of_no_archive_says_so(tmp_path: Path) -> None:
    code, output = invoke(tmp_path, "verify")
    assert code == 0
    assert "there is no archive in" in output.replace("\n", "")
