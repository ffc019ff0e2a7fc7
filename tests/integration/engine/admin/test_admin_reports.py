"""Balances, adjustments, risk metrics, symbols and statistics (facts A1.5-11, B4.4-52 to B4.4-59)."""

import time
from pathlib import Path
from typing import Any

import pytest

from openspot import __version__
from openspot.engine.engine import journal_path
from openspot.engine.journal.inspection import verify
from tests.support.admin_client import AdminClient, Transport
from tests.support.engine_client import engine_settings, running_engine


async def balances(admin: AdminClient, participant_id: str = "") -> dict[tuple[str, str], tuple[str, ...]]:
    rows = (await admin.call("ListBalances", participantId=participant_id))["balances"]
    return {
        (row["participantId"], row["currency"]): (row["total"], row["available"], row["locked"], row["reserved"])
        for row in rows
    }


def adjustment(amount: str, adjustment_type: str = "DEPOSIT", **changes: str) -> dict[str, str]:
    return {"participantId": "alice", "currency": "USD", "amount": amount, "type": adjustment_type} | changes


@pytest.mark.spec("B4.4-52", "B4.4-53")
async def test_balances_are_listed_for_one_participant_or_all(admin: AdminClient) -> None:
    engine = admin.engine
    await engine.fund("alice", USD="1000", BTC="2")
    await engine.fund("bob", USD="500.000000000000000001")
    await engine.place("buy", "100", "1")
    alice = {("alice", "USD"): ("1000", "900", "100", "0.25"), ("alice", "BTC"): ("2", "2", "0", "0")}
    bob = {("bob", "USD"): ("500.000000000000000001", "500.000000000000000001", "0", "0")}
    assert await balances(admin, "alice") == alice
    assert await balances(admin) == alice | bob
    assert await balances(admin, "nobody") == {}
    await engine.place("sell", "100", "1", "alice")  # trades with itself: the fees stay in the house
    assert ("house:fees", "USD") in await balances(admin)


@pytest.mark.spec("A1.5-11", "B4.4-54", "B4.4-55", "B4.4-56")
async def test_an_adjustment_adds_to_a_balance_or_subtracts_from_it(admin: AdminClient) -> None:
    engine = admin.engine
    # It creates a missing account.
    answer = await admin.call("AdjustBalance", **adjustment("100.5"))
    assert answer == {"success": True, "resultCode": "SUCCESS", "error": ""}
    assert (await balances(admin))["alice", "USD"][0] == "100.5"
    assert (await admin.call("AdjustBalance", **adjustment("0.000000000000000001")))["success"]
    assert (await admin.call("AdjustBalance", **adjustment("100", "WITHDRAW")))["success"]
    assert (await engine.balances())["USD"].total == "0.500000000000000001"
    newest = await engine.last_sequence()
    (event,) = await engine.events(newest, newest)
    assert (event["type"], event["kind"], event["participantId"], event["amount"]) == (
        "balance",
        "ADJUST",
        "alice",
        "-100",
    )
    # The fee account can be adjusted too.
    assert (await admin.call("AdjustBalance", **adjustment("5", participantId="house:fees")))["success"]


