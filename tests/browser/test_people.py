"""Users and their money in the console: found, locked, noted, adjusted; verifications and files."""

import itertools
import json
import re
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from openspot.kit.mail.transports import read_mailbox
from openspot.up.child_platform import ChildPlatform
from tests.support.console import OPPOSITE_LOOKS, Console
from tests.support.operator import Operator
from tests.support.waiting import stretched

PASSWORD = "correct horse battery"
PAGES = (
    ("/users", "Users"),
    ("/verifications", "Verifications"),
    ("/approvals", "Approvals"),
    ("/adjustments", "Adjustments"),
    ("/all-orders", "All orders"),
    ("/all-trades", "All trades"),
    ("/deposits", "Deposits"),
    ("/all-withdrawals", "All withdrawals"),
    ("/payments", "Payments"),
    ("/reports", "Reports"),
    ("/plans", "Plans"),
    ("/treasury", "Treasury"),
    ("/alerts", "Alerts"),
)
USER_PAGE = "/users/:userId"
"""The page of one user, which the journeys below visit."""

_serial = itertools.count(1)


@pytest.fixture
def eve(platform: ChildPlatform) -> dict[str, Any]:
    """A user who has just registered: the address, and what a login gave."""
    email = f"eve-{next(_serial)}@example.org"
    body = {"email": email, "password": PASSWORD}
    base = f"{platform.settings.rest_url}/api/v1/auth"
    post(f"{base}/register", body)
    return {"email": email, **post(f"{base}/login", body)}


def post(url: str, body: dict[str, str]) -> dict[str, Any]:
    """Send a request of JSON, and return the reply's body."""
    return send("POST", url, body)


