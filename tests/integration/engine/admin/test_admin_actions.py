"""What operators do at the engine is noted in its journal: who, what, before and after, why, and from where."""

from typing import Any
from urllib.parse import quote

import pytest

from openspot.engine.journal.inspection import verify
from openspot.engine.state import operator_actions
from openspot.kit.settings import Settings
from tests.support.admin_client import AdminClient
from tests.support.engine_client import EngineClient, running_engine

ACTIONS = "/api/v1/admin/actions"
SYMBOLS = "/api/v1/admin/symbols"
CURRENCIES = "/api/v1/admin/currencies"
AS_ADA = {"X-Operator": "user:ada", "X-Operator-Request": "r1", "X-Operator-Address": "192.0.2.7"}


async def noted(engine: EngineClient, after: int = 0, limit: int = 200) -> dict[str, Any]:
    epoch = (await engine.request("GET", ACTIONS))[1]["epoch"]
    status, page = await engine.request("GET", f"{ACTIONS}?epoch={epoch}&after={after}&limit={limit}")
    assert status == 200
    return page


def told(page: dict[str, Any]) -> list[tuple[Any, ...]]:
    """(operator, action, subject, reason, before, after) of each action."""
    return [
        tuple(row["action"][name] for name in ("operator", "action", "subjectId", "reason", "before", "after"))
        for row in page["actions"]
    ]


async def test_each_call_of_an_administrator_is_noted_and_a_refused_one_is_not(admin: AdminClient) -> None:
    engine = admin.engine
    await engine.fund("alice", USD="1000")
    order = await engine.place("buy", "100", "1")
    await admin.call("CreateParticipant", participantId="bob", password="a-password", type="BROKER", stpMode="NONE")
    await admin.call("DeactivateParticipant", participantId="bob", reason="ticket 1")
    await admin.call("ActivateParticipant", participantId="bob")
    admin.reason = "für Zürich"
    await admin.call("UpdateStpMode", participantId="bob", stpMode="CANCEL_BOTH")
    adjustment = {"participantId": "alice", "currency": "USD", "type": "WITHDRAW"}
    assert (await admin.call("AdjustBalance", **adjustment, amount="5", reason="ticket 2"))["success"]
    assert not (await admin.call("AdjustBalance", **adjustment, amount="5000", reason="too much"))["success"]
    assert (await admin.call("CancelOrderAdmin", orderId=str(order.order_id), reason="ticket 3"))["success"]
    assert not (await admin.call("CancelOrderAdmin", orderId=str(order.order_id), reason="again"))["success"]
    page = await noted(engine)
    none = "no reason given"
    who = "engine:admin"
    assert told(page) == [
        (who, "participants.create", "bob", none, {}, {"type": "BROKER", "stpMode": "NONE", "active": "true"}),
        (who, "participants.deactivate", "bob", "ticket 1", {"state": "active"}, {"state": "inactive"}),
        (who, "participants.activate", "bob", none, {"state": "inactive"}, {"state": "active"}),
        (who, "participants.stp_mode", "bob", "für Zürich", {"stpMode": "NONE"}, {"stpMode": "CANCEL_BOTH"}),
        (
            who, "balances.adjust", "alice", "ticket 2",
            {"total": "1000"}, {"total": "995", "amount": "-5", "currency": "USD"},
        ),
        (
            who, "orders.cancel", str(order.order_id), "ticket 3",
            {"orderId": f"external-{order.order_id}", "participant": "alice", "market": "BTC-USD", "status": "OPEN"},
            {"status": "CANCELLED"},
        ),
    ]  # fmt: skip
    assert {row["address"] for row in page["actions"]} == {"127.0.0.1"}
    assert all(row["isCertain"] for row in page["actions"])


async def test_symbols_currencies_and_phases_are_noted_for_the_operator_whom_a_service_names(
    settings: Settings,
) -> None:
    async with running_engine(settings.model_copy(update={"rules": "complete"})) as engine:
        headers = engine.headers | AS_ADA | {"X-Operator-Reason": quote("für Zürich, €")}
        doge = {"currency": "DOGE", "name": "Dogecoin", "places": 8}
        symbol = {"symbol": "DOGE-USD", "lotSize": "0.1", "tickSize": "0.0001", "takerFee": 30, "makerFee": -5}
        for method, path, body in (
            ("POST", CURRENCIES, doge),
            ("POST", CURRENCIES, doge),
            ("PATCH", f"{CURRENCIES}/DOGE", {"places": 6}),
            ("POST", SYMBOLS, symbol),
            ("PATCH", f"{SYMBOLS}/DOGE-USD", {"active": False}),
            ("PUT", f"{SYMBOLS}/BTC-USD/phase", {"phase": "halted", "seconds": 60, "reason": "a wrong price"}),
            ("DELETE", f"{SYMBOLS}/DOGE-USD", None),
            ("DELETE", f"{CURRENCIES}/DOGE", None),
        ):
            await engine.request(method, path, body, headers)
        page = await noted(engine)
        who, why = "user:ada", "für Zürich, €"
        fields = {"tickSize": "0.0001", "lotSize": "0.1", "takerFee": "30", "makerFee": "-5", "active": "true"}
        assert told(page) == [
            (who, "currencies.create", "DOGE", why, {}, {"name": "Dogecoin", "places": "8", "logo": ""}),
            (who, "currencies.change", "DOGE", why, {"places": "8"}, {"places": "6"}),
            (who, "symbols.create", "DOGE-USD", why, {}, fields),
            (who, "symbols.change", "DOGE-USD", why, {"active": "true"}, {"active": "false"}),
            (
                who, "markets.phase", "BTC-USD", "a wrong price",
                {"phase": "continuous"}, {"phase": "halted", "seconds": "60"},
            ),
            (who, "symbols.delete", "DOGE-USD", why, fields | {"active": "false"}, {}),
            (who, "currencies.delete", "DOGE", why, {"name": "Dogecoin", "places": "6", "logo": ""}, {}),
        ]  # fmt: skip
        assert {(row["action"]["requestId"], row["address"]) for row in page["actions"]} == {("r1", "192.0.2.7")}
        # The journal never forgets, and an address must be erasable.
        assert b"192.0.2.7" not in engine.settings.data_dir.joinpath("engine", "journal.sqlite-wal").read_bytes()
        bad = engine.headers | {"X-Operator-Reason": "two%0Alines"}
        status, refusal = await engine.request("PATCH", f"{SYMBOLS}/BTC-USD", {"takerFee": 9}, bad)
        assert (status, refusal["message"]) == (400, ["X-Operator-Reason must have at most 500 printable letters"])


