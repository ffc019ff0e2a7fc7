"""Positions on the trading screen: profit and loss, closing, transfers, tax lots with import and export."""

import json
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect

from openspot.up.child_platform import ChildPlatform
from tests.support.trading_screen import Exchange, NewWindow, Trader
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof

HISTORY = """externalId,timestamp,type,account,asset,quantity,value,fee,destination
buy-1,2024-01-10T00:00:00Z,buy,main,BTC,2,80000,20,
sell-1,2024-06-01T00:00:00Z,sell,main,BTC,0.5,30000,10,
broken,2024-06-02T00:00:00Z,sell,main,BTC,many,1,0,
"""


def report_of_a_broker(platform: ChildPlatform, trader: Trader) -> None:
    """A completed order, as a broker of record reports it: 0.5 ETH for 1,500 USDT, and a fee of 1."""
    settings = platform.settings
    body = {
        "orderId": f"browser-{trader.user_id}", "participantId": trader.user_id, "symbol": "ETH-USDT", "side": "buy",
        "quantity": "0.5", "price": "3000", "fee": "1", "feeAsset": "USDT", "completedAt": "2026-05-02T10:00:00Z",
    }  # fmt: skip
    headers = {
        "Content-Type": "application/json", "x-api-key": settings.engine_api_key,
        "x-api-secret": settings.engine_api_secret, "x-participant-type": "SYSTEM",
    }  # fmt: skip
    url = f"{settings.positions_url}/api/pms/bvi/order-completed"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=stretched(30)) as response:
        assert response.status == 201


def test_positions_transfers_and_tax_lots(
    new_window: NewWindow, exchange: Exchange, platform: ChildPlatform, tmp_path: Path
) -> None:
    trader = exchange.register("holder@example.com")
    screen = new_window(trader)
    # A refused request is reported by the browser too.
    screen.expect_complaint("status of 4(00|09)")
    page = screen.page
    screen.go("/positions", "Positions")
    screen.tab("Positions")
    expect(page.get_by_text("No positions yet")).to_be_visible()
    expect(page.get_by_text("A position begins with a trade")).to_be_visible()
    screen.assert_accessible("no positions")

    report_of_a_broker(platform, trader)
    page.reload()
    screen.tab("Positions")
    row = screen.row("Positions", "ETH-USDT")
    expect(row).to_contain_text("0.5 ETH")
    expect(row).to_contain_text("Long")
    # The fee is part of the cost of an opening trade.
    expect(row).to_contain_text("3,002")
    result = page.get_by_role("region", name="Profit and loss in USDT")
    expect(result).to_contain_text("Fees in it")
    page.get_by_role("button", name="Actions for ETH-USDT").click()
    expect(page.get_by_role("menuitem", name="Close at the mark price")).to_contain_text("There is no price")
    screen.close_menu()
    screen.look_over("positions")

    screen.tab("Transfers")
    expect(page.get_by_text("No transfers yet")).to_be_visible()
    page.get_by_role("button", name="Record a transfer").click()
    dialog = screen.dialog("Record a transfer")
    submit = dialog.get_by_role("button", name="Record it")
    expect(submit).to_have_accessible_description("Choose an asset.")
    screen.choose("Asset", "ETH", dialog)
    dialog.get_by_role("textbox", name="Amount").fill("a few")
    expect(submit).to_have_accessible_description("The amount is a number above zero, such as 0.5.")
    dialog.get_by_role("textbox", name="Amount").fill("2")
    dialog.get_by_role("textbox", name="Reference").fill("from my other account")
    screen.assert_accessible("recording a transfer")
    submit.click()
    transfer = screen.row("Transfers", "from my other account")
    expect(transfer).to_contain_text("Waits for the operator")
    screen.act("Deposit of 2 ETH", "Cancel")
    expect(transfer).to_contain_text("Cancelled")
    for title in ("Transfer recorded", "Transfer cancelled"):
        screen.toast(title).get_by_role("button", name="Dismiss").click()
        expect(screen.toast(title)).to_have_count(0)
    screen.look_over("transfers")

    screen.tab("Tax lots")
    expect(page.get_by_text("No tax lots yet")).to_be_visible()
    history = tmp_path / "history.csv"
    history.write_text(HISTORY)
    page.get_by_label("File of transactions").set_input_files(history)
    report = page.get_by_role("status", name="Report of the import")
    expect(report).to_contain_text("2 lines imported, 1 refused")
    expect(page.get_by_role("list", name="Refused lines")).to_contain_text("Line 4 (broken): quantity")
    expect(screen.row("Holdings by lots", "BTC")).to_contain_text("1.5 BTC")
    gain = screen.row("Gains by tax year", "2024")
    # 30,000 - 10 for a quarter of what cost 80,020.
    expect(gain).to_contain_text("+9,985.00 USD")
    screen.look_over("tax lots")
    page.get_by_label("File of transactions").set_input_files(history)
    expect(report).to_contain_text("0 lines imported, 2 known already, 1 refused")
    with page.expect_download() as download:
        page.get_by_role("button", name="Disposals of 2024").click()
    assert download.value.suggested_filename == "disposals-2024.csv"
    exported = Path(download.value.path()).read_text()
    assert len(exported.splitlines()) == 2
    assert "sell-1" in exported
    screen.act("BTC in main", "Show its lots and sales")
    expect(screen.row("Lots of BTC", "buy-1")).to_contain_text("1.5")
    screen.assert_accessible("lots of an asset")
    page.keyboard.press("Escape")

    wrong = tmp_path / "wrong.csv"
    wrong.write_text("colour,shape\nred,round\n")
    page.get_by_label("File of transactions").set_input_files(wrong)
    expect(screen.problem()).to_contain_text("The columns of the file are not known")