def send(method: str, url: str, body: dict[str, str], token: str = "") -> dict[str, Any]:
    """The same with another method, and with the token of a session."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(url, json.dumps(body).encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=stretched(60)) as response:
        reply: dict[str, Any] = json.loads(response.read())
    return reply


@pytest.mark.proof
@pytest.mark.parametrize(("path", "heading"), PAGES)
def test_every_page_of_people_fits_and_is_accessible(console: Console, path: str, heading: str) -> None:
    console.open(path, heading)
    expect(console.page.get_by_text("Updated").first).to_be_visible()
    console.look_over(heading, OPPOSITE_LOOKS)


@pytest.mark.proof
def test_a_user_is_found_locked_and_noted(console: Console, platform: ChildPlatform, eve: dict[str, Any]) -> None:
    profile = {"language": "de", "timeZone": "Europe/Vienna"}
    send("PATCH", f"{platform.settings.rest_url}/api/v1/users/me/profile", profile, eve["accessToken"])
    console.open("/users", "Users")
    page = console.page
    field = page.get_by_role("textbox", name="E-mail, name, id, address, transaction or order")
    field.fill(eve["email"][:8])
    field.press("Enter")
    console.row("Users", eve["email"]).get_by_role("link", name=eve["userId"]).click()
    expect(console.heading(eve["email"])).to_be_visible()
    facts = page.locator("dl").first
    for name, value in (("Language", "German"), ("Time zone", "Europe/Vienna"), ("Role of access tokens", "user")):
        expect(facts.locator("div", has=page.get_by_text(name, exact=True)).locator("dd")).to_have_text(value)
    page.get_by_role("button", name="Do something").click()
    page.get_by_role("menuitem", name="Lock the login…").click()
    dialog = console.dialog("Lock the login?")
    dialog.get_by_role("textbox", name="Reason").fill("stolen phone, ticket 4711")
    dialog.get_by_role("button", name="Lock the login").click()
    expect(console.toast("The login is locked")).to_be_visible()
    expect(page.get_by_text("stolen phone, ticket 4711")).to_be_visible()
    for name in ("Deposits", "Withdrawals", "Payments"):
        page.get_by_role("tab", name=name).click()
        expect(page.get_by_text(f"No {name.lower()}", exact=True)).to_be_visible()
    page.get_by_role("tab", name="Notes").click()
    page.get_by_role("button", name="Add a note").click()
    note = console.dialog("Note something about the user?")
    note.get_by_role("textbox", name="Note").fill("called back on 3 May")
    note.get_by_role("button", name="Add the note").click()
    expect(console.row("Notes", "called back on 3 May")).to_be_visible()
    console.look_over("A user", OPPOSITE_LOOKS)


@pytest.mark.proof
def test_several_users_are_locked_after_a_dry_run_and_the_list_is_kept_as_a_view(
    console: Console, platform: ChildPlatform, eve: dict[str, Any]
) -> None:
    base = f"{platform.settings.rest_url}/api/v1"
    other = f"{eve['email'].partition('@')[0]}-second@example.org"
    post(f"{base}/auth/register", {"email": other, "password": PASSWORD})
    prefix = eve["email"].partition("@")[0]
    console.open(f"/users?q={prefix}", "Users")
    page = console.page
    bar = page.get_by_role("group", name="Chosen rows")
    expect(bar).to_contain_text("None chosen")
    page.get_by_role("checkbox", name=f"Choose {eve['email']}").check()
    page.get_by_role("checkbox", name=f"Choose {other}").check()
    expect(bar).to_contain_text("2 users chosen")
    bar.get_by_role("button", name="Do with them").click()
    page.get_by_role("menuitem", name="Lock the logins…", exact=True).click()
    dialog = console.dialog("Lock the logins?")
    confirm = dialog.get_by_role("button", name="Lock the logins", exact=True)
    dialog.get_by_role("textbox", name="Reason").fill("bots of one owner")
    expect(confirm).to_be_disabled()
    dialog.get_by_role("button", name="Dry run").click()
    would = dialog.get_by_role("region", name="What would happen")
    expect(would.get_by_role("row").filter(has_text="Would be done")).to_have_count(2)
    expect(console.row("Users", eve["email"])).not_to_contain_text("Login")
    console.look_over("dry run", OPPOSITE_LOOKS)
    # Another reason is another attempt, which needs a dry run of its own.
    dialog.get_by_role("textbox", name="Reason").fill("bots of one owner, ticket 9")
    expect(confirm).to_be_disabled()
    dialog.get_by_role("button", name="Dry run").click()
    confirm.click()
    done = dialog.get_by_role("region", name="What happened")
    expect(done.get_by_role("row").filter(has_text="Done")).to_have_count(2)
    dialog.get_by_text("Close", exact=True).click()
    expect(console.row("Users", other)).to_contain_text("Login")

    console.save_view(f"Bots {prefix}")
    console.open("/users", "Users")
    console.open_view(f"Bots {prefix}")
    expect(page.get_by_label("E-mail, name, id, address, transaction or order")).to_have_value(prefix)
    expect(console.row("Users", other)).to_be_visible()


def test_an_adjustment_reaches_the_user_and_stands_in_the_list(
    console: Console, operator: Operator, eve: dict[str, Any]
) -> None:
    operator.fund("house:adjustments", USD="500")
    page = console.page
    # The page of the participant leads to the page of the user, where engine and ledger both change.
    operator.fund(eve["userId"], USDT="1")
    console.open(f"/participants/{eve['userId']}", eve["userId"])
    page.get_by_role("link", name="Adjust a balance").click()
    expect(console.heading(eve["email"])).to_be_attached()
    dialog = console.dialog("Adjust the balance?")
    dialog.get_by_label("Asset").fill("usd")
    dialog.get_by_label("Amount").fill("25")
    dialog.get_by_role("combobox", name="Category").click()
    page.get_by_role("option", name="Goodwill").click()
    dialog.get_by_role("textbox", name="Reason").fill("delayed withdrawal")
    dialog.get_by_label(f"Type {eve['userId']} to confirm").fill(eve["userId"])
    dialog.get_by_role("button", name="Give to the user").click()
    expect(console.toast("The balance is adjusted")).to_be_visible()
    # The ledger's total and what is available in it, beside the engine's.
    balances = page.get_by_role("table", name="Balances")
    expect(balances.get_by_role("columnheader")).to_have_text([
        "Account", "Asset", "Engine total", "Engine available", "Ledger total", "Ledger available", "Difference",
    ])  # fmt: skip
    row = console.row("Balances", "USD", "25")
    expect(row.get_by_role("cell")).to_have_text(["Spot", "USD", *["25"] * 4, "–"])
    console.open(f"/adjustments?user={eve['userId']}", "Adjustments")
    expect(console.row("Adjustments", eve["userId"], "delayed withdrawal")).to_be_visible()


@pytest.mark.proof
def test_lists_are_narrowed_by_days_and_saved_as_files(console: Console, eve: dict[str, Any]) -> None:
    page, user_id = console.page, eve["userId"]
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    console.open("/users?to=2020-01-01", "Users")
    expect(page.get_by_text("Nobody registered then")).to_be_visible()
    assert console.save_as_file("users.csv").read_text().splitlines() == ["user_id,email,display_name,created_at,locks"]
    page.get_by_label("To", exact=True).fill(f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}")
    page.get_by_label("From", exact=True).fill("2020-01-01")
    expect(console.row("Users", eve["email"])).to_be_visible()
    assert eve["email"] in console.save_as_file("users.csv").read_text()
    for path, heading, empty, name in (
        ("/verifications", "Verifications", "No verification is in this state", "verifications"),
        ("/approvals", "Approvals", "Nothing waits for another person", "requests"),
        ("/adjustments", "Adjustments", "No adjustments", "adjustments"),
        ("/treasury", "Treasury", "Nothing was moved then", "house_transfers"),
        ("/treasury?tab=outside", "Treasury", "Nothing was recorded then", "house_flows"),
    ):
        console.open(f"{path}{'&' if '?' in path else '?'}to=2020-01-01", heading)
        expect(page.get_by_text(empty)).to_be_visible()
        assert len(console.save_as_file(f"{name}.csv").read_text().splitlines()) == 1, name
        page.get_by_role("button", name="Clear filters").click()
        expect(page).not_to_have_url(re.compile("2020"))
    for tab in ("orders", "trades"):
        console.open(f"/users/{user_id}?tab={tab}&from={today}", eve["email"])
        expect(page.get_by_text(f"No {tab}", exact=True)).to_be_visible()
        assert len(console.save_as_file(f"{tab}-{user_id}.csv").read_text().splitlines()) == 1, tab
    # The days belong to the tab.
    page.get_by_role("tab", name="Orders").click()
    expect(page).not_to_have_url(re.compile("from="))
    console.look_over("orders of a user", OPPOSITE_LOOKS)


@pytest.mark.proof
def test_a_file_that_is_refused_leaves_the_page_as_it_is(console: Console) -> None:
    page = console.page
    unknown = "x" * 43
    console.open("/treasury", "Treasury")
    page.route(
        "**/api/v1/operator/downloads",
        lambda route: route.fulfill(
            status=201,
            json={"path": f"/downloads/{unknown}", "expiresAt": "2030-01-01T00:00:00Z"},
            headers={"Access-Control-Allow-Origin": "*"},
        ),
    )
    page.get_by_role("button", name="Save as a file").click()
    dialog = console.dialog("Save the list as a file?")
    dialog.get_by_role("textbox", name="Reason").fill("yearly audit")
    with page.expect_request(f"**/downloads/{unknown}") as asked, page.expect_download() as refused:
        dialog.get_by_role("button", name="Save the file").click()
    assert refused.value.suggested_filename == "refused.json"
    assert "DOWNLOAD_LINK_UNKNOWN" in refused.value.path().read_text()
    # The link is the whole credential, and says nothing of where it was.
    assert not {"authorization", "cookie", "referer"} & asked.value.all_headers().keys()
    expect(console.toast("The browser saves the file")).to_be_visible()
    expect(page.get_by_role("heading", name="Treasury")).to_be_visible()
    expect(page).to_have_url(re.compile("/treasury$"))


@pytest.mark.proof
def test_money_of_the_house_moves_and_a_level_is_set(console: Console, operator: Operator) -> None:
    operator.fund("house:payments", USDC="50")
    console.open("/treasury", "Treasury")
    console.act("house:payments USDC", "Move from here…")
    dialog = console.dialog("Move money of the house?")
    dialog.get_by_role("combobox", name="To").click()
    console.page.get_by_role("option", name="house:insurance (margin insurance)").click()
    dialog.get_by_label("Amount").fill("20")
    dialog.get_by_role("textbox", name="Reason").fill("the insurance is below its level")
    dialog.get_by_label("Type house:payments to confirm").fill("house:payments")
    dialog.get_by_role("button", name="Move").click()
    expect(console.toast("The money has moved")).to_be_visible()
    expect(console.row("Transfers of the house", "house:insurance", "20", "Done")).to_be_visible()
    console.act("house:insurance USDC", "Set the level…")
    dialog = console.dialog("Set the level?")
    dialog.get_by_label("Level").fill("30")
    dialog.get_by_role("textbox", name="Reason").fill("a day of liquidations")
    dialog.get_by_role("button", name="Set the level").click()
    expect(console.row("House accounts", "house:insurance", "USDC", "Below its level")).to_be_visible()
    console.act("house:insurance USDC", "Show movements")
    expect(console.row("Movements of house:insurance", "treasury")).to_be_visible()
    file = console.save_as_file("house_entries.csv", button="Save the movements as a file")
    assert "treasury" in file.read_text()
    console.page.get_by_label("Last day", exact=True).fill("2020-01-01")
    expect(console.page.get_by_text("Nothing moved then")).to_be_visible()


@pytest.mark.proof
def test_money_of_the_house_comes_from_outside_and_a_reference_counts_once(
    console: Console, operator: Operator
) -> None:
    console.expect_complaint("409 .*/operator/treasury/flows")
    operator.fund("house:payments", USDC="50")
    console.open("/treasury", "Treasury")
    for amount in ("20", "30"):
        console.act("house:payments USDC", "From or to outside…")
        dialog = console.dialog("Record money from or to outside?")
        dialog.get_by_label("Amount").fill(amount)
        dialog.get_by_role("combobox", name="Category").click()
        console.page.get_by_role("option", name="Capital of the owners").click()
        dialog.get_by_label("External reference").fill("SEPA-4711")
        dialog.get_by_role("textbox", name="Reason").fill("the owners fill it")
        dialog.get_by_label("Type house:payments to confirm").fill("house:payments")
        dialog.get_by_role("button", name="Record what came in").click()
        if amount == "20":
            expect(console.toast("The money is recorded")).to_be_visible()
    expect(dialog.get_by_text("counts already")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    console.page.get_by_role("tab", name="From and to outside").click()
    expect(console.row("Money of the house from and to outside", "SEPA-4711", "20", "Done")).to_be_visible()
    console.look_over("flows of the house", OPPOSITE_LOOKS)


@pytest.mark.proof
def test_a_try_of_an_alert_says_what_became_of_it(console: Console, platform: ChildPlatform) -> None:
    console.open("/alerts", "Alerts")
    console.act("The books differ", "Try it…")
    dialog = console.dialog("Try the alert?")
    dialog.get_by_role("textbox", name="Reason").fill("a new address for the night")
    dialog.get_by_role("button", name="Send the test").click()
    expect(console.toast("The test was taken everywhere")).to_be_visible()
    expect(console.row("Destinations", "mail night@example.org", "Taken")).to_be_visible()
    subjects = [mail.subject for mail in read_mailbox(platform.data_dir) if mail.recipient == "night@example.org"]
    assert "[OpenSpot page] The books differ (a test)" in subjects
