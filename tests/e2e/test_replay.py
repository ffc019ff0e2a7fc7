"""`openspot replay` against a running platform: nothing differs between engine, ledger and rows afterwards."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from openspot.up.child_platform import ChildPlatform
from tests.support.shared_data import BITSTAMP, needs_bitstamp
from tests.support.waiting import stretched

EVENTS = 4_000


def replay(platform: ChildPlatform, *arguments: str) -> str:
    outcome = subprocess.run(
        [sys.executable, "-m", "openspot.cli", "replay", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=stretched(400),
        env=os.environ | {"OPENSPOT_DATA_DIR": str(platform.data_dir), "COLUMNS": "120"},
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout


def figure(report: str, label: str) -> int:
    found = re.search(rf"^ *{label} +([\d,]+)", report, re.MULTILINE)
    assert found is not None, report
    return int(found[1].replace(",", ""))


@pytest.mark.proof
@pytest.mark.spec("A1.2-04", "A1.2-05", "A1.2-06", "A6.4-04")
def test_the_sample_leaves_no_difference(platform: ChildPlatform) -> None:
    report = replay(platform, "--sample", "--symbol", "ETH-USDT")
    assert "0 differences" in report
    assert figure(report, "accepted") > 1_000
    assert figure(report, "trades, ours") > 100


@pytest.mark.proof
@pytest.mark.spec("A1.2-04", "A1.2-05", "A1.2-06")
@needs_bitstamp
def test_real_order_flow_leaves_no_difference(platform: ChildPlatform) -> None:
    report = replay(platform, str(BITSTAMP), "--events", str(EVENTS), "--symbol", "BTC-USDT")
    assert "0 differences" in report
    assert figure(report, "events") == EVENTS
    assert figure(report, "accepted") > 1_500
    assert figure(report, "done") > 1_000
    assert "trades, the venue's" in report


@pytest.mark.proof
def test_a_file_that_is_no_order_flow_is_refused_with_its_line(platform: ChildPlatform, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("id,timestamp,exchange_timestamp,price,volume,action,direction\n1,2,3,x,1,created,bid\n", "utf-8")
    outcome = subprocess.run(
        [sys.executable, "-m", "openspot.cli", "replay", str(bad)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENSPOT_DATA_DIR": str(platform.data_dir)},
    )
    assert outcome.returncode == 1
    assert "line 2" in outcome.stderr
    assert "price" in outcome.stderr


@pytest.mark.proof
@pytest.mark.spec("A1.2-04", "A1.2-05", "A1.2-06")
def test_everything_that_was_traded_reconciles(platform: ChildPlatform) -> None:
    replay(platform, "--sample", "--symbol", "SOL-USDT", "--events", "300")
    outcome = subprocess.run(
        [sys.executable, "-m", "openspot.cli", "reconcile"],
        capture_output=True,
        text=True,
        check=False,
        timeout=stretched(400),
        env=os.environ | {"OPENSPOT_DATA_DIR": str(platform.data_dir)},
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
