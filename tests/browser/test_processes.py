"""Processes on the health page: their menu, log, a restart with a reason, and how the old process ended."""

import pytest
from playwright.sync_api import Route, expect

from openspot.up.child_platform import ChildPlatform
from openspot.up.services import SERVICES
from tests.support.console import Console
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof


def test_an_operator_reads_a_log_and_restarts_a_process(console: Console, platform: ChildPlatform) -> None:
    title = SERVICES["positions"].title
    console.open("/health", "Health")
    expect(console.row("Processes", title, "Runs")).to_be_visible()
    expect(console.row("Processes", "PostgreSQL", "Runs")).to_be_visible()

    console.act(title, "Log")
    log = console.page.get_by_role("log", name=f"Log of {title}")
    expect(log).to_contain_text("starting")
    console.assert_accessible("the log of a process")
    console.page.set_viewport_size({"width": 390, "height": 844})
    console.assert_fits("the log of a process, 390")
    console.page.set_viewport_size({"width": 1440, "height": 900})
    console.page.keyboard.press("Escape")

    before = platform.pid("positions")
    console.act(title, "Restart…")
    dialog = console.dialog(f"Restart {title}?")
    expect(dialog.get_by_role("button", name="Restart")).to_be_disabled()
    dialog.get_by_role("textbox", name="Reason").fill("a test of restarts")
    console.assert_accessible("the question before a restart")
    dialog.get_by_role("button", name="Restart").click()
    expect(console.toast("The restart has begun")).to_be_visible()
    row = console.row("Restarts", title, "asked for")
    expect(row.first).to_be_visible(timeout=1000 * stretched(60))
    expect(console.row("Processes", title, "Runs")).to_be_visible(timeout=1000 * stretched(60))
    assert platform.pid("positions") != before
    console.assert_accessible("processes and restarts")


def test_an_open_menu_is_used_after_what_is_loaded_above_has_moved_its_row_out_of_sight(console: Console) -> None:
    held: list[Route] = []
    console.page.route("**/health.json", lambda route: held.append(route))
    console.open("/health", "Health")
    title = SERVICES["positions"].title
    button = console.page.get_by_role("button", name=f"Actions for {title}", exact=True)
    place = button.bounding_box()
    assert place is not None
    # The row is the last in sight, and the services above it are not there yet.
    console.page.set_viewport_size({"width": 1440, "height": int(place["y"] + place["height"]) + 8})
    button.click()
    log = console.page.get_by_role("menuitem", name="Log")
    expect(log).to_be_visible()

    for route in held:
        route.continue_()
    console.page.unroute("**/health.json")
    expect(console.row("Services", SERVICES["router"].title)).to_have_count(1)
    expect(button).not_to_be_in_viewport()
    log.click()
    expect(console.page.get_by_role("log", name=f"Log of {title}")).to_contain_text("starting")
