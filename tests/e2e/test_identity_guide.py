"""docs/guides/identity.md, pasted as it stands into a shell beside a running platform."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from openspot.up.child_platform import ChildPlatform
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def printed(platform: ChildPlatform) -> list[str]:
    """What the guide prints, line by line, in order."""
    blocks = re.findall(r"```bash\n(.*?)```", (ROOT / "docs/guides/identity.md").read_text("utf-8"), re.DOTALL)
    script = "".join(blocks).replace("http://127.0.0.1:3001", platform.settings.rest_url)
    outcome = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=stretched(400),
        env=os.environ | {"OPENSPOT_DATA_DIR": str(platform.data_dir)},
    )
    assert outcome.returncode == 0, outcome.stdout
    return outcome.stdout.splitlines()


def bodies(printed: list[str]) -> list[Any]:
    return [json.loads(line) for line in printed if line.startswith(("{", "["))]


def test_every_line_of_it_succeeds(printed: list[str]) -> None:
    user, profile, phishing, codes, mfa, sessions, ended, activity, check_in, other, deleted = bodies(printed)
    assert profile["userId"] == user["userId"]
    assert phishing == {"code": "blue heron"}
    assert len(codes["recoveryCodes"]) == 10
    assert (mfa["enabled"], mfa["recoveryCodesLeft"]) == (True, 9)
    assert (len(sessions), ended) == (2, {"ended": 1})
    assert [entry["kind"] for entry in activity] == ["other_sessions_ended", "logged_in", "recovery_code_used"]
    assert (check_in["checkedIn"], check_in["streak"]) == (True, 1)
    assert [line for line in printed if "grace@example.com (" in line] == [
        f"grace@example.com ({other['userId']}) is an administrator, from the next login or refresh on",
        f"grace@example.com ({other['userId']}) is no administrator; all sessions have ended",
    ]
    assert deleted == {"success": True}


def test_the_mailbox_command_shows_the_mails(printed: list[str], platform: ChildPlatform) -> None:
    outcome = subprocess.run(
        [ROOT / ".venv/bin/openspot", "mailbox", "--to", "ada@example.com", "--json"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OPENSPOT_DATA_DIR": str(platform.data_dir)},
    )
    mails = [json.loads(line) for line in outcome.stdout.splitlines()]
    assert {mail["recipient"] for mail in mails} == {"ada@example.com"}
    assert "Confirm your email address" in {mail["subject"] for mail in mails}
