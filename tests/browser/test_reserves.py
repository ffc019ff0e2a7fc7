"""An operator proves what is owed from the page Reports; a user checks the own part, and sees if it is not true."""

import json
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from openspot.up.child_platform import ChildPlatform
from tests.support.console import OPPOSITE_LOOKS, Console
from tests.support.operator import Operator
from tests.support.reserve_trees import VERIFIER
from tests.support.trading_screen import Exchange, window
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof


def trade_what_the_ledger_lacks(platform: ChildPlatform) -> None:
    """Alice sells coins that the engine alone has: in the ledger she has less than none of them."""
    with closing(Operator(platform.settings)) as operator:
        market = operator.create_market("OWED")
        operator.fund("alice", OWED="10")
        operator.fund("bob", USD="1000")
        operator.place("alice", "sell", "20", "1", market)
        operator.place("bob", "buy", "20", "1", market)


def failed(route: Route) -> None:
    """The web server's word on its last proof, as if the engine had been away."""
    response = route.fetch()
    route.fulfill(response=response, json=response.json() | {"failure": "the engine is away"})


@pytest.fixture
def console(browser: Browser, browser_context_args: dict[str, Any], own_platform: ChildPlatform) -> Iterator[Console]:
    """The console of an exchange of the test's own."""
    with (
        closing(Operator(own_platform.settings)) as operator,
        closing(browser.new_page(**browser_context_args)) as page,
    ):
        console = Console(page, str(own_platform.settings.web_url))
        console.bring_session(operator.login)
        yield console
        console.assert_quiet()


def test_an_operator_proves_and_a_user_checks(
    console: Console,
    own_platform: ChildPlatform,
    browser: Browser,
    browser_context_args: dict[str, Any],
    tmp_path: Path,
) -> None:
    exchange = Exchange(own_platform)
    trader = exchange.register(f"{secrets.token_hex(6)}@example.com")
    exchange.deposit([(trader, "SOL", "12.345")])
    trade_what_the_ledger_lacks(own_platform)
    console.page.route("**/console/reserves.json", failed)
    console.open("/reports?report=reserves", "Reports")
    expect(console.page.get_by_text("Custody holds less than users are owed of")).to_be_visible()
    expect(console.page.get_by_text("The last proof was not made: the engine is away")).to_be_visible()
    console.page.unroute_all(behavior="ignoreErrors")
    # Of what the engine alone has, a proof owes what can be spent.
    console.page.get_by_role("button", name="Prove now").click()
    dialog = console.dialog("Prove the reserves now?")
    dialog.get_by_label("Reason").fill("the month has ended")
    dialog.get_by_role("button", name="Prove them").click()
    expect(console.page.get_by_role("button", name="Copy digest").first).to_be_visible(timeout=stretched(60) * 1000)
    console.look_over("reports", OPPOSITE_LOOKS)
    for day in ("From", "To"):
        expect(console.page.get_by_role("search").get_by_text(day, exact=True)).to_be_visible()
    for report in ("Fee income", "Volumes", "Users", "Balances"):
        console.page.get_by_role("tab", name=report).click()
        expect(console.page.get_by_role("tab", name=report)).to_have_attribute("aria-selected", "true")
        expect(console.page.get_by_text("Updated").first).to_be_visible()

    screen = window(browser.new_page(**browser_context_args), console.url, trader)
    screen.go("/reserves", "Proof of reserves")
    page = screen.page
    page.get_by_role("button", name="Check my balances").click()
    expect(page.get_by_text("Your proof holds")).to_be_visible()
    expect(screen.row("Owed to you", "SOL")).to_contain_text("12.345")
    screen.look_over("a proof that holds", OPPOSITE_LOOKS)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the proof").click()
    saved = tmp_path / "proof.json"
    download.value.save_as(saved)
    command = [sys.executable, "-I", str(VERIFIER), str(saved), "--user", trader.user_id, "--expect", "SOL=12.345"]
    assert subprocess.run(command, check=False, timeout=stretched(60)).returncode == 0

    def less(route: Route) -> None:
        proof = json.loads(saved.read_text())
        proof["leaves"][0]["balances"] = ["0" for _ in proof["leaves"][0]["balances"]]
        route.fulfill(json=proof)

    page.route("**/reserves/*/own", less)
    page.get_by_role("button", name="Check my balances").click()
    expect(page.get_by_text("Your proof does not hold: A leaf of yours does not lead")).to_be_visible()
    screen.assert_quiet()
    page.context.close()
