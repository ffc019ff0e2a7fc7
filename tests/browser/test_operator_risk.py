"""Risk in the console, for operators who have no session with the engine: it is read, and participants are frozen."""

import secrets

import pytest
from playwright.sync_api import expect

from openspot.http.operators import OperatorRole
from openspot.up.child_platform import ChildPlatform
from tests.support.console import OPPOSITE_LOOKS, Console
from tests.support.console_operators import log_in_with
from tests.support.operator import Operator, OperatorError
from tests.support.stub_orders import fulfil

pytestmark = pytest.mark.proof


@pytest.fixture
def trader(operator: Operator, market: str) -> str:
    """A participant of this test alone, whose open order locks 90 % of its dollars."""
    name = f"trader-{secrets.token_hex(4)}"
    operator.fund(name, USD="100")
    operator.place(name, "buy", "10", "9", market)
    return name


def test_market_operations_alone_freezes_a_participant_and_ends_that(
    visitor: Console, platform: ChildPlatform, operator: Operator, market: str, trader: str
) -> None:
    log_in_with(visitor, platform, OperatorRole.MARKET_OPERATIONS, page="/risk")
    row = visitor.row("Risk metrics", trader)
    expect(row).to_contain_text("90.00 %")
    expect(row).to_contain_text("Active")
    visitor.act(f"USD of {trader}", "Freeze…")
    dialog = visitor.dialog(f"Freeze {trader}?")
    dialog.get_by_role("textbox", name="Reason").fill("its orders look like those of a broken program")
    freeze = dialog.get_by_role("button", name="Freeze", exact=True)
    expect(freeze).to_be_disabled()
    dialog.get_by_label(f"Type {trader} to confirm").fill(trader)
    visitor.look_over("the freeze of a participant", OPPOSITE_LOOKS)
    freeze.click()
    expect(visitor.toast(f"{trader} is frozen")).to_be_visible()
    expect(row).to_contain_text("Frozen")
    visitor.look_over("risk with a frozen participant", OPPOSITE_LOOKS)
    with pytest.raises(OperatorError):
        operator.place(trader, "buy", "10", "0.1", market)

    visitor.act(f"USD of {trader}", "End the freeze…")
    dialog = visitor.dialog(f"End the freeze of {trader}?")
    dialog.get_by_role("textbox", name="Reason").fill("the program is mended")
    dialog.get_by_role("button", name="End the freeze").click()
    expect(row).to_contain_text("Active")
    operator.place(trader, "buy", "10", "0.1", market)

    # Whom an administrator of the engine has deactivated, an operator does not activate.
    operator.call("DeactivateParticipant", participantId=trader)
    expect(row).to_contain_text("Inactive")
    visitor.page.get_by_role("button", name=f"Actions for USD of {trader}", exact=True).click()
    expect(visitor.page.get_by_role("menuitem", name="Freeze…")).to_be_disabled()
    visitor.close_menu()
    assert visitor.admin_calls() == []


def test_an_auditor_reads_risk_and_has_no_button_that_changes_it(
    visitor: Console, platform: ChildPlatform, trader: str
) -> None:
    log_in_with(visitor, platform, OperatorRole.AUDITOR, page="/risk")
    row = visitor.row("Risk metrics", trader)
    expect(row).to_contain_text("90.00 %")
    visitor.page.get_by_role("button", name=f"Actions for USD of {trader}", exact=True).click()
    expect(visitor.page.get_by_role("menuitem")).to_have_text(["Open participant"])
    visitor.close_menu()
    visitor.page.get_by_role("textbox", name="Participant id").fill(trader)
    visitor.page.get_by_role("textbox", name="Participant id").press("Enter")
    expect(visitor.table("Risk metrics").get_by_role("row")).to_have_count(2)
    assert visitor.admin_calls() == []


def test_the_page_says_how_many_balances_it_does_not_show(
    visitor: Console, platform: ChildPlatform, trader: str
) -> None:
    metric = {
        "participantId": trader, "currency": "USD", "total": "100", "locked": "90", "utilisationPercent": "90.00",
        "openOrders": 1, "state": "active", "freezable": True,
    }  # fmt: skip
    answer = {"metrics": [metric], "total": 1200}
    visitor.page.route("**/operator/risk", lambda route: fulfil(route, answer))
    log_in_with(visitor, platform, OperatorRole.AUDITOR, page="/risk")
    note = "The 1 with the largest utilisation. Enter a participant to see one of the other 1,199."
    expect(visitor.page.get_by_text(note)).to_be_visible()
    visitor.look_over("risk of many participants", OPPOSITE_LOOKS)
