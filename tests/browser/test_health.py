"""The health page: every service, what it has still to do, and the last reconciliation."""

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from openspot.kit.alone import Begun, alone
from openspot.kit.backup_outcome import note_backup, note_failure
from openspot.kit.comparison_outcome import LOCK, keep_failure
from openspot.up.child_platform import ChildPlatform
from openspot.up.services import enabled
from tests.support.console import Console
from tests.support.operator import Operator
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof

NEXT_MS = 4_087_972_800_000
"""Noon of 17 July 2099."""
COMPARISON_MS = 1000 * stretched(180)
"""A comparison starts a command of its own and lets the mirrors catch up."""


def due(**times: int) -> Callable[[Route], None]:
    """Answers with the platform's own report, in which the works are due at these times."""

    def answer(route: Route) -> None:
        response = route.fetch()
        report = response.json()
        for work in report["works"]:
            work["dueAt"] = times[work["work"]]
        route.fulfill(response=response, json=report)

    return answer


def lacking(adjustments: int) -> Callable[[Route], None]:
    """Answers with the platform's own report, in which the ledger lacks so many adjustments."""
    counted = dict.fromkeys(("engineSequence", "rowsSequence", "accounts", "orders", "trades", "entries"), 1)
    found = {"caughtUp": True, "unnamed": 0, "differences": [], "unbookedAdjustments": adjustments}

    def answer(route: Route) -> None:
        response = route.fetch()
        outcome = {"at": 1_770_000_000_000, "startedBy": "admin", "report": counted | found}
        route.fulfill(response=response, json=response.json() | {"reconcile": outcome})

    return answer


def test_every_service_is_shown_and_one_that_hangs_is_named(console: Console, platform: ChildPlatform) -> None:
    console.open("/health", "Health")
    for process in enabled(platform.settings).values():
        expect(console.row("Services", process.title, "Ready").first).to_be_visible()
    pid = platform.pid("custody")
    os.kill(pid, signal.SIGSTOP)
    try:
        expect(console.row("Services", "Custody simulator", "Silent")).to_contain_text("no response from")
        console.assert_accessible("a silent service")
    finally:
        os.kill(pid, signal.SIGCONT)
    expect(console.row("Services", "Custody simulator", "Ready")).to_be_visible()


def test_the_button_compares_and_shows_the_differences_also_after_a_failed_comparison(
    console: Console, operator: Operator, platform: ChildPlatform
) -> None:
    # An adjustment changes the engine alone, so the ledger lacks it.
    operator.create("unmirrored")
    operator.fund("unmirrored", USD="12.5")
    console.open("/health", "Health")
    button = console.page.get_by_role("button", name="Compare now")
    button.click()
    dialog = console.dialog("Compare the books now?")
    expect(dialog.get_by_role("button", name="Compare them")).to_be_disabled()
    dialog.get_by_label("Reason").fill("an adjustment was made")
    dialog.get_by_role("button", name="Compare them").click()
    expect(console.page.get_by_role("status").filter(has_text="Comparing…")).to_be_visible()
    expect(console.row("Differences", "unmirrored")).to_contain_text("12.5", timeout=COMPARISON_MS)
    expect(button).to_be_enabled()
    expect(console.page.get_by_text(", begun by admin,")).to_be_visible()
    expect(console.row("Timetable", "Comparison of the books")).to_contain_text("difference")
    keep_failure(platform.settings.data_dir, "the engine does not answer", Begun("timetable", 1))
    expect(console.page.get_by_text("could not be made: the engine does not answer")).to_be_visible()
    expect(console.row("Timetable", "Comparison of the books")).to_contain_text("Failed")
    expect(console.row("Differences", "unmirrored")).to_contain_text("12.5")
    console.assert_accessible("differences")
    console.page.set_viewport_size({"width": 390, "height": 844})
    console.assert_fits("differences, 390")


def test_the_button_books_what_the_ledger_lacks_with_a_reason_and_shows_why_nothing_was_booked(
    console: Console,
) -> None:
    asked: list[Any] = []
    state = {"running": False, "failure": ""}

    def book(route: Route) -> None:
        asked.append((route.request.method, route.request.post_data_json))
        state["failure"] = "request R1 waits for another person"
        route.fulfill(status=202, json={})

    # Others adjust on this platform, too: what is booked there would be theirs.
    console.page.route("**/console/health.json", lacking(2))
    console.page.route("**/console/bookings.json", lambda route: route.fulfill(json=state))
    console.page.route("**/console/bookings", book)
    console.open("/health", "Health")
    expect(console.page.get_by_text("The ledger lacks 2 adjustments of the engine.")).to_be_visible()
    console.page.get_by_role("button", name="Book them…").click()
    dialog = console.dialog("Book 2 adjustments in the ledger?")
    expect(dialog.get_by_role("button", name="Book them")).to_be_disabled()
    dialog.get_by_label("Reason").fill("granted at the engine, ticket 4711")
    console.assert_accessible("the dialog of a booking")
    dialog.get_by_role("button", name="Book them").click()
    expect(console.toast("The booking has begun")).to_be_visible()
    assert asked == [("POST", {"reason": "granted at the engine, ticket 4711"})]
    expect(console.page.get_by_text("Nothing was booked: request R1 waits for another person.")).to_be_visible()
    # The page goes on asking, and an answer that is under way would fail in the next test.
    console.page.unroute_all(behavior="wait")


def test_the_timetable_shows_what_became_of_the_last_runs_and_what_is_due(
    console: Console, platform: ChildPlatform
) -> None:
    data_dir = platform.settings.data_dir
    console.open("/health", "Health")
    comparison, backup = console.row("Timetable", "Comparison of the books"), console.row("Timetable", "Backup")
    expect(backup).to_contain_text("by no timetable")
    expect(comparison).to_contain_text("by no timetable")
    note_failure(data_dir, "no space left on the disk")
    expect(backup).to_contain_text("Failed")
    expect(backup).to_contain_text("no space left on the disk")
    note_backup(data_dir, "b", "then")
    expect(backup).to_contain_text("Made")
    expect(backup).not_to_contain_text("no space")
    # Another process compares: the button waits for it.
    with alone(data_dir / LOCK, "the night shift", wait_s=stretched(60)):
        expect(comparison).to_contain_text(", begun by the night shift")
        expect(console.page.get_by_role("status").filter(has_text="Comparing…")).to_be_visible()
        console.assert_accessible("the timetable while a comparison runs")
    expect(comparison).not_to_contain_text("the night shift")
    # This platform's timetable runs nothing, so the report is changed on its way to the page.
    console.page.route("**/console/health.json", due(comparison=NEXT_MS, backup=1))
    expect(comparison).to_contain_text("17 Jul 2099")
    expect(backup).to_contain_text("due now")
    expect(console.page.get_by_role("button", name="Compare now")).to_be_enabled()
    console.page.set_viewport_size({"width": 390, "height": 844})
    console.assert_fits("timetable, 390")
