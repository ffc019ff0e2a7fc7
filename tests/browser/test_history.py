"""The history of the trading screen: every list, its filter, and the file that it becomes."""

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import pyotp
import pytest
from playwright.sync_api import Route, expect

from openspot.up.child_platform import ChildPlatform
from tests.support.console import OPPOSITE_LOOKS, PHONE
from tests.support.money_user import BASIC_INFORMATION
from tests.support.trading_screen import PASSWORD, Exchange, NewWindow, Trader, TradingScreen
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof

MARKET, OTHER_MARKET = "BTC-USDT", "SOL-USDT"
ADDRESS = "So11111111111111111111111111111111111111112"
FORMULA = '=HYPERLINK("http://127.0.0.1","a, b")'
LISTS = {
    "Orders": "orders/history",
    "Fills": "orders/trades",
    "Deposits": "accounts/deposits",
    "Withdrawals": "accounts/withdrawals",
    "Conversions": "conversions",
    "Staking": "staking/history",
    "Movements": "accounts/transactions",
}
FILE_ROWS_MAX = 50_000


def today(days: int = 0) -> str:
    """A day so many days from now, in the zone of the browser."""
    return (datetime.now(UTC) + timedelta(days)).date().isoformat()


def download(screen: TradingScreen, tmp_path: Path) -> tuple[str, list[dict[str, str]]]:
    """The name and the rows of the file of what is shown."""
    with screen.page.expect_download() as expected:
        screen.page.get_by_role("button", name="Download CSV").click()
    name = expected.value.suggested_filename
    path = tmp_path / name
    expected.value.save_as(path)
    content = path.read_bytes()
    assert content.endswith(b"\r\n") and b"\n" not in content.replace(b"\r\n", b"")
    with path.open(encoding="utf-8", newline="") as file:
        return name, list(csv.DictReader(file, strict=True))


def assert_as_told(rows: list[dict[str, str]], told: list[dict[str, Any]]) -> None:
    """Every cell is the text that the exchange gives, except a formula, which is marked as text."""
    assert len(rows) == len(told) > 0
    for row, fields in zip(rows, told, strict=True):
        assert len(row) >= 6
        for name, cell in row.items():
            value = fields[name]
            assert cell == ("" if value is None else f"'{value}" if value == FORMULA else str(value)), name
            if name.endswith("At") and cell:
                assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", cell), name


def assert_file_is_as_told(
    screen: TradingScreen, exchange: Exchange, tab: str, trader: Trader, tmp_path: Path
) -> tuple[str, list[dict[str, str]]]:
    """Download the list of a tab; every row and cell is that of the exchange. Returns the name and the rows."""
    told = rows_of(exchange, tab, trader)
    while True:
        name, rows = download(screen, tmp_path)
        before, told = told, rows_of(exchange, tab, trader)
        # The record of an order that has just ended is replaced by that of the database, a moment apart.
        if before == told:
            assert_as_told(rows, told)
            return name, rows


def trade(exchange: Exchange, maker: Trader, taker: Trader) -> None:
    """Two fills between them, and a cancelled order of the taker on another market, with a formula as its id."""
    exchange.deposit([(maker, "BTC", "1"), (taker, "USDT", "100000")])
    for quantity in ("0.25", "0.125"):
        order = {"symbol": MARKET, "type": "limit", "quantity": quantity, "price": "60000"}
        exchange.call("POST", "orders", order | {"side": "sell"}, maker.tokens["accessToken"])
        exchange.call("POST", "orders", order | {"side": "buy"}, taker.tokens["accessToken"])
    order = {"symbol": OTHER_MARKET, "side": "buy", "type": "limit", "quantity": "1.5", "price": "100"}
    placed = exchange.call("POST", "orders", order | {"clientOrderId": FORMULA}, taker.tokens["accessToken"])
    exchange.call("DELETE", f"orders/{placed['orderId']}", token=taker.tokens["accessToken"])


def rows_of(exchange: Exchange, name: str, trader: Trader) -> list[dict[str, Any]]:
    """A list as the exchange gives it."""
    token = trader.tokens["accessToken"]
    rows: list[dict[str, Any]] = exchange.call("GET", f"{LISTS[name]}?limit=1000", token=token)
    return rows


