"""freqtrade trades a strategy on a running platform, and both have the same orders, fees and balances.

A hundred candles in CI; elsewhere OPENSPOT_FREQTRADE_CANDLES says for how many. freqtrade's shortest candle is a
minute, so all processes have a quick clock; OPENSPOT_FREQTRADE_SPEED says how quick (1: real time). See
docs/guides/freqtrade.md.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.external.programs import ROOT, environment, must_run, packages_of
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof

SPEED = os.environ.get("OPENSPOT_FREQTRADE_SPEED", "20")
CANDLES = int(os.environ.get("OPENSPOT_FREQTRADE_CANDLES", "100" if must_run() else "0"))
STOP_SPEED = os.environ.get("OPENSPOT_FREQTRADE_SPEED", "4")
"""Slower: the platform starts twice meanwhile, and a signature is valid for five seconds of this clock."""
SECONDS_MAX = stretched(600 + 120 * CANDLES / float(SPEED))


def clock(folder: Path, speed: str) -> dict[str, str]:
    """What gives a program and its children a quick clock. Pauses and deadlines stay as long as they are."""
    library = packages_of(folder) / "libfaketime/vendor/libfaketime/src/libfaketime.so.1"
    if speed == "1":
        return {}
    return {"LD_PRELOAD": str(library), "FAKETIME": f"+0 x{speed}", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


@pytest.mark.skipif(not CANDLES, reason="a longer run: set OPENSPOT_FREQTRADE_CANDLES (docs/guides/freqtrade.md)")
@pytest.mark.timeout(SECONDS_MAX + 60)
def test_freqtrade_and_the_platform_agree_on_every_order_fee_and_balance() -> None:
    folder = environment("freqtrade")
    run = subprocess.run(
        [sys.executable, "-m", "tests.external.freqtrade_run", str(folder / "bin/python"), str(CANDLES)],
        cwd=ROOT, env=os.environ | clock(folder, SPEED), capture_output=True, text=True, timeout=SECONDS_MAX,
        check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr[-8000:]
    print(run.stdout)
    outcome = json.loads(run.stdout.splitlines()[-1])
    assert outcome["buys"] == outcome["sells"] == CANDLES // 2, outcome
    # From the first candle to the last, and the first order may be late by one.
    assert outcome["candles"] >= CANDLES - 2, outcome


@pytest.mark.skipif(not CANDLES, reason="a longer run: set OPENSPOT_FREQTRADE_CANDLES (docs/guides/freqtrade.md)")
@pytest.mark.timeout(SECONDS_MAX + 60)
def test_a_stop_loss_of_freqtrade_waits_in_the_engine_survives_a_kill_of_everything_and_fires() -> None:
    folder = environment("freqtrade")
    run = subprocess.run(
        [sys.executable, "-m", "tests.external.freqtrade_stop_run", str(folder / "bin/python")],
        cwd=ROOT, env=os.environ | clock(folder, STOP_SPEED), capture_output=True, text=True, timeout=SECONDS_MAX,
        check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr[-8000:]
    print(run.stdout)
    outcome = json.loads(run.stdout.splitlines()[-1])
    assert (outcome["buys"], outcome["sells"]) == (1, 1), outcome
    assert float(outcome["sold_at"]) <= float(outcome["trigger"]), outcome
