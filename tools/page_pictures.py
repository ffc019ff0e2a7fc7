"""Pictures of the browser pages: the trading screen and the console, on a desk and on a phone, in both themes.

    .venv/bin/python tools/page_pictures.py            into docs/pictures/trade and docs/pictures/console
    .venv/bin/python tools/page_pictures.py FOLDER     every page at every width in both themes, to look at

Builds the pages, starts `openspot up --demo` with its own data, waits until every market has trades and a book, lets
users trade and withdraw, and writes small PNG files.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from browser import find_or_install
from page_routes import APPLICATIONS, routes
from picture_exchange import PASSWORD, START_S_MAX, TRADER, fill
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from setup import ROOT

from openspot.up.child_platform import ChildPlatform

FOLDER = ROOT / "docs/pictures"
MARKET = "BTC-USD"
LOGIN = "/login"
MARGIN_MARKET = "ETH-USD"
"""Where the trader has a position with leverage."""
MARKETS = "/"
"""Of the trading screen: leads on to a market."""
VERIFICATIONS = "/verifications"
"""Of the console: a row of it is opened."""
WITHOUT_SESSION = (
    LOGIN, "/register", "/verify-email", "/forgot-password", "/reset-password", "/fees", "/status", "/markets",
    "/reserves",
)  # fmt: skip
SHOWN = {
    "/participants/:participantId": "/participants/demo-maker",
    "/users/:userId": "/users/demo-maker",
    "/listings/:symbol": "/listings/BTC-USD",
}
"""What stands for a part of an address that a user chooses."""
HEIGHTS = {3840: 2160, 1440: 900, 768: 1024, 390: 844}
PHONE_WIDTH_MAX = 768
"""Up to this width the order form is a sheet: `PHONE` in web/trade/src/pages/TradePage.tsx."""
THEMES = ("light", "dark")
WAIT_MS = 120_000
KEPT = ((1440, "light"), (390, "dark"))
"""Those of each page that the repository keeps …"""
KEPT_OF_MARKET = ((1440, "dark"), (1440, "light"), (390, "dark"))
"""… and those of a market."""
EDITED = (1440, "light")
"""Where a market is drawn once more while its layout is edited."""
LEVELS_MIN = 4
UNFINISHED = "[aria-busy=true], [class*=Skeleton-root], [role=slider] svg[width='0']"
"""What is loading, and graphs that do not know their width yet."""
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Small charts are asked for in the frame after the one that brings them into sight."""
DRAWN = (
    ("Rectangle", (0.08, 0.2), (0.3, 0.4)),
    ("Fibonacci retracement", (0.4, 0.65), (0.6, 0.15)),
    ("Trend line", (0.1, 0.65), (0.6, 0.35)),
    ("Horizontal line", (0.5, 0.72)),
)
"""What is drawn on the chart, by shares of its width and height."""
COLOURS = 256
"""Enough for a page without photographs; a picture is a third of its size then."""

Look = tuple[int, str]


def await_loaded(page: Page) -> None:
    """Wait until nothing on the page is loading."""
    page.wait_for_function(f"() => !document.querySelector({UNFINISHED!r})")


def save(page: Page, folder: Path, name: str, look: Look) -> None:
    """Write what the window shows as a PNG with a palette, once nothing on it is loading."""
    page.get_by_role("heading", level=1).wait_for()
    await_loaded(page)
    page.evaluate(TWO_FRAMES)
    await_loaded(page)
    picture = Image.open(BytesIO(page.screenshot(animations="disabled")))
    path = folder / f"{name}-{look[0]}-{look[1]}.png"
    picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def window(browser: Browser, look: Look) -> Page:
    """A window of this width and theme that has seen nothing before."""
    width, theme = look
    context = browser.new_context(
        viewport={"width": width, "height": HEIGHTS[width]},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        timezone_id="UTC",
    )
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    return page


def name_of(path: str) -> str:
    """The name of a page's pictures."""
    return path.replace(":", "").strip("/").replace("/", "-") or "dashboard"


def go(page: Page, path: str) -> None:
    """Open another page of the same application without loading it again."""
    page.evaluate("path => history.pushState(null, '', path)", path)


def draw_console(browser: Browser, url: str, login: tuple[str, str], folder: Path, looks: Sequence[Look]) -> None:
    """The console's pages."""
    for look in looks:
        page = window(browser, look)
        page.goto(f"{url}/console/")
        page.get_by_label("Participant id").fill(login[0])
        save(page, folder, "login", look)
        page.get_by_role("textbox", name="Password").fill(login[1])
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("heading", name="Dashboard").wait_for()
        # A graph wants a few points: ten samples, two seconds apart.
        graph = page.get_by_role("slider", name="Open orders, orders")
        page.wait_for_function("graph => graph.ariaValueMax >= 9", arg=graph.element_handle())
        for path in routes("console"):
            if path != LOGIN:
                go(page, f"/console{SHOWN.get(path, path)}")
                save(page, folder, name_of(path), look)
            if path == VERIFICATIONS:
                draw_documents(page, folder, look)
        page.context.close()


def draw_documents(page: Page, folder: Path, look: Look) -> None:
    """The dialog that decides on a verification, with the documents that its user uploaded."""
    page.get_by_role("button", name="Actions for").first.click()
    page.get_by_role("menuitem", name="Open and decide…").click()
    dialog = page.get_by_role("dialog", name="Decide on the verification?")
    dialog.get_by_role("button", name="Show: Identity document, front").wait_for()
    save(page, folder, "verifications-documents", look)
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")


