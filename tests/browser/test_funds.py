"""The trader's money: withdrawals with their steps, deposits, what the funds are worth, staking, the history."""

import json
import re
from decimal import ROUND_DOWN, ROUND_UP, Decimal
from urllib.error import HTTPError

import pyotp
import pytest
from playwright.sync_api import Route, expect

from tests.support.money_user import BASIC_INFORMATION
from tests.support.operator import Operator
from tests.support.trading_screen import PASSWORD, Exchange, NewWindow, TradingScreen
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof

ADDRESS = "So11111111111111111111111111111111111111112"
COMMAND_MS = 1000 * stretched(180)
"""A deposit is played by a command, whose process takes long to start on a machine that does much else."""
DONE = ("Requested", "Approved", "Signed", "Sent", "Confirmed", "Completed")
TO_COME = ("Request", "Approval", "Signature", "Sending", "Confirmation", "Completion")


def assert_steps(screen: TradingScreen, amount: str, done: int, current: str, note: str = "") -> None:
    """The steps of a withdrawal that is under way: so many are done, then `current`, with `note` below it."""
    steps = screen.page.get_by_role("list", name=f"Steps of {amount}").get_by_role("listitem")
    expect(steps).to_have_count(len(DONE))
    for index, (before, after) in enumerate(zip(TO_COME, DONE, strict=True)):
        if index < done:
            expect(steps.nth(index)).to_have_text(f"{after}: done")
        elif index == done:
            expect(steps.nth(index)).to_have_text(f"{index + 1}{current}: under way{note}")
        else:
            expect(steps.nth(index)).to_have_text(f"{index + 1}{before}: to come")


