"""What services look over for operators: risk metrics, and who is frozen, beside what administrators do."""

from pathlib import Path
from typing import Any

import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.engine_client.queries import EngineQueries
from openspot.kit.settings import Settings
from tests.support.admin_client import AdminClient
from tests.support.engine_client import SCALE, EngineClient, engine_settings, order, running_engine

RISK = "/api/v1/admin/risk-metrics"
PARTICIPANTS = "/api/v1/admin/participants"
BALANCES = "/api/v1/admin/balances"
ACTIONS = "/api/v1/admin/actions"
READ = (RISK, f"{RISK}/pages", BALANCES, f"{BALANCES}/pages", PARTICIPANTS, f"{PARTICIPANTS}/alice")
BECAUSE = {"reason": "its orders look like those of a broken program"}


def freeze_of(participant_id: str) -> str:
    return f"{PARTICIPANTS}/{participant_id}/freeze"


async def set_frozen(engine: EngineClient, participant_id: str, frozen: bool = True) -> tuple[int, Any]:
    return await engine.request("PUT" if frozen else "DELETE", freeze_of(participant_id), BECAUSE)


async def amend(engine: EngineClient, *amendments: dict[str, int], by: str = "alice") -> list[str]:
    """The result codes of amendments in one call."""
    orders = [pb.AmendOrderRequest(participant_id=by, symbol="BTC-USD", **fields) for fields in amendments]
    response: pb.AmendOrdersResponse = await engine.orders.AmendOrders(pb.AmendOrdersRequest(orders=orders))
    return [each.result_code for each in response.orders]


async def state_of(engine: EngineClient, participant_id: str) -> str:
    _, body = await engine.request("GET", f"{RISK}?participantId={participant_id}")
    return str(body["metrics"][0]["state"])


async def test_the_largest_share_that_orders_lock_comes_first_and_the_total_counts_the_rest(
    engine: EngineClient,
) -> None:
    for name, quantity in (("calm", "1"), ("reckless", "9"), ("bold", "5")):
        await engine.fund(name, USD="1000")
        await engine.place("buy", "100", quantity, name)
    await engine.fund("idle", USD="5")
    status, body = await engine.request("GET", f"{RISK}?limit=2")
    assert (status, body["total"]) == (200, 4)
    assert [(row["participantId"], row["utilisationPercent"]) for row in body["metrics"]] == [
        ("reckless", "90.00"), ("bold", "50.00"),
    ]  # fmt: skip
    _, body = await engine.request("GET", f"{RISK}?participantId=calm")
    assert body == {
        "metrics": [{
            "participantId": "calm", "currency": "USD", "total": "1000", "locked": "100", "utilisationPercent": "10.00",
            "openOrders": 1, "state": "active", "freezable": True,
        }],
        "total": 1,
    }  # fmt: skip
    for bad in ("limit=0", "limit=1001", "participantId=no%20id"):
        assert (await engine.request("GET", f"{RISK}?{bad}"))[0] == 400
    assert (await engine.request("GET", f"{RISK}?participantId=nobody"))[1] == {"metrics": [], "total": 0}


async def test_participants_are_listed_in_the_order_of_their_accounts_a_page_at_a_time(engine: EngineClient) -> None:
    for name in ("alice", "bob", "carol"):
        await engine.fund(name, USD="1")
    assert (await set_frozen(engine, "bob"))[0] == 200
    _, everybody = await engine.request("GET", PARTICIPANTS)
    names = [row["participantId"] for row in everybody["participants"]]
    assert (names[-3:], everybody["total"]) == (["alice", "bob", "carol"], len(names))
    pages = [(await engine.request("GET", f"{PARTICIPANTS}?limit=2&offset={at}"))[1] for at in range(0, len(names), 2)]
    assert [row["participantId"] for page in pages for row in page["participants"]] == names
    _, bob = await engine.request("GET", f"{PARTICIPANTS}/bob")
    assert bob == everybody["participants"][names.index("bob")]
    assert (bob["name"], bob["type"], bob["stpMode"], bob["state"], bob["freezable"]) == (
        "", "BOTH", "NONE", "frozen", True,
    )  # fmt: skip
    assert bob["createdAt"] > 0
    states = {row["participantId"]: (row["state"], row["freezable"]) for row in everybody["participants"]}
    assert (states["house:fees"], states["admin"]) == (("inactive", False), ("active", False))
    assert (await engine.request("GET", f"{PARTICIPANTS}/nobody"))[0] == 404
    for bad in ("limit=0", "limit=1001", "offset=-1", "offset=2147483648"):
        assert (await engine.request("GET", f"{PARTICIPANTS}?{bad}"))[0] == 400


