"""Participants, balances and risk in the console."""

import re

import pytest
from playwright.sync_api import expect

from openspot.up.child_platform import ChildPlatform
from tests.support.console import Console
from tests.support.operator import Operator


@pytest.mark.spec("A1.1-20", "A2.6-01", "A2.6-02", "B4.4-43", "B4.4-42")
@pytest.mark.parametrize(
    ("kind", "fact"),
    [
        pytest.param("MAKER", "Maker (MAKER)", marks=pytest.mark.spec("A2.6-03")),
        pytest.param("TAKER", "Taker (TAKER)", marks=pytest.mark.spec("A2.6-04")),
        pytest.param("BOTH", "Maker and taker (BOTH)", marks=pytest.mark.spec("A2.6-05")),
        pytest.param("BROKER", "Broker (BROKER)", marks=pytest.mark.spec("A2.6-06")),
        pytest.param("SYSTEM", "System (SYSTEM)", marks=pytest.mark.spec("A2.6-07")),
        pytest.param("SUPER_ADMIN", "Super administrator (SUPER_ADMIN)", marks=pytest.mark.spec("A2.6-08")),
    ],
)
def test_a_participant_of_each_type_is_created(console: Console, operator: Operator, kind: str, fact: str) -> None:
    console.open("/participants", "Participants")
    console.page.get_by_role("link", name="New participant").click()
    expect(console.heading("New participant")).to_be_visible()
    participant = f"new-{kind}"
    page = console.page
    page.get_by_role("textbox", name="Participant id").fill(participant)
    page.get_by_role("textbox", name="Name", exact=True).fill(f"A new {kind}")
    page.get_by_role("textbox", name="Password", exact=True).fill("a-long-password")
    page.get_by_role("textbox", name="Password again").fill("a-long-password")
    page.get_by_role("radio", name=fact).check()
    page.get_by_role("radio", name="Cancel both").check()
    page.get_by_role("textbox", name="Reason").fill("ticket 3")
    page.get_by_role("button", name="Create the participant").click()
    expect(console.heading(participant)).to_be_visible()
    expect(console.toast(f"{participant} is created")).to_be_visible()
    created = operator.participant(participant)
    del created["createdAt"]
    assert created == {
        "participantId": participant,
        "name": f"A new {kind}",
        "type": kind,
        "stpMode": "CANCEL_BOTH",
        "active": True,
    }
    assert operator.log_in(participant, "a-long-password").type == kind


@pytest.mark.proof
def test_a_bad_participant_is_explained_at_its_fields(console: Console, operator: Operator) -> None:
    operator.create("taken")
    console.open("/participants/new", "New participant")
    page = console.page
    page.get_by_role("button", name="Create the participant").click()
    expect(page.get_by_text("1 to 64 letters, digits, or one of _ : - are needed.")).to_be_visible()
    expect(page.get_by_text("8 to 256 characters are needed.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Participant id")).to_have_attribute("aria-invalid", "true")
    console.assert_accessible("faults of a new participant")
    page.get_by_role("textbox", name="Participant id").fill("taken")
    page.get_by_role("textbox", name="Password", exact=True).fill("a-long-password")
    page.get_by_role("textbox", name="Password again").fill("another-password")
    page.get_by_role("textbox", name="Reason").fill("ticket 4")
    page.get_by_role("button", name="Create the participant").click()
    expect(page.get_by_text("The two passwords differ.")).to_be_visible()
    assert "CreateParticipant" not in console.admin_calls()
    page.get_by_role("textbox", name="Password again").fill("a-long-password")
    page.get_by_role("button", name="Create the participant").click()
    expect(console.problem()).to_contain_text("participantId: taken already exists")
    expect(console.heading("New participant")).to_be_visible()