def test_a_withdrawal_is_seen_in_every_state(new_window: NewWindow, exchange: Exchange, operator: Operator) -> None:
    trader = exchange.register("withdrawer@example.com")
    token = trader.tokens["accessToken"]
    exchange.deposit([(trader, "SOL", "1000")])
    screen = new_window(trader)
    page = screen.page
    screen.go("/wallet", "Wallet")
    screen.act("SOL", "Withdraw SOL")
    expect(screen.heading("Withdraw")).to_be_visible()
    review = page.get_by_role("button", name="Review")
    expect(review).to_have_accessible_description("Verification is needed before you can withdraw.")
    verification = page.get_by_role("link", name="Reach the next level")
    expect(verification).to_have_attribute("href", "/trade/account/verification")
    expect(page.get_by_text("No withdrawals yet")).to_be_visible()
    expect(page.get_by_text("No addresses yet")).to_be_visible()
    screen.look_over("withdrawals of a new user")

    exchange.call("POST", "kyc/basic-info", BASIC_INFORMATION, token)
    secret = exchange.call("POST", "users/me/mfa/setup", {"password": PASSWORD}, token)["secret"]
    codes = enable_second_factor(exchange, secret, token)
    page.reload()
    expect(page.get_by_text("1,000,000.00 USD")).to_be_visible()
    expect(review).to_have_accessible_description("Choose where it goes.")
    save_address(screen, codes.pop())
    page.get_by_role("textbox", name="Amount in SOL").fill("1000.1")
    expect(review).to_have_accessible_description("Not enough SOL: 1,000 is free.")
    page.get_by_role("button", name="All", exact=True).click()
    expect(page.get_by_role("textbox", name="Amount in SOL")).to_have_value("1000")
    withdraw(screen, "250", codes, wrong_code_first=True)

    # What the platform passes through too quickly to be seen is shown to the page in its place.
    item = page.get_by_role("list", name="Withdrawals under way").get_by_role("listitem").filter(has_text=ADDRESS)
    expect(item).to_have_count(1)
    assert_steps(screen, "250 SOL", 1, "Waiting for approval", "The exchange checks it")
    screen.look_over("a withdrawal under way")
    for status, done, current, note in (
        ("approved", 2, "Being prepared", ""),
        ("broadcasting", 3, "Being sent", "On its way to the network"),
        ("confirming", 4, "Confirming", "3 of 32 confirmations"),
    ):
        pretend(screen, status)
        assert_steps(screen, "250 SOL", done, current, note)
        expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_hidden()
        screen.assert_accessible(status)
        page.unroute_all(behavior="ignoreErrors")
    assert_steps(screen, "250 SOL", 1, "Waiting for approval", "The exchange checks it")

    (withdrawal_id,) = (row["id"] for row in exchange.call("GET", "accounts/withdrawals", token=token))
    operator.approve(withdrawal_id, operator.login)
    operator.create("approver-of-funds", kind="SUPER_ADMIN")
    operator.approve(withdrawal_id, operator.log_in("approver-of-funds", "a-long-password"))
    assert_steps(screen, "250 SOL", 2, "Waiting for signatures")
    expect(screen.row("Withdrawals", "250 SOL", "Waiting for signatures")).to_be_visible()
    for number in (1, 2, 3):
        operator.sign(withdrawal_id, f"warm-{number}")
    expect(screen.row("Withdrawals", "250 SOL", "Completed")).to_be_visible()
    expect(item).to_have_count(0)
    screen.act("250 SOL", "Show its steps")
    dialog = screen.dialog("Withdrawal of 250 SOL")
    steps = dialog.get_by_role("list", name="Steps of 250 SOL").get_by_role("listitem")
    expect(steps.filter(has_text=": done")).to_have_count(len(DONE))
    expect(dialog.get_by_role("button", name=re.compile("^Copy transaction "))).to_be_visible()
    screen.assert_accessible("a completed withdrawal")
    page.keyboard.press("Escape")

    withdraw(screen, "200", codes)
    rejected = exchange.call("GET", "accounts/withdrawals?status=pending_approval", token=token)[0]["id"]
    operator.reject(rejected, "the address is on a list")
    expect(screen.row("Withdrawals", "200 SOL", "Rejected")).to_be_visible()
    screen.act("200 SOL", "Show its steps")
    stopped = screen.dialog("Withdrawal of 200 SOL").get_by_role("list", name="Steps of 200 SOL")
    expect(stopped).to_contain_text("Rejected: ended herethe address is on a list")
    screen.assert_accessible("a rejected withdrawal")
    page.keyboard.press("Escape")

    withdraw(screen, "300", codes)
    page.get_by_role("button", name="Cancel", exact=True).click()
    dialog = screen.dialog("Cancel the withdrawal?")
    screen.assert_accessible("a cancellation")
    dialog.get_by_role("button", name="Cancel the withdrawal").click()
    expect(screen.toast("The withdrawal is cancelled")).to_be_visible()
    expect(screen.row("Withdrawals", "300 SOL", "Cancelled")).to_be_visible()
    page.get_by_role("button", name="Actions for 300 SOL", exact=True).click()
    expect(page.get_by_role("menuitem", name="It has ended.")).to_have_attribute("aria-disabled", "true")
    screen.close_menu()

    fail_for_lack_of_funds(exchange, token, codes.pop())
    expect(screen.row("Withdrawals", "900 SOL", "Failed")).to_be_visible()
    page.get_by_role("combobox", name="State shown").click()
    page.get_by_role("option", name="Failed", exact=True).click()
    expect(screen.row("Withdrawals", "SOL")).to_have_count(1)
    assert "state=failed" in page.url
    screen.look_over("all withdrawals")
    page.get_by_role("link", name="Balances").click()
    expect(screen.row("Balances", "750 SOL")).to_be_visible()


