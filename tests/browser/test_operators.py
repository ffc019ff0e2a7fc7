"""Operators in the console: both kinds of login, what each opens, and how roles are given and read in the trail."""

import re
import secrets

import pytest
from playwright.sync_api import expect

from openspot.http.operators import OperatorRole
from openspot.up.child_platform import ChildPlatform
from tests.support.authenticator import PASSWORD, register
from tests.support.console import Console
from tests.support.console_operators import at_the_edge, operator_with

pytestmark = pytest.mark.proof


def take_roles(platform: ChildPlatform, email: str) -> None:
    """Take every role of a user, as another administrator does."""
    statement = "DELETE FROM operator_roles WHERE user_id = (SELECT user_id FROM users WHERE email = $1)"
    at_the_edge(platform, lambda _, pool: pool.execute(statement, email))


def test_a_user_logs_in_with_a_code_and_sees_the_pages_that_the_roles_open(
    visitor: Console, platform: ChildPlatform
) -> None:
    visitor.expect_complaint("status of 40[013]")
    email, app = operator_with(platform, OperatorRole.SUPPORT)
    visitor.page.goto(f"{visitor.url}/console/orders")
    visitor.log_in(email, "another password")
    expect(visitor.problem()).to_contain_text("That is not right")
    visitor.log_in(email, PASSWORD)
    visitor.assert_accessible("code")
    visitor.page.get_by_label("Code").fill(app.wrong_code())
    visitor.page.get_by_role("button", name="Log in").click()
    expect(visitor.problem()).to_be_visible()
    visitor.page.get_by_label("Code").fill(app.recovery_codes.pop())
    visitor.page.get_by_role("button", name="Log in").click()

    # The page that was asked for is the engine's, and says so.
    expect(visitor.page.get_by_text("A session with the engine is missing")).to_be_visible()
    visitor.assert_accessible("closed page")
    entries = visitor.page.get_by_role("navigation", name="Pages of the console").get_by_role("link")
    expect(entries).to_have_text([
        "Users", "Approvals", "All orders", "All trades", "Adjustments", "Deposits", "All withdrawals", "Payments",
        "Plans", "Participants", "Balances", "Listings", "Withdrawals", "Treasury", "Health", "Types and permissions",
    ])  # fmt: skip
    visitor.open("/trail", "Audit trail")
    expect(visitor.page.get_by_text("The permission audit.read is missing")).to_be_visible()
    visitor.open("/health", "Health")
    expect(visitor.table("Services").get_by_role("row").nth(1)).to_be_visible()
    expect(visitor.page.get_by_role("button", name=f"Account of {email}")).to_be_visible()
    assert visitor.admin_calls() == []

    take_roles(platform, email)
    visitor.open("/access", "OpenSpot console")
    expect(visitor.page.get_by_text("You are no operator any more")).to_be_visible()


def test_a_user_without_a_second_factor_or_without_roles_is_told_what_is_missing(
    visitor: Console, platform: ChildPlatform
) -> None:
    visitor.expect_complaint("status of 403")
    email = f"{secrets.token_hex(4)}@operators.example"
    at_the_edge(platform, lambda client, _: register(client, email))
    visitor.page.goto(f"{visitor.url}/console/")
    visitor.log_in(email, PASSWORD)
    expect(visitor.problem()).to_contain_text("This user is no operator")
    give = "INSERT INTO operator_roles SELECT user_id, 'AUDITOR', 'shell:test', now() FROM users WHERE email = $1"
    at_the_edge(platform, lambda _, pool: pool.execute(give, email))
    visitor.log_in(email, PASSWORD)
    expect(visitor.problem()).to_contain_text("Operators need a second factor")
    take_roles(platform, email)


