"""Withdrawals in the console: the decisions of people, every state that custody knows, and a custody that is silent."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from openspot.custody.withdrawal_states import Status
from openspot.up.child_platform import ChildPlatform
from tests.support.console import DESK, Console
from tests.support.money_user import BASIC_INFORMATION, WAIT_S, MoneyUser, money_user
from tests.support.operator import Operator
from tests.support.own_thread import in_own_thread
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually

ADDRESS = "So11111111111111111111111111111111111111112"
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/protocol/openapi/custody.json"
LIST = "**/console/custody/withdrawals"
UNASKED = "It does not wait for an approval."
UNSIGNED = "It does not wait for a signature."
TOO_LATE = "It is being sent already, or has ended."
MACHINE_STATES = {
    "pending_approval": ("Waiting for approval", "the engine to reserve the amount", {"Approve…": "It has all of its"}),
    "approved": ("Approved", "custody to prepare it", {"Approve…": UNASKED, "Sign…": UNSIGNED}),
    "signing": (
        "Waiting for signatures",
        "custody to send it",
        {"Approve…": UNASKED, "Sign…": "Every signer has signed."},
    ),
    "broadcasting": ("Being sent", "the network to take it", {"Sign…": UNSIGNED, "Reject…": TOO_LATE}),
    "confirming": ("Confirming", "7 of 12 blocks", {"Sign…": UNSIGNED, "Reject…": TOO_LATE}),
    "completed": ("Completed", "the amount to be booked", {"Approve…": UNASKED, "Reject…": TOO_LATE}),
    "cancelled": ("Cancelled", "the amount to be free again", {"Approve…": UNASKED, "Reject…": TOO_LATE}),
    "rejected": ("Rejected", "the amount to be free again", {"Approve…": UNASKED, "Reject…": TOO_LATE}),
    "failed": ("Failed", "the amount to be free again", {"Approve…": UNASKED, "Reject…": TOO_LATE}),
}
"""How a withdrawal is shown that waits for no person: its state, what it waits for, why an action cannot be used."""
REASONS = {"rejected": "the owner did not ask for it", "failed": "the network refused the transaction"}


@pytest.fixture(scope="module")
def waiting(platform: ChildPlatform) -> tuple[str, list[str]]:
    """A user's id, and withdrawals of 250 to 254 SOL at 200 USD: they need two approvals each."""

    async def withdraw(user: MoneyUser) -> tuple[str, list[str]]:
        await user("POST", "/kyc/basic-info", BASIC_INFORMATION)
        await user.credit("SOL", "2000")
        saved = {"label": "Wallet", "asset": "SOL", "network": "solana", "address": ADDRESS}
        address_id = (await user("POST", "/users/me/withdrawal-addresses", saved, status=201))["id"]
        body = {"asset": "SOL", "network": "solana", "addressId": address_id}
        sent = [
            await user("POST", "/accounts/withdraw/crypto", {**body, "amount": str(amount)}, status=201)
            for amount in range(250, 255)
        ]
        return user.user_id, [str(one["id"]) for one in sent]

    async def as_user() -> tuple[str, list[str]]:
        async with money_user(platform) as user:
            return await withdraw(user)

    return in_own_thread(as_user)


def as_owner(platform: ChildPlatform, user_id: str, method: str, withdrawal_id: str) -> Any:
    """The withdrawal as its owner's call of the REST edge returns it."""

    async def call() -> Any:
        client = RestClient(platform.settings)
        client.as_user(user_id)
        try:
            reply = await client(method, f"/accounts/withdrawals/{withdrawal_id}")
            assert reply.status == 200, reply.body
            return reply.body
        finally:
            await client.close()

    return in_own_thread(call)


def assert_owner_sees(platform: ChildPlatform, user_id: str, withdrawal_id: str, status: str) -> None:
    """Wait until the owner's withdrawal is in that state."""

    async def reached() -> None:
        client = RestClient(platform.settings)
        client.as_user(user_id)
        path = f"/accounts/withdrawals/{withdrawal_id}"

        async def is_so() -> bool:
            return bool((await client("GET", path)).body["status"] == status)

        try:
            await eventually(is_so, WAIT_S, 0.1)
        finally:
            await client.close()

    in_own_thread(reached)


