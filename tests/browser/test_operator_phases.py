"""The phase of a market in the console, for operators who have no session with the engine."""

import pytest
from playwright.sync_api import expect

from openspot.http.operators import OperatorRole
from openspot.up.child_platform import ChildPlatform
from tests.support.console import OPPOSITE_LOOKS, Console
from tests.support.console_operators import log_in_with
from tests.support.operator import Operator

pytestmark = pytest.mark.proof


def test_market_operations_alone_halts_a_market_and_resumes_it(
    visitor: Console, platform: ChildPlatform, operator: Operator, market: str
) -> None:
    log_in_with(visitor, platform, OperatorRole.MARKET_OPERATIONS, page="/listings")
    row = visitor.row("Markets", market)
    expect(row).to_contain_text("Continuous trading")
    visitor.act(market, "Set phase…")
    dialog = visitor.dialog(f"Change the phase of {market}?")
    dialog.get_by_label("Phase", exact=True).select_option("halted")
    dialog.get_by_role("textbox", name="Reason").fill("a wrong price was published")
    halt = dialog.get_by_role("button", name="Change the phase")
    expect(halt).to_be_disabled()
    dialog.get_by_label(f"Type {market} to confirm").fill(market)
    visitor.look_over("the phase of a market", OPPOSITE_LOOKS)
    # The engine's administrator was faster: the dialog shows that, and nothing is changed.
    operator.set_phase(market, "post-only")
    visitor.expect_complaint("status of 409")
    halt.click()
    expect(visitor.problem()).to_contain_text("The market has entered another phase meanwhile")
    expect(dialog.get_by_role("row", name="Phase")).to_contain_text("Post-only")
    halt.click()
    expect(visitor.toast(f"{market}: Halted")).to_be_visible()
    expect(row).to_contain_text("Halted")
    visitor.look_over("a market that is halted", OPPOSITE_LOOKS)
    assert operator.admin("GET", f"/symbols/{market}")["phase"] == "halted"

    visitor.act(market, "Set phase…")
    dialog = visitor.dialog(f"Change the phase of {market}?")
    dialog.get_by_role("textbox", name="Reason").fill("the price is right again")
    dialog.get_by_role("button", name="Change the phase").click()
    expect(row).to_contain_text("Continuous trading")
    assert "phase" not in operator.admin("GET", f"/symbols/{market}")
    assert visitor.admin_calls() == []


def test_an_auditor_reads_the_phase_and_cannot_set_it(
    visitor: Console, platform: ChildPlatform, operator: Operator, market: str
) -> None:
    operator.set_phase(market, "cancel-only")
    log_in_with(visitor, platform, OperatorRole.AUDITOR, page="/listings")
    expect(visitor.row("Markets", market)).to_contain_text("Cancel-only")
    visitor.page.get_by_role("button", name=f"Actions for {market}", exact=True).click()
    item = visitor.page.get_by_role("menuitem", name="Set phase…")
    expect(item).to_be_disabled()
    expect(item).to_contain_text("It needs the permission symbols.set_phase.")
    visitor.close_menu()
    assert visitor.admin_calls() == []