def test_a_deposit_is_played_and_credited(new_window: NewWindow, exchange: Exchange) -> None:
    trader = exchange.register("depositor@example.com")
    screen = new_window(trader)
    page = screen.page
    screen.go("/wallet", "Wallet")
    expect(page.get_by_text("No funds yet")).to_be_visible()
    page.get_by_role("button", name="Make a deposit").click()
    dialog = screen.dialog("Deposit")
    screen.choose("Asset", "SOL", dialog)
    amount = dialog.get_by_role("textbox", name="Simulate a deposit in SOL")
    confirm = dialog.get_by_role("button", name="Simulate", exact=True)
    amount.fill("0.001")
    expect(confirm).to_have_accessible_description("The least amount is 0.01 SOL.")
    expect(confirm).to_be_disabled()
    screen.look_over("a deposit that is played")
    amount.fill("12.5")
    confirm.click()
    expect(screen.toast("The deposit is on its way")).to_be_visible(timeout=COMMAND_MS)
    screen.choose("Asset", "USD", dialog)
    dialog.get_by_role("textbox", name="Simulate a deposit in USD").fill("1500")
    dialog.get_by_role("button", name="Simulate", exact=True).click()
    expect(screen.toast("The transfer has arrived")).to_be_visible(timeout=COMMAND_MS)
    page.keyboard.press("Escape")
    for held in ("12.5 SOL", "1,500.00 USD"):
        expect(screen.row("Balances", held)).to_be_visible()
    screen.tab("Deposits")
    expect(screen.row("Deposits", "12.5 SOL", "Credited")).to_be_visible()
    expect(screen.row("Deposits", "1,500.00 USD", "Credited")).to_be_visible()
    # What `openspot deposit` books is found here too.
    exchange.deposit([(trader, "BTC", "0.5")])
    expect(screen.row("Deposits", "0.5 BTC", "Booked by the exchange", "Credited")).to_be_visible()

    # While its blocks are counted it is pending.
    page.route("**/accounts/deposits?*", unconfirmed)
    expect(screen.row("Deposits", "12.5 SOL", "Waits for 32 confirmations")).to_be_visible()
    screen.look_over("a pending deposit")
    page.unroute_all(behavior="ignoreErrors")


def without_played_deposits(route: Route) -> None:
    """The configuration of a platform that others reach."""
    response = route.fetch()
    told = response.json()
    assert told.pop("simulatesDeposits") is True
    route.fulfill(response=response, body=json.dumps(told))


def unconfirmed(route: Route) -> None:
    """Let the page read deposits as if none had its confirmations."""
    response = route.fetch()
    rows = [row | {"status": "pending", "confirmedAt": None} for row in response.json()]
    route.fulfill(response=response, body=json.dumps(rows))


def test_no_deposit_is_played_where_the_platform_does_not_say_so(new_window: NewWindow, exchange: Exchange) -> None:
    screen = new_window(exchange.register("stranger@example.com"))
    screen.page.route("**/config.json", without_played_deposits)
    screen.go("/wallet", "Wallet")
    screen.page.get_by_role("button", name="Make a deposit").click()
    screen.choose("Asset", "SOL", screen.dialog("Deposit"))
    expect(screen.page.get_by_role("img", name="QR code of your SOL address")).to_be_visible()
    expect(screen.page.get_by_role("form", name="Simulated deposit")).to_be_hidden()
    screen.page.unroute_all(behavior="ignoreErrors")