@pytest.mark.proof
def test_withdrawals_are_assigned_and_decided_on_together_after_a_dry_run(
    console: Console, waiting: tuple[str, list[str]]
) -> None:
    user_id, _ = waiting
    name = f"254 SOL of {user_id}"
    console.open("/withdrawals", "Withdrawals")
    console.act(name, "Who decides…")
    dialog = console.dialog("Who is to decide?")
    console.choose("Operator", "engine:admin (you)", dialog)
    dialog.get_by_role("textbox", name="Reason").fill("night desk")
    dialog.get_by_role("button", name="Assign it").click()
    expect(console.row("Withdrawals", user_id, "254 SOL")).to_contain_text("engine:admin")
    console.page.get_by_role("checkbox", name=f"Choose {name}").check()
    console.page.get_by_role("button", name="Do with them").click()
    console.page.get_by_role("menuitem", name="Approve them…").click()
    bulk = console.dialog("Approve the withdrawals?")
    bulk.get_by_role("textbox", name="Reason").fill("the owner confirmed them")
    bulk.get_by_role("button", name="Dry run").click()
    expect(bulk.get_by_role("region", name="What would happen")).to_contain_text("Would be done")
    expect(console.row("Withdrawals", user_id, "254 SOL")).to_contain_text("0 of 2 approvals")
    console.look_over("several withdrawals", (("dark", {"width": 390, "height": 844}),))
    bulk.get_by_role("button", name="Approve them").click()
    expect(bulk.get_by_role("region", name="What happened")).to_contain_text("Done")
    bulk.get_by_text("Close", exact=True).click()
    expect(console.row("Withdrawals", user_id, "254 SOL")).to_contain_text("1 of 2 approvals")


@pytest.mark.proof
def test_a_withdrawal_is_approved_by_two_and_signed_by_three(
    console: Console, operator: Operator, platform: ChildPlatform, waiting: tuple[str, list[str]]
) -> None:
    user_id, (withdrawal_id, *others) = waiting
    name = f"250 SOL of {user_id}"
    console.open("/withdrawals", "Withdrawals")
    row = console.row("Withdrawals", user_id, "250 SOL")
    for text in ("250 SOL", "50,000.00 USD", ADDRESS, "solana", "WARM", "Waiting for approval", "0 of 2 approvals"):
        expect(row).to_contain_text(text)
    console.assert_accessible("withdrawals")
    menu = console.page.get_by_role("button", name=f"Actions for {name}", exact=True)
    menu.click()
    expect(console.page.get_by_role("menuitem", name="It does not wait for a signature.")).to_be_visible()
    console.page.get_by_role("menuitem", name="Approve…").click()
    dialog = console.dialog("Approve the withdrawal?")
    for text in (ADDRESS, "WARM", "Another operator has to approve it after you."):
        expect(dialog).to_contain_text(text)
    approve = dialog.get_by_role("button", name="Approve")
    expect(approve).to_be_disabled()
    console.assert_accessible("approval")
    dialog.get_by_label("Type 250 to confirm").fill("250")
    expect(approve).to_be_disabled()
    dialog.get_by_label("Reason").fill("the owner confirmed it by phone")
    approve.click()
    expect(console.toast("Approved")).to_be_visible()
    expect(row).to_contain_text("1 of 2 approvalsby admin")
    console.assert_accessible("approved by one")
    menu.click()
    expect(console.page.get_by_role("menuitem", name="You have approved it.")).to_have_attribute(
        "aria-disabled", "true"
    )
    console.close_menu()

    operator.create("second", kind="SUPER_ADMIN")
    operator.approve(withdrawal_id, operator.log_in("second", "a-long-password"))
    expect(row).to_contain_text("Waiting for signatures")
    console.assert_accessible("waits for signatures")
    for number in (1, 2, 3):
        expect(row).to_contain_text(f"{number - 1} of 3 signatures")
        menu.click()
        console.page.get_by_role("menuitem", name="Sign…").click()
        dialog = console.dialog("Sign the withdrawal?")
        if number == 1:
            console.assert_accessible("signature")
        expect(dialog.get_by_role("combobox", name="Signer")).to_have_value(f"warm-{number}")
        decided = dialog.get_by_role("region", name="What operators decided").get_by_role("listitem")
        expect(decided.first).to_contain_text("engine:admin approved: the owner confirmed it by phone")
        expect(decided).to_have_count(number + 1)
        dialog.get_by_label("Reason").fill(f"signature {number}")
        dialog.get_by_role("button", name="Sign", exact=True).click()
        expect(dialog).to_be_hidden()
    # Those that nobody has decided on are left.
    expect(console.row("Withdrawals", user_id)).to_have_count(len(others))
    assert_owner_sees(platform, user_id, withdrawal_id, "completed")


@pytest.mark.proof
def test_a_withdrawal_is_rejected_with_a_reason(
    console: Console, platform: ChildPlatform, waiting: tuple[str, list[str]]
) -> None:
    user_id, (_, withdrawal_id, *_) = waiting
    console.page.set_viewport_size({"width": 390, "height": 844})
    console.open("/withdrawals", "Withdrawals")
    button = console.page.get_by_role("button", name=f"Actions for 251 SOL of {user_id}", exact=True)
    expect(button).to_be_visible()
    console.assert_fits("withdrawals, 390")
    button.click()
    console.page.get_by_role("menuitem", name="Reject…").click()
    dialog = console.dialog("Reject the withdrawal?")
    confirm = dialog.get_by_role("button", name="Reject")
    console.assert_accessible("rejection, 390")
    expect(confirm).to_be_disabled()
    dialog.get_by_label("Reason").fill("the owner did not ask for it")
    with console.page.expect_response(f"**/withdrawals/{withdrawal_id}/rejection") as answered:
        confirm.click()
    assert answered.value.json()["status"] == "rejected"
    expect(console.toast("Rejected")).to_contain_text(f"251 SOL go back to {user_id}")
    assert_owner_sees(platform, user_id, withdrawal_id, "rejected")


