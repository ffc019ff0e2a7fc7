"""Positions, balances, trades, results, risk and statistics, through HTTP."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.fake_prices import FakePrices
from tests.support.ports import free_port
from tests.support.positions import ADMIN, PositionClient, running_positions
from tests.support.waiting import eventually

POSITION = "/positions/alice/BTC-USD"


async def marked(positions: PositionClient, price: str | None, path: str = POSITION) -> dict[str, object]:
    """alice's position once it is marked to `price`."""

    async def found() -> dict[str, object] | None:
        position: dict[str, object] = await positions.get("alice", path)
        return position if position["markPrice"] == price else None

    return await eventually(found, 120)  # type: ignore[return-value]


@pytest.mark.spec("B4.5-01", "B4.5-02", "B4.5-12", "B4.5-13", "B4.5-14", "B4.5-29", "A2.8-14", "A9-05")
async def test_trades_move_positions_and_balances_and_the_timer_marks_them(
    positions: PositionClient, prices: FakePrices
) -> None:
    await positions.report_order()
    await positions.report_order(orderId="broker-2", side="sell", quantity="0.5", price="120", fee="0.5")
    unmarked = await positions.get("alice", POSITION)
    assert unmarked["markPrice"] is unmarked["unrealisedPnl"] is unmarked["value"] is None
    prices.prices["BTC-USD"] = "110"
    position = await marked(positions, "110")
    # 2 bought for 201; a half of it, 0.5 of 2, costs 50.25 and brings 59.5.
    expected = {
        "participantId": "alice", "symbol": "BTC-USD", "status": "open", "quantity": "1.5", "cost": "150.75",
        "averagePrice": "100.5", "realisedPnl": "9.25", "fees": "1.5", "cashFlow": "-141.5", "trades": 2,
        "markPrice": "110", "value": "165", "unrealisedPnl": "14.25", "closedAt": None,
        "openedAt": "2026-05-02T10:00:00.000Z",
    }  # fmt: skip
    assert {name: position[name] for name in expected} == expected
    assert set(position) == {*expected, "markedAt", "updatedAt"}
    [listed] = await positions.get("alice", "/positions")
    assert {name: listed[name] for name in expected} == expected
    balances = await positions.get("alice", "/balances")
    assert all(balance.pop("updatedAt") for balance in balances)
    assert balances == [
        {"participantId": "alice", "assetId": asset, "available": amount, "locked": "0", "total": amount}
        for asset, amount in (("BTC", "1.5"), ("USD", "-141.5"))
    ]
    assert (await positions.get("alice", "/balances/alice/BTC"))["total"] == "1.5"
    assert (await positions.get("alice", "/balances/alice/SOL"))["total"] == "0"
    trades = await positions.get("alice", "/trades")
    assert len({trade.pop("tradeId") for trade in trades}) == 2
    common = {
        "participantId": "alice", "symbol": "BTC-USD", "source": "broker", "executedAt": "2026-05-02T10:00:00.000Z",
    }  # fmt: skip
    assert trades == [
        common | {"side": "sell", "quantity": "0.5", "notional": "60", "fee": "0.5", "realisedPnl": "9.25"},
        common | {"side": "buy", "quantity": "2", "notional": "200", "fee": "1", "realisedPnl": "0"},
    ]
    assert await positions.get("alice", "/trades?source=fill") == []


@pytest.mark.spec("B4.5-04")
async def test_a_close_books_one_trade_at_the_mark_price(positions: PositionClient, prices: FakePrices) -> None:
    await positions.report_order()
    refused = await positions.ask("alice", "POST", f"{POSITION}/close")
    assert (refused.status, refused.code) == (409, "POSITION_NOT_CLOSED")
    assert "no mark price" in refused.message
    prices.prices["BTC-USD"] = "110"
    await marked(positions, "110")
    headers = {"Idempotency-Key": "close-1"}
    for _ in range(2):
        closed = await positions.ask("alice", "POST", f"{POSITION}/close", headers=headers)
        assert closed.status == 200, closed.body
        assert (closed.body["status"], closed.body["quantity"], closed.body["realisedPnl"]) == ("closed", "0", "19")
        assert closed.body["unrealisedPnl"] == "0"
    assert [trade["source"] for trade in await positions.get("alice", "/trades")] == ["close", "broker"]
    again = await positions.ask("alice", "POST", f"{POSITION}/close")
    assert (again.status, again.message) == (409, "position is not open")
    nothing = await positions.ask("alice", "POST", "/positions/alice/ETH-USD/close")
    assert (nothing.status, nothing.code) == (404, "POSITION_NOT_FOUND")
    assert await positions.get("alice", "/positions?status=open") == []
    assert len(await positions.get("alice", "/positions?status=closed")) == 1