async def test_a_service_asks_for_the_state_of_one_participant(engine: EngineClient) -> None:
    await engine.fund("alice")
    queries = EngineQueries(engine.settings)
    try:
        assert [await queries.participant_state(name) for name in ("alice", "nobody")] == ["active", None]
        assert (await set_frozen(engine, "alice"))[0] == 200
        assert await queries.participant_state("alice") == "frozen"
    finally:
        await queries.close()


async def test_balances_of_a_currency_come_with_the_largest_first_and_the_total_counts_the_rest(
    engine: EngineClient,
) -> None:
    for name, amount in (("alice", "9"), ("bob", "100.5"), ("carol", "10")):
        await engine.fund(name, USD=amount, BTC="1")
    await engine.place("buy", "10", "0.5", "carol")
    _, body = await engine.request("GET", f"{BALANCES}?currency=USD&limit=2")
    assert ([row["participantId"] for row in body["balances"]], body["total"]) == (["bob", "carol"], 3)
    _, body = await engine.request("GET", f"{BALANCES}?participantId=carol&currency=USD")
    [row] = body["balances"]
    assert (row["total"], row["available"], row["locked"]) == ("10", "5", "5")
    _, body = await engine.request("GET", f"{BALANCES}?limit=3")
    assert (len(body["balances"]), body["balances"][0]["participantId"], body["total"]) == (3, "alice", 6)
    for nothing in ("participantId=nobody", "currency=NONE"):
        assert (await engine.request("GET", f"{BALANCES}?{nothing}"))[1] == {"balances": [], "total": 0}
    for bad in ("limit=0", "limit=1001", "participantId=no.id", "currency=usd"):
        assert (await engine.request("GET", f"{BALANCES}?{bad}"))[0] == 400


async def test_all_balances_and_their_risk_come_page_by_page_in_the_order_of_accounts(engine: EngineClient) -> None:
    for name, amount in (("alice", "9"), ("bob", "100"), ("carol", "10")):
        await engine.fund(name, USD=amount, BTC="1")
    for price in ("10", "20"):
        await engine.place("buy", price, "0.5", "bob")

    async def every(path: str, rows: str) -> list[Any]:
        """The rows of all pages of two."""
        found, status, page = [], *await engine.request("GET", f"{path}limit=2")
        while True:
            assert (status, len(page[rows]) <= 2) == (200, True)
            found += page[rows]
            if page.get("nextCursor") is None:
                return found
            status, page = await engine.request("GET", f"{path}limit=2&cursor={page['nextCursor']}")

    balances = await every(f"{BALANCES}/pages?", "balances")
    assert [(row["participantId"], row["currency"]) for row in balances] == [
        (name, currency) for name in ("alice", "bob", "carol") for currency in ("USD", "BTC")
    ]
    assert balances == (await engine.request("GET", BALANCES))[1]["balances"]
    assert await every(f"{BALANCES}/pages?currency=BTC&", "balances") == balances[1::2]
    assert await every(f"{BALANCES}/pages?participantId=carol&", "balances") == balances[4:]
    for nothing in ("participantId=nobody&", "currency=NONE&"):
        assert await every(f"{BALANCES}/pages?{nothing}", "balances") == []

    metrics = await every(f"{RISK}/pages?", "metrics")
    assert [(row["participantId"], row["currency"]) for row in metrics] == [
        (row["participantId"], row["currency"]) for row in balances
    ]
    shares = [(row["utilisationPercent"], row["openOrders"]) for row in metrics]
    assert shares == [("0.00", 0)] * 2 + [("15.00", 2)] + [("0.00", 0)] * 3
    listed = (await engine.request("GET", RISK))[1]["metrics"]
    assert sorted(metrics, key=str) == sorted(listed, key=str)
    assert await every(f"{RISK}/pages?participantId=bob&", "metrics") == metrics[2:4]

    for path in (f"{BALANCES}/pages", f"{RISK}/pages"):
        for bad in ("limit=0", "limit=1001", "participantId=no.id", "cursor=nonsense"):
            status, body = await engine.request("GET", f"{path}?{bad}")
            assert (status, bad.partition("=")[0] in str(body["message"])) == (400, True)


async def test_a_frozen_participant_places_no_order_until_the_freeze_ends_and_may_cancel(engine: EngineClient) -> None:
    await engine.fund("alice")
    placed = await engine.place("buy", "90")
    assert await set_frozen(engine, "alice") == (200, {"participantId": "alice", "state": "frozen"})
    assert (await engine.place("buy", "91")).result_code != "SUCCESS"
    assert (await engine.cancel(placed.order_id)).result_code == "SUCCESS"
    assert (await set_frozen(engine, "alice"))[0] == 200
    assert await set_frozen(engine, "alice", False) == (200, {"participantId": "alice", "state": "active"})
    assert (await engine.place("buy", "91")).result_code == "SUCCESS"
    status, body = await set_frozen(engine, "alice", False)
    assert (status, body["code"]) == (409, "PARTICIPANT_NOT_FROZEN")


