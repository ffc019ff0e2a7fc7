"""Participants are created, listed and changed, and survive a kill (facts A2.6-01 to A2.6-09, B4.4-41 to B4.4-48)."""

import asyncio
import json
import sqlite3
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2
from openspot.engine.engine import journal_path
from openspot.engine.journal.inspection import export
from openspot.kit.settings import Settings
from tests.support.admin_client import AdminClient, CallFailedError, Transport
from tests.support.engine_client import SCALE, engine_settings, order, running_engine
from tests.support.engine_nursery import Nursery, forked_engine
from tests.support.waiting import eventually

ALICE = {
    "participantId": "alice",
    "password": "alices-password",
    "name": "Alice",
    "type": "MAKER",
    "stpMode": "CANCEL_RESTING",
}
SHOWN = {"participantId": "alice", "name": "Alice", "type": "MAKER", "stpMode": "CANCEL_RESTING", "active": True}


def without_time(participant: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in participant.items() if name != "createdAt"}


async def answer_of(admin: AdminClient, method: str, **fields: Any) -> dict[str, Any]:
    answer = await admin.call(method, **fields)
    assert (answer["success"], answer["error"]) == (True, ""), answer
    participant: dict[str, Any] = answer["participant"]
    return participant


async def refusal_of(admin: AdminClient, method: str, **fields: Any) -> str:
    answer = await admin.call(method, **fields)
    assert answer["success"] is False
    assert "participant" not in answer
    error: str = answer["error"]
    return error


@pytest.mark.spec("B4.4-43", "B4.4-42", "A2.6-01", "A2.6-02")
async def test_a_participant_is_created_shown_and_logs_in(admin: AdminClient) -> None:
    before = time.time_ns() // 1_000_000
    created = await answer_of(admin, "CreateParticipant", **ALICE)
    assert before <= int(created["createdAt"]) <= time.time_ns() // 1_000_000
    assert without_time(created) == SHOWN
    assert await answer_of(admin, "GetParticipant", participantId="alice") == created
    session = await admin.call("Login", participantId="alice", password="alices-password")
    assert (session["success"], session["name"], session["type"]) == (True, "Alice", "MAKER")


@pytest.mark.spec("A2.6-03", "A2.6-04", "A2.6-05", "A2.6-06", "A2.6-07", "A2.6-08")
@pytest.mark.parametrize("participant_type", ["MAKER", "TAKER", "BOTH", "BROKER", "SYSTEM", "SUPER_ADMIN"])
async def test_six_types_can_be_created(admin: AdminClient, participant_type: str) -> None:
    created = await answer_of(admin, "CreateParticipant", **ALICE | {"type": participant_type})
    assert created["type"] == participant_type


_BAD_PARTICIPANTS = (
    ({"type": "AUDITOR"}, "type must be one of MAKER, TAKER, BOTH, BROKER, SYSTEM, SUPER_ADMIN"),
    ({"type": "maker"}, "type must be one of"),
    ({"type": ""}, "type must be one of"),
    ({"stpMode": "CANCEL_ALL"}, "stpMode must be one of NONE, CANCEL_RESTING, CANCEL_INCOMING, CANCEL_BOTH"),
    ({"stpMode": ""}, "stpMode must be one of"),
    ({"participantId": ""}, "participantId must be"),
    ({"participantId": "a.b"}, "participantId must be"),
    ({"participantId": "a" * 65}, "participantId must be"),
    ({"participantId": "admin"}, "participantId: admin already exists"),
    ({"participantId": "bob"}, "participantId: bob already exists"),  # by a deposit
    ({"participantId": "house:fees"}, "participantId: house:fees already exists"),
    ({"participantId": "house:staking"}, "participantId: must not begin with house:"),
    ({"password": "short"}, "password must have 8 to 256 characters"),
    ({"password": "x" * 257}, "password must have 8 to 256 characters"),
    ({"name": "x" * 129}, "name must have at most 128 printable characters"),
    ({"name": "a\nb"}, "name must have at most 128 printable characters"),
)


@pytest.mark.spec("A2.6-09", "A2.6-17", "A7-18")
async def test_an_invalid_participant_is_refused(admin: AdminClient) -> None:
    await admin.engine.fund("bob", USD="1")
    before = (await admin.call("ListParticipants"))["total"]
    for change, error in _BAD_PARTICIPANTS:
        assert (await refusal_of(admin, "CreateParticipant", **ALICE | change)).startswith(error), change
        assert (await admin.call("ListParticipants"))["total"] == before, change