def test_orders_and_fills_are_filtered_and_become_files(
    new_window: NewWindow, exchange: Exchange, tmp_path: Path
) -> None:
    maker, taker = exchange.register("history-maker@example.com"), exchange.register("history@example.com")
    trade(exchange, maker, taker)
    screen = new_window(taker)
    page = screen.page
    screen.go(f"/{MARKET}", MARKET)
    screen.tab("History")
    page.get_by_role("link", name="All of it, with filters and a file").click()
    expect(screen.heading("History")).to_be_visible()
    expect(screen.row("Orders", MARKET, "Filled")).to_have_count(2)
    expect(screen.row("Orders", OTHER_MARKET, "Cancelled")).to_have_count(1)
    expect(page.get_by_role("navigation", name="Funds").get_by_role("link", name="History")).to_have_attribute(
        "aria-current", "page"
    )
    name, rows = assert_file_is_as_told(screen, exchange, "Orders", taker, tmp_path)
    expect(screen.toast("Downloaded").first).to_contain_text("3 rows in openspot-orders.csv")
    assert name == "openspot-orders.csv"
    assert [row["clientOrderId"] for row in rows] == [f"'{FORMULA}", "", ""]
    screen.look_over("orders that have ended", OPPOSITE_LOOKS)

    screen.choose("Market shown", OTHER_MARKET)
    expect(screen.row("Orders", MARKET)).to_have_count(0)
    page.get_by_label("From", exact=True).fill(today(-1))
    page.get_by_label("To", exact=True).fill(today(1))
    expect(screen.row("Orders", OTHER_MARKET)).to_have_count(1)
    for part in (f"market={OTHER_MARKET}", f"from={today(-1)}", f"to={today(1)}"):
        expect(page).to_have_url(re.compile(re.escape(part)))
    page.reload()
    expect(screen.row("Orders", OTHER_MARKET)).to_have_count(1)
    expect(screen.row("Orders", MARKET)).to_have_count(0)
    name, rows = download(screen, tmp_path)
    assert name == f"openspot-orders-{OTHER_MARKET}-from-{today(-1)}-to-{today(1)}.csv"
    assert [row["symbol"] for row in rows] == [OTHER_MARKET]

    page.get_by_label("From", exact=True).fill(today(2))
    expect(page.get_by_text("This day is before the first.")).to_be_visible()
    expect(page.get_by_role("button", name="Download CSV")).to_be_disabled()
    page.get_by_label("To", exact=True).fill(today(3))
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    screen.look_over("a filter that nothing fits", OPPOSITE_LOOKS)
    page.get_by_role("button", name="Show all").click()
    expect(screen.row("Orders", MARKET)).to_have_count(2)
    assert "?" not in page.url

    screen.tab("Fills")
    expect(screen.row("Fills", MARKET, "Buy", "Taker")).to_have_count(2)
    expect(page).to_have_url(re.compile("list=fills"))
    assert_file_is_as_told(screen, exchange, "Fills", taker, tmp_path)

    # The list follows the account: what ends while it is shown appears.
    screen.tab("Orders")
    order = {"symbol": OTHER_MARKET, "side": "buy", "type": "limit", "quantity": "2.5", "price": "100"}
    placed = exchange.call("POST", "orders", order, taker.tokens["accessToken"])
    exchange.call("DELETE", f"orders/{placed['orderId']}", token=taker.tokens["accessToken"])
    expect(screen.row("Orders", OTHER_MARKET, "2.5")).to_have_count(1)