async def test_a_frozen_participant_makes_an_order_smaller_and_trades_by_no_amendment(engine: EngineClient) -> None:
    await engine.fund("alice")
    await engine.fund("bob")
    offer = (await engine.place("sell", "100", "5", "bob")).order_id
    bid, other = [(await engine.place("buy", price, "3")).order_id for price in ("90", "80")]
    assert (await set_frozen(engine, "alice"))[0] == 200
    refused, taken = "PARTICIPANT_INACTIVE", "SUCCESS"
    codes = await amend(
        engine,
        {"order_id": bid, "price": 10_000},
        {"order_id": bid, "quantity": 4 * SCALE},
        {"order_id": bid, "price": 9_000, "quantity": 3 * SCALE + 1},
        {"order_id": bid, "price": 8_999, "quantity": 2 * SCALE},
        {"order_id": other, "price": 8_000, "quantity": 2 * SCALE},
        {"order_id": 12345, "price": 10_000},
        {"order_id": offer, "price": 9_000},
    )
    assert codes == [refused] * 4 + [taken, "MATCHING_UNKNOWN_ORDER_ID", "AUTH_INVALID_USER"]
    # The repetition of an amendment changes nothing, and a smaller order does not grow again.
    assert await amend(engine, {"order_id": other, "quantity": 2 * SCALE}) == [taken]
    assert await amend(engine, {"order_id": other, "quantity": 3 * SCALE}) == [refused]
    for price in (9_000, 10_000):
        request = pb.MoveOrderRequest(order_id=bid, participant_id="alice", symbol="BTC-USD", price=price)
        assert (await engine.orders.MoveOrder(request)).result_code == refused
    replaced = await engine.orders.ReplaceOrder(pb.ReplaceOrderRequest(order_id=bid, order=order("buy", "100", "1")))
    assert (replaced.cancelled.result_code, replaced.placed.result_code) == (refused, refused)
    [kept, smaller] = [await engine.find(order_id) for order_id in (bid, other)]
    assert (kept.status, kept.price, kept.remaining_quantity) == ("OPEN", 9_000, 3 * SCALE)
    assert (smaller.status, smaller.quantity) == ("OPEN", 2 * SCALE)

    reduction = pb.ReduceOrderRequest(order_id=bid, participant_id="alice", symbol="BTC-USD", quantity=SCALE)
    assert (await engine.orders.ReduceOrder(reduction)).result_code == taken
    assert (await engine.cancel(other)).result_code == taken
    assert (await engine.find(offer)).remaining_quantity == 5 * SCALE
    assert (await set_frozen(engine, "alice", False))[0] == 200
    assert await amend(engine, {"order_id": bid, "price": 10_000}) == [taken]
    assert (await engine.find(bid)).status == "FILLED"


async def test_a_frozen_participant_changes_no_stop_and_no_order_of_a_list(engine: EngineClient) -> None:
    await engine.fund("alice")
    at_90: dict[str, Any] = {
        "trigger": pb.TRIGGER_FIXED, "trigger_value": 9_000, "trigger_direction": pb.TRIGGER_AT_OR_BELOW,
    }  # fmt: skip
    stop = (await engine.place("sell", "85", "2", **at_90)).order_id
    entry, profit, exit_stop = 11, 12, 13
    bracket = [
        order("buy", "95", "1", order_id=entry),
        order("sell", "110", "1", order_id=profit),
        order("sell", "85", "1", order_id=exit_stop, **at_90),
    ]
    placed = await engine.orders.PlaceOrderList(pb.PlaceOrderListRequest(list_id=7, type=pb.BRACKET, orders=bracket))
    assert placed.result_code == "SUCCESS"
    assert (await set_frozen(engine, "alice"))[0] == 200
    changes = [
        {"order_id": stop, "price": 8_400},
        {"order_id": stop, "trigger_price": 9_100},
        {"order_id": entry, "price": 9_600},
        {"order_id": profit, "price": 11_100},
        {"order_id": exit_stop, "trigger_price": 8_900},
    ]
    assert await amend(engine, *changes) == ["PARTICIPANT_INACTIVE"] * 5
    keeping = {"order_id": stop, "price": 8_500, "trigger_price": 9_000, "quantity": SCALE}
    assert await amend(engine, keeping, {"order_id": entry, "price": 9_500}) == ["SUCCESS", "SUCCESS"]
    assert (await engine.find(stop)).quantity == SCALE
    # What the freeze refused was right in itself.
    assert (await set_frozen(engine, "alice", False))[0] == 200
    assert await amend(engine, *changes) == ["SUCCESS"] * 5