async def test_concurrent_creations_create_the_participant_once(admin: AdminClient) -> None:
    answers = await asyncio.gather(*(admin.call("CreateParticipant", **ALICE) for _ in range(5)))
    assert sum(answer["success"] for answer in answers) == 1
    assert {answer["error"] for answer in answers} == {"", "participantId: alice already exists"}


@pytest.mark.spec("B4.4-41")
async def test_participants_are_listed_in_the_order_of_their_creation(admin: AdminClient) -> None:
    await admin.engine.fund("depositor", USD="1")
    for number in range(5):
        await answer_of(admin, "CreateParticipant", **ALICE | {"participantId": f"p{number}", "name": ""})
    # A refused deposit creates no participant.
    assert (await admin.call("AdjustBalance", participantId="x", currency="USD", amount="1e20", type="DEPOSIT"))[
        "success"
    ] is False
    everybody = await admin.call("ListParticipants")
    names = ["house:fees", "admin", "depositor", "p0", "p1", "p2", "p3", "p4"]
    assert [row["participantId"] for row in everybody["participants"]] == names
    assert everybody["total"] == len(names)
    depositor = everybody["participants"][2]
    assert without_time(depositor) == {
        "participantId": "depositor",
        "name": "",
        "type": "BOTH",
        "stpMode": "NONE",
        "active": True,
    }
    assert everybody["participants"][3]["name"] == "p0"
    page = await admin.call("ListParticipants", limit=2, offset=3)
    assert ([row["participantId"] for row in page["participants"]], page["total"]) == (["p0", "p1"], len(names))
    assert (await admin.call("ListParticipants", limit=2, offset=100))["participants"] == []
    for fields in ({"limit": 1001}, {"offset": 2**31}):
        with pytest.raises(CallFailedError, match=f"invalid_argument: {next(iter(fields))} must be at most"):
            await admin.call("ListParticipants", **fields)


@pytest.mark.spec("B4.4-44", "B4.4-45", "B4.4-46", "B4.4-47")
async def test_a_deactivated_participant_keeps_its_orders_and_places_no_new_ones(admin: AdminClient) -> None:
    engine = admin.engine
    await answer_of(admin, "CreateParticipant", **ALICE)
    await engine.fund("alice", USD="1000")
    placed = await engine.place("buy", "100", "1")
    assert (await answer_of(admin, "DeactivateParticipant", participantId="alice"))["active"] is False
    assert (await answer_of(admin, "DeactivateParticipant", participantId="alice"))["active"] is False
    assert (await engine.find(placed.order_id)).status == "OPEN"
    refused = await engine.place("buy", "100", "1")
    assert (refused.status, refused.result_code) == (orders_pb2.REJECTED, "PARTICIPANT_INACTIVE")
    assert without_time(await answer_of(admin, "ActivateParticipant", participantId="alice")) == SHOWN
    assert (await engine.place("buy", "100", "1")).status == orders_pb2.ACCEPTED
    # So is a participant that a deposit created.
    await engine.fund("bob", USD="1000")
    await answer_of(admin, "DeactivateParticipant", participantId="bob")
    assert (await engine.place("buy", "100", "1", "bob")).result_code == "PARTICIPANT_INACTIVE"


@pytest.mark.spec("B4.4-48", "A2.6-12", "A2.6-13", "A2.6-14", "A2.6-15", "A2.6-16")
@pytest.mark.parametrize(
    ("mode", "resting", "incoming"),
    [
        # Remaining quantity and status of a resting sell of 2 and of an incoming buy of 1.
        ("NONE", ("PARTIALLY_FILLED", "1"), ("FILLED", "0")),
        ("CANCEL_RESTING", ("CANCELLED", "2"), ("OPEN", "1")),
        ("CANCEL_INCOMING", ("OPEN", "2"), ("CANCELLED", "1")),
        ("CANCEL_BOTH", ("CANCELLED", "2"), ("CANCELLED", "1")),
        ("DECREMENT_AND_CANCEL", ("OPEN", "1"), ("CANCELLED", "1")),
    ],
)
async def test_the_stp_mode_decides_which_order_of_a_self_trade_is_cancelled(
    admin: AdminClient, mode: str, resting: tuple[str, str], incoming: tuple[str, str]
) -> None:
    engine = admin.engine
    await engine.fund("alice")
    assert (await answer_of(admin, "UpdateStpMode", participantId="alice", stpMode=mode))["stpMode"] == mode
    sell = await engine.place("sell", "100", "2")
    buy = await engine.place("buy", "100", "1")
    rows = {row["orderId"]: row for row in (await admin.call("ListOrders", participantId="alice"))["orders"]}
    for placed, expected in ((sell, resting), (buy, incoming)):
        row = rows[str(placed.order_id)]
        assert (row["status"], row["remainingQuantity"]) == expected, (mode, row)