def test_an_administrator_gives_and_takes_roles_and_finds_both_in_the_trail(
    console: Console, platform: ChildPlatform
) -> None:
    email = f"{secrets.token_hex(4)}@operators.example"
    user_id = at_the_edge(platform, lambda client, _: register(client, email))
    verify = "UPDATE users SET email_verified_at = now() WHERE email = $1"
    at_the_edge(platform, lambda _, pool: pool.execute(verify, email))
    console.open("/operators", "Operators")
    console.page.get_by_role("button", name="New operator").click()
    dialog = console.dialog("New operator")
    dialog.get_by_label("Registered user").fill(email)
    confirm = dialog.get_by_role("button", name="Make an operator")
    expect(confirm).to_be_disabled()
    dialog.get_by_label("Support").check()
    dialog.get_by_label("Treasury").check()
    dialog.get_by_label("Reason").fill("joins the desk")
    console.look_over("new operator", (("dark", {"width": 390, "height": 844}),))
    confirm.click()
    expect(console.row("Operators", email)).to_contain_text("SUPPORT, TREASURY")
    expect(console.row("Operators", email)).to_contain_text("Missing")
    console.look_over("operators")

    console.act(email, "Change roles…")
    roles = console.dialog(f"Roles of {email}")
    roles.get_by_label("Support").uncheck()
    roles.get_by_label("Treasury").uncheck()
    roles.get_by_label("Reason").fill("leaves the desk")
    roles.get_by_role("button", name="End every role").click()
    expect(console.row("Operators", email)).to_have_count(0)

    console.open(f"/trail?subject={user_id}", "Audit trail")
    expect(console.row("Audit trail", str(user_id))).to_have_count(2)
    newest = console.row("Audit trail", "leaves the desk")
    expect(newest).to_contain_text(f"engine:{platform.settings.admin_id}")
    console.look_over("trail")
    number = newest.get_by_role("cell").first.inner_text()
    console.act(f"entry {number}", "Show in full")
    entry = console.dialog(f"Entry {number}")
    expect(entry.get_by_role("table", name="Before and after")).to_contain_text("SUPPORT,TREASURY")
    console.assert_accessible("entry of the trail")
    console.page.keyboard.press("Escape")
    console.page.get_by_role("button", name="Save as a file").click()
    saving = console.dialog("Save the list as a file?")
    saving.get_by_label("Reason").fill("the yearly audit")
    with console.page.expect_download() as download:
        saving.get_by_role("button", name="Save the file").click()
    assert download.value.suggested_filename == "operator-trail.csv"
    assert len(download.value.path().read_text("utf-8").splitlines()) == 3


def test_a_tab_may_hold_both_sessions_and_a_logout_ends_both(console: Console, platform: ChildPlatform) -> None:
    email, app = operator_with(platform, OperatorRole.AUDITOR)
    page = console.page
    console.open("/orders", "Orders")
    page.get_by_role("button", name=re.compile("^Account of")).click()
    page.get_by_role("menuitem", name="Log in as a user too").click()
    console.log_in(email, PASSWORD)
    page.get_by_label("Code").fill(app.recovery_codes.pop())
    page.get_by_role("button", name="Log in").click()
    expect(console.heading("Dashboard")).to_be_visible()
    # The user signs what the REST edge serves: an auditor looks and changes nothing, whatever the engine allows.
    console.open("/operators", "Operators")
    expect(console.row("Sessions of operators", email, "this session")).to_be_visible()
    expect(page.get_by_role("button", name="New operator")).to_be_hidden()
    console.open("/orders", "Orders")
    ended: list[str] = []
    page.on("request", lambda request: ended.append(request.url) if "ogout" in request.url else None)
    page.route("**/exchange.v1.AdminService/Logout", lambda route: route.fulfill(json={"success": True}))
    page.get_by_role("button", name=f"Account of {email}").click()
    page.get_by_role("menuitem", name="Log out").click()
    expect(console.heading("OpenSpot console")).to_be_visible()
    assert sorted(url.rpartition("/")[2] for url in ended) == ["Logout", "logout"]
    kept = page.evaluate("[...Object.keys(sessionStorage)].filter(key => key.startsWith('openspot.console.'))")
    assert kept == []


def test_the_page_of_permissions_shows_which_role_has_which(console: Console) -> None:
    console.open("/access?type=ADMINISTRATOR", "Types and permissions")
    expect(console.page.get_by_text("permissions.grant")).to_be_visible()
    # What a name of the catalogue opens, or that no call asks for it.
    expect(console.page.get_by_role("row", name="orders.cancel_all")).to_contain_text(
        "opens Users · All orders · Listings"
    )
    expect(console.page.get_by_role("row", name="journal.verify")).to_contain_text("opens nothing")
    console.open("/access?type=SUPPORT", "Types and permissions")
    expect(console.page.get_by_text("users.lock_login")).to_be_visible()
    expect(console.page.get_by_text("permissions.grant")).to_be_hidden()
    console.look_over("roles and permissions")