@pytest.mark.proof
@pytest.mark.spec("B4.4-41")
def test_participants_are_shown_in_pages_that_the_address_keeps(console: Console, operator: Operator) -> None:
    for number in range(30):
        operator.create(f"crowd-{number}")
    total = operator.call("ListParticipants", limit=1)["total"]
    order = [row["participantId"] for row in operator.call("ListParticipants", limit=1000)["participants"]]
    console.open("/participants?size=25", "Participants")
    shown = console.table("Participants").get_by_role("row")
    expect(shown).to_have_count(26)
    expect(shown.nth(1)).to_contain_text(order[0])
    console.page.get_by_role("button", name="Next page").click()
    expect(console.page.get_by_text(f"of {total}")).to_contain_text("26–")
    expect(shown.nth(1)).to_contain_text(order[25])
    assert "page=2" in console.page.url
    console.page.reload()
    expect(shown.nth(1)).to_contain_text(order[25])
    console.page.get_by_role("button", name="First page").click()
    expect(shown.nth(1)).to_contain_text(order[0])
    expect(console.page.get_by_role("button", name="Previous page")).to_be_disabled()


@pytest.mark.proof
@pytest.mark.spec("B4.4-45", "B4.4-46", "B4.4-44")
def test_deactivating_warns_that_orders_stay_and_activating_undoes_it(
    console: Console, operator: Operator, platform: ChildPlatform, market: str
) -> None:
    operator.create("leaver")
    operator.fund("leaver", USD="1000")
    order_id = operator.place("leaver", "buy", "10", "1", market)
    console.open("/participants/leaver", "leaver")
    console.page.get_by_role("button", name="Deactivate").click()
    dialog = console.dialog("Deactivate leaver?")
    expect(dialog.get_by_role("note")).to_contain_text("1 open order stays in the book")
    comparison = dialog.get_by_role("table", name="Before and after").get_by_role("row", name="State")
    expect(comparison).to_contain_text(re.compile("Active.*Inactive"))
    console.assert_accessible("deactivation")
    confirm = dialog.get_by_role("button", name="Deactivate")
    expect(confirm).to_be_disabled()
    dialog.get_by_label("Reason").fill("ticket 12: left the company")
    expect(confirm).to_be_disabled()
    dialog.get_by_label("Type leaver to confirm").fill("leaver")
    confirm.click()
    expect(console.toast("leaver is deactivated")).to_be_visible()
    assert operator.participant("leaver")["active"] is False
    assert operator.order(order_id)["status"] == "OPEN"
    log = platform.log_path.read_text("utf-8")
    (line,) = (line for line in log.splitlines() if "deactivated a participant" in line and "leaver" in line)
    assert '"reason": "ticket 12: left the company"' in line and '"by": "admin"' in line

    console.page.get_by_role("button", name="Activate").click()
    dialog = console.dialog("Activate leaver?")
    dialog.get_by_label("Reason").fill("is back")
    dialog.get_by_role("button", name="Activate").click()
    expect(console.toast("leaver is active again")).to_be_visible()
    assert operator.participant("leaver")["active"] is True


@pytest.mark.proof
def test_nobody_deactivates_themselves_or_the_fee_account(console: Console) -> None:
    console.open("/participants", "Participants")
    for name, reason in (
        ("admin", "You cannot deactivate yourself."),
        ("house:fees", "The fee account stays as it is."),
    ):
        console.page.get_by_role("button", name=f"Actions for {name}", exact=True).click()
        item = console.page.get_by_role("menuitem", name=reason)
        expect(item).to_have_attribute("aria-disabled", "true")
        console.assert_accessible("row menu")
        item.click(force=True)
        expect(console.page.get_by_role("dialog")).to_be_hidden()
        console.close_menu()


@pytest.mark.proof
@pytest.mark.spec("B4.4-48")
def test_self_trade_prevention_is_set(console: Console, operator: Operator) -> None:
    operator.create("careful")
    console.open("/participants/careful", "careful")
    console.page.get_by_role("combobox", name="Self-trade prevention").click()
    console.page.get_by_role("option", name="Decrement and cancel").click()
    dialog = console.dialog("Change self-trade prevention?")
    expect(dialog.get_by_role("row", name="Mode")).to_contain_text("NoneDecrement and cancel")
    dialog.get_by_label("Reason").fill("asked for it")
    dialog.get_by_role("button", name="Change the mode").click()
    expect(console.toast("Self-trade prevention is set")).to_be_visible()
    assert operator.participant("careful")["stpMode"] == "DECREMENT_AND_CANCEL"


