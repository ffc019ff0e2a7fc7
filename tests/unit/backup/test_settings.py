"""Where backups are and how many are kept."""

from pathlib import Path

import pytest

from openspot.backup.errors import BackupError
from openspot.backup.s3 import S3Storage
from openspot.backup.settings import BackupSettings
from openspot.backup.storage import FolderStorage
from openspot.kit.settings import SettingsError, load


def test_backups_lie_beside_the_data_directory_unless_a_folder_is_set(tmp_path: Path) -> None:
    assert load(BackupSettings, data_dir=tmp_path / "data").backup_folder == tmp_path / "data-backups"
    assert load(BackupSettings, data_dir=tmp_path, backup_dir="/other").backup_folder == Path("/other")


def test_at_least_one_backup_is_kept() -> None:
    assert load(BackupSettings, backup_keep=1).backup_keep == 1
    with pytest.raises(SettingsError, match="OPENSPOT_BACKUP_KEEP"):
        load(BackupSettings, backup_keep=0)


def test_a_bucket_takes_the_place_of_a_folder(tmp_path: Path) -> None:
    given = load(
        BackupSettings, backup_dir="s3://bucket/some/where/", backup_s3_endpoint="https://s3.example.com",
        backup_s3_access_key="id", backup_s3_secret_key="secret", backup_s3_region="eu", backup_s3_timeout_s=5,
    )  # fmt: skip
    storage = given.backup_storage()
    assert isinstance(storage, S3Storage)
    assert (storage.where, given.backup_folder) == ("s3://bucket/some/where", None)
    folder = load(BackupSettings, data_dir=tmp_path / "data").backup_storage()
    assert isinstance(folder, FolderStorage)
    assert folder.where == str(tmp_path / "data-backups")


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"backup_dir": "s3://"}, "OPENSPOT_BACKUP_DIR: .*names no bucket"),
        ({"backup_dir": "s3:///prefix"}, "OPENSPOT_BACKUP_DIR: .*names no bucket"),
        ({"backup_dir": "gs://bucket"}, "OPENSPOT_BACKUP_DIR: .*neither a folder nor s3://bucket/prefix"),
        ({"backup_s3_endpoint": "s3.example.com"}, "OPENSPOT_BACKUP_S3_ENDPOINT: .*write it like https"),
        ({"backup_s3_endpoint": "https://a:b@s3.example.com"}, "OPENSPOT_BACKUP_S3_ENDPOINT: .*credentials"),
        ({"backup_s3_timeout_s": 0}, "OPENSPOT_BACKUP_S3_TIMEOUT_S"),
        ({"backup_s3_region": ""}, "OPENSPOT_BACKUP_S3_REGION"),
    ],
)
def test_a_place_that_is_none_is_named(given: dict[str, object], fault: str) -> None:
    with pytest.raises(SettingsError, match=fault):
        load(BackupSettings, **given)


def test_half_of_the_credentials_is_refused() -> None:
    both = "set both OPENSPOT_BACKUP_S3_ACCESS_KEY and OPENSPOT_BACKUP_S3_SECRET_KEY"
    for given in ({"backup_s3_access_key": "id"}, {"backup_s3_secret_key": "secret"}):
        with pytest.raises(BackupError, match=both):
            load(BackupSettings, backup_dir="s3://bucket", **given).backup_storage()
