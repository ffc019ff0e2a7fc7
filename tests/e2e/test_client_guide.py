"""docs/guides/client.md: every block, run as it stands beside a running platform, in order."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from openspot.up.child_platform import ChildPlatform
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/guides/client.md"
BLOCK = re.compile(r"^## (?P<section>.*?)$|```(?P<language>python|bash)\n(?P<code>.*?)```", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def printed(platform: ChildPlatform) -> dict[str, str]:
    """What the blocks of each section print."""
    outputs: dict[str, str] = {}
    section = ""
    for found in BLOCK.finditer(GUIDE.read_text("utf-8")):
        if found["section"]:
            section = found["section"]
            continue
        code = found["code"].replace("http://127.0.0.1:3001", platform.settings.rest_url)
        code = code.replace("ws://127.0.0.1:3002", platform.settings.ws_url)
        program = [sys.executable, "-c"] if found["language"] == "python" else ["bash", "-euo", "pipefail", "-c"]
        path = f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"
        outcome = subprocess.run(
            [*program, code],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=stretched(400),
            env=os.environ | {"OPENSPOT_DATA_DIR": str(platform.data_dir), "PATH": path},
        )
        assert outcome.returncode == 0, f"{section}\n{code}\n{outcome.stdout}"
        outputs[section] = outputs.get(section, "") + outcome.stdout
    return outputs


def test_every_block_runs_and_prints_what_the_guide_is_about(printed: dict[str, str]) -> None:
    assert "BTC-USD 0.01" in printed["Quick start"]
    assert re.search(r"order\.created open\norder\.cancelled cancelled\n", printed["Place an order and follow it"])
    assert "status='cancelled'" in printed["Place an order and follow it"]
    assert "USDC-USD Level(price=Decimal('0.91'), quantity=Decimal('10')) None current" in printed["Keep an order book"]
    assert "asset='USD', total=Decimal('10000')" in printed["Scripts without asyncio"]
    assert "last price None" in printed["Scripts without asyncio"]
    assert printed["API keys"] == "cancelled\n"
    assert "400 VALIDATION_FAILED quantity" in printed["Errors"]
    assert "nobody there: GET /markets" in printed["Errors"]