def test_a_portfolio_shows_its_worth_history_and_shares(new_window: NewWindow, exchange: Exchange) -> None:
    seller, owner = exchange.register("portfolio-seller@example.com"), exchange.register("portfolio@example.com")
    exchange.deposit([(seller, "SOL", "1"), (owner, "USD", "1000")])
    order = {"symbol": "SOL-USD", "type": "limit", "quantity": "1", "price": "200"}
    exchange.call("POST", "orders", order | {"side": "sell"}, seller.tokens["accessToken"])
    exchange.call("POST", "orders", order | {"side": "buy"}, owner.tokens["accessToken"])
    screen = new_window(owner)
    page = screen.page

    def at_another_moment(route: Route) -> None:
        response = route.fetch()
        *before, last = response.json()
        route.fulfill(response=response, json=[*before, last | {"value": "1"}])

    page.route("**/accounts/portfolio-history?*", at_another_moment)
    screen.go("/wallet", "Wallet")
    page.get_by_role("navigation", name="Funds").get_by_role("link", name="Portfolio").click()
    expect(screen.heading("Portfolio")).to_be_visible()
    expect(screen.row("Assets", "SOL")).to_be_visible()
    rows = exchange.call("GET", "accounts/balances", token=owner.tokens["accessToken"])
    held = {row["asset"]: Decimal(row["total"]) for row in rows}
    total = held["USD"] + 200 * held["SOL"]
    worth = f"{total.quantize(Decimal('0.01'), ROUND_DOWN):,}"
    expect(page.get_by_text(f"{worth} USD").first).to_be_visible()
    # Shares add up: what rounding down leaves goes to the largest remainder, here that of USD.
    share = (100 * 200 * held["SOL"] / total).quantize(Decimal("0.01"), ROUND_DOWN)
    for asset, shown in (("SOL", share), ("USD", 100 - share)):
        expect(screen.row("Assets", asset, f"{shown} %").first).to_be_visible()

    # The graph ends with the figure beside it, whatever the exchange's last point says.
    graph = page.get_by_role("slider", name="Value of the wallet, USD")
    expect(graph).to_have_attribute("aria-valuetext", re.compile(f"^{re.escape(worth)} USD at "))
    graph.press("Home")
    expect(graph).to_have_attribute("aria-valuetext", re.compile(r"^0\.00 USD at "))
    screen.segment("Period", "24 hours")
    # The deposit is no gain; the fee of the trade is a loss. The column adds up to the worth.
    figures = page.get_by_role("table", name="Return in 24 hours")
    fee = (1000 - total).quantize(Decimal("0.01"), ROUND_UP)
    assert fee > 0
    for name, value in (
        ("Value at the start", "0.00"),
        ("Deposits", "+1,000.00"),
        ("Result", f"−{fee}"),
        ("Value at the end", worth),
    ):
        expect(figures.get_by_role("row", name=name)).to_contain_text(f"{value} USD")
    expect(screen.row("Moved in and out", "Deposit")).to_contain_text("+1,000.00 USD")
    expect(graph.locator("path[data-in]")).to_have_count(1)
    # All time begins with the first movement.
    screen.segment("Period", "All time")
    expect(page.get_by_role("table", name="Return in all time").get_by_role("row", name="Result")).to_contain_text(
        f"−{fee} USD"
    )
    screen.segment("Period", "24 hours")
    assert "period=24h" in page.url
    screen.look_over("a portfolio")
    page.unroute_all(behavior="ignoreErrors")

    newcomer = new_window(exchange.register("no-portfolio@example.com"))
    newcomer.go("/portfolio", "Portfolio")
    expect(newcomer.page.get_by_text("Nothing to show yet")).to_be_visible()
    newcomer.look_over("an empty portfolio")


def test_funds_are_staked_and_taken_back(new_window: NewWindow, exchange: Exchange) -> None:
    trader = exchange.register("staker@example.com")
    exchange.deposit([(trader, "USDT", "100"), (trader, "SOL", "2")])
    screen = new_window(trader)
    page = screen.page
    screen.go("/staking", "Staking")
    expect(page.get_by_text("No stakes yet")).to_be_visible()
    product = page.get_by_role("list", name="Products").get_by_role("listitem").filter(has_text="Locked for 90 days")
    expect(product).to_contain_text("6.5 % a year")
    expect(product).to_contain_text("It cannot be taken back before the end.")
    screen.look_over("staking of a new user")
    page.get_by_role("button", name="Stake USDT, Flexible").click()
    dialog = screen.dialog("Stake USDT")
    amount, stake = dialog.get_by_role("textbox", name="Amount in USDT"), dialog.get_by_role("button", name="Stake it")
    amount.fill("100.5")
    expect(stake).to_have_accessible_description("Not enough USDT: 100 is free.")
    screen.assert_accessible("a stake that is too large")
    dialog.get_by_role("button", name="All").click()
    stake.click()
    expect(screen.row("Your stakes", "100 USDT", "Earning")).to_be_visible()
    screen.act("100 USDT", "Take it back…")
    dialog = screen.dialog("Take USDT back")
    dialog.get_by_role("textbox", name="Amount in USDT").fill("25")
    screen.assert_accessible("a stake that is taken back")
    dialog.get_by_role("button", name="Take it back").click()
    expect(screen.row("Your stakes", "75 USDT", "Earning")).to_be_visible()

    page.get_by_role("button", name="Stake SOL, Locked for 90 days").click()
    dialog = screen.dialog("Stake SOL")
    dialog.get_by_role("textbox", name="Amount in SOL").fill("1.5")
    dialog.get_by_role("button", name="Stake it").click()
    expect(screen.row("Your stakes", "1.5 SOL", "Earning")).to_be_visible()
    page.get_by_role("button", name="Actions for 1.5 SOL", exact=True).click()
    locked = page.get_by_role("menuitem", name="It is locked until its end.")
    expect(locked).to_have_attribute("aria-disabled", "true")
    screen.close_menu()
    screen.look_over("stakes")
    screen.tab("On the way back")
    expect(page.get_by_text("Nothing is on its way").or_(screen.row("On the way back", "25 USDT"))).to_be_visible()
    screen.tab("History")
    for what in ("Staked", "Taken back"):
        expect(screen.row("Staking history", what, "USDT").first).to_be_visible()
    screen.assert_accessible("the history of staking")
    page.get_by_role("navigation", name="Funds").get_by_role("link", name="Balances").click()
    expect(screen.row("Balances", "25 USDT")).to_be_visible()