async def test_a_session_is_believed_in_no_name_and_a_service_in_none_that_the_trail_could_not_take(
    settings: Settings,
) -> None:
    async with running_engine(settings) as engine:
        admin = await AdminClient(engine, "connect").login()
        session = {"Authorization": f"Bearer {admin.token}"} | AS_ADA
        await engine.request("PATCH", f"{SYMBOLS}/BTC-USD", {"takerFee": 9}, session)
        await engine.request("PATCH", f"{SYMBOLS}/BTC-USD", {"takerFee": 8}, engine.headers | {"X-Operator": "boss"})
        first, second = (await noted(engine))["actions"]
        assert (first["action"]["operator"], first["address"]) == ("engine:admin", "127.0.0.1")
        assert first["action"]["requestId"] not in ("", "r1")
        assert second["action"]["operator"] == "service"
        assert (await engine.request("GET", ACTIONS, None, session))[0] == 403


async def test_what_has_left_the_memory_comes_from_the_journal_and_refused_actions_stay_out(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operator_actions, "RECENT_MAX", 2)
    async with running_engine(settings) as engine:
        for taker_fee in range(1, 7):
            await engine.request("PATCH", f"{SYMBOLS}/BTC-USD", {"takerFee": taker_fee}, engine.headers | AS_ADA)
            # An unknown order is found by nobody, so the note of its cancel is refused with it.
            await engine.request("DELETE", f"{CURRENCIES}/USD", None, engine.headers | AS_ADA)

    async def everything(engine: EngineClient) -> list[tuple[str, str]]:
        after, found = 0, []
        for _ in range(20):
            page = await noted(engine, after, 2)
            found += [(row["action"]["action"], row["action"]["after"].get("takerFee", "")) for row in page["actions"]]
            if page["through"] == after:
                break
            after = page["through"]
        return found

    expected = [("symbols.change", str(taker_fee)) for taker_fee in range(1, 7)]
    async with running_engine(settings) as engine:
        # The snapshot holds no notes: they are all read from the journal, in pages.
        assert await everything(engine) == expected
        for taker_fee in (7, 8, 9):
            await engine.request("PATCH", f"{SYMBOLS}/BTC-USD", {"takerFee": taker_fee}, engine.headers | AS_ADA)
        assert await everything(engine) == [*expected, *(("symbols.change", str(fee)) for fee in (7, 8, 9))]
        page = await noted(engine)
        last = (await noted(engine, page["through"]))["through"]
        # The reader has what it asked behind: the engine keeps those addresses no longer.
        assert {row["address"] for row in (await noted(engine))["actions"]} == {""}
        assert (await noted(engine, last + 1000))["through"] == last
    assert verify(settings.data_dir / "engine" / "journal.sqlite").sound


async def test_all_orders_of_a_market_are_cancelled_some_at_a_time(engine: EngineClient) -> None:
    await engine.fund("alice", USD="1000", ETH="1")
    await engine.fund("bob", USD="1000")
    for who in ("alice", "bob"):
        for price in ("10", "11"):
            await engine.place("buy", price, "1", who)
    other = await engine.place("sell", "10", "1", symbol="ETH-USD")
    assert (await engine.request("GET", f"{SYMBOLS}/BTC-USD/open-orders"))[1] == {"symbol": "BTC-USD", "openOrders": 4}
    body = {"ordersMax": 3, "reason": "a fault"}
    for cancelled, left in ((3, 1), (1, 0), (0, 0)):
        assert await engine.request("POST", f"{SYMBOLS}/BTC-USD/cancellations", body, engine.headers | AS_ADA) == (
            200, {"symbol": "BTC-USD", "cancelled": cancelled, "openOrders": left},
        )  # fmt: skip
    assert (await engine.request("GET", f"{SYMBOLS}/ETH-USD/open-orders"))[1]["openOrders"] == 1
    await engine.cancel(other.order_id, symbol="ETH-USD")
    assert told(await noted(engine)) == [
        ("user:ada", "markets.cancel_orders", "BTC-USD", "a fault", {"openOrders": "4"}, {"openOrders": "1"}),
        ("user:ada", "markets.cancel_orders", "BTC-USD", "a fault", {"openOrders": "1"}, {"openOrders": "0"}),
    ]
    assert (await engine.request("POST", f"{SYMBOLS}/NO-USD/cancellations", body))[0] == 404