_BAD_ADJUSTMENTS = (
    (adjustment("0"), "INVALID_AMOUNT", "amount must be positive"),
    (adjustment("-5"), "INVALID_AMOUNT", "amount must be positive"),
    (adjustment(""), "INVALID_AMOUNT", "amount is not a decimal number"),
    (adjustment("ten"), "INVALID_AMOUNT", "amount is not a decimal number"),
    (adjustment("NaN"), "INVALID_AMOUNT", "amount is not a decimal number"),
    (adjustment("1,5"), "INVALID_AMOUNT", "amount is not a decimal number"),
    (adjustment("1e40"), "INVALID_AMOUNT", "amount is too large"),
    (adjustment("9" * 100), "INVALID_AMOUNT", "amount is too long"),
    (adjustment("0.0000000000000000001"), "INVALID_AMOUNT", "amount has more than 18 decimal places"),
    (adjustment("10000000000000000000"), "INVALID_AMOUNT", "amount is too large"),  # with what others have
    (adjustment("1", currency="DOGE"), "INVALID_CURRENCY", "currency: Unknown currency"),
    (adjustment("1", currency=""), "INVALID_CURRENCY", "currency: Unknown currency"),
    (adjustment("1", participantId=""), "AUTH_INVALID_USER", "participantId must be"),
    (adjustment("1", participantId="a.b"), "AUTH_INVALID_USER", "participantId must be"),
    (adjustment("1", "GIFT"), "UNSUPPORTED_COMMAND", "type must be one of DEPOSIT, WITHDRAW"),
    (adjustment("1", "deposit"), "UNSUPPORTED_COMMAND", "type must be one of DEPOSIT, WITHDRAW"),
    (adjustment("901", "WITHDRAW"), "RISK_NSF", "amount is more than the participant's free funds"),
    (adjustment("1", "WITHDRAW", currency="BTC"), "RISK_NSF", "amount is more than"),
    (adjustment("1", "WITHDRAW", participantId="nobody"), "RISK_NSF", "participantId: there is no nobody"),
)


@pytest.mark.spec("B4.4-54", "A7-18")
async def test_an_adjustment_that_breaks_a_rule_changes_nothing(admin: AdminClient) -> None:
    await admin.engine.fund("alice", USD="1000")
    await admin.engine.place("buy", "100", "1")
    before = await balances(admin)
    for fields, code, error in _BAD_ADJUSTMENTS:
        answer = await admin.call("AdjustBalance", **fields)
        assert (answer["success"], answer["resultCode"]) == (False, code), fields
        assert answer["error"].startswith(error), fields
        assert await balances(admin) == before, fields


@pytest.mark.spec("B4.4-57", "B4.4-58")
async def test_risk_metrics_show_how_much_orders_lock(admin: AdminClient) -> None:
    engine = admin.engine
    await engine.fund("alice", USD="300", BTC="4")
    await engine.fund("bob", USD="50")
    await engine.place("buy", "50", "1")
    await engine.place("buy", "49", "1")
    await engine.place("sell", "1000", "4")
    ended = await engine.place("buy", "48", "1")
    await engine.cancel(ended.order_id)
    usd = {
        "participantId": "alice",
        "currency": "USD",
        "total": "300",
        "locked": "99",
        "utilisationPercent": "33.00",
        "openOrders": 2,
    }
    btc = usd | {"currency": "BTC", "total": "4", "locked": "4", "utilisationPercent": "100.00", "openOrders": 1}
    bob = {
        "participantId": "bob",
        "currency": "USD",
        "total": "50",
        "locked": "0",
        "utilisationPercent": "0.00",
        "openOrders": 0,
    }
    assert _by_name(await admin.call("ListRiskMetrics", participantId="alice")) == _by_name({"metrics": [usd, btc]})
    assert _by_name(await admin.call("ListRiskMetrics")) == _by_name({"metrics": [usd, btc, bob]})
    assert (await admin.call("ListRiskMetrics", participantId="nobody"))["metrics"] == []


