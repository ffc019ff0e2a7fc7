"""Where backups are and how many are kept."""

from pathlib import Path

import pytest

from openspot.backup.settings import BackupSettings
from openspot.kit.settings import SettingsError, load


def test_backups_lie_beside_the_data_directory_unless_a_folder_is_set(tmp_path: Path) -> None:
    assert load(BackupSettings, data_dir=tmp_path / "data").backup_folder == tmp_path / "data-backups"
    assert load(BackupSettings, data_dir=tmp_path, backup_dir="/other").backup_folder == Path("/other")


def test_at_least_one_backup_is_kept() -> None:
    assert load(BackupSettings, backup_keep=1).backup_keep == 1
    with pytest.raises(SettingsError, match="OPENSPOT_BACKUP_KEEP"):
        load(BackupSettings, backup_keep=0)