async def test_a_filled_order_that_stp_reduced_differs_from_one_whose_rest_was_cancelled(
    admin: AdminClient,
) -> None:
    engine = admin.engine
    await engine.fund("alice")
    await engine.fund("bob")
    await answer_of(admin, "UpdateStpMode", participantId="alice", stpMode="DECREMENT_AND_CANCEL")
    for participant in ("alice", "bob"):
        await engine.place("sell", "100", "1", participant)
    reduced_first = await engine.place("buy", "100", "2")
    assert (reduced_first.filled_quantity, reduced_first.remaining_quantity) == (SCALE, 0)
    assert reduced_first.is_order_completed
    for participant in ("bob", "alice"):
        await engine.place("sell", "100", "1", participant)
    filled_first = await engine.place("buy", "100", "2")
    assert (filled_first.filled_quantity, filled_first.remaining_quantity) == (SCALE, 0)
    assert not filled_first.is_order_completed
    rows = {row["orderId"]: row for row in (await admin.call("ListOrders", participantId="alice"))["orders"]}
    statuses = [rows[str(answer.order_id)]["status"] for answer in (reduced_first, filled_first)]
    assert statuses == ["FILLED", "CANCELLED"]


_BAD_CHANGES = (
    ("GetParticipant", {"participantId": "nobody"}, "participantId: there is no nobody"),
    ("GetParticipant", {"participantId": ""}, "participantId must be"),
    ("ActivateParticipant", {"participantId": "nobody"}, "participantId: there is no nobody"),
    ("ActivateParticipant", {"participantId": "house:fees"}, "participantId: house:fees is the fee account"),
    ("DeactivateParticipant", {"participantId": "nobody"}, "participantId: there is no nobody"),
    ("DeactivateParticipant", {"participantId": "a b"}, "participantId must be"),
    ("DeactivateParticipant", {"participantId": "admin"}, "participantId: a session cannot deactivate its own"),
    ("UpdateStpMode", {"participantId": "nobody", "stpMode": "NONE"}, "participantId: there is no nobody"),
    ("UpdateStpMode", {"participantId": "admin", "stpMode": "SOME"}, "stpMode must be one of"),
    ("UpdateStpMode", {"participantId": "admin", "stpMode": ""}, "stpMode must be one of"),
    ("UpdateStpMode", {"participantId": "house:fees", "stpMode": "NONE"}, "participantId: house:fees is the"),
)


@pytest.mark.spec("A2.6-17", "A7-18")
async def test_an_impossible_change_is_refused(admin: AdminClient) -> None:
    for method, fields, error in _BAD_CHANGES:
        assert (await refusal_of(admin, method, **fields)).startswith(error), (method, fields)


async def test_concurrent_changes_do_not_undo_each_other(admin: AdminClient) -> None:
    await answer_of(admin, "CreateParticipant", **ALICE)
    for active, mode in ((False, "CANCEL_BOTH"), (True, "NONE"), (False, "CANCEL_INCOMING")):
        await asyncio.gather(
            admin.call("ActivateParticipant" if active else "DeactivateParticipant", participantId="alice"),
            admin.call("UpdateStpMode", participantId="alice", stpMode=mode),
        )
        shown = await answer_of(admin, "GetParticipant", participantId="alice")
        assert (shown["active"], shown["stpMode"]) == (active, mode)


async def test_two_administrators_cannot_deactivate_each_other(admin: AdminClient) -> None:
    for name in ("first", "second"):
        await answer_of(admin, "CreateParticipant", **ALICE | {"participantId": name, "type": "SUPER_ADMIN"})
    first = await AdminClient(admin.engine, admin.transport).login("first", "alices-password")
    second = await AdminClient(admin.engine, admin.transport).login("second", "alices-password")

    async def deactivate(by: AdminClient, participant_id: str) -> bool:
        try:
            return bool((await by.call("DeactivateParticipant", participantId=participant_id))["success"])
        except CallFailedError as failure:
            assert failure.status == "unauthenticated"
            return False

    assert sorted(await asyncio.gather(deactivate(first, "second"), deactivate(second, "first"))) == [False, True]


