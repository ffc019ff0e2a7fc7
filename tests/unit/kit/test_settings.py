"""Settings, generated secrets, and a log that keeps them to itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from openspot.kit.secrets_file import FILE_NAME, GENERATED, with_secrets
from openspot.kit.settings import Settings


@pytest.mark.spec("A5-05")
def test_the_three_unprefixed_variables_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://db/x")
    monkeypatch.setenv("NATS_URL", "nats://bus:1")
    monkeypatch.setenv("JWT_SECRET", "from-the-environment")
    monkeypatch.setenv("OPENSPOT_THROTTLE_ENABLED", "false")
    settings = Settings()
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
    assert Settings(nats_url=given, nats_port=4300).nats_servers == servers


@pytest.mark.parametrize(
    ("name", "value"), [("REST_PORT", "0"), ("REST_PORT", "x"), ("LOG_LEVEL", "LOUD"), ("ENGINE_CORE", "fast")]
)
def test_a_bad_setting_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"OPENSPOT_{name}", value)
    with pytest.raises(ValidationError, match=name.lower()):
        Settings()


def test_missing_secrets_are_generated_once_for_the_owner_alone(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "new", jwt_secret="given")
    first, second = with_secrets(settings), with_secrets(settings)
    assert first == second
    assert first.jwt_secret == "given"
    generated = [getattr(first, name) for name in GENERATED if name != "jwt_secret"]
    assert all(len(secret) >= 24 for secret in generated)
    assert len(set(generated)) == len(generated)
    path = tmp_path / "new" / FILE_NAME
    assert path.stat().st_mode & 0o777 == 0o600
    assert "given" not in path.read_text("utf-8")


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
