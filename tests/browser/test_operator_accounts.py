"""Participants and balances in the console, for operators who have no session with the engine."""

import secrets

import pytest
from playwright.sync_api import expect

from openspot.http.operators import OperatorRole
from openspot.up.child_platform import ChildPlatform
from tests.support.console import OPPOSITE_LOOKS, Console
from tests.support.console_operators import log_in_with
from tests.support.operator import Operator

pytestmark = pytest.mark.proof


@pytest.fixture
def trader(operator: Operator, market: str) -> str:
    """A participant of this test alone, whose open order locks 90 % of its dollars."""
    name = f"trader-{secrets.token_hex(4)}"
    operator.fund(name, USD="100", **{market.split("-")[0]: "7"})
    operator.place(name, "buy", "10", "9", market)
    return name


def test_an_auditor_reads_participants_and_balances_and_changes_nothing(
    visitor: Console, platform: ChildPlatform, market: str, trader: str
) -> None:
    page = visitor.page
    log_in_with(visitor, platform, OperatorRole.AUDITOR, page="/participants")
    expect(visitor.heading("Participants")).to_be_visible()
    expect(visitor.row("Participants", platform.settings.admin_id).first).to_contain_text("SUPER_ADMIN")
    expect(page.get_by_role("link", name="New participant")).to_have_count(0)
    visitor.look_over("participants of an operator", OPPOSITE_LOOKS)
    assert trader in visitor.save_as_file("participants.csv").read_text()
    page.get_by_role("textbox", name="Open by participant id").fill(trader)
    page.get_by_role("textbox", name="Open by participant id").press("Enter")
    expect(visitor.heading(trader)).to_be_visible()
    expect(page.get_by_role("tab")).to_have_text(["Balances", "Risk"])
    expect(visitor.row("Balances", "USD")).to_contain_text("100")
    for change in ("Freeze", "Deactivate", "Adjust a balance"):
        expect(page.get_by_role("button", name=change)).to_have_count(0)
        expect(page.get_by_role("link", name=change)).to_have_count(0)
    expect(page.get_by_role("combobox", name="Self-trade prevention")).to_have_count(0)
    page.get_by_role("tab", name="Risk").click()
    expect(visitor.row("Risk metrics", "USD")).to_contain_text("90.00 %")
    visitor.look_over("a participant of an operator", OPPOSITE_LOOKS)

    visitor.open(f"/balances?currency={market.split('-')[0]}", "Balances")
    expect(visitor.row("Balances", trader)).to_contain_text("7")
    expect(page.get_by_role("button", name="Adjust at the engine alone")).to_have_count(0)
    page.get_by_role("button", name=f"Actions for {market.split('-')[0]} of {trader}", exact=True).click()
    expect(page.get_by_role("menuitem")).to_have_text(["Copy total", "Open participant"])
    visitor.close_menu()
    visitor.look_over("balances of an operator", OPPOSITE_LOOKS)
    saved = visitor.save_as_file("balances.csv").read_text()
    assert f"{trader},{market.split('-')[0]},7," in saved
    assert f"{trader},USD," not in saved
    visitor.open(f"/risk?participant={trader}", "Risk")
    expect(visitor.row("Risk metrics", "USD")).to_contain_text("90.00 %")
    lines = visitor.save_as_file("risk.csv").read_text().splitlines()
    assert [line.split(",")[:5] for line in lines[1:] if ",USD," in line] == [[trader, "USD", "100", "90", "90.00"]]
    assert all(line.startswith(f"{trader},") for line in lines[1:])
    visitor.open("/participants/new", "New participant")
    expect(page.get_by_text("A session with the engine is missing")).to_be_visible()
    assert visitor.admin_calls() == []


def test_market_operations_freezes_a_participant_on_its_page(
    visitor: Console, platform: ChildPlatform, trader: str
) -> None:
    log_in_with(visitor, platform, OperatorRole.MARKET_OPERATIONS, page=f"/participants/{trader}")
    visitor.page.get_by_role("button", name="Freeze", exact=True).click()
    dialog = visitor.dialog(f"Freeze {trader}?")
    dialog.get_by_role("textbox", name="Reason").fill("its orders look like those of a broken program")
    dialog.get_by_label(f"Type {trader} to confirm").fill(trader)
    dialog.get_by_role("button", name="Freeze", exact=True).click()
    expect(visitor.page.get_by_role("button", name="End the freeze")).to_be_visible()
    expect(visitor.page.get_by_role("definition").filter(has_text="Frozen")).to_be_visible()
    assert visitor.admin_calls() == []