@pytest.mark.proof
@pytest.mark.spec("B4.4-52", "B4.4-49", "B4.4-51", "B4.4-57")
def test_a_participants_page_shows_balances_orders_trades_and_risk(
    console: Console, operator: Operator, market: str
) -> None:
    base = market.split("-")[0]
    for name in ("seller", "buyer"):
        operator.create(name)
    operator.fund("seller", **{base: "5"})
    operator.fund("buyer", USD="1000")
    operator.place("seller", "sell", "20", "2.5", market)
    taken = operator.place("buyer", "buy", "20", "1", market)
    console.open("/participants/seller", "seller")
    balance = console.row("Balances", base)
    for amount in ("4", "1.5"):
        expect(balance.get_by_role("cell", name=amount, exact=True)).to_have_count(1)
    console.page.get_by_role("tab", name="Orders").click()
    expect(console.row("Orders", "Partially filled")).to_contain_text("20.00")
    assert "tab=orders" in console.page.url
    console.assert_accessible("participant's orders")
    console.page.get_by_role("tab", name="Trades").click()
    trade = console.row("Trades", market)
    expect(trade).to_contain_text("1.0000")
    expect(trade.get_by_role("link", name="buyer")).to_be_visible()
    console.page.get_by_role("tab", name="Risk").click()
    expect(console.row("Risk metrics", base)).to_contain_text("37.50 %")
    assert operator.order(taken)["status"] == "FILLED"


@pytest.mark.proof
def test_a_participant_that_does_not_exist_is_explained(console: Console) -> None:
    console.open("/participants/nobody", "nobody")
    expect(console.problem()).to_contain_text("participantId: there is no nobody")
    expect(console.problem()).to_contain_text("Check the spelling")
    console.assert_accessible("unknown participant")


@pytest.mark.spec("A1.1-22", "B4.4-54", "B4.4-55")
def test_a_deposit_is_adjusted_with_before_and_after(
    console: Console, operator: Operator, platform: ChildPlatform
) -> None:
    operator.fund("saver", USD="100.25")
    console.open("/balances?participant=saver", "Balances")
    console.act("USD of saver", "Adjust at the engine alone…")
    dialog = console.dialog("Adjust a balance at the engine alone")
    expect(dialog.get_by_role("note").first).to_contain_text("“Adjustments at the engine alone”")
    dialog.get_by_label("Amount").fill("0.000000000000000001")
    total = dialog.get_by_role("row", name="Total")
    expect(total).to_contain_text("100.25 USD")
    expect(total).to_contain_text("100.250000000000000001 USD")
    console.assert_accessible("adjustment")
    confirm = dialog.get_by_role("button", name="Add to the balance")
    expect(dialog.get_by_text("To go on, give a reason.")).to_be_visible()
    dialog.get_by_label("Reason").fill("ticket 7: interest of one unit")
    expect(dialog.get_by_text("To go on, type saver.")).to_be_visible()
    expect(confirm).to_be_disabled()
    dialog.get_by_label("Type saver to confirm").fill("saver")
    confirm.click()
    expect(console.toast("The balance is adjusted")).to_be_visible()
    balance = operator.balance("saver", "USD")
    assert balance is not None and balance["total"] == "100.250000000000000001"
    expect(console.row("Balances", "saver")).to_contain_text("100.250000000000000001")
    assert '"reason": "ticket 7: interest of one unit"' in platform.log_path.read_text("utf-8")


