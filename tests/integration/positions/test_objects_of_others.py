"""Every route of the position service that names a participant or an object: what is another's is not there."""

import re
from typing import Any

import pytest

from openspot.contracts.subjects import SESSIONS_REVOKED_BUCKET
from openspot.http.policy import Access
from openspot.kit.bus import Bus
from openspot.positions.app import PREFIX
from tests.support.http_routes import all_routes
from tests.support.positions import ADMIN, PositionClient
from tests.support.rest_client import Reply
from tests.support.waiting import eventually

BODIES: dict[str, Any] = {
    "POST /transfers/deposit": {"participantId": "alice", "assetId": "USD", "amount": "1"},
    "POST /transfers/withdrawal": {"participantId": "alice", "assetId": "USD", "amount": "1"},
    "POST /fifo/transactions": {
        "userId": "alice", "externalId": "x", "timestamp": "2024-01-10T00:00:00Z", "type": "acquisition",
        "asset": "BTC", "quantity": "1", "value": "1",
    },
}  # fmt: skip
LISTS = {
    "GET /positions": 1, "GET /positions/snapshots": 0, "GET /transfers": 1, "GET /balances": 2, "GET /trades": 1,
    "GET /stats/participants": 1, "GET /bvi/exceptions": 1, "GET /fifo/users": 1,
}  # fmt: skip
"""How many entries of alice's an administrator finds."""
ROUTES = sorted(
    f"{route.method} {route.path.removeprefix(PREFIX)}"
    for service, route in all_routes()
    if service == "positions" and route.policy.access & Access.USER
)
OF_ALL = "GET /stats/summary"


@pytest.fixture
async def objects(positions: PositionClient) -> dict[str, str]:
    """One of everything that alice can have, by the name of the path parameter."""
    await positions.report_order()
    exception = await positions.report_order(orderId="o2", quantity="-1")
    transfer = await positions.post("alice", "/transfers/deposit", {"assetId": "USD", "amount": "1"})
    await positions.post("alice", "/fifo/transactions", BODIES["POST /fifo/transactions"])
    return {
        "participantId": "alice", "userId": "alice", "symbol": "BTC-USD", "assetId": "USD", "currency": "BTC",
        "transfer": transfer["id"], "exception": exception["exceptionId"],
    }  # fmt: skip


def path_of(route: str, objects: dict[str, str]) -> str:
    """The path of alice's object."""
    path = route.partition(" ")[2]
    path = path.replace("{id}", "{exception}" if path.startswith("/bvi") else "{transfer}")
    return re.sub(r"{(\w+)}", lambda found: objects[found[1]], path)


async def send(positions: PositionClient, caller: str, route: str, path: str) -> Reply:
    method = route.partition(" ")[0]
    if route == "POST /fifo/transactions/import":
        return await positions.import_file(caller, "a,b\n1,2\n", "?userId=alice")
    return await positions.ask(caller, method, path, BODIES.get(route))


@pytest.mark.spec(
    "B4.5-01", "B4.5-02", "B4.5-03", "B4.5-04", "B4.5-05", "B4.5-06", "B4.5-11", "B4.5-12", "B4.5-13", "B4.5-14",
    "B4.5-15", "B4.5-16", "B4.5-17", "B4.5-18", "B4.5-19", "B4.5-20", "B4.5-21", "B4.5-22", "B4.5-23", "B4.5-27",
    "B4.5-28",
)  # fmt: skip
async def test_a_stranger_finds_nothing_of_another_participant_on_any_route(
    positions: PositionClient, objects: dict[str, str]
) -> None:
    assert len(ROUTES) == 28
    for route in ROUTES:
        path = path_of(route, objects)
        if route == OF_ALL:
            assert (await positions.get("bob", path))["trades"] == 0
        elif route in LISTS:
            assert await positions.get("bob", path) == []
            asked = await positions.ask("bob", "GET", f"{path}?participantId=alice")
            assert asked.status == (200 if route == "GET /fifo/users" else 404), route
            assert len(await positions.get(ADMIN, path)) == LISTS[route], route
        else:
            refused = await send(positions, "bob", route, path)
            assert (refused.status, refused.body["error"]) == (404, "Not Found"), (route, refused.body)
            # The owner finds it, or is told something else.
            assert (await send(positions, "alice", route, path)).status != 404, route
    assert (await positions.get("alice", f"/transfers/{objects['transfer']}"))["status"] == "cancelled"


async def test_what_is_no_identifier_is_refused_and_never_a_fault(positions: PositionClient) -> None:
    for route in ROUTES:
        method, _, path = route.partition(" ")
        if "{" not in path:
            continue
        for bad in ("%00", "a%20b", "x" * 300, "%F0%9F%98%80", "'"):
            reply = await positions.ask(ADMIN, method, re.sub(r"{\w+}", bad, path))
            assert reply.status in (400, 404), (route, bad, reply.body)
    for cursor in ("%00", "x", "W10", "WzFd", "WyJhIiwiXHUwMDAwIl0", "Wy0xXQ"):
        for route in LISTS:
            path = route.partition(" ")[2]
            reply = await positions.ask(ADMIN, "GET", f"{path}?cursor={cursor}")
            assert reply.status in (200, 400), (path, cursor, reply.body)


async def test_the_tokens_of_an_ended_session_are_refused(positions: PositionClient) -> None:
    async def status() -> int:
        positions.as_user("alice", session_id="session-1")
        return (await positions("GET", "/positions", prefix=PREFIX)).status

    assert await status() == 200
    bus = await Bus.connect(positions.settings, "test")
    try:
        await bus.key_value(SESSIONS_REVOKED_BUCKET, bytes, positions.settings.ended_session_life_s).put(
            "session-1", b""
        )

        async def refused() -> bool:
            return await status() == 401

        await eventually(refused, 120)
    finally:
        await bus.close()
