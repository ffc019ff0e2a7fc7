"""Parts of pages that cannot be loaded: the network is away, or an upgrade has replaced their files."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.trading_screen import Exchange, NewWindow, TradingScreen

COMPLAINTS = "ERR_FAILED|Failed to fetch|error loading dynamically imported"
MISSING = "This part of the page could not be loaded."


@pytest.mark.proof
def test_a_part_that_cannot_be_loaded_says_so_in_its_place_and_comes_with_the_next_try(
    new_window: NewWindow, exchange: Exchange
) -> None:
    screen = new_window(exchange.register("part@example.com"))
    screen.expect_complaint(COMPLAINTS)
    look_at_missing_parts(screen)


def look_at_missing_parts(screen: TradingScreen) -> None:
    """Miss a part that loads with the page, one that a menu shows, and a dialog; then have each."""
    page = screen.page
    for name in ("Notices-*.js", "DisplayChoices-*", "ShortcutList-*"):
        lose(page, name)
    screen.go("/status", "Status")
    bell = page.get_by_role("button", name=f"{MISSING} Try again")
    expect(bell).to_be_visible()
    page.get_by_role("button", name="Display settings").click()
    note = page.get_by_role("alert").filter(has_text=MISSING)
    expect(note).to_be_visible()
    expect(screen.heading("Status")).to_be_visible()

    find(page, "DisplayChoices-*")
    note.get_by_role("button", name="Try again").click()
    expect(page.get_by_label("Time zone").first).to_be_visible()
    page.keyboard.press("Escape")

    shortcuts = page.get_by_role("button", name="Keyboard shortcuts")
    shortcuts.click()
    expect(screen.toast(MISSING)).to_contain_text("After an upgrade of the exchange, reload the page.")
    expect(screen.heading("Status")).to_be_visible()
    find(page, "ShortcutList-*")
    shortcuts.click()
    expect(screen.dialog("Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")

    find(page, "Notices-*.js")
    bell.click()
    expect(page.get_by_role("button", name="Notices", exact=True)).to_be_visible()


def lose(page: Page, name: str) -> None:
    """Let no file of this name come."""
    page.route(f"**/assets/{name}", lambda route: route.abort())


def find(page: Page, name: str) -> None:
    """Let the files of this name come again."""
    page.unroute(f"**/assets/{name}")


@pytest.mark.proof
def test_a_language_that_cannot_be_loaded_is_told_once_in_the_language_shown_and_tried_again(
    new_window: NewWindow, exchange: Exchange
) -> None:
    trader = exchange.register("words@example.com")
    screen = new_window(trader, locale="de-DE")
    screen.expect_complaint(COMPLAINTS)
    page = screen.page
    lose(page, "de-*.js")
    lose(page, "es-*.js")
    screen.go("/status", "Status")
    told = page.get_by_role("alert").filter(has_text="Deutsch could not be loaded.")
    expect(told).to_have_count(1)
    expect(told).to_contain_text("then try again")

    find(page, "de-*.js")
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.get_by_role("button", name="Anzeige-Einstellungen").click()
    page.get_by_role("combobox", name="Sprache").click()
    page.get_by_role("option", name="Español").click()
    expect(page.get_by_role("alert").filter(has_text="Español konnte nicht geladen werden.")).to_have_count(1)

    find(page, "es-*.js")
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "es")
