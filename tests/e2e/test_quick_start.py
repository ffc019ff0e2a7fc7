"""The README's quick start, pasted as it stands into a shell beside a running platform."""

import json
import os
import re
import subprocess
from decimal import Decimal
from pathlib import Path

import asyncpg
import pytest

from openspot.up.child_platform import ChildPlatform
from tests.support.waiting import eventually, stretched

ROOT = Path(__file__).resolve().parents[2]


def quick_start() -> str:
    section = (ROOT / "README.md").read_text("utf-8").split("## Quick start")[1].split("\n## ")[0]
    block = re.search(r"```bash\n(.*?)```", section, re.DOTALL)
    assert block is not None
    return block[1]


@pytest.fixture(scope="module")
def printed(platform: ChildPlatform) -> list[str]:
    """What the quick start prints, line by line, in order."""
    script = quick_start().replace("http://127.0.0.1:3001", platform.settings.rest_url)
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


def test_it_registers_funds_and_trades(printed: list[str]) -> None:
    alice, bob = (json.loads(line) for line in printed[:2])
    assert (alice["email"], bob["email"]) == ("alice@example.com", "bob@example.com")
    assert printed[2].startswith(f"credited 100000 USD to {alice['userId']}, balance 100000")
    assert printed[3].startswith(f"credited 2 BTC to {bob['userId']}, balance 2")
    placed, book, limit, market = (json.loads(line) for line in printed[4:8])
    assert placed["status"] == "open"
    assert book["bids"][0] == ["250.5", "1.5"]
    assert (limit["status"], limit["averagePrice"], limit["fee"]) == ("filled", "250.5", "0.2505")
    assert (market["status"], market["filledQuantity"]) == ("filled", "0.1")
    assert {order["orderId"] for order in json.loads(printed[8])} <= {limit["orderId"], market["orderId"]}


def test_balances_are_exact_to_the_last_digit(printed: list[str]) -> None:
    by_asset = {balance["asset"]: balance for balance in json.loads(printed[9])}
    # 0.5 BTC at 250.50, and 15 bps maker fee on 125.25; 1 BTC at 250.50 is still locked.
    assert by_asset["BTC"]["total"] == "0.5"
    assert by_asset["USD"]["total"] == "99874.562125"
    assert by_asset["USD"]["locked"] == "250.5"


def test_what_is_left_is_cancelled(printed: list[str]) -> None:
    cancelled = json.loads(printed[11])
    assert (cancelled["status"], cancelled["filledQuantity"]) == ("cancelled", "0.5")


def test_a_program_places_an_order_with_a_signature(printed: list[str]) -> None:
    order = json.loads(printed[12])
    assert (order["status"], order["price"], order["userId"]) == ("open", "249", json.loads(printed[0])["userId"])


def test_alice_logs_in_with_a_second_factor(printed: list[str]) -> None:
    tokens = json.loads(printed[13])
    assert (tokens["userId"], tokens["tokenType"]) == (json.loads(printed[0])["userId"], "Bearer")


async def test_the_ledger_holds_every_leg_once(printed: list[str], platform: ChildPlatform) -> None:
    alice = json.loads(printed[0])["userId"]
    query = "SELECT asset, balance::text FROM ledger_entries WHERE user_id = $1 ORDER BY entry_id"
    connection = await asyncpg.connect(platform.settings.database_url)
    try:
        # The deposit; and of each of the two trades the quote paid, the base received, the fee.
        entries = await eventually(lambda: complete_entries(connection, query, alice), 20)
    finally:
        await connection.close()
    assert len(entries) == 7
    assert [Decimal(balance) for asset, balance in entries if asset == "USD"][-1] == Decimal("99874.562125")
    assert [Decimal(balance) for asset, balance in entries if asset == "BTC"][-1] == Decimal("0.5")


async def complete_entries(connection: asyncpg.Connection, query: str, user_id: str) -> list[tuple[str, str]] | None:
    rows = [tuple(row) for row in await connection.fetch(query, user_id)]
    return rows if len(rows) >= 7 else None