@pytest.mark.spec("B4.5-15", "B4.5-16", "B4.5-18", "B4.5-19")
async def test_results_add_up_by_symbol_by_quote_and_over_all(positions: PositionClient, prices: FakePrices) -> None:
    await positions.report_order()
    await positions.report_order(orderId="o2", symbol="ETH-USD", quantity="10", price="10", fee="0")
    await positions.report_order(orderId="o3", participantId="bob", quantity="1", price="100", fee="0")
    prices.prices["BTC-USD"] = "110"
    await marked(positions, "110")
    by_symbol = {row["symbol"]: row for row in (await positions.get("alice", "/pnl/alice/by-symbol"))["results"]}
    assert (by_symbol["BTC-USD"]["unrealisedPnl"], by_symbol["ETH-USD"]["unrealisedPnl"]) == ("19", None)
    # A sum with a part that nobody knows is not known.
    assert (await positions.get("alice", "/pnl/alice"))["results"] == [
        {"quoteAsset": "USD", "realisedPnl": "0", "unrealisedPnl": None, "totalPnl": None, "fees": "1"}
    ]
    prices.prices["ETH-USD"] = "9"
    await marked(positions, "9", "/positions/alice/ETH-USD")
    [result] = (await positions.get("alice", "/pnl/alice"))["results"]
    assert (result["unrealisedPnl"], result["totalPnl"]) == ("9", "9")
    summary = await positions.get(ADMIN, "/stats/summary")
    assert (summary["participants"], summary["openPositions"], summary["trades"]) == (2, 3, 3)
    assert summary["results"][0]["unrealisedPnl"] == "19"
    assert (await positions.get("bob", "/stats/summary"))["participants"] == 1
    counts = await positions.get(ADMIN, "/stats/participants")
    assert [(row["participantId"], row["trades"]) for row in counts] == [("alice", 2), ("bob", 1)]


@pytest.mark.spec("B4.5-17")
async def test_risk_is_exposure_concentration_and_value_at_risk(positions: PositionClient, prices: FakePrices) -> None:
    await positions.report_order()
    await positions.report_order(
        orderId="o2", symbol="ETH-BTC", side="sell", quantity="1", price="0.5", fee="0", feeAsset="BTC"
    )
    unpriced = await positions.get("alice", "/risk/alice")
    assert unpriced["unpriced"] == ["BTC-USD", "ETH-BTC"]
    assert unpriced["valueAtRisk"] is unpriced["concentration"] is None
    prices.prices |= {"BTC-USD": "100", "ETH-BTC": "0.5"}
    await marked(positions, "0.5", "/positions/alice/ETH-BTC")
    assert (await positions.get("alice", "/risk/alice"))["valueAtRisk"] is None
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for day in range(1, 41):
        # BTC goes up and down by a tenth; ETH stays at half a BTC.
        prices.set_candle("BTC-USD", "1d", today - timedelta(days=day), "100" if day % 2 else "110")
        prices.set_candle("ETH-BTC", "1d", today - timedelta(days=day), "0.5")
    risk = await positions.get("alice", "/risk/alice")
    assert (risk["grossExposure"], risk["netExposure"], risk["longExposure"], risk["shortExposure"]) == (
        "250", "150", "200", "50",
    )  # fmt: skip
    assert risk["concentration"] == {"herfindahl": "0.68", "largestSymbol": "BTC-USD", "largestShare": "0.8"}
    # 39 returns of +1/10 and -1/11 on a net position of 150: 1.645 times their sample deviation.
    assert risk["valueAtRisk"].startswith("23.8")


@pytest.mark.spec("B4.5-03", "A2.8-17")
async def test_the_snapshot_timer_keeps_open_positions_once_an_interval(
    positions: PositionClient, prices: FakePrices
) -> None:
    await positions.report_order()
    prices.prices["BTC-USD"] = "110"
    await marked(positions, "110")
    async with running_positions(positions.settings, position_snapshot_s=0.2, positions_port=free_port()):

        async def three() -> bool:
            return len(await positions.get("alice", "/positions/snapshots")) >= 3

        await eventually(three, 120)
    # Only now is no more added.
    found = await positions.get("alice", "/positions/snapshots")
    moments = [snapshot["takenAt"] for snapshot in found]
    assert moments == sorted(set(moments), reverse=True)
    assert {name: found[0][name] for name in ("quantity", "cost", "markPrice", "unrealisedPnl")} == {
        "quantity": "2", "cost": "201", "markPrice": "110", "unrealisedPnl": "19",
    }  # fmt: skip
    first = await positions.ask("alice", "GET", "/positions/snapshots?limit=2")
    assert [row["takenAt"] for row in first.body] == moments[:2]
    rest = await positions.get("alice", f"/positions/snapshots?cursor={first.headers['X-Next-Cursor']}")
    assert rest[0]["takenAt"] == moments[2]
