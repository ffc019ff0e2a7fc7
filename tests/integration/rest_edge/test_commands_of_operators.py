"""`openspot operators …`, `openspot coins …` and `openspot reports rebuild`, as they are typed."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeAlias

import asyncpg
import pytest
from typer.testing import CliRunner

from openspot.cli import app
from openspot.kit.clock import utc_now
from openspot.kit.settings import Settings
from tests.support.authenticator import register
from tests.support.filled_tables import insert
from tests.support.rest_client import RestClient

EVE = "eve@example.org"
WHY = ("--reason", "ticket 4711")
Command: TypeAlias = Callable[..., Awaitable[tuple[int, list[str]]]]


@pytest.fixture
def command(settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs `openspot` on the database and the bus of the test, and returns exit code and lines."""
    environment = {
        "DATABASE_URL": settings.database_url, "NATS_URL": settings.nats_url, "OPENSPOT_DATA_DIR": str(tmp_path),
    }  # fmt: skip

    async def run(*arguments: str) -> tuple[int, list[str]]:
        outcome = await asyncio.to_thread(CliRunner().invoke, app, list(arguments), env=environment)
        text = outcome.stdout + outcome.stderr + capsys.readouterr().err
        # A service of this process may write into its log meanwhile.
        return outcome.exit_code, [line for line in text.splitlines() if line and "\x1b[" not in line]

    return run


async def test_operators_are_added_listed_changed_and_removed(
    command: Command, edge: RestClient, pool: asyncpg.Pool
) -> None:
    edge.token = None
    eve = await register(edge, EVE)
    assert await command("operators", "list") == (0, ["no operator"])
    code, lines = await command("operators", "add", EVE, "SUPPORT", *WHY)
    assert (code, "is not verified" in lines[0]) == (1, True), lines
    await pool.execute("UPDATE users SET email_verified_at = now() WHERE user_id = $1", eve)
    assert await command("operators", "add", EVE, "support, TREASURY", *WHY) == (
        0, [f"{EVE} ({eve}) has the roles SUPPORT, TREASURY"],
    )  # fmt: skip
    assert await command("operators", "add", eve, "SUPPORT", *WHY) == (
        0, [f"{EVE} ({eve}) has the roles SUPPORT, TREASURY already"],
    )  # fmt: skip
    assert await command("operators", "roles", eve, "AUDITOR", *WHY) == (0, [f"{EVE} ({eve}) has the roles AUDITOR"])
    assert await command("operators", "list") == (0, [f"{eve}  AUDITOR  NO second factor  {EVE}"])
    code, lines = await command("operators", "add", eve, "BOSS", *WHY)
    assert (code, lines[0].startswith("openspot: ROLES: BOSS is not among SUPPORT, ")) == (1, True)
    assert await command("operators", "roles", "nobody@example.org", "SUPPORT", *WHY) == (
        1, ["openspot: user: nobody is registered as nobody@example.org"],
    )  # fmt: skip
    assert await command("operators", "remove", eve, *WHY) == (
        0, [f"{EVE} ({eve}) is no operator; all sessions have ended"],
    )  # fmt: skip
    noted = await pool.fetch("SELECT reason, after FROM operator_actions ORDER BY entry_number")
    assert [row["reason"] for row in noted] == ["ticket 4711"] * 3


async def test_pauses_are_begun_shown_and_ended(command: Command, pool: asyncpg.Pool) -> None:
    assert await command("coins", "pauses") == (0, ["nothing is paused"])
    over = ("--coin", "btc", "--network", "bitcoin")
    code, (line,) = await command("coins", "pause", "deposits", *over, *WHY, "--notice", "The node is renewed")
    assert (code, line.split(",")[0], line.endswith(": ticket 4711")) == (0, "deposits     BTC over bitcoin", True)
    assert await command("coins", "pauses") == (0, [line])
    code, (shown,) = await command("coins", "networks", "btc")
    assert code == 0 and shown.startswith("bitcoin ") and "The node is renewed" in shown
    assert shown.endswith("withdrawals open")
    code, lines = await command("coins", "resume", "deposits", "--coin", "BTC", *WHY)
    assert (code, lines) == (1, ["openspot: deposits of BTC@* are not paused under that name"])
    assert await command("coins", "resume", "deposits", *over, *WHY) == (0, ["nothing is paused"])
    assert await command("coins", "networks", "NONE") == (1, ["openspot: asset NONE has no network"])
    assert await pool.fetchval("SELECT count(*) FROM operator_actions WHERE reason = 'ticket 4711'") == 2


async def test_the_figures_of_closed_days_are_written_anew(command: Command, pool: asyncpg.Pool) -> None:
    assert await command("reports", "rebuild") == (0, ["no day is closed"])
    entry = {"entry_type": "deposit", "created_at": (utc_now() - timedelta(days=3)).isoformat()}
    await insert(pool, "ledger_entries", {"user_id": "alice"}, asset="USD", amount="5", **entry)
    code, (line,) = await command("reports", "rebuild")
    assert (code, line.endswith(" days were written anew")) == (0, True)
    written = await pool.fetch("SELECT * FROM report_movements ORDER BY 1, 2, 3")
    assert written
    await pool.execute("UPDATE report_movements SET balance = balance + 1")
    since = (utc_now() - timedelta(days=9)).date().isoformat()
    assert await command("reports", "rebuild", "--since", since) == (0, [line])
    assert await pool.fetch("SELECT * FROM report_movements ORDER BY 1, 2, 3") == written
    assert await command("reports", "rebuild", "--since", "May") == (
        1, ["openspot: --since 'May' is no date such as 2026-01-31"],
    )  # fmt: skip