@pytest.mark.proof
def test_a_withdrawal_that_its_owner_cancels_leaves_the_list(
    console: Console, platform: ChildPlatform, waiting: tuple[str, list[str]]
) -> None:
    user_id, (_, _, withdrawal_id, *_) = waiting
    console.open("/withdrawals", "Withdrawals")
    rows = console.row("Withdrawals", user_id)
    expect(rows.first).to_be_visible()
    left = rows.count()
    assert as_owner(platform, user_id, "DELETE", withdrawal_id)["status"] == "cancelled"
    expect(rows).to_have_count(left - 1)
    assert_owner_sees(platform, user_id, withdrawal_id, "cancelled")


@pytest.mark.proof
def test_a_refused_decision_gives_custodys_reason(
    console: Console, operator: Operator, waiting: tuple[str, list[str]]
) -> None:
    """The page is a moment old: somebody else has rejected the withdrawal since."""
    user_id, (_, _, _, withdrawal_id, _) = waiting
    console.expect_complaint("status of 400")
    console.stop_polling()
    console.open("/withdrawals", "Withdrawals")
    console.act(f"253 SOL of {user_id}", "Approve…")
    dialog = console.dialog("Approve the withdrawal?")
    dialog.get_by_label("Type 253 to confirm").fill("253")
    dialog.get_by_label("Reason").fill("looks right")
    operator.reject(withdrawal_id, "a second pair of eyes said no")
    dialog.get_by_role("button", name="Approve").click()
    expect(dialog.get_by_role("alert")).to_contain_text("rejected")
    console.assert_accessible("a refused decision")


@pytest.mark.proof
def test_every_state_of_custodys_document_is_shown(console: Console, operator: Operator) -> None:
    """Custody passes most of these in less time than a page takes, so its response is held in each of them."""
    documented = json.loads(DOCUMENT.read_text("utf-8"))["components"]["schemas"]["Status"]["enum"]
    assert set(MACHINE_STATES) == set(documented) == {status.value for status in Status}
    shown = {"status": documented[0]}

    def hold(route: Route) -> None:
        status = shown["status"]
        row = _row(status)
        route.fulfill(json={"withdrawals": [row], "complete": status != "failed"})

    console.page.route(LIST, hold)
    console.open("/withdrawals", "Withdrawals")
    for status in documented:
        shown["status"] = status
        text, next_step, blocked = MACHINE_STATES[status]
        row = console.row("Withdrawals", "nobody-in-particular")
        expect(row).to_have_count(1)
        for part in (text, next_step, REASONS.get(status, "")):
            expect(row).to_contain_text(part)
        console.page.get_by_role("button", name="Actions for 1.5 SOL of nobody-in-particular").click()
        for action, reason in blocked.items():
            item = console.page.get_by_role("menuitem", name=action)
            expect(item).to_have_attribute("aria-disabled", "true")
            expect(item).to_contain_text(reason)
        console.look_over(status, (("light", DESK), ("dark", DESK)))
        console.close_menu()
    expect(console.page.get_by_text("There are more.")).to_be_visible()


def _row(status: str) -> dict[str, Any]:
    """A withdrawal that no person has to decide on, as custody's document describes it."""
    return {
        "id": "held", "userId": "nobody-in-particular", "asset": "SOL", "network": "solana", "amount": "1.5",
        "fee": "0.01", "netAmount": "1.49", "address": ADDRESS, "tag": None, "wallet": "WARM", "valueUsd": "300.00",
        "status": status, "reason": REASONS.get(status), "approvals": ["grace", "heidi"], "approvalsNeeded": 2,
        "signers": ["warm-1", "warm-2", "warm-3"], "signatures": ["warm-1", "warm-2", "warm-3"], "signaturesNeeded": 3,
        "confirmations": 7, "confirmationsNeeded": 12, "createdAt": 1_790_000_000_000,
        "assignee": None, "decisions": [],
    }  # fmt: skip


def test_the_row_of_these_tests_is_that_of_the_document() -> None:
    properties = json.loads(DOCUMENT.read_text("utf-8"))["components"]["schemas"]["OpenWithdrawal"]["properties"]
    assert set(_row("failed")) == set(properties)


@pytest.mark.proof
def test_a_custody_that_is_silent_is_named(console: Console) -> None:
    console.expect_complaint("502")
    console.stop_polling()
    console.page.route(
        LIST,
        lambda route: route.fulfill(
            status=502,
            content_type="application/json",
            body='{"code": "BAD_GATEWAY", "message": "custody does not respond"}',
        ),
    )
    console.open("/withdrawals", "Withdrawals")
    expect(console.problem()).to_contain_text("Custody does not respond")
    console.assert_accessible("custody is silent")
    console.page.unroute(LIST)
    console.page.get_by_role("button", name="Try again").click()
    expect(console.problem()).to_be_hidden()