@pytest.mark.proof
@pytest.mark.parametrize("snapshots", [False, True])
async def test_participants_and_logouts_survive_a_kill(tmp_path: Path, nursery: Nursery, snapshots: bool) -> None:
    interval = {"engine_snapshot_interval": 1000} if snapshots else {}
    settings = engine_settings(tmp_path, engine_orders_remembered=1000, **interval)
    async with forked_engine(settings, nursery) as (child, engine):
        # The child generated its secrets.
        admin = AdminClient(engine, "connect")
        await admin.login("admin", _secret(settings, "admin_password"))
        ended = await AdminClient(engine, "connect").login("admin", _secret(settings, "admin_password"))
        await engine.fund("depositor", USD="10")
        await answer_of(admin, "CreateParticipant", **ALICE)
        await answer_of(admin, "DeactivateParticipant", participantId="depositor")
        await answer_of(admin, "UpdateStpMode", participantId="alice", stpMode="CANCEL_BOTH")
        await ended.call("Logout")
        if snapshots:
            await engine.fund("bob")
            orders = [order("buy", "100", "0.1", "bob") for _ in range(1100)]
            await engine.orders.PlaceOrders(orders_pb2.PlaceOrdersRequest(orders=orders))
            folder = settings.data_dir / "engine/snapshots"
            await eventually(lambda: list(folder.glob("*.snapshot")))
        before = await admin.call("ListParticipants")
        for _ in range(2):
            child.kill()
            child.start()
            await child.ready(engine)
            assert await admin.call("ListParticipants") == before
            # A session continues after the kill, and a logged-out one stays ended.
            with pytest.raises(CallFailedError, match="the session was ended"):
                await ended.call("ListParticipants")
            alice = await admin.call("Login", participantId="alice", password="alices-password")
            assert (alice["success"], alice["type"]) == (True, "MAKER")
            wrong = await admin.call("Login", participantId="alice", password="alice's password")
            assert wrong["success"] is False
        if snapshots:
            starts = [line for line in child.log() if line["event"] == "recovered the engine state"]
            assert starts[-1]["snapshot_commands"] > 0
        assert child.stop() == 0


def _secret(settings: Settings, name: str) -> str:
    secret: str = json.loads((settings.data_dir / "secrets.json").read_text("utf-8"))[name]
    return secret


async def test_the_first_administrators_password_stays_when_the_setting_changes(
    tmp_path: Path, transport: Transport
) -> None:
    settings = engine_settings(tmp_path, admin_password="first-password")
    async with running_engine(settings) as engine:
        await AdminClient(engine, transport).login()
    changed = settings.model_copy(update={"admin_password": "second-password"})
    async with running_engine(changed) as engine:
        client = AdminClient(engine, transport)
        assert (await client.call("Login", participantId="admin", password="second-password"))["success"] is False
        admin = await client.login("admin", "first-password")
        assert (await admin.call("ListParticipants"))["total"] == 2
    # Another id creates another administrator.
    async with running_engine(changed.model_copy(update={"admin_id": "root"})) as engine:
        root = await AdminClient(engine, transport).login("root", "second-password")
        assert (await root.call("ListParticipants"))["total"] == 3


@pytest.mark.parametrize(("name", "value"), [("admin_id", "the admin"), ("admin_password", "x" * 257)])
async def test_an_invalid_first_administrator_prevents_the_start(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"OPENSPOT_{name.upper()} must"):
        async with running_engine(engine_settings(tmp_path, **{name: value})):
            pass


async def test_no_password_is_in_journal_log_or_export(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    settings = engine_settings(tmp_path, admin_password="first-password")
    async with running_engine(settings) as engine:
        admin = await AdminClient(engine, "connect").login()
        await answer_of(admin, "CreateParticipant", **ALICE)
        await admin.call("Login", participantId="alice", password="guessed-password")
        await admin.call("Logout")
        # Checked while the engine runs, so that the write-ahead log is searched too.
        for path in settings.data_dir.rglob("*"):
            if path.is_file() and path.name != "secrets.json":
                content = path.read_bytes()
                assert not [word for word in (b"alices-password", b"first-password", b"guessed") if word in content]
        assert b"$argon2id$" in journal_path(settings).with_name("journal.sqlite-wal").read_bytes()
    with sqlite3.connect(journal_path(settings)) as journal:
        assert any(b"$argon2id$" in row[0] for row in journal.execute("SELECT notes FROM batches"))
    lines = StringIO()
    export(journal_path(settings), lines)
    assert "alice" in lines.getvalue()
    assert "argon2" not in lines.getvalue()
    logged = "".join(capfd.readouterr())
    assert "created a participant" in logged
    assert "-password" not in logged