def move_funds(exchange: Exchange, platform: ChildPlatform, trader: Trader) -> None:
    """A deposit by chain, a withdrawal that is cancelled, a conversion and a stake."""
    token = trader.tokens["accessToken"]
    seller = exchange.register("funds-seller@example.com")
    exchange.deposit(
        [(seller, "SOL", "1"), (trader, "USD", "1000"), (trader, "USDT", "100"), (trader, "SOL", "500")],
        house={"house:conversions": ("SOL", "10")},
    )
    order = {"symbol": "SOL-USD", "side": "sell", "type": "limit", "quantity": "1", "price": "200"}
    exchange.set_price("SOL-USD", "200")
    exchange.call("POST", "orders", order, seller.tokens["accessToken"])
    found = exchange.call("GET", "accounts/deposit-address?asset=SOL&network=solana", token=token)
    command = [
        sys.executable,
        "-m",
        "openspot.cli",
        "custody",
        "deposit",
        "--network",
        "solana",
        "--tx-hash",
        f"0x{'ab' * 32}",
    ]
    environment = {"OPENSPOT_DATA_DIR": str(platform.data_dir), "PATH": "/usr/bin:/bin"}
    command += ["--", found["address"], "SOL", "12.5"]
    subprocess.run(command, env=environment, check=True, timeout=stretched(120))

    exchange.call("POST", "kyc/basic-info", BASIC_INFORMATION, token)
    secret = exchange.call("POST", "users/me/mfa/setup", {"password": PASSWORD}, token)["secret"]
    body = {"code": pyotp.TOTP(secret).now()}
    codes = exchange.call("POST", "users/me/mfa/enable", body, token)["recoveryCodes"]
    saved = {"label": "Wallet", "asset": "SOL", "network": "solana", "address": ADDRESS, "mfaCode": codes.pop()}
    address = exchange.call("POST", "users/me/withdrawal-addresses", saved, token)["id"]
    body = {"asset": "SOL", "network": "solana", "amount": "250", "addressId": address, "mfaCode": codes.pop()}
    withdrawal = exchange.call("POST", "accounts/withdraw/crypto", body, token)
    exchange.call("DELETE", f"accounts/withdrawals/{withdrawal['id']}", token=token)

    quote = exchange.quoted({"fromAsset": "USD", "toAsset": "SOL", "fromAmount": "100"}, token)
    exchange.call("POST", "conversions", {"quoteId": quote["quoteId"]}, token)
    product = next(
        row["id"]
        for row in exchange.call("GET", "staking/products")
        if (row["asset"], row["type"]) == ("USDT", "flexible")
    )
    exchange.call("POST", "staking/stake", {"productId": product, "amount": "40"}, token)


def test_what_moved_the_funds_is_filtered_and_becomes_files(
    new_window: NewWindow, exchange: Exchange, platform: ChildPlatform, tmp_path: Path
) -> None:
    trader = exchange.register("history-of-funds@example.com")
    move_funds(exchange, platform, trader)
    screen = new_window(trader)
    page = screen.page
    screen.go("/wallet", "Wallet")
    page.get_by_role("navigation", name="Funds").get_by_role("link", name="History").click()
    expect(screen.heading("History")).to_be_visible()
    for tab, texts, stranger in (
        ("Deposits", ("12.5 SOL", "Credited"), "BTC"),
        ("Withdrawals", ("250 SOL", "Cancelled"), "USDT"),
        ("Conversions", ("100.00 USD", "Done"), "USDT"),
        ("Staking", ("40 USDT", "Staked"), "SOL"),
        ("Movements", ("+1,000.00 USD",), ""),
    ):
        screen.tab(tab)
        expect(screen.row(tab, *texts)).to_have_count(1)
        _, rows = assert_file_is_as_told(screen, exchange, tab, trader, tmp_path)
        screen.assert_accessible(tab)
        if not stranger:
            continue
        # The route filters some of these, the page the others: the reader sees no difference.
        screen.choose("Asset shown", stranger)
        expect(page.get_by_text("Nothing matches")).to_be_visible()
        page.get_by_role("button", name="Clear filters").click()
        for day, count in ((today(-1), 0), (today(), 1)):
            page.get_by_label("To", exact=True).fill(day)
            expect(screen.row(tab, *texts)).to_have_count(count)
        page.get_by_label("From", exact=True).fill(today())
        expect(screen.row(tab, *texts)).to_have_count(1)
        page.get_by_role("button", name="Clear filters").click()
    negative = [row["amount"] for row in rows if row["amount"].startswith("-")]
    assert negative, "what left the account stays a number"
    screen.look_over("movements", OPPOSITE_LOOKS)


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Niue"])
def test_days_are_those_of_the_reader(new_window: NewWindow, exchange: Exchange, zone: str) -> None:
    """The same moment is on two days where the clocks are 25 hours apart."""
    trader = exchange.register(f"{zone.partition('/')[2].lower()}@example.com")
    exchange.deposit([(trader, "USD", "10")])
    screen = new_window(trader, timezone_id=zone)
    page = screen.page
    screen.go("/history?list=movements", "History")
    row = screen.row("Movements", "+10.00 USD")
    expect(row).to_have_count(1)
    shown = row.get_by_role("time")
    day = datetime.strptime(shown.inner_text()[:11], "%d %b %Y").replace(tzinfo=UTC).date()
    for first, count in ((day, 1), (day + timedelta(1), 0)):
        page.get_by_label("From", exact=True).fill(first.isoformat())
        expect(row).to_have_count(count)
    page.get_by_role("button", name="Clear filters").click()
    for last, count in ((day, 1), (day - timedelta(1), 0)):
        page.get_by_label("To", exact=True).fill(last.isoformat())
        expect(row).to_have_count(count)