async def test_an_administrators_deactivation_is_not_an_operators_to_end(
    engine: EngineClient, admin: AdminClient
) -> None:
    await engine.fund("alice")
    await admin.call("DeactivateParticipant", participantId="alice")
    status, body = await set_frozen(engine, "alice")
    assert (status, body["code"]) == (409, "PARTICIPANT_INACTIVE")
    status, body = await set_frozen(engine, "alice", False)
    assert (status, body["code"], await state_of(engine, "alice")) == (409, "PARTICIPANT_NOT_FROZEN", "inactive")

    await admin.call("ActivateParticipant", participantId="alice")
    assert (await set_frozen(engine, "alice"))[0] == 200
    await admin.call("UpdateStpMode", participantId="alice", stpMode="CANCEL_BOTH")
    assert await state_of(engine, "alice") == "frozen"
    await admin.call("DeactivateParticipant", participantId="alice")
    assert await state_of(engine, "alice") == "inactive"
    assert (await set_frozen(engine, "alice", False))[0] == 409


async def test_an_administrator_sees_a_freeze_and_what_ends_it_is_noted_with_the_state_before(
    engine: EngineClient, admin: AdminClient
) -> None:
    await engine.fund("alice")
    assert (await set_frozen(engine, "alice"))[0] == 200

    async def shown() -> tuple[bool, bool | None]:
        participant = (await admin.call("GetParticipant", participantId="alice"))["participant"]
        listed = (await admin.call("ListParticipants"))["participants"]
        assert participant in listed
        return participant["active"], participant.get("frozen")

    assert await shown() == (False, True)
    await admin.call("ActivateParticipant", participantId="alice")
    assert await shown() == (True, None)
    assert (await set_frozen(engine, "alice"))[0] == 200
    await admin.call("DeactivateParticipant", participantId="alice")
    assert await shown() == (False, None)
    epoch = (await engine.request("GET", ACTIONS))[1]["epoch"]
    _, page = await engine.request("GET", f"{ACTIONS}?epoch={epoch}&after=0&limit=200")
    actions = [row["action"] for row in page["actions"] if row["action"]["subjectId"] == "alice"]
    assert [(each["action"], each["before"], each["after"]) for each in actions] == [
        ("participants.freeze", {"state": "active"}, {"state": "frozen"}),
        ("participants.activate", {"state": "frozen"}, {"state": "active"}),
        ("participants.freeze", {"state": "active"}, {"state": "frozen"}),
        ("participants.deactivate", {"state": "frozen"}, {"state": "inactive"}),
    ]


@pytest.mark.parametrize("name", ["house:fees", "house:payments", "margin:alice", "admin"])
async def test_house_margin_accounts_and_administrators_are_not_frozen(engine: EngineClient, name: str) -> None:
    if name == "house:payments" or name.startswith("margin:"):
        await engine.fund(name)
    status, body = await set_frozen(engine, name)
    assert (status, body["code"]) == (409, "PARTICIPANT_NOT_FREEZABLE")
    assert body["message"].startswith(f"participantId: {name} is ")


async def test_only_services_use_these_routes_and_bad_requests_name_what_is_wrong(
    engine: EngineClient, admin: AdminClient
) -> None:
    await engine.fund("alice")
    administrator = {"Authorization": f"Bearer {admin.token}"}
    reading = [("GET", path) for path in READ]
    for method, path in (*reading, ("PUT", freeze_of("alice")), ("DELETE", freeze_of("alice"))):
        body = None if method == "GET" else BECAUSE
        assert (await engine.request(method, path, body, {}))[0] == 401
        assert (await engine.request(method, path, body, administrator))[0] == 403
    status, body = await engine.request("PUT", freeze_of("alice"), {"reason": " "})
    assert (status, "reason" in str(body["message"])) == (400, True)
    status, body = await set_frozen(engine, "nobody")
    assert (status, body["message"]) == (404, "participantId: there is no nobody")
    assert await state_of(engine, "alice") == "active"


async def test_a_freeze_outlasts_a_restart_of_the_engine(tmp_path: Path) -> None:
    settings: Settings = engine_settings(tmp_path, admin_id="admin", admin_password="first-password")
    async with running_engine(settings) as engine:
        await engine.fund("alice")
        assert (await set_frozen(engine, "alice"))[0] == 200
    async with running_engine(settings) as engine:
        assert await state_of(engine, "alice") == "frozen"
        assert (await set_frozen(engine, "alice", False))[0] == 200
