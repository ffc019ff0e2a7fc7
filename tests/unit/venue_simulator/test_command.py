"""The command of the simulated venue."""

import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from openspot.venue_simulator.command import app, make_source
from tests.support.shared_data import BINANCE, needs_binance


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--only-recording"], "needs --recording"),
        (["--recording", "missing.gz"], "missing.gz cannot be read"),
        (["--gaps", "1.5"], "--gaps"),
        (["--speed", "-1"], "--speed"),
        (["--port", "70000"], "--port"),
    ],
)
def test_a_bad_option_is_named(arguments: list[str], reason: str) -> None:
    outcome = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert outcome.exit_code == 2
    assert reason in outcome.output


def test_it_can_be_added_to_another_command() -> None:
    parent = typer.Typer()
    parent.add_typer(app, name="venue-simulator")
    outcome = CliRunner().invoke(parent, ["venue-simulator", "--help"], env={"COLUMNS": "200"})
    assert outcome.exit_code == 0
    assert "--recording" in outcome.output


def test_the_command_is_quick_to_import() -> None:
    code = "import sys, openspot.venue_simulator.command; print('aiohttp' in sys.modules, 'ccxt' in sys.modules)"
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert outcome.stdout.split() == ["False", "False"]


@needs_binance
def test_a_recording_is_played_beside_invented_markets_or_alone() -> None:
    both = make_source(BINANCE, loop=False, invents=True, seed=1, quotes_per_s=2.0)
    assert len(both.markets) == 12
    assert both.first_book("BTCUSDT").update_id == 50_093_239_218
    alone = make_source(BINANCE, loop=False, invents=False, seed=1, quotes_per_s=2.0)
    assert [market.symbol for market in alone.markets] == ["BTC-USDT"]


def test_without_a_recording_every_market_is_invented(tmp_path: Path) -> None:
    assert len(make_source(None, loop=False, invents=True, seed=1, quotes_per_s=2.0).markets) == 12