def in_pieces(size: int, seen: list[str]) -> Callable[[Route], None]:
    """Let the exchange give so many rows at a time, whatever it is asked for; notes the cursors."""

    def ask(route: Route) -> None:
        address = urlsplit(route.request.url)
        query = {key: values[0] for key, values in parse_qs(address.query).items()}
        seen.append(query.get("cursor", "first"))
        route.continue_(url=urlunsplit(address._replace(query=urlencode(query | {"limit": str(size)}))))

    return ask


def test_a_file_is_read_to_its_end_and_says_how_it_goes(
    new_window: NewWindow, exchange: Exchange, tmp_path: Path
) -> None:
    trader = exchange.register("long-history@example.com")
    token = trader.tokens["accessToken"]
    exchange.deposit([(trader, "USDT", "1000")])
    order = {"symbol": OTHER_MARKET, "side": "buy", "type": "limit", "quantity": "0.1", "price": "100"}
    exchange.call("POST", "orders/batch", {"orders": [order] * 12}, token)
    exchange.call("DELETE", "orders", token=token)
    screen = new_window(trader)
    page = screen.page
    cursors: list[str] = []
    page.route("**/orders/history?*", in_pieces(5, cursors))
    screen.go("/history", "History")
    rows = screen.row("Orders", OTHER_MARKET)
    expect(rows).to_have_count(5)
    for count in (10, 12):
        page.get_by_role("button", name="Show older").click()
        expect(rows).to_have_count(count)
    expect(page.get_by_role("button", name="Show older")).to_be_hidden()
    cursors.clear()
    assert_file_is_as_told(screen, exchange, "Orders", trader, tmp_path)
    assert len(set(cursors)) >= 3

    # A page of the list fails: no file, a reason, and another try.
    screen.expect_complaint("status of (503|429)")
    refusal = {"code": "BUS_UNAVAILABLE", "message": "the bus is away"}
    page.unroute_all(behavior="ignoreErrors")
    page.route("**/orders/history?*limit=1000*", lambda route: refuse(route, 503, refusal))
    page.get_by_role("button", name="Download CSV").click()
    failure = screen.problem().filter(has_text="The exchange is not ready")
    expect(failure).to_contain_text("the bus is away")
    screen.assert_accessible("a failed download")
    page.unroute_all(behavior="ignoreErrors")

    # Too many requests are waited for, and the file is whole all the same.
    refused: list[str] = []

    def throttle(route: Route) -> None:
        if refused:
            route.continue_()
            return
        refused.append(route.request.url)
        refuse(route, 429, {"code": "TOO_MANY_REQUESTS", "message": "slow down"}, {"Retry-After": "1"})

    page.route("**/orders/history?*limit=1000*", throttle)
    _, found = download(screen, tmp_path)
    assert len(refused) == 1 and len(found) == 12
    expect(failure).to_be_hidden()
    page.unroute_all(behavior="ignoreErrors")

    # A download can be stopped; nothing is saved then.
    page.route("**/orders/history?*limit=1000*", lambda route: None)
    saved: list[str] = []
    page.on("download", lambda started: saved.append(started.suggested_filename))
    page.get_by_role("button", name="Download CSV").click()
    expect(page.get_by_role("status").filter(has_text="Reading orders for the file: 0 rows so far.")).to_be_visible()
    expect(page.get_by_role("button", name="Download CSV")).to_be_disabled()
    screen.assert_accessible("a download")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Reading orders")).to_be_hidden()
    expect(page.get_by_role("button", name="Download CSV")).to_be_enabled()
    assert saved == []
    page.unroute_all(behavior="ignoreErrors")


def refuse(route: Route, status: int, body: dict[str, str], headers: dict[str, str] | None = None) -> None:
    """The exchange refuses a request."""
    allowed = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After"}
    route.fulfill(status=status, json=body, headers=allowed | (headers or {}))