@pytest.mark.proof
@pytest.mark.spec("B4.4-56", "A7-18")
def test_a_withdrawal_that_is_too_much_is_warned_of_and_refused_by_the_engine(
    console: Console, operator: Operator, market: str
) -> None:
    operator.fund("spender", USD="50")
    operator.place("spender", "buy", "10", "3", market)
    console.open("/balances", "Balances")
    console.page.get_by_role("button", name="Adjust at the engine alone").click()
    dialog = console.dialog("Adjust a balance at the engine alone")
    dialog.get_by_role("textbox", name="Participant id").fill("spender")
    console.choose("Currency", "USD", dialog)
    dialog.get_by_text("Withdraw", exact=True).click()
    amount = dialog.get_by_label("Amount")
    for bad, reason in (
        ("1e3", "Enter a plain decimal, such as 12.50."),
        ("-5", "The amount must be more than zero"),
        ("0.0000000000000000001", "At most 18 digits after the point."),
    ):
        amount.fill(bad)
        expect(dialog.get_by_text(reason)).to_be_visible()
        expect(dialog.get_by_role("button", name="Take from the balance")).to_be_disabled()
    amount.fill("45")
    expect(dialog.get_by_role("note").last).to_contain_text("The engine will refuse it")
    dialog.get_by_label("Reason").fill("a try")
    dialog.get_by_label("Type spender to confirm").fill("spender")
    dialog.get_by_role("button", name="Take from the balance").click()
    expect(dialog.get_by_role("alert")).to_contain_text("amount is more than the participant's free funds")
    expect(dialog.get_by_role("alert")).to_contain_text("cancel open orders first")
    amount.fill("5")
    dialog.get_by_role("button", name="Take from the balance").click()
    expect(console.toast("The balance is adjusted")).to_be_visible()
    balance = operator.balance("spender", "USD")
    assert balance is not None and balance["total"] == "45"


@pytest.mark.proof
@pytest.mark.spec("B4.4-53", "B4.4-52")
def test_balances_of_all_or_of_one_are_filtered_and_sorted(console: Console, operator: Operator) -> None:
    operator.fund("rich-a", SOL="9")
    operator.fund("rich-b", SOL="10")
    operator.fund("rich-c", SOL="100.5")
    console.open("/balances?currency=SOL", "Balances")
    expect(console.row("Balances", "rich-")).to_have_count(3)
    console.page.get_by_role("button", name="Total").click()
    console.page.get_by_role("button", name="Total").click()
    header = console.page.get_by_role("columnheader", name="Total")
    expect(header).to_have_attribute("aria-sort", "descending")
    assert "sort=-total" in console.page.url
    names = console.row("Balances", "rich-").get_by_role("link").all_inner_texts()
    # By value: as texts, "9" would come first.
    assert names == ["rich-c", "rich-b", "rich-a"]
    filter_field = console.page.get_by_role("textbox", name="Participant id")
    filter_field.fill("rich-b")
    filter_field.press("Enter")
    expect(console.row("Balances", "rich-")).to_have_count(1)
    assert "participant=rich-b" in console.page.url
    console.page.get_by_role("button", name="Clear filters").click()
    expect(console.row("Balances", "rich-")).to_have_count(3)


@pytest.mark.proof
@pytest.mark.spec("B4.4-58", "B4.4-57")
def test_risk_metrics_are_sorted_by_utilisation(console: Console, operator: Operator, market: str) -> None:
    for name, quantity in (("calm", "1"), ("bold", "9"), ("reckless", "10")):
        # A buy also needs its taker's fee of 20 basis points to be free.
        operator.fund(name, USD="100.20")
        operator.place(name, "buy", "10", quantity, market)
    console.open("/risk?sort=-utilisation", "Risk")
    expect(console.row("Risk metrics", "calm")).to_contain_text("9.98 %")
    rows = console.table("Risk metrics").get_by_role("row").all_inner_texts()[1:]
    shares = [float(match[1]) for row in rows if (match := re.search(r"([\d.]+) %", row))]
    assert shares == sorted(shares, reverse=True)
    # Other tests have participants with orders, too.
    own = next(row for row in rows if any(name in row for name in ("calm", "bold", "reckless")))
    assert "reckless" in own and "99.80 %" in own
    console.act("USD of bold", "Show its open orders")
    expect(console.heading("Orders")).to_be_visible()
    expect(console.row("Orders", "bold")).to_have_count(1)