def _by_name(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(answer["metrics"], key=lambda row: (row["participantId"], row["currency"]))


@pytest.mark.spec("B4.4-59")
async def test_symbols_are_listed_by_number(admin: AdminClient) -> None:
    symbols = (await admin.call("ListSymbols"))["symbols"]
    assert len(symbols) == 12
    numbers = [row["symbolId"] for row in symbols]
    assert numbers == sorted(numbers)
    markets = (await admin.engine.request("GET", "/api/v1/markets"))[1]
    keys = ("symbol", "symbolId", "baseCurrency", "quoteCurrency", "active")
    assert symbols == [{key: market[key] for key in keys} for market in markets]
    await admin.engine.request("PATCH", "/api/v1/admin/symbols/SOL-BRL", {"active": False})
    inactive = [row["symbol"] for row in (await admin.call("ListSymbols"))["symbols"] if not row["active"]]
    assert inactive == ["SOL-BRL"]


async def _some_business(admin: AdminClient) -> None:
    engine = admin.engine
    for participant in ("alice", "maker", "taker"):
        await engine.fund(participant, USD="100000", BTC="100", ETH="100")
    await engine.place("sell", "100", "2", "maker")
    await engine.place("buy", "100", "0.5", "taker")
    await engine.place("buy", "100", "0.25", "taker")
    await engine.place("sell", "10", "1", "maker", symbol="ETH-USD")
    await engine.place("buy", "10", "1", "taker", symbol="ETH-USD")
    cancelled = await engine.place("buy", "50", "1")
    await engine.cancel(cancelled.order_id)
    await engine.place("buy", "50", "1", "nobody")
    await admin.call("DeactivateParticipant", participantId="alice")


@pytest.mark.spec("B4.4-40")
async def test_the_statistics_count_what_happened(tmp_path: Path, transport: Transport) -> None:
    settings = engine_settings(tmp_path, admin_password="first-password")
    async with running_engine(settings) as engine:
        admin = await AdminClient(engine, transport).login()
        empty = await admin.call("GetExchangeStats")
        assert empty["orders"] == {"open": "0", "placed": "0", "rejected": "0", "cancelled": "0"}
        assert empty["trades"] == {"count": "0", "volumeBySymbol": {}, "notionalBySymbol": {}}
        assert empty["participants"] == {"total": 2, "active": 1}
        await _some_business(admin)
        stats = await admin.call("GetExchangeStats")
        assert stats["orders"] == {"open": "1", "placed": "6", "rejected": "1", "cancelled": "1"}
        assert stats["trades"] == {
            "count": "3",
            "volumeBySymbol": {"BTC-USD": "0.75", "ETH-USD": "1"},
            "notionalBySymbol": {"BTC-USD": "75", "ETH-USD": "10"},
        }
        # The fee account and the deactivated one are not active.
        assert stats["participants"] == {"total": 5, "active": 3}
        assert (stats["matching"]["core"], stats["matching"]["symbols"]) in (("rust", 12), ("reference", 12))
        assert int(stats["matching"]["events"]) == await engine.last_sequence()
        # The last two are the deactivation, and the note of who did it.
        assert int(stats["matching"]["commands"]) == int(empty["matching"]["commands"]) + 9 + 8 + 2
        system = stats["system"]
        assert system["version"] == __version__
        assert system["queueDepth"] == "0"
        assert int(system["memoryBytes"]) > 10_000_000
        files = [journal_path(settings), journal_path(settings).with_name("journal.sqlite-wal")]
        assert int(system["journalBytes"]) == sum(path.stat().st_size for path in files)
        started = time.monotonic()
        again = (await admin.call("GetExchangeStats"))["system"]
        assert 0 <= int(again["uptimeMs"]) - int(system["uptimeMs"]) <= (time.monotonic() - started + 10) * 1000
    # The counts are a function of the journal: equal after a restart with and without the snapshot.
    for restart in ("snapshot", "journal"):
        if restart == "journal":
            for path in (settings.data_dir / "engine/snapshots").glob("*"):
                path.unlink()
        async with running_engine(settings) as engine:
            admin = await AdminClient(engine, transport).login()
            later = await admin.call("GetExchangeStats")
            assert [later[part] for part in ("orders", "trades", "participants")] == [
                stats[part] for part in ("orders", "trades", "participants")
            ]
            matching = later["matching"]
            assert matching["stateHashCommands"] == matching["commands"] == stats["matching"]["commands"]
            assert matching["stateHash"] == verify(journal_path(settings)).state_hash
