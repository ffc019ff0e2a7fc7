"""Settings, generated secrets, and a log that keeps them to itself."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from openspot.kit.secrets_file import FILE_NAME, SecretsFileError, with_known_secrets, with_secrets
from openspot.kit.settings import SettingsError, environment_of, generated_secrets, load
from openspot.up.services import PlatformSettings

GENERATED = [name for name, mark in generated_secrets(PlatformSettings).items() if mark.random_bytes]


@pytest.mark.spec("A5-05")
def test_the_three_unprefixed_variables_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://db/x")
    monkeypatch.setenv("NATS_URL", "nats://bus:1")
    monkeypatch.setenv("JWT_SECRET", "from-the-environment")
    monkeypatch.setenv("OPENSPOT_THROTTLE_ENABLED", "false")
    settings = PlatformSettings()
    assert settings.database_url == "postgresql://db/x"
    assert settings.nats_url == "nats://bus:1"
    assert settings.jwt_secret == "from-the-environment"
    assert settings.throttle_enabled is False


@pytest.mark.parametrize(
    ("given", "servers"),
    [
        ("", ["nats://127.0.0.1:4300"]),
        ("nats://one:1", ["nats://one:1"]),
        ("nats://one:1, tls://user:word@two:2,", ["nats://one:1", "tls://user:word@two:2"]),
    ],
)
def test_the_bus_has_one_address_or_those_of_a_cluster(given: str, servers: list[str]) -> None:
    assert PlatformSettings(nats_url=given, nats_port=4300).nats_servers == servers


@pytest.mark.parametrize(
    ("name", "value"), [("REST_PORT", "0"), ("REST_PORT", "x"), ("LOG_LEVEL", "LOUD"), ("ENGINE_CORE", "fast")]
)
def test_a_bad_setting_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"OPENSPOT_{name}", value)
    with pytest.raises(SettingsError, match=f"^OPENSPOT_{name}: Input should be ") as refusal:
        load(PlatformSettings)
    assert len(str(refusal.value).splitlines()) == 1


def test_missing_secrets_are_generated_once_for_the_owner_alone(tmp_path: Path) -> None:
    settings = PlatformSettings(data_dir=tmp_path / "new", jwt_secret="given")
    first, second = with_secrets(settings), with_secrets(settings)
    assert first == second
    assert first.jwt_secret == "given"
    generated = [getattr(first, name) for name in GENERATED if name != "jwt_secret"]
    assert all(len(secret) >= 24 for secret in generated)
    assert len(set(generated)) == len(generated)
    path = tmp_path / "new" / FILE_NAME
    assert path.stat().st_mode & 0o777 == 0o600
    assert "given" not in path.read_text("utf-8")


def test_processes_that_start_at_once_get_the_same_secrets(tmp_path: Path) -> None:
    settings = PlatformSettings(data_dir=tmp_path / "new")
    with ThreadPoolExecutor(8) as threads:
        secrets = list(threads.map(lambda _: with_secrets(settings), range(32)))
    assert all(one == secrets[0] for one in secrets)
    assert [path.name for path in settings.data_dir.iterdir()] == [FILE_NAME]


def test_a_secret_that_an_earlier_release_did_not_know_is_added_to_the_file(tmp_path: Path) -> None:
    settings = PlatformSettings(data_dir=tmp_path)
    kept = {name: f"kept-{name}" for name in GENERATED if name != "admin_token_secret"}
    (tmp_path / FILE_NAME).write_text(json.dumps(kept), "utf-8")
    first, second = with_secrets(settings), with_secrets(settings)
    assert first == second
    assert {name: getattr(first, name) for name in kept} == kept
    assert len(first.admin_token_secret) >= 24


def test_commands_that_only_connect_generate_nothing(tmp_path: Path) -> None:
    settings = PlatformSettings(data_dir=tmp_path / "none", engine_api_key="given")
    known = with_known_secrets(settings)
    assert (known.engine_api_key, known.engine_api_secret) == ("given", "")
    assert not settings.data_dir.exists()
    own = with_secrets(PlatformSettings(data_dir=tmp_path))
    assert with_known_secrets(PlatformSettings(data_dir=tmp_path)) == own


@pytest.mark.parametrize("content", ["", "{", "[]", '{"jwt_secret": 5}', '{"jwt_secret": ""}'])
def test_a_damaged_secrets_file_is_named_and_left_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / FILE_NAME
    path.write_text(content, "utf-8")
    for read in (with_secrets, with_known_secrets):
        with pytest.raises(SecretsFileError, match=f"{path} is damaged"):
            read(PlatformSettings(data_dir=tmp_path))
    assert path.read_text("utf-8") == content


def test_secrets_never_reach_the_log() -> None:
    program = (
        "from openspot.kit.log import configure_log, get_logger\n"
        "from openspot.kit.settings import Settings\n"
        "configure_log(Settings(), 'test')\n"
        "hidden = {'password': 'p1', 'api_secret': 's1', 'access_token': 't1', 'Authorization': 'a1'}\n"
        "get_logger('x').info('hello', user='u', **hidden)\n"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ | {"NO_COLOR": "1"}
    )
    line = json.loads(outcome.stderr)
    assert line["event"] == "hello"
    assert line["service"] == "test"
    assert line["user"] == "u"
    assert not {"p1", "s1", "t1", "a1"} & set(line.values())


def test_a_child_process_gets_exactly_the_settings_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    for given in (PlatformSettings(), PlatformSettings(custody_confirmations=3, throttle_enabled=False)):
        # What the parent does not know must not reach the child either.
        monkeypatch.setenv("OPENSPOT_CUSTODY_CONFIRMATIONS", "7")
        for name, value in environment_of(given).items():
            monkeypatch.setenv(name, value)
        assert PlatformSettings() == given
        for name in environment_of(given):
            monkeypatch.delenv(name)