def test_a_file_that_is_too_long_says_where_it_ends(new_window: NewWindow, exchange: Exchange, tmp_path: Path) -> None:
    screen = new_window(exchange.register("endless-history@example.com"))
    page = screen.page
    asked: list[int] = []

    def endless(route: Route) -> None:
        asked.append(1)
        start = len(asked) * 1000
        rows = [staking_event(start + number) for number in range(1000)]
        headers = {
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Expose-Headers": "X-Next-Cursor",
            "X-Next-Cursor": "more",
        }
        route.fulfill(body=json.dumps(rows), content_type="application/json", headers=headers)

    screen.go("/history?list=staking", "History")
    expect(page.get_by_text("Nothing here yet")).to_be_visible()
    page.route("**/staking/history?*limit=1000*", endless)
    _, rows = download(screen, tmp_path)
    assert len(rows) == FILE_ROWS_MAX
    note = page.get_by_role("note")
    expect(note).to_contain_text("openspot-staking.csv is not complete. A file has at most 50,000 rows")
    expect(note.get_by_role("time")).to_have_attribute("datetime", rows[-1]["createdAt"])
    screen.look_over("a file that is too long", OPPOSITE_LOOKS)
    page.unroute_all(behavior="ignoreErrors")


def staking_event(number: int) -> dict[str, str]:
    """One of many lines, each a minute older than the one before."""
    at = datetime(2026, 11, 20, tzinfo=UTC) - timedelta(minutes=number)
    return {
        "id": str(number), "balanceId": "b", "type": "reward", "asset": "USDT", "amount": "0.01",
        "createdAt": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }  # fmt: skip


def test_a_rare_entry_is_looked_for_further_back(new_window: NewWindow, exchange: Exchange) -> None:
    """The exchange filters no staking events: the page looks through a bounded number, and says how far it came."""
    screen = new_window(exchange.register("rare-history@example.com"))
    page = screen.page
    asked: list[int] = []

    def endless(route: Route) -> None:
        if "limit=200" not in route.request.url:
            route.continue_()
            return
        asked.append(1)
        rows = [staking_event(len(asked) * 200 + number) for number in range(200)]
        is_last = len(asked) == 11
        if is_last:
            rows[-1]["asset"] = "SOL"
        headers = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "X-Next-Cursor"}
        headers |= {} if is_last else {"X-Next-Cursor": "more"}
        route.fulfill(body=json.dumps(rows), content_type="application/json", headers=headers)

    page.route("**/staking/history?*", endless)
    screen.go("/history?list=staking&asset=SOL", "History")
    expect(page.get_by_text("Nothing found so far")).to_be_visible()
    assert len(asked) == 10
    screen.look_over("nothing found so far", OPPOSITE_LOOKS)
    page.get_by_role("button", name="Show older").click()
    expect(screen.row("Staking", "0.01 SOL")).to_have_count(1)
    expect(page.get_by_role("button", name="Show older")).to_be_hidden()
    page.unroute_all(behavior="ignoreErrors")


def test_a_new_user_has_no_history_and_a_failure_is_explained(new_window: NewWindow, exchange: Exchange) -> None:
    screen = new_window(exchange.register("no-history@example.com"))
    page = screen.page
    screen.go("/history", "History")
    for tab in LISTS:
        screen.tab(tab)
        expect(page.get_by_text("Nothing here yet")).to_be_visible()
    page.get_by_role("button", name="Download CSV").click()
    expect(page.get_by_text("Nothing matches the filter, so there is no file.")).to_be_visible()
    screen.look_over("no history")
    page.set_viewport_size(PHONE)
    page.reload()
    expect(page.get_by_role("tab", name="Movements")).to_be_in_viewport()

    screen.expect_complaint("status of 503")
    body = {"code": "BUS_UNAVAILABLE", "message": "the ledger does not respond"}
    page.route("**/accounts/transactions?*", lambda route: refuse(route, 503, body))
    page.reload()
    expect(screen.problem()).to_contain_text("the ledger does not respond")
    screen.assert_accessible("a history that cannot be read")
    page.unroute_all(behavior="ignoreErrors")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Nothing here yet")).to_be_visible()


def test_the_history_needs_a_session(new_window: NewWindow, exchange: Exchange) -> None:
    trader = exchange.register("history-by-address@example.com")
    screen = new_window()
    page = screen.page
    screen.go(f"/history?list=fills&market={MARKET}", "Log in")
    page.get_by_role("textbox", name="Email").fill(trader.email)
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    # The view that was asked for is shown, its filter too.
    expect(page.get_by_role("tab", name="Fills")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("combobox", name="Market shown")).to_have_value(MARKET)