def enable_second_factor(exchange: Exchange, secret: str, token: str) -> list[str]:
    """Switch two-factor authentication on; returns recovery codes, each of which works once."""
    code = pyotp.TOTP(secret).now()
    codes: list[str] = exchange.call("POST", "users/me/mfa/enable", {"code": code}, token)["recoveryCodes"]
    return codes


def save_address(screen: TradingScreen, code: str) -> None:
    """Save the address to withdraw to; one of a wrong form is explained."""
    screen.page.get_by_role("button", name="Add", exact=True).click()
    dialog = screen.dialog("New address")
    dialog.get_by_role("textbox", name="Name").fill("My wallet")
    address = dialog.get_by_role("textbox", name="SOL address on solana")
    save = dialog.get_by_role("button", name="Save it")
    address.fill("0xde709f2102306220921060314715629080e2fb77")
    expect(dialog.get_by_text("A Solana address is 32 to 44 letters")).to_be_visible()
    expect(save).to_be_disabled()
    screen.assert_accessible("an address of a wrong form")
    address.fill(ADDRESS)
    expect(save).to_have_accessible_description("Missing: the code.")
    dialog.get_by_role("textbox", name="Two-factor authentication code").fill(code)
    save.click()
    expect(dialog).to_be_hidden()
    expect(screen.row("Saved addresses", "My wallet", "Now")).to_be_visible()


def withdraw(screen: TradingScreen, amount: str, codes: list[str], *, wrong_code_first: bool = False) -> None:
    """Fill in the form, look it over, and send it with a code."""
    page = screen.page
    page.get_by_role("textbox", name="Amount in SOL").fill(amount)
    page.get_by_role("button", name="Review").click()
    dialog = screen.dialog(f"Withdraw {amount} SOL?")
    expect(dialog.get_by_text(ADDRESS)).to_be_visible()
    # Nobody can compare an address that is cut off.
    assert dialog.evaluate("dialog => dialog.scrollWidth <= dialog.clientWidth")
    send = dialog.get_by_role("button", name=f"Withdraw {amount} SOL")
    expect(send).to_have_accessible_description("Enter your two-factor authentication code.")
    code = dialog.get_by_role("textbox", name="Two-factor authentication code")
    if wrong_code_first:
        screen.expect_complaint("status of 400")
        code.fill("000000")
        send.click()
        expect(dialog.get_by_role("alert")).to_contain_text("The code is wrong")
        screen.assert_accessible("a withdrawal with a wrong code")
    code.fill(codes.pop())
    send.click()
    expect(dialog).to_be_hidden()
    expect(screen.row("Withdrawals", f"{amount} SOL", "Waiting for approval")).to_be_visible()


def pretend(screen: TradingScreen, status: str) -> None:
    """Let the page read this status in place of the one that the exchange tells."""

    def answer(route: Route) -> None:
        response = route.fetch()
        rows = [row | {"status": status, "confirmations": 3} for row in response.json()]
        route.fulfill(response=response, body=json.dumps(rows))

    screen.page.route("**/accounts/withdrawals?*", answer)


def fail_for_lack_of_funds(exchange: Exchange, token: str, code: str) -> None:
    """Ask for more than there is, as a second window would that knows no better."""
    (saved,) = exchange.call("GET", "users/me/withdrawal-addresses", token=token)
    body = {"asset": "SOL", "network": "solana", "amount": "900", "addressId": saved["id"], "mfaCode": code}
    with pytest.raises(HTTPError) as refused:
        exchange.call("POST", "accounts/withdraw/crypto", body, token)
    assert refused.value.code == 400