def await_market(page: Page) -> None:
    """Wait until a market shows a live book and trades, and the chart has its candles."""
    page.get_by_role("heading", level=1, name=MARKET).wait_for()
    page.get_by_role("status", name="Connection: Live").wait_for()
    page.get_by_role("group", name=re.compile("^Candles of 15m.*, the last from")).wait_for()
    page.wait_for_function(
        "least => ['Asks', 'Bids'].every(side => {"
        " const list = document.querySelector(`ul[aria-label=${side}]`);"
        " return !list || list.querySelectorAll('button').length >= least; })",
        arg=LEVELS_MIN,
    )


def is_phone(look: Look) -> bool:
    """Whether the order form is a sheet, which a button opens."""
    return look[0] <= PHONE_WIDTH_MAX


def draw_layout(page: Page, folder: Path, look: Look) -> None:
    """A market whose layout is being edited; it is left as it was."""
    page.get_by_role("button", name="Edit layout").click()
    bar = page.get_by_role("region", name="Edit layout")
    bar.get_by_role("button", name="Add a chart").click()
    page.get_by_role("button", name="Move Chart 2").wait_for()
    save(page, folder, "layout", look)
    bar.get_by_role("button", name="Cancel").click()


def draw_on_market(page: Page, folder: Path, look: Look) -> None:
    """A market with its tools and drawings, which are gone afterwards."""
    page.get_by_role("button", name="Draw on the chart").click()
    tools = page.get_by_role("group", name="Drawing tools")
    for tool, *places in DRAWN:
        tools.get_by_role("button", name=tool, exact=True).click()
        candles = page.get_by_role("group", name=re.compile("^Candles of"))
        candles.scroll_into_view_if_needed()
        box = candles.bounding_box()
        assert box
        for across, down in places:
            page.mouse.click(box["x"] + across * box["width"], box["y"] + down * box["height"])
        page.get_by_role("button", name="Done").click()
    page.mouse.move(0, 0)
    save(page, folder, "market-drawings", look)
    tools.get_by_role("button", name="Delete all drawings").click()
    page.get_by_role("button", name="Delete all", exact=True).click()
    page.get_by_role("button", name="Draw on the chart").click()


def draw_trade(
    browser: Browser, url: str, folder: Path, looks: Sequence[Look], looks_of_market: Sequence[Look]
) -> None:
    """A market, and every page of a user."""
    for look in sorted({*looks, *looks_of_market}):
        page = window(browser, look)
        for path in reversed(WITHOUT_SESSION) if look in looks else []:
            page.goto(f"{url}/trade{path}")
            save(page, folder, name_of(path), look)
        page.goto(f"{url}/trade/login?next=/{MARKET}")
        page.get_by_role("textbox", name="Email").fill(TRADER)
        page.get_by_role("textbox", name="Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()
        await_market(page)
        if look in looks_of_market:
            # Nothing lies under the pointer: the chart would show its cross there.
            page.mouse.move(0, 0)
            save(page, folder, "market", look)
            if look == EDITED:
                draw_layout(page, folder, look)
        if look in looks:
            page.goto(f"{url}/trade/{MARGIN_MARKET}")
            if is_phone(look):
                page.get_by_role("button", name="Open the form to buy").click()
            page.get_by_role("radiogroup", name="Trade with").get_by_text("Margin", exact=True).click()
            if is_phone(look):
                page.keyboard.press("Escape")
            page.get_by_role("tab", name="Positions").click()
            page.get_by_role("group", name=re.compile("Long entry: ")).wait_for()
            save(page, folder, "market-margin", look)
        if look in looks:
            draw_on_market(page, folder, look)
        for path in routes("trade") if look in looks else []:
            if path not in (MARKETS, *WITHOUT_SESSION):
                go(page, f"/trade{path}")
                save(page, folder, name_of(path), look)
        page.context.close()


def main() -> None:
    """Build, start, fill, and draw."""
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    every = [(width, theme) for width in HEIGHTS for theme in THEMES]
    looks, looks_of_market = (every, every) if given else (KEPT, KEPT_OF_MARKET)
    chromium = find_or_install()
    subprocess.run([sys.executable, ROOT / "tools/web.py", "build"], check=True)
    data, drawn = (Path(tempfile.mkdtemp(prefix="openspot-pictures-")) for _ in range(2))
    for application in APPLICATIONS:
        (drawn / application).mkdir()
    environment = {
        "OPENSPOT_THROTTLE_ENABLED": "false",
        "OPENSPOT_WITHDRAWAL_ADDRESS_WAIT_S": "0",
        "OPENSPOT_WITHDRAWAL_LIMIT_BASIC": "1000000",
        "OPENSPOT_FOLLOW_FILLS": "true",
        # Operators decide on verifications, by the documents that users upload.
        "OPENSPOT_KYC_PROVIDER": "operators",
        # The page of alerts has somebody to tell.
        "OPENSPOT_ALERT_MAILS": "night@example.com",
    }
    platform = ChildPlatform(data, environment, arguments=["--demo"])
    try:
        platform.start(timeout_s=START_S_MAX)
        fill(platform)
        settings = platform.settings
        with sync_playwright() as playwright:
            options = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=chromium, args=options)
            draw_trade(browser, settings.web_url, drawn / "trade", looks, looks_of_market)
            login = (settings.admin_id, settings.admin_password)
            draw_console(browser, settings.web_url, login, drawn / "console", looks)
            browser.close()
        for application in APPLICATIONS:
            # The old ones stay until all new ones are there.
            folder = (given or FOLDER) / application
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(drawn / application, folder)
            sizes = [path.stat().st_size for path in folder.glob("*.png")]
            print(f"{application}: {len(sizes)} pictures of {sum(sizes) / 1000:.0f} kB in all")
    finally:
        platform.stop()
        for folder in (data, drawn):
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
