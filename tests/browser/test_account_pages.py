"""The pages of the account: each change of a user, and each state that a page can show."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from datetime import datetime
from zoneinfo import ZoneInfo

import pyotp
import pytest
from playwright.sync_api import expect

from openspot.up.child_platform import ChildPlatform
from tests.support.console import DESK, OPPOSITE_LOOKS, PHONE
from tests.support.trading_screen import PASSWORD, Exchange, NewWindow, Trader, TradingScreen
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof


def _copied(screen: TradingScreen, dialog: str, what: str) -> str:
    """What a button of a dialog copies, by its name."""
    name = screen.dialog(dialog).get_by_role("button", name=f"Copy {what} ").get_attribute("aria-label")
    assert name is not None
    return name.removeprefix(f"Copy {what} ")


def test_an_api_key_is_created_given_a_new_secret_and_revoked(new_window: NewWindow, exchange: Exchange) -> None:
    trader = exchange.register("keys@example.com")
    access = trader.tokens["accessToken"]
    screen = new_window(trader)
    page = screen.page
    screen.go("/account/api-keys", "API keys")
    expect(page.get_by_text("No API keys")).to_be_visible()
    screen.look_over("no API keys", OPPOSITE_LOOKS)

    page.get_by_role("button", name="Create a key").click()
    dialog = screen.dialog("Create an API key")
    dialog.get_by_role("checkbox", name="Withdraw").check()
    create = dialog.get_by_role("button", name="Create the key")
    create.click()
    expect(dialog.get_by_text("Give the key a name")).to_be_visible()
    expect(dialog.get_by_text("needs the addresses that it may be used from")).to_be_visible()
    expect(dialog.get_by_role("textbox", name="Name")).to_have_attribute("aria-invalid", "true")
    screen.look_over("faults of a new key", OPPOSITE_LOOKS)
    dialog.get_by_role("textbox", name="Name").fill("trading bot")
    addresses = dialog.get_by_role("textbox", name="Allowed addresses")
    addresses.fill("10.0.0.0/8")
    expect(dialog.get_by_text("10.0.0.0/8 is too wide")).to_be_visible()
    addresses.fill("10.0.0.0/16\n203.0.113.7")
    create.click()
    secret = _copied(screen, "The key is made", "secret")
    key_id = _copied(screen, "The key is made", "key")
    page.keyboard.press("Escape")
    expect(screen.dialog("The key is made").get_by_role("note")).to_contain_text("shown this once")
    screen.look_over("a secret", OPPOSITE_LOOKS)
    screen.dialog("The key is made").get_by_role("button", name=f"Copy secret {secret}").click()
    page.wait_for_function("async secret => await navigator.clipboard.readText() === secret", arg=secret)
    page.get_by_role("button", name="I have kept the secret").click()
    expect(screen.row("API keys", "trading bot", "Withdraw", "10.0.0.0/16", "never")).to_be_visible()
    (key,) = exchange.call("GET", "api-keys", token=access)
    assert key["id"] == key_id and key["scopes"] == ["read", "withdraw"]
    assert key["ipAllowList"] == ["10.0.0.0/16", "203.0.113.7/32"]
    assert secret not in page.content()
    screen.look_over("a list of keys", OPPOSITE_LOOKS)

    screen.act("trading bot", "Make a new secret")
    dialog = screen.dialog("Make a new secret for trading bot?")
    expect(dialog.get_by_role("note")).to_contain_text("The old one stops at once")
    dialog.get_by_role("button", name="Make a new secret").click()
    assert _copied(screen, "The new secret", "secret") != secret
    page.get_by_role("button", name="I have kept the secret").click()
    (key,) = exchange.call("GET", "api-keys", token=access)
    assert key["rotatedAt"] is not None

    screen.act("trading bot", "Revoke")
    dialog = screen.dialog("Revoke trading bot?")
    dialog.get_by_role("button", name="Cancel", exact=True).click()
    assert len(exchange.call("GET", "api-keys", token=access)) == 1
    screen.act("trading bot", "Revoke")
    dialog.get_by_role("button", name="Revoke the key").click()
    expect(screen.toast("trading bot is revoked")).to_be_visible()
    expect(page.get_by_text("No API keys")).to_be_visible()
    assert exchange.call("GET", "api-keys", token=access) == []


def test_an_account_with_a_second_factor_gives_a_code_for_a_key(new_window: NewWindow, exchange: Exchange) -> None:
    trader = exchange.register("careful-keys@example.com")
    access = trader.tokens["accessToken"]
    secret = exchange.call("POST", "users/me/mfa/setup", {"password": PASSWORD}, access)["secret"]
    codes = exchange.call("POST", "users/me/mfa/enable", {"code": pyotp.TOTP(secret).now()}, access)["recoveryCodes"]
    screen = new_window(trader)
    screen.expect_complaint("status of 40[01]")
    screen.go("/account/api-keys", "API keys")
    screen.page.get_by_role("button", name="Create a key").click()
    dialog = screen.dialog("Create an API key")
    dialog.get_by_role("textbox", name="Name").fill("signer")
    dialog.get_by_role("radio", name="Ed25519").check()
    dialog.get_by_role("textbox", name="Public key").fill("not a key")
    create = dialog.get_by_role("button", name="Create the key")
    expect(create).to_be_disabled()
    dialog.get_by_role("textbox", name="Code").fill(codes[0])
    create.click()
    expect(dialog.get_by_role("alert")).to_contain_text("publicKey")
    dialog.get_by_role("textbox", name="Public key").fill("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
    dialog.get_by_role("textbox", name="Code").fill("000000")
    create.click()
    expect(dialog.get_by_role("alert")).to_contain_text("The code is wrong")
    dialog.get_by_role("textbox", name="Code").fill(codes[1])
    create.click()
    expect(screen.dialog("The key is made")).to_contain_text("Sign with your private key")
    screen.page.get_by_role("button", name="Done").click()
    expect(screen.row("API keys", "signer", "Ed25519")).to_be_visible()


def test_an_anti_phishing_code_is_set_shown_in_mails_and_removed(new_window: NewWindow, exchange: Exchange) -> None:
    trader = exchange.register("phished@example.com")
    access = trader.tokens["accessToken"]
    screen = new_window(trader)
    page = screen.page
    screen.go("/account/security", "Security")
    page.get_by_role("button", name="Set a code").click()
    dialog = screen.dialog("Set an anti-phishing code")
    dialog.get_by_role("textbox", name="Code").fill("abc")
    dialog.get_by_role("button", name="Set the code").click()
    expect(dialog.get_by_text("4 to 32 characters are needed.")).to_be_visible()
    screen.look_over("a bad anti-phishing code", OPPOSITE_LOOKS)
    dialog.get_by_role("textbox", name="Code").fill("blue heron")
    dialog.get_by_role("button", name="Set the code").click()
    # As mails write it.
    expect(page.get_by_text("Your anti-phishing code: blue heron")).to_be_visible()
    assert exchange.call("GET", "users/me/anti-phishing-code", token=access) == {"code": "blue heron"}
    page.get_by_role("button", name="Change the code").click()
    dialog = screen.dialog("Change the anti-phishing code")
    dialog.get_by_role("textbox", name="Code").fill("grey goose")
    dialog.get_by_role("button", name="Set the code").click()
    expect(page.get_by_text("Your anti-phishing code: grey goose")).to_be_visible()
    page.get_by_role("button", name="Remove it").click()
    screen.dialog("Remove the anti-phishing code?").get_by_role("button", name="Remove the code").click()
    expect(page.get_by_role("button", name="Set a code")).to_be_visible()
    assert exchange.call("GET", "users/me/anti-phishing-code", token=access) == {"code": None}
    screen.tab("Activity")
    expect(screen.row("Activity", "Anti-phishing code changed")).to_have_count(3)


def test_every_activity_and_session_is_shown_and_a_session_is_ended(new_window: NewWindow, exchange: Exchange) -> None:
    trader = exchange.register("active@example.com")
    access = trader.tokens["accessToken"]
    other = exchange.call("POST", "auth/login", {"email": trader.email, "password": PASSWORD})
    for number in range(26):
        exchange.call("PATCH", "users/me/profile", {"displayName": f"Ada {number}"}, access)
    screen = new_window(trader)
    page = screen.page
    screen.go("/account/security", "Security")
    screen.tab("Activity")
    expect(screen.row("Activity", "Profile changed")).to_have_count(25)
    page.get_by_role("button", name="Show older").click()
    expect(screen.row("Activity", "Profile changed")).to_have_count(26)
    expect(screen.row("Activity", "Logged in")).to_have_count(2)
    expect(page.get_by_role("button", name="Show older")).to_be_hidden()
    screen.tab("Sessions")
    expect(screen.row("Sessions", "Python-urllib")).to_have_count(2)
    row = screen.row("Sessions", "Python-urllib").filter(has_not_text="This one")
    row.get_by_role("button").click()
    page.get_by_role("menuitem", name="End the session").click()
    expect(screen.toast("The session has ended")).to_be_visible()
    expect(screen.row("Sessions", "Python-urllib")).to_have_count(1)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        exchange.call("GET", "users/me/profile", token=other["accessToken"])
    screen.look_over("sessions", OPPOSITE_LOOKS)


def test_a_notification_is_switched_at_once_and_put_back_after_a_failure(
    new_window: NewWindow, exchange: Exchange
) -> None:
    trader = exchange.register("told@example.com")
    access = trader.tokens["accessToken"]
    screen = new_window(trader)
    page = screen.page
    screen.go("/account/notifications", "Notifications")
    mail = page.get_by_role("switch", name="Deposit credited, by mail")
    expect(mail).to_be_checked()
    expect(page.get_by_role("switch", name="New login, by mail")).to_be_disabled()
    expect(screen.row("Notifications", "New login", "always on")).to_be_visible()
    mail.press("Space")
    expect(screen.toast("Deposit credited by mail is off")).to_be_visible()
    page.get_by_role("switch", name="Deposit credited, on the screen").press("Space")
    expect(screen.toast("Deposit credited on the screen is off")).to_be_visible()
    rows = exchange.call("GET", "settings/notifications", token=access)
    preferences = {row["event"]: row for row in rows}
    assert (preferences["deposit_credited"]["email"], preferences["deposit_credited"]["websocket"]) == (False, False)
    assert len(preferences) == screen.table("Notifications").get_by_role("row").count() - 1
    screen.look_over("notifications", OPPOSITE_LOOKS)

    screen.expect_complaint("Failed to load resource")
    page.route("**/settings/notifications/*", lambda route: route.abort())
    payout = page.get_by_role("switch", name="Staking payout, by mail")
    payout.press("Space")
    expect(screen.problem().filter(has_text="The exchange does not respond")).to_be_visible()
    expect(payout).to_be_checked()


def test_the_time_zone_of_the_profile_is_that_of_all_times(new_window: NewWindow, exchange: Exchange) -> None:
    trader = exchange.register("traveller@example.com")
    access = trader.tokens["accessToken"]
    screen = new_window(trader)
    page = screen.page
    screen.go("/account/profile", "Profile")
    save = page.get_by_role("button", name="Save")
    expect(save).to_be_disabled()
    screen.look_over("a profile", OPPOSITE_LOOKS)
    page.get_by_role("textbox", name="Display name").fill("Ada L.")
    screen.choose("Language", "British English")
    screen.choose("Time zone", "Asia/Tokyo")
    save.click()
    expect(screen.toast("The profile is saved")).to_be_visible()
    expect(save).to_be_disabled()
    profile = exchange.call("GET", "users/me/profile", token=access)
    assert (profile["displayName"], profile["language"], profile["timeZone"]) == ("Ada L.", "en-GB", "Asia/Tokyo")
    registered = datetime.fromisoformat(profile["createdAt"])

    def shown(zone: str) -> str:
        return registered.astimezone(ZoneInfo(zone)).strftime("%d %b %Y %H:%M:%S")

    expect(page.get_by_text(shown("Asia/Tokyo"))).to_be_visible()
    # Another browser of the same user learns it from the profile, and may choose for itself.
    again = exchange.call("POST", "auth/login", {"email": trader.email, "password": PASSWORD})
    other = new_window(Trader(trader.email, trader.user_id, again))
    other.go("/account/profile", "Profile")
    expect(other.page.get_by_text(shown("Asia/Tokyo"))).to_be_visible()
    other.page.get_by_role("button", name="Display settings").click()
    zone = other.page.get_by_role("dialog", name="Display settings").get_by_role("combobox", name="Time zone")
    expect(zone).to_have_value("Your profile (Asia/Tokyo)")
    zone.click()
    zone.fill("UTC")
    other.page.get_by_role("option", name="UTC", exact=True).click()
    expect(other.page.get_by_text(shown("UTC"))).to_be_visible()
    other.page.reload()
    expect(other.page.get_by_text(shown("UTC"))).to_be_visible()


def test_a_user_is_verified_step_by_step(new_window: NewWindow, exchange: Exchange, platform: ChildPlatform) -> None:
    trader = exchange.register("known@example.com")
    screen = new_window(trader)
    page = screen.page
    screen.go("/account/verification", "Verification")
    expect(page.get_by_text("None yet")).to_be_visible()
    page.get_by_role("button", name="Send the details").click()
    expect(page.get_by_text("First name is needed.")).to_be_visible()
    screen.look_over("faults of details", OPPOSITE_LOOKS)
    for label, value in (
        ("First name", "Ada"), ("Last name", "Lovelace"), ("Date of birth", "2020-12-10"),
        ("Street and number", "12 Square"), ("Postal code", "SW1Y 4JH"), ("City", "London"),
    ):  # fmt: skip
        page.get_by_label(label, exact=True).fill(value)
    screen.choose("Country", "United Kingdom")
    screen.expect_complaint("status of 400")
    page.get_by_role("button", name="Send the details").click()
    expect(screen.problem()).to_contain_text("dateOfBirth must be at least 18 years ago")
    page.get_by_label("Date of birth", exact=True).fill("1990-12-10")
    page.get_by_role("button", name="Send the details").click()
    expect(page.get_by_text("up to 1,000,000.00 USD")).to_be_visible()
    screen.look_over("the level Basic", OPPOSITE_LOOKS)
    page.get_by_role("button", name="Start the check").click()
    expect(page.get_by_role("heading", name="Next: upload your documents")).to_be_visible()
    reference = page.get_by_role("button", name="Copy reference ")
    expect(reference).to_be_visible()
    name = reference.get_attribute("aria-label")
    page.reload()
    page.get_by_role("button", name="Show how it goes on").click()
    expect(reference).to_have_attribute("aria-label", str(name))
    screen.look_over("a check of documents", OPPOSITE_LOOKS)

    def review(*answer: str) -> None:
        environment = {"OPENSPOT_DATA_DIR": str(platform.data_dir), "PATH": "/usr/bin:/bin"}
        command = [sys.executable, "-m", "openspot.cli", "kyc", "review", trader.user_id, *answer]
        subprocess.run(command, check=True, env=environment, capture_output=True, timeout=stretched(120))

    review("RED")
    # The page asks every few seconds while a check runs.
    expect(page.get_by_text("Refused: try again")).to_be_visible()
    expect(page.get_by_role("note")).to_contain_text("Your documents were refused")
    screen.look_over("refused documents", OPPOSITE_LOOKS)
    page.get_by_role("button", name="Start the check again").click()
    expect(page.get_by_role("heading", name="Next: upload your documents")).to_be_visible()
    review("GREEN")
    expect(screen.page.get_by_role("heading", name="Nothing is left to do")).to_be_visible()
    expect(page.get_by_text("Verified", exact=True)).to_be_visible()
    screen.look_over("the level Verified", OPPOSITE_LOOKS)


def test_a_plan_is_subscribed_to_upgraded_and_cancelled(
    new_window: NewWindow, exchange: Exchange, platform: ChildPlatform
) -> None:
    trader = exchange.register("subscriber@example.com")
    screen = new_window(trader)
    page = screen.page
    screen.go("/account/subscription", "Subscription")
    plans = page.get_by_role("list", name="Plans").get_by_role("listitem")
    expect(page.get_by_text("No payments yet")).to_be_visible()
    expect(plans.filter(has_text="Basic").filter(has_text="8.10 USDT")).to_be_visible()
    screen.look_over("plans", OPPOSITE_LOOKS)
    page.get_by_role("button", name="Subscribe to Basic").click()
    dialog = screen.dialog("Subscribe to Basic?")
    expect(dialog).to_contain_text("You pay 8.10 USDT now")
    expect(dialog).to_contain_text("taken from the USDT balance of your spot account")
    dialog.get_by_role("button", name="Subscribe and pay").click()
    expect(dialog).to_contain_text("Not enough funds")
    screen.expect_complaint("status of 409")
    screen.look_over("a subscription", OPPOSITE_LOOKS)
    exchange.deposit([(trader, "USDT", "27")])
    dialog.get_by_role("button", name="Subscribe and pay").click()
    expect(screen.toast("You have Basic")).to_be_visible()
    expect(screen.row("Payments", "Basic, first period", "10 %", "8.10 USDT", "Paid")).to_be_visible()
    expect(page.get_by_text("Next charge")).to_be_visible()

    page.get_by_role("button", name="Upgrade to Pro").click()
    dialog = screen.dialog("Upgrade to Pro?")
    comparison = dialog.get_by_role("table", name="Before and after")
    # The day of the upgrade is the first of the new period, so all of what was just paid is credited.
    expect(comparison.get_by_role("row", name="Credit, about")).to_contain_text("8.10 USDT")
    expect(comparison.get_by_role("row", name="To pay now, about")).to_contain_text("18.90 USDT")
    screen.look_over("an upgrade", OPPOSITE_LOOKS)
    dialog.get_by_role("button", name="Upgrade and pay").click()
    expect(screen.toast("You have Pro")).to_be_visible()
    expect(screen.row("Payments", "Pro, upgrade", "27.00 USDT", "8.10 USDT", "18.90 USDT")).to_be_visible()
    expect(plans.filter(has_text="Basic").filter(has_text="Your plan has more.")).to_be_visible()

    page.get_by_role("button", name="Cancel the subscription").click()
    dialog = screen.dialog("Cancel Pro?")
    dialog.get_by_role("button", name="Keep it").click()
    page.get_by_role("button", name="Cancel the subscription").click()
    dialog.get_by_role("button", name="Cancel the subscription").click()
    expect(screen.toast("Pro is cancelled")).to_be_visible()
    expect(page.get_by_text("Access until")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel the subscription")).to_be_hidden()
    screen.look_over("a cancelled plan", OPPOSITE_LOOKS)
    url = f"{platform.settings.subscriptions_url}/api/subscription"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {trader.tokens['accessToken']}"})
    with urllib.request.urlopen(request, timeout=stretched(30)) as response:
        subscription = json.loads(response.read())
    assert (subscription["planId"], subscription["cancelAtPeriodEnd"]) == ("pro", True)


@pytest.mark.parametrize(
    ("path", "heading", "route"),
    [
        ("api-keys", "API keys", "**/api/v1/api-keys"),
        ("notifications", "Notifications", "**/settings/notifications"),
        ("profile", "Profile", "**/users/me/profile"),
        ("verification", "Verification", "**/kyc/status"),
        ("subscription", "Subscription", "**/api/plans"),
    ],
)
def test_a_page_says_that_it_cannot_be_read_and_tries_again(
    new_window: NewWindow, exchange: Exchange, path: str, heading: str, route: str
) -> None:
    screen = new_window(exchange.register(f"offline-{path}@example.com"))
    screen.expect_complaint("Failed to load resource")
    screen.stop_polling()
    page = screen.page
    page.route(route, lambda intercepted: intercepted.abort())
    screen.go(f"/account/{path}", heading)
    problem = screen.problem().filter(has_text="The exchange does not respond")
    expect(problem).to_be_visible()
    screen.look_over(f"{path}, not readable", OPPOSITE_LOOKS)
    page.unroute(route)
    problem.get_by_role("button", name="Try again").click()
    expect(problem).to_be_hidden()


def test_the_pages_of_the_account_are_found_on_a_phone_and_by_address(
    new_window: NewWindow, exchange: Exchange
) -> None:
    screen = new_window(exchange.register("finder@example.com"), viewport=PHONE)
    page = screen.page
    screen.go("/account", "Profile")
    page.get_by_role("button", name="Account page: Profile, choose another").click()
    screen.assert_accessible("the menu of the account")
    page.get_by_role("menuitem", name="Verification").click()
    expect(screen.heading("Verification")).to_be_visible()
    page.set_viewport_size(DESK)
    entries = page.get_by_role("navigation", name="Account")
    expect(entries.get_by_role("link", name="Verification")).to_have_attribute("aria-current", "page")
    entries.get_by_role("link", name="API keys").click()
    expect(screen.heading("API keys")).to_be_visible()
    screen.go("/account/no-such-page", "Page not found")
