"""FIFO cost basis through HTTP: transactions, imports, tax years, export."""

import asyncio
import io
import itertools
import json

import asyncpg
import pytest

from openspot.http.errors import HttpError
from openspot.positions.app import PREFIX
from openspot.positions.cost_basis import computation, store
from openspot.positions.cost_basis import service as costs
from openspot.positions.cost_basis.imports import ImportSource
from openspot.positions.cost_basis.schemas import TransactionBody
from openspot.positions.cost_basis.service import CostBasisService
from openspot.positions.cost_basis.store import CostBasisStore
from openspot.positions.fifo_transaction import FILL_PATTERN
from openspot.positions.import_rules import ImportDefaults
from tests.support.positions import ADMIN, PositionClient
from tests.support.waiting import eventually, stretched

HEADER = "externalId,timestamp,type,account,asset,quantity,value,fee,destination\n"
HISTORY = (
    "buy-1,2024-01-10T00:00:00Z,acquisition,main,BTC,2,200,2,\n"
    "move,2024-02-01T00:00:00Z,transfer,main,BTC,1,0,0,vault\n"
    "sell-1,2024-06-01T00:00:00Z,disposal,main,BTC,0.5,100,1,\n"
    "buy-2,2024-07-01T00:00:00Z,acquisition,main,ETH,10,1000,0,\n"
    "sell-2,2025-03-01T00:00:00Z,disposal,vault,BTC,1,300,0,\n"
)
TRANSACTION = {
    "externalId": "buy-1", "timestamp": "2024-01-10T00:00:00Z", "type": "acquisition", "asset": "BTC",
    "quantity": "2", "value": "200", "fee": "2",
}  # fmt: skip


def sale(external_id: str, day: str, quantity: str) -> dict[str, str]:
    """A disposal at 100 for each whole unit."""
    return TRANSACTION | {
        "externalId": external_id, "timestamp": f"2024-{day}T00:00:00Z", "type": "disposal", "quantity": quantity,
        "value": "100", "fee": "0",
    }  # fmt: skip


@pytest.mark.spec("B4.5-24", "A2.8-18")
async def test_a_transaction_is_recorded_once_and_one_that_is_not_covered_is_refused(
    positions: PositionClient,
) -> None:
    recorded = await positions.post("alice", "/fifo/transactions", TRANSACTION)
    assert recorded == TRANSACTION | {
        "userId": "alice", "timestamp": "2024-01-10T00:00:00.000Z", "account": "main", "feeAsset": None,
        "feeQuantity": "0", "destination": None,
    }  # fmt: skip
    assert await positions.post("alice", "/fifo/transactions", TRANSACTION, status=200) == recorded
    changed = await positions.ask("alice", "POST", "/fifo/transactions", TRANSACTION | {"quantity": "3"})
    assert (changed.status, changed.code) == (409, "TRANSACTION_EXISTS")
    short = await positions.ask("alice", "POST", "/fifo/transactions", sale("s1", "03-01", "2.5"))
    assert (short.status, short.code, short.body["details"]) == (409, "SHORTFALL", {"externalId": "s1"})
    assert "takes 2.5 BTC from account main, which holds 2" in short.message
    await positions.post("alice", "/fifo/transactions", sale("s2", "03-01", "2"))
    # An earlier sale would take what the later one needs.
    earlier = await positions.ask("alice", "POST", "/fifo/transactions", sale("s3", "02-01", "1"))
    assert (earlier.status, earlier.body["details"]) == (409, {"externalId": "s2"})
    wrong = await positions.ask("alice", "POST", "/fifo/transactions", TRANSACTION | {"externalId": "x", "value": "-1"})
    assert (wrong.status, wrong.message) == (400, ["value must be at least 0"])
    rule = await positions.ask(
        "alice", "POST", "/fifo/transactions", TRANSACTION | {"externalId": "x", "destination": "v"}
    )
    assert (rule.status, rule.message) == (400, ["destination belongs to transfers only"])
    found = await positions.get("alice", "/fifo/alice")
    assert (found["transactions"], found["shortfallCount"], found["holdings"]) == (2, 0, [])


