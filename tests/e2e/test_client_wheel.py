"""The client's own wheel, in an environment with nothing else, beside a running platform."""

import subprocess
import sys
from pathlib import Path

import pytest

from openspot.up.child_platform import ChildPlatform
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).parent / "uv"
SCRIPT = """
import importlib.util, sys
from openspot.client.sync import SyncClient

assert not [name for name in ("nats", "sqlalchemy", "fastapi", "ccxt", "grpc") if importlib.util.find_spec(name)]
with SyncClient(sys.argv[1], sys.argv[2]) as client:
    user = client.register("wheel@client.example", "correct horse battery staple")
    assert client.login("wheel@client.example", "correct horse battery staple").user_id == user.user_id
    with client.books("ETH-USD") as feed, client.stream("ticker:ETH-USD") as stream:
        feed.ready(60)
        print(len(client.markets()), "markets", type(stream.next(60)).__name__)
"""


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    outcome = subprocess.run(
        command, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        timeout=stretched(400),
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stdout
    return outcome.stdout


def test_the_wheel_installs_alone_and_its_client_works(platform: ChildPlatform, tmp_path: Path) -> None:
    try:
        run(UV, "build", "--wheel", "--out-dir", tmp_path, ROOT / "packages/client")
        run(UV, "venv", "--python", sys.executable, tmp_path / "env")
        wheel = next(tmp_path.glob("*.whl"))
        run(UV, "pip", "install", "--python", tmp_path / "env/bin/python", wheel)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        if _index_is_away(str(error)):
            pytest.skip("no package index can be reached, so nothing can be installed")
        raise
    # Isolated mode, and a folder that has no sources: only what was installed can be imported.
    python = tmp_path / "env/bin/python"
    printed = run(python, "-I", "-c", SCRIPT, platform.settings.rest_url, platform.settings.ws_url, cwd=tmp_path)
    assert printed.endswith(" markets Push\n"), printed


def _index_is_away(output: str) -> bool:
    return any(text in output for text in ("error sending request", "dns error", "Failed to fetch", "timed out"))
