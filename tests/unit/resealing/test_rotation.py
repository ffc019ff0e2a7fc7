"""The data directory's sealing secret is exchanged, and no former one is lost."""

import json
from pathlib import Path

import pytest

from openspot.http.api_keys.settings import FORMER_SECRETS_MAX, ApiKeySettings
from openspot.kit.sealing import key_id_of
from openspot.kit.secrets_file import with_known_secrets, with_secrets
from openspot.kit.settings import SettingsError, load
from openspot.resealing.rotation import RotationError, forget, rotate


def test_the_secret_before_is_kept_until_it_is_forgotten(tmp_path: Path) -> None:
    before = with_secrets(ApiKeySettings(data_dir=tmp_path))
    assert before.sealing_secrets == (before.sealing_secret,)
    made, former = rotate(tmp_path)
    after = with_known_secrets(ApiKeySettings(data_dir=tmp_path))
    assert after.sealing_secrets == (after.sealing_secret, before.sealing_secret)
    assert (made, former) == tuple(map(key_id_of, after.sealing_secrets))
    assert made != former
    rotate(tmp_path)
    again = with_known_secrets(ApiKeySettings(data_dir=tmp_path))
    assert again.sealing_secrets[1:] == after.sealing_secrets
    assert (tmp_path / "secrets.json").stat().st_mode & 0o077 == 0
    assert forget(tmp_path) == [made, former]
    assert forget(tmp_path) == []
    kept = json.loads((tmp_path / "secrets.json").read_text("utf-8"))
    assert kept == {"sealing_secret": again.sealing_secret}


def test_no_more_secrets_are_kept_than_are_tried(tmp_path: Path) -> None:
    with pytest.raises(RotationError, match="there is nothing to rotate"):
        rotate(tmp_path)
    with_secrets(ApiKeySettings(data_dir=tmp_path))
    for _ in range(FORMER_SECRETS_MAX):
        rotate(tmp_path)
    kept = (tmp_path / "secrets.json").read_bytes()
    with pytest.raises(RotationError, match="8 former secrets are kept already"):
        rotate(tmp_path)
    assert (tmp_path / "secrets.json").read_bytes() == kept


def test_a_bad_list_of_former_secrets_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    former = [letter * 32 for letter in "abcdefghi"]
    monkeypatch.setenv("OPENSPOT_SEALING_SECRETS_FORMER", f" {former[0]}, {former[1]},,{former[0]}")
    monkeypatch.setenv("OPENSPOT_SEALING_SECRET", former[1])
    assert load(ApiKeySettings).sealing_secrets == (former[1], former[0])
    for text, reason in ((",".join(former), "has 9 secrets, at most 8"), ("short", "at least 32 characters")):
        monkeypatch.setenv("OPENSPOT_SEALING_SECRETS_FORMER", text)
        with pytest.raises(SettingsError, match=f"OPENSPOT_SEALING_SECRETS_FORMER.*{reason}"):
            load(ApiKeySettings)