async def test_lots_of_one_millisecond_are_listed_as_they_are_consumed(positions: PositionClient) -> None:
    ids = ("btc-1-10:buy:to", "btc-1-9:buy:to", "zz", "btc-1-100:buy:to", "a")
    for external_id in ids:
        body = TRANSACTION | {"externalId": external_id, "quantity": "1"}
        await positions.post("alice", "/fifo/transactions", body)
    listed = [lot["acquisitionId"] for lot in (await positions.get("alice", "/fifo/alice/BTC"))["lots"]]
    assert listed == ["a", "zz", "btc-1-9:buy:to", "btc-1-10:buy:to", "btc-1-100:buy:to"]
    await positions.post("alice", "/fifo/transactions", sale("s", "03-01", "5"))
    disposals = (await positions.get("alice", "/fifo/alice/BTC"))["disposals"]
    assert [each["acquisitionId"] for each in reversed(disposals)] == listed


async def test_what_left_in_one_millisecond_is_listed_as_it_happened_page_after_page(
    positions: PositionClient, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of two lots, so that a page may end between two parts of one disposal.
    for external_id, quantity in (("b1", "0.5"), ("b2", "9")):
        await positions.post(
            "alice", "/fifo/transactions", TRANSACTION | {"externalId": external_id, "quantity": quantity}
        )
    happened = ["a", "zz", "btc-1-9:sell:from", "btc-1-10:sell:from", "btc-1-100:sell:from"]
    for external_id in reversed(happened):
        await positions.post("alice", "/fifo/transactions", sale(external_id, "03-01", "1"))
    left = ["a", *happened]
    listed, cursor = [], ""
    while cursor is not None:
        page = await positions.ask("alice", "GET", f"/fifo/alice/BTC?limit=1{cursor and '&cursor='}{cursor}")
        listed += [(row["disposalId"], row["acquisitionId"]) for row in page.body["disposals"]]
        cursor = page.headers.get("X-Next-Cursor")
    assert listed == [*((name, "b2") for name in reversed(happened)), ("a", "b1")]
    export = await positions.ask("alice", "GET", "/fifo/alice?taxYear=2024&format=csv")
    assert [line.partition(",")[0] for line in export.body.split("\r\n")[1:-1]] == left
    monkeypatch.setattr(store, "EXPORT_PAGE", 1)
    reader = CostBasisStore(pool)
    pages = [rows async for rows in reader.disposals_between("alice", 0, 2**60)]
    assert [row["disposal_id"] for rows in pages for row in rows] == left
    # Pages are read along indexes, which have the same expression.
    indexes = await pool.fetch("SELECT indexdef FROM pg_indexes WHERE indexname ~ '^fifo_disposals_.*in_order$'")
    assert [FILL_PATTERN in row["indexdef"] for row in indexes] == [True, True]


async def test_shortfalls_of_one_millisecond_are_listed_as_they_happened(positions: PositionClient) -> None:
    names = ["a", "btc-1-9:sell:from", "btc-1-10:sell:from"]
    lines = "".join(f"{name},2024-06-01T00:00:00Z,disposal,main,BTC,1,1,0,\n" for name in names)
    assert (await positions.import_file("alice", HEADER + lines)).status == 200
    found = (await positions.get("alice", "/fifo/alice"))["shortfalls"]
    assert [each["externalId"] for each in found] == names


@pytest.mark.spec("B4.5-20", "B4.5-21", "B4.5-22", "B4.5-23", "B4.5-25")
async def test_an_imported_history_gives_lots_gains_by_tax_year_and_an_export(positions: PositionClient) -> None:
    reply = await positions.import_file("alice", HEADER + HISTORY)
    assert reply.status == 200, reply.body
    assert reply.body == {
        "userId": "alice", "layout": "openspot", "accepted": 5, "repeated": 0, "refusedCount": 0, "uncovered": [],
        "refused": [],
    }  # fmt: skip
    again = await positions.import_file("alice", HEADER + HISTORY)
    assert (again.body["accepted"], again.body["repeated"]) == (0, 5)
    found = await positions.get("alice", "/fifo/alice")
    assert found["holdings"] == [
        {"account": "main", "asset": "BTC", "quantity": "0.5", "cost": "50.5", "lots": 1},
        {"account": "main", "asset": "ETH", "quantity": "10", "cost": "1000", "lots": 1},
    ]
    gains = [(row["taxYear"], row["asset"], row["proceeds"], row["cost"], row["gain"]) for row in found["gains"]]
    assert gains == [(2024, "BTC", "99", "50.5", "48.5"), (2025, "BTC", "300", "101", "199")]
    british = await positions.get("alice", "/fifo/alice?yearBegins=04-06")
    assert [row["taxYear"] for row in british["gains"]] == [2024]
    assert british["gains"][0]["gain"] == "247.5"
    bitcoin = await positions.get("alice", "/fifo/alice/BTC")
    assert (bitcoin["quantity"], bitcoin["cost"], bitcoin["lotCount"]) == ("0.5", "50.5", 1)
    assert bitcoin["lots"][0]["acquisitionId"] == "buy-1"
    assert [row["disposalId"] for row in bitcoin["disposals"]] == ["sell-2", "sell-1"]
    # The transfer kept cost and date.
    assert bitcoin["disposals"][0]["acquiredAt"] == "2024-01-10T00:00:00.000Z"
    first = await positions.ask("alice", "GET", "/fifo/alice/BTC?limit=1")
    rest = await positions.get("alice", f"/fifo/alice/BTC?limit=1&cursor={first.headers['X-Next-Cursor']}")
    assert [row["disposalId"] for row in rest["disposals"]] == ["sell-1"]
    export = await positions.ask("alice", "GET", "/fifo/alice?taxYear=2025&format=csv")
    assert export.headers["Content-Disposition"] == 'attachment; filename="gains-2025.csv"'
    assert export.body.split("\r\n")[1:] == [
        "sell-2,2025-03-01T00:00:00.000Z,vault,BTC,sale,1,300,101,199,2024-01-10T00:00:00.000Z,buy-1", "",
    ]  # fmt: skip
    assert (await positions.ask("alice", "GET", "/fifo/alice?format=csv")).status == 400
    assert await positions.get("alice", "/fifo/users/alice/currencies") == ["BTC", "ETH"]
    assert await positions.get(ADMIN, "/fifo/users") == [{"userId": "alice", "transactions": 5}]
    assert await positions.get("bob", "/fifo/users") == []


@pytest.mark.spec("B4.5-25")
async def test_the_report_names_every_refused_line_and_the_others_are_stored(positions: PositionClient) -> None:
    content = HEADER + (
        "ok,2024-01-10T00:00:00Z,acquisition,main,BTC,2,200,2,\n"
        "bad-number,2024-01-10T00:00:00Z,acquisition,main,BTC,many,200,2,\n"
        "too,few\n"
        "ok,2024-01-10T00:00:00Z,acquisition,main,BTC,3,200,2,\n"
        "short,2024-01-11T00:00:00Z,disposal,main,BTC,5,500,0,\n"
    )
    report = (await positions.import_file("alice", content.encode() + b"\xff\xfe,broken,,,,,,,\n")).body
    assert (report["accepted"], report["refusedCount"]) == (2, 4)
    refused = {row["line"]: row for row in report["refused"]}
    assert refused[3]["reasons"] == [{"field": "quantity", "reason": "is not a decimal number"}]
    assert refused[4]["reasons"][0]["reason"] == "has 2 columns, the header has 9"
    assert refused[5]["reasons"][0]["reason"] == "was imported before with other content"
    assert set(refused) == {3, 4, 5, 7}
    assert [row["externalId"] for row in report["uncovered"]] == ["short"]
    found = await positions.get("alice", "/fifo/alice")
    assert (found["shortfallCount"], found["shortfalls"][0]["externalId"]) == (1, "short")
    # As soon as what it lacks is there, it counts.
    more = HEADER + "more,2024-01-10T12:00:00Z,acquisition,main,BTC,3,300,0,\n"
    assert (await positions.import_file("alice", more)).body["uncovered"] == []
    found = await positions.get("alice", "/fifo/alice")
    assert (found["shortfallCount"], found["holdings"], found["gains"][0]["quantity"]) == (0, [], "5")


async def test_columns_can_be_mapped_and_json_be_imported(positions: PositionClient) -> None:
    mapped = "Trade;When;Kind;Coin;Amount;Cost\nt1;2024-01-10;buy;BTC;1;100\n"
    unknown = await positions.import_file("alice", mapped)
    assert (unknown.status, unknown.code) == (400, "UNKNOWN_LAYOUT")
    names = ("externalId:Trade", "timestamp:When", "type:Kind", "asset:Coin", "quantity:Amount", "value:Cost")
    query = "?" + "&".join(f"map={name}" for name in names)
    assert (await positions.import_file("alice", mapped, query)).body["layout"] == "mapping"
    line = '{"externalId":"t2","timestamp":1704844800000,"type":"buy","asset":"BTC","quantity":0.1,"value":"10"}\n'
    for media_type, content in (("application/x-ndjson", line), ("application/json", f"[{line}]")):
        report = (await positions.import_file("alice", content, media_type=media_type)).body
        assert report["refused"] == []
    assert (await positions.get("alice", "/fifo/alice"))["holdings"][0]["quantity"] == "1.1"
    twice = await positions.import_file("alice", mapped, "?map=externalId:A&map=externalId:B")
    assert (twice.status, twice.message) == (400, ["map names the field externalId twice"])
    assert (await positions.import_file("alice", mapped, media_type="text/plain")).status == 415
    assert (await positions.import_file("alice", "")).code == "EMPTY_FILE"


async def test_files_in_any_order_and_computed_in_any_pieces_give_the_same_result(
    positions: PositionClient, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(computation, "CHECKPOINT_EVERY", 1)
    monkeypatch.setattr(computation, "PAGE", 2)
    lines = HISTORY.splitlines(keepends=True)
    results = []
    orders = list(itertools.permutations(lines))
    for user, order in (("alice", orders[0]), ("bob", orders[57]), ("carol", orders[-1])):
        for line in order:
            assert (await positions.import_file(user, HEADER + line)).status == 200
        found = await positions.get(user, f"/fifo/{user}") | {"userId": ""}
        results.append(found | {"disposals": (await positions.get(user, f"/fifo/{user}/BTC"))["disposals"]})
    assert len(results) == 3
    assert results[0] == results[1] == results[2]
    assert results[0]["shortfallCount"] == 0
    assert await pool.fetchval("SELECT count(*) FROM fifo_checkpoints WHERE NOT is_newest") > 3


async def test_a_received_file_waits_for_a_place_and_a_new_one_is_refused_while_none_is_free(
    pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = CostBasisService(pool, CostBasisStore(pool), "USD", imports_max=1, transactions_max=10)

    async def take_place() -> None:
        async with service.importing():
            pass

    async with service.importing():
        with pytest.raises(HttpError) as refusal:
            service.require_place()
        assert (refusal.value.status_code, refusal.value.code) == (503, "TOO_MANY_IMPORTS")
        monkeypatch.setattr(costs, "PLACE_S_MAX", 0.0)
        with pytest.raises(HttpError) as refusal:
            await take_place()
        assert (refusal.value.status_code, refusal.value.code) == (503, "TOO_MANY_IMPORTS")
        monkeypatch.setattr(costs, "PLACE_S_MAX", stretched(30))
        waiting = asyncio.create_task(take_place())
        await asyncio.sleep(0)
        assert not waiting.done()
    await waiting
    service.require_place()


async def begin_file(positions: PositionClient, caller: str) -> asyncio.StreamWriter:
    """Begin an import, and send half of the first line."""
    settings = positions.settings
    _, writer = await asyncio.open_connection(settings.positions_host or settings.host, settings.positions_port)
    head = (
        f"POST {PREFIX}/fifo/transactions/import HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\n"
        f"Authorization: Bearer {positions.as_user(caller)}\r\nContent-Length: 1000\r\n\r\nexternalId,times"
    )
    writer.write(head.encode())
    await writer.drain()
    return writer


async def test_files_that_arrive_slowly_hold_up_nobody_elses_import(positions: PositionClient) -> None:
    # As many as imports run at a time.
    slow = {caller: await begin_file(positions, caller) for caller in ("alice", "bob")}
    assert len(slow) == positions.settings.position_imports_max
    try:
        for caller in slow:

            async def is_being_received(caller: str = caller) -> bool:
                reply = await positions.import_file(caller, HEADER + HISTORY)
                return reply.status == 409 and reply.code == "IMPORT_IN_PROGRESS"

            await eventually(is_being_received)
        assert (await positions.import_file("carol", HEADER + HISTORY)).status == 200
    finally:
        for writer in slow.values():
            writer.close()


async def test_transactions_of_one_user_at_once_hold_up_nobody_else(
    positions: PositionClient, pool: asyncpg.Pool
) -> None:
    await positions.post("bob", "/fifo/transactions", TRANSACTION)
    await pool.execute("INSERT INTO fifo_owners (user_id) VALUES ('alice')")
    bobs, others = PositionClient(positions.settings), PositionClient(positions.settings)
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    async with pool.acquire() as connection:
        held = connection.transaction()
        await held.start()
        await connection.execute("SELECT FROM fifo_owners WHERE user_id = 'alice' FOR UPDATE")
        first = asyncio.create_task(positions.ask("alice", "POST", "/fifo/transactions", TRANSACTION))
        await eventually(lambda: pool.fetchval(waiting))
        # More than the service has connections.
        replies = await asyncio.gather(*(
            others.ask(
                "alice", "POST", "/fifo/transactions", sale(f"s{number}", "01-01", "1"),
                headers={"Idempotency-Key": "one"} if number == 0 else {},
            )
            for number in range(20)
        ))  # fmt: skip
        assert {(reply.status, reply.code) for reply in replies} == {(409, "TRANSACTION_IN_PROGRESS")}
        assert {reply.headers["Retry-After"] for reply in replies} == {"1"}
        assert await pool.fetchval(waiting) == 1
        assert (await bobs.get("bob", "/fifo/bob"))["transactions"] == 1
        await held.rollback()
    assert (await first).status == 201
    # The refusal was not the outcome of its key.
    again = await others.ask(
        "alice", "POST", "/fifo/transactions", sale("s0", "01-01", "1"), headers={"Idempotency-Key": "one"}
    )
    assert again.code == "SHORTFALL"
    await bobs.close()
    await others.close()


async def test_two_services_that_import_for_one_user_store_each_row_once(pool: asyncpg.Pool) -> None:
    async def import_history() -> int:
        service = CostBasisService(pool, CostBasisStore(pool), "USD", imports_max=1, transactions_max=10)
        return (await service.take_file("alice", source_of(HEADER + HISTORY), io.BytesIO())).accepted

    assert sum(await asyncio.gather(import_history(), import_history())) == 5
    assert await pool.fetchval("SELECT count(*) FROM fifo_transactions") == 5
    assert await pool.fetchval("SELECT transaction_count FROM fifo_owners") == 5


async def test_a_user_has_a_bounded_number_of_transactions(positions: PositionClient, pool: asyncpg.Pool) -> None:
    service = CostBasisService(pool, CostBasisStore(pool), "USD", imports_max=1, transactions_max=3)
    report_file = io.BytesIO()
    report = await service.take_file("alice", source_of(HEADER + HISTORY), report_file)
    assert (report.accepted, report.repeated, report.refused_count) == (3, 0, 2)
    reason = "3 transactions of this user are recorded, and no more are taken"
    refused = [json.loads(line) for line in report_file.getvalue().splitlines()]
    assert [row["reasons"] for row in refused] == [[{"field": "externalId", "reason": reason}]] * 2
    # What is there already is no new one, and the bound is each user's own.
    again = await service.take_file("alice", source_of(HEADER + HISTORY), io.BytesIO())
    assert (again.accepted, again.repeated, again.refused_count) == (0, 3, 2)
    body = TransactionBody.model_validate(TRANSACTION | {"externalId": "one-more"})
    with pytest.raises(HttpError) as refusal:
        await service.add("alice", body)
    assert (refusal.value.status_code, refusal.value.code, refusal.value.message) == (
        409, "TOO_MANY_TRANSACTIONS", reason,
    )  # fmt: skip
    assert (await service.add("bob", body))[1] is True


def source_of(content: str) -> ImportSource:
    """A received CSV file."""
    return ImportSource(io.BytesIO(content.encode()), "text/csv", {}, ImportDefaults("main", "USD"))
