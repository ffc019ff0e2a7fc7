"""What operators do for one user from the console: limits, mails, keys, sessions, and what needs two persons."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest
from playwright.sync_api import expect

from openspot.http.operators import OperatorRole
from openspot.kit.mail.transports import read_mailbox
from openspot.up.child_platform import ChildPlatform
from tests.support.authenticator import PASSWORD, enable_mfa, log_in, register
from tests.support.console import OPPOSITE_LOOKS, Console
from tests.support.edge_operators import make_operator
from tests.support.own_thread import in_own_thread
from tests.support.rest_client import Reply, RestClient
from tests.support.waiting import until

pytestmark = pytest.mark.proof

Act = Callable[[RestClient], Awaitable[Any]]
WHY = {"reason": "the owner asked for it, ticket 12"}


@dataclass
class Person:
    """A user, and a client that calls as this user."""

    platform: ChildPlatform
    user_id: str
    token: str | None
    email: str

    def ask(self, method: str, path: str, body: Any = None) -> Reply:
        """The reply to a request."""
        reply = at_the_edge(self.platform, lambda edge: edge(method, path, body), self.token)
        assert isinstance(reply, Reply)
        return reply


def at_the_edge(platform: ChildPlatform, act: Act, token: str | None = None) -> Any:
    """Do something at the REST edge, beside the page."""

    async def run() -> Any:
        client = RestClient(platform.settings)
        client.token = token
        try:
            return await act(client)
        finally:
            await client.close()

    return in_own_thread(run)


def new_user(platform: ChildPlatform, *, has_second_factor: bool) -> Person:
    """A user who is logged in."""
    email = f"{secrets.token_hex(4)}@example.org"

    async def enrol(edge: RestClient) -> tuple[str, str | None]:
        user_id = await register(edge, email)
        if has_second_factor:
            await enable_mfa(edge)
        return user_id, edge.token

    return Person(platform, *at_the_edge(platform, enrol), email)


@pytest.fixture
def ada(platform: ChildPlatform) -> Person:
    """An administrator beside the one of the console."""
    email = f"{secrets.token_hex(4)}@operators.example"

    async def enrol(edge: RestClient) -> str | None:
        async with asyncpg.create_pool(platform.settings.database_url, min_size=1, max_size=1) as pool:
            await make_operator(edge, pool, email, OperatorRole.ADMINISTRATOR)
        return edge.token

    return Person(platform, "", at_the_edge(platform, enrol), email)


def begin(console: Console, action: str) -> None:
    """Open the dialog of an action for the user of the page."""
    console.page.get_by_role("button", name="Do something").click()
    console.page.get_by_role("menuitem", name=f"{action}…").click()


def confirm(console: Console, title: str, button: str) -> None:
    """Give the reason, and confirm."""
    dialog = console.dialog(title)
    dialog.get_by_role("textbox", name="Reason").fill(WHY["reason"])
    dialog.get_by_role("button", name=button, exact=True).click()


def test_limits_mails_keys_and_sessions_of_a_user(console: Console, platform: ChildPlatform) -> None:
    eve = new_user(platform, has_second_factor=False)
    key = {"name": "bot", "scopes": ["read"], "algorithm": "hmac-sha256"}
    assert eve.ask("POST", "/api-keys", key).status == 201
    console.open(f"/users/{eve.user_id}", eve.email)
    page = console.page

    begin(console, "Change the limits")
    console.dialog("Change the limits?").get_by_label("API keys").fill("1")
    confirm(console, "Change the limits?", "Change the limits")
    expect(console.toast("The limits are changed")).to_be_visible()
    assert eve.ask("POST", "/api-keys", key).code == "TOO_MANY_API_KEYS"

    def mails() -> int:
        return sum(mail.recipient == eve.email for mail in read_mailbox(platform.data_dir))

    before = until(mails, "the mail of the registration is sent", 0.2)
    begin(console, "Send a mail again")
    page.get_by_role("combobox", name="Mail").click()
    page.get_by_role("option", name="Choose a new password").click()
    console.assert_accessible("send a mail again")
    confirm(console, "Send a mail again?", "Send the mail")
    expect(console.toast("The mail is queued")).to_be_visible()
    until(lambda: mails() > before, "the mail is sent", 0.2)

    page.get_by_role("tab", name="API keys").click()
    console.act("bot", "Revoke the key…")
    confirm(console, "Revoke the API key?", "Revoke the API key")
    expect(console.toast("Revoked")).to_be_visible()
    expect(page.get_by_text("No API keys", exact=True)).to_be_visible()
    assert eve.ask("GET", "/api-keys").body == []

    page.get_by_role("tab", name="Sessions").click()
    expect(console.table("Sessions").get_by_role("row").nth(1)).to_be_visible()
    begin(console, "End all sessions")
    confirm(console, "End all sessions?", "End all sessions")
    expect(console.toast("Sessions ended")).to_be_visible()
    expect(page.get_by_text("No sessions", exact=True)).to_be_visible()
    until(lambda: eve.ask("GET", "/api-keys").status == 401, "the token is refused", 0.2)
    console.look_over("a user whose sessions have ended", OPPOSITE_LOOKS)

    console.open(f"/trail?subject={eve.user_id}", "Audit trail")
    for action in ("limits", "mail", "api_key", "sessions"):
        expect(console.row("Audit trail", action)).to_be_visible()


def test_a_second_factor_is_reset_by_two_persons(console: Console, platform: ChildPlatform, ada: Person) -> None:
    eve = new_user(platform, has_second_factor=True)
    console.open(f"/users/{eve.user_id}", eve.email)
    begin(console, "Reset the second factor")
    confirm(console, "Ask for the reset of the second factor?", "Ask for the reset")
    expect(console.toast("Asked")).to_be_visible()
    console.open("/approvals?state=waiting", "Approvals")
    row = f"Reset the second factor of {eve.user_id}"
    # Nobody approves what they asked for.
    console.page.get_by_role("button", name=f"Actions for {row}").click()
    expect(console.page.get_by_role("menuitem", name="Approve…")).to_be_disabled()
    console.close_menu()
    console.act(row, "Reject…")
    confirm(console, "Reject the request?", "Reject")
    expect(console.toast("Rejected")).to_be_visible()
    expect(console.row("Requests", eve.user_id)).to_have_count(0)

    asked = ada.ask("POST", f"/operator/users/{eve.user_id}/second-factor-reset", WHY)
    assert asked.status == 202, asked.body
    console.open("/approvals?state=waiting", "Approvals")
    console.act(row, "Approve…")
    dialog = console.dialog("Approve the request?")
    dialog.get_by_label(f"Type {eve.user_id} to confirm").fill(eve.user_id)
    console.assert_accessible("approve a request")
    confirm(console, "Approve the request?", "Approve")
    expect(console.toast("Approved")).to_be_visible()
    again = at_the_edge(eve.platform, lambda edge: log_in(edge, eve.email, PASSWORD))
    assert (again.status, "accessToken" in again.body) == (200, True)


def test_an_account_is_closed_by_two_persons(console: Console, platform: ChildPlatform, ada: Person) -> None:
    eve = new_user(platform, has_second_factor=False)
    asked = ada.ask("POST", f"/operator/users/{eve.user_id}/closure", WHY)
    assert asked.status == 202, asked.body
    console.open("/approvals?state=waiting", "Approvals")
    console.act(f"Close the account of {eve.user_id}", "Approve…")
    dialog = console.dialog("Approve the request?")
    dialog.get_by_label(f"Type {eve.user_id} to confirm").fill(eve.user_id)
    confirm(console, "Approve the request?", "Approve")
    expect(console.toast("Approved")).to_be_visible()
    refused = at_the_edge(eve.platform, lambda edge: log_in(edge, eve.email, PASSWORD))
    assert refused.status == 401
    console.open(f"/users?q={eve.email}", "Users")
    expect(console.page.get_by_role("link", name=eve.user_id)).to_have_count(0)

    console.open(f"/users?q={eve.user_id}", "Users")
    console.act(eve.user_id, "Open")
    expect(console.heading(eve.user_id)).to_be_visible()
    page = console.page
    expect(page.get_by_role("note")).to_contain_text("The account is closed")
    expect(page.get_by_text(WHY["reason"], exact=True)).to_have_count(2)
    expect(page.get_by_role("button", name="Do something")).to_have_count(0)
    assert page.get_by_role("tab").all_inner_texts() == [
        "Balances", "Orders", "Trades", "Movements", "Deposits", "Withdrawals", "Payments", "Requests",
    ]  # fmt: skip
    page.get_by_role("tab", name="Requests").click()
    expect(console.row("Requests", "Close the account", WHY["reason"])).to_be_visible()
    console.look_over("a closed account", OPPOSITE_LOOKS)
