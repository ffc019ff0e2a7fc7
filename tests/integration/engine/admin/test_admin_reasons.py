"""The reasons that operators give for changes stand in the engine's log, beside who made the change."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.support.admin_client import AdminClient

CHANGES: tuple[tuple[str, dict[str, Any], str], ...] = (
    (
        "AdjustBalance",
        {"participantId": "alice", "currency": "USD", "amount": "5", "type": "DEPOSIT"},
        "adjusted a balance",
    ),
    ("CancelOrderAdmin", {}, "cancelled an order"),
    ("DeactivateParticipant", {"participantId": "alice"}, "deactivated a participant"),
)


@pytest.fixture
async def fields(admin: AdminClient, request: pytest.FixtureRequest) -> dict[str, Any]:
    """The fields of the change under test; a cancel's order is placed first."""
    await admin.engine.fund("alice", USD="1000")
    order = await admin.engine.place("buy", "100", "1")
    method, given = request.param
    return {"orderId": str(order.order_id)} if method == "CancelOrderAdmin" else given


@pytest.mark.parametrize(
    ("fields", "method", "line"),
    [((method, given), method, line) for method, given, line in CHANGES],
    indirect=["fields"],
)
async def test_the_reason_of_a_change_is_logged_with_its_operator(
    admin: AdminClient, fields: dict[str, Any], method: str, line: str
) -> None:
    with capture_logs() as lines:
        answer = await admin.call(method, **fields, reason="  ticket 4711: sent to the wrong account ")
    assert answer["success"], answer
    (entry,) = (entry for entry in lines if entry["event"] == line)
    assert entry["reason"] == "ticket 4711: sent to the wrong account"
    assert entry["by"] == "admin"


@pytest.mark.parametrize(
    ("fields", "method"), [((method, given), method) for method, given, _ in CHANGES], indirect=["fields"]
)
@pytest.mark.parametrize("reason", ["x" * 201, "two\nlines"])
async def test_a_bad_reason_refuses_the_change(
    admin: AdminClient, fields: dict[str, Any], method: str, reason: str
) -> None:
    before = await admin.call("ListBalances", participantId="alice")
    answer = await admin.call(method, **fields, reason=reason)
    assert (answer["success"], answer["error"]) == (False, "reason must have at most 200 printable letters")
    assert await admin.call("ListBalances", participantId="alice") == before
    participant = (await admin.call("GetParticipant", participantId="alice"))["participant"]
    assert participant["active"]
