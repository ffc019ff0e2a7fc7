"""/ws/events: which events it sends, from which sequence, and to whom."""

import asyncio
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from starlette.datastructures import QueryParams

from openspot.contracts.engine_events import AcceptedEvent, Hello, StreamEntry
from openspot.contracts.gen.exchange.v1 import accounts_pb2
from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.engine.stream.event_store import ROW_EVENTS_MAX
from openspot.engine.transport import event_stream
from openspot.http import protocol
from tests.support.engine_client import EngineClient, engine_settings, order, running_engine
from tests.support.waiting import eventually, stretched


def by_type(events: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The last event of each type."""
    return {event["type"]: event for event in events}


@pytest.mark.spec("A1.1-11")
async def test_the_first_message_is_a_hello(engine: EngineClient) -> None:
    async with engine.stream() as stream:
        hello = await stream.next()
    assert (hello["type"], hello["firstSeq"], hello["lastSeq"]) == ("hello", 1, 0)
    assert hello["epoch"]
    await engine.fund("alice", USD="1")
    async with engine.stream() as stream:
        later = await stream.next()
    assert (later["epoch"], later["firstSeq"], later["lastSeq"]) == (hello["epoch"], 1, 1)


@pytest.mark.spec(*(f"A2.2-0{number}" for number in range(1, 9)), "A6.4-02")
async def test_a_fill_is_one_trade_event_with_all_its_fields(engine: EngineClient) -> None:
    await engine.fund("maker")
    await engine.fund("taker")
    maker = await engine.place("sell", "100.01", "0.5", "maker", external_id="m-1")
    taker = await engine.place("buy", "101", "0.2", "taker", external_id="t-1")
    events = await engine.events(1, taker.sequence)
    trades = [event for event in events if event["type"] == "trade"]
    assert len(trades) == 1
    (trade,) = trades
    async with engine.stream() as stream:
        epoch = (await stream.next())["epoch"]
    assert trade == {
        "type": "trade",
        "seq": taker.sequence,
        "timestamp": taker.timestamp,
        "symbol": "BTC-USD",
        "tradeId": f"{epoch}-{taker.sequence}",
        "takerOrderId": str(taker.order_id),
        "makerOrderId": str(maker.order_id),
        "takerExternalId": "t-1",
        "makerExternalId": "m-1",
        "takerParticipantId": "taker",
        "makerParticipantId": "maker",
        "takerSide": "buy",
        "price": "100.01",
        "quantity": "0.2",
        "isTakerCompleted": True,
        "isMakerCompleted": False,
        "takerRemaining": "0",
        "makerRemaining": "0.3",
        "takerFeeAmount": "0.050005",
        "takerFeeBps": 25,
        "makerFeeAmount": "0.030003",
        "makerFeeBps": 15,
        "makerIsRebate": False,
        "feeCurrency": "USD",
    }


@pytest.mark.spec("A2.2-03")
async def test_a_taker_over_two_makers_is_completed_by_the_second_fill(engine: EngineClient) -> None:
    await engine.fund("maker")
    await engine.fund("taker")
    await engine.place("sell", "100", "1", "maker")
    await engine.place("sell", "101", "1", "maker")
    taker = await engine.place("buy", "101", "2", "taker")
    trades = [event for event in await engine.events(1, taker.sequence) if event["type"] == "trade"]
    assert [(trade["price"], trade["isTakerCompleted"]) for trade in trades] == [("100", False), ("101", True)]


@pytest.mark.spec("A2.2-06", "A2.2-07", "A2.2-10")
async def test_a_negative_maker_fee_is_a_rebate(engine: EngineClient) -> None:
    await engine.request("PATCH", "/api/v1/admin/symbols/BTC-USD", {"makerFee": -2})
    await engine.fund("maker")
    await engine.fund("taker")
    await engine.place("sell", "100", "1", "maker")
    taker = await engine.place("buy", "100", "1", "taker")
    (trade,) = await engine.events(taker.sequence, taker.sequence)
    assert (trade["makerFeeBps"], trade["makerFeeAmount"], trade["makerIsRebate"]) == (-2, "-0.02", True)
    assert (await engine.balances("maker"))["USD"].total == "1000100.02"


@pytest.mark.spec("A2.2-09", "A6.4-03", "A6.4-04")
async def test_reduce_reject_accepted_moved_and_balance_events(engine: EngineClient) -> None:
    await engine.accounts.Deposit(
        accounts_pb2.DepositRequest(participant_id="alice", currency="USD", amount="1000.5", reference="tx-9")
    )
    placed = await engine.place("buy", "100", "2", external_id="mine", metadata='{"type":"limit"}')
    await engine.orders.MoveOrder(pb.MoveOrderRequest(order_id=placed.order_id, participant_id="alice", price=99_00))
    await engine.orders.ReduceOrder(
        pb.ReduceOrderRequest(order_id=placed.order_id, participant_id="alice", quantity=50_000_000)
    )
    await engine.cancel(placed.order_id)
    rejected = await engine.place("buy", "5000", "1", external_id="large", metadata="why")
    events = await engine.events(1, rejected.sequence)
    for event in events:
        assert event["seq"] == events.index(event) + 1
        msgspec.convert(event, StreamEntry)
    seen = by_type(events)
    assert seen["balance"] | {"timestamp": 0} == {
        "type": "balance",
        "seq": 1,
        "timestamp": 0,
        "kind": "DEPOSIT",
        "participantId": "alice",
        "currency": "USD",
        "amount": "1000.5",
        "total": "1000.5",
        "reference": "tx-9",
    }
    accepted = seen["accepted"]
    assert (accepted["orderId"], accepted["externalId"]) == (str(placed.order_id), "mine")
    assert (accepted["metadata"], accepted["participantId"]) == ('{"type":"limit"}', "alice")
    assert (accepted["side"], accepted["orderType"]) == ("buy", "GTC")
    assert (accepted["price"], accepted["quantity"], accepted["timestamp"]) == ("100", "2", placed.timestamp)
    assert (seen["moved"]["price"], seen["moved"]["remaining"]) == ("99", "2")
    reduces = [event for event in events if event["type"] == "reduce"]
    assert [(event["quantity"], event["remaining"], event["isOrderCompleted"]) for event in reduces] == [
        ("0.5", "1.5", False),
        ("1.5", "0", True),
    ]
    assert [event["reason"] for event in reduces] == ["REDUCED_BY_USER", "CANCELLED_BY_USER"]
    assert {event["externalId"] for event in reduces} == {"mine"}
    reject = seen["reject"]
    assert (reject["reason"], reject["externalId"], reject["metadata"]) == ("RISK_NSF", "large", "why")
    assert (reject["price"], reject["quantity"]) == ("5000", "1")


async def test_a_reject_event_repeats_unknown_names_as_sent(engine: EngineClient) -> None:
    answer = await engine.send(order(participant_id="stranger", symbol="NEW-COIN", side=0, type=9, metadata="m"))
    (event,) = await engine.events(answer.sequence, answer.sequence)
    assert (event["participantId"], event["symbol"], event["reason"]) == ("stranger", "NEW-COIN", "INVALID_SIDE")
    assert (event["side"], event["orderType"], event["price"]) == ("", "", "10000")


@pytest.mark.spec("A6.4-05")
async def test_the_stream_starts_at_any_requested_sequence(engine: EngineClient) -> None:
    await engine.fund()
    for number in range(30):
        await engine.place("buy", str(50 + number), "0.01")
    last = await engine.last_sequence()
    everything = await engine.events(1, last)
    assert [event["seq"] for event in everything] == list(range(1, last + 1))
    for first in (2, 17, last):
        assert await engine.events(first, last) == everything[first - 1 :]


async def test_without_a_sequence_only_live_events_are_sent(engine: EngineClient) -> None:
    await engine.fund()
    async with engine.stream() as stream:
        hello = await stream.next()
        placed = await engine.place()
        event = await stream.next()
    assert (hello["lastSeq"], event["seq"], event["orderId"]) == (2, 3, str(placed.order_id))


async def test_a_replay_goes_live_under_load_without_a_gap_or_a_repeat(tmp_path: Path) -> None:
    # With little memory, the replay comes from the disk.
    settings = engine_settings(tmp_path, engine_stream_buffer=2000)
    async with running_engine(settings) as engine:
        await engine.fund()
        count, size = 120, 50

        async def place_many() -> None:
            for _ in range(count):
                requests = [order("buy", "50", "0.001") for _ in range(size)]
                await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=requests))

        async def follow(first: int, batched: bool) -> list[int]:
            sequences: list[int] = []
            async with engine.stream(first, **({"batch": "true"} if batched else {})) as stream:
                message = await stream.next()
                assert (message[0] if batched else message)["type"] == "hello"
                while not sequences or sequences[-1] < count * size + 2:
                    message = await stream.next()
                    sequences += [event["seq"] for event in (message if batched else [message])]
            return sequences

        load = asyncio.create_task(place_many())
        while await engine.last_sequence() < 3000:
            await asyncio.sleep(0)
        seen = await asyncio.gather(follow(1, False), follow(1, True), follow(1500, True))
        await load
        assert seen[0] == seen[1] == list(range(1, count * size + 3))
        assert seen[2] == list(range(1500, count * size + 3))


async def test_a_sequence_before_the_oldest_or_after_the_newest_event_is_refused(tmp_path: Path) -> None:
    settings = engine_settings(tmp_path, engine_stream_buffer=16, engine_event_retention=1000)
    async with running_engine(settings) as engine:
        await engine.fund()
        for _ in range(30):
            requests = [order("buy", "50", "0.001") for _ in range(100)]
            await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=requests))

        async def first_kept() -> int:
            async with engine.stream() as stream:
                first: int = (await stream.next())["firstSeq"]
                return first

        async def pruned_for_good() -> bool:
            """Whether fewer events are kept than the store needs to prune again."""
            return 3002 - await first_kept() + 1 < 1000 + ROW_EVENTS_MAX

        await eventually(pruned_for_good)
        first = await first_kept()
        assert 1 < first <= 3002 - 1000 + 1
        assert (await engine.events(first, first))[0]["seq"] == first
        for wrong, code in (
            (1, "SEQUENCE_NOT_RETAINED"),
            (first - 1, "SEQUENCE_NOT_RETAINED"),
            (3004, "SEQUENCE_AHEAD"),
        ):
            async with engine.stream(wrong) as stream:
                assert (await stream.next())["type"] == "hello"
                error = await stream.next()
                assert (error["type"], error["code"]) == ("error", code)
                assert str(wrong) in error["message"]
                assert await stream.close_code() == 1008


@pytest.mark.spec("A5-21")
async def test_the_stream_requires_the_service_headers_and_valid_parameters(engine: EngineClient) -> None:
    async def refusal(query: str, headers: dict[str, str]) -> int:
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await engine.http.ws_connect(f"{engine.url}/ws/events{query}", headers=headers)
        return caught.value.status

    assert await refusal("", {}) == 401
    assert await refusal("", engine.headers | {"x-api-secret": "wrong"}) == 401
    assert await refusal("?fromSeq=1", engine.headers | {"x-participant-type": "BROKER"}) == 401
    for query in ("fromSeq=0", "fromSeq=-1", "fromSeq=x", "fromSeq=", "fromSeq=1.5", "fromSeq=" + "9" * 30, "batch=5"):
        assert await refusal("?" + query, engine.headers) == 400, query


async def test_messages_from_a_consumer_are_ignored(engine: EngineClient) -> None:
    async with engine.stream() as stream:
        await stream.next()
        await stream.socket.send_str("{")
        await stream.socket.send_bytes(b"\x00\xff")
        await engine.fund("alice", USD="1")
        assert (await stream.next())["seq"] == 1


async def test_a_slow_consumer_is_disconnected_and_resumes_by_sequence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "SEND_TIMEOUT_S", 0.5)
    settings = engine_settings(tmp_path, engine_stream_buffer=2000)
    async with running_engine(settings) as engine:
        await engine.fund()
        slow = await _deaf_consumer(engine)
        good_sequences: list[int] = []

        async def follow() -> None:
            async with engine.stream(1, batch="true") as stream:
                await stream.next()
                while not good_sequences or good_sequences[-1] < 20_002:
                    good_sequences.extend(event["seq"] for event in await stream.next())

        good = asyncio.create_task(follow())
        for _ in range(200):
            requests = [order("buy", "50", "0.001", metadata="x" * 200) for _ in range(100)]
            await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=requests))
        await asyncio.wait_for(good, stretched(30))
        assert good_sequences == list(range(1, 20_003))

        async def cut() -> bool:
            text = (await engine.request("GET", "/metrics"))[1]
            lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
            return float(lines["openspot_engine_stream_consumers"]) == 0

        await eventually(cut)
        received = await _last_sequence_of(slow)
        assert 2 < received < 20_002
        assert [event["seq"] for event in await engine.events(received + 1, 20_002)] == list(
            range(received + 1, 20_003)
        )


async def _deaf_consumer(engine: EngineClient) -> socket.socket:
    """Open a connection to the stream and do not read from it."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(connection, ("127.0.0.1", engine.settings.engine_http_port))
    headers = "".join(f"{name}: {value}\r\n" for name, value in engine.headers.items())
    await loop.sock_sendall(
        connection,
        (
            "GET /ws/events HTTP/1.1\r\nHost: engine\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n{headers}\r\n"
        ).encode(),
    )
    answer = b""
    while b'"type":"hello"' not in answer:
        answer += await loop.sock_recv(connection, 4096)
    return connection


async def _last_sequence_of(connection: socket.socket) -> int:
    """The last complete event that can still be read from a closed connection."""
    loop = asyncio.get_running_loop()
    content = b""
    with suppress(TimeoutError, ConnectionError):
        while chunk := await asyncio.wait_for(loop.sock_recv(connection, 65_536), stretched(3)):
            content += chunk
    connection.close()
    whole = [part for part in content.split(b'{"type":"accepted",')[1:] if b'"metadata":"' + b"x" * 200 + b'"}' in part]
    return max(int(part.split(b'"seq":')[1].split(b",")[0]) for part in whole)


async def test_hello_and_events_decode_by_the_contract(engine: EngineClient) -> None:
    await engine.fund()
    await engine.place()
    async with engine.http.ws_connect(f"{engine.url}/ws/events?fromSeq=3", headers=engine.headers) as connection:
        messages = [msgspec.json.decode((await connection.receive()).data, type=StreamEntry) for _ in range(2)]
    assert isinstance(messages[0], Hello)
    assert isinstance(messages[1], AcceptedEvent)


async def test_a_listening_consumer_stays_connected_while_slow_request_heads_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_S_MAX", 0.3)
    async with running_engine(engine_settings(tmp_path)) as engine, engine.stream() as stream:
        assert (await stream.next())["type"] == "hello"
        reader, writer = await asyncio.open_connection(engine.settings.host, engine.settings.engine_http_port)
        writer.write(b"GET /ws/events HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n")
        assert (await asyncio.wait_for(reader.readline(), stretched(10))).startswith(b"HTTP/1.1 408 ")
        writer.close()
        attacker_reader, attacker = await asyncio.open_connection(
            engine.settings.host, engine.settings.engine_http_port
        )
        attacker.write(b"GET /ws/events HTTP/1.1\r\nX-Endless: " + b"x" * 200_000)
        assert (await asyncio.wait_for(attacker_reader.readline(), stretched(10))).startswith(b"HTTP/1.1 431 ")
        attacker.close()
        await engine.fund()
        assert (await stream.next())["seq"] == 1


async def test_a_consumer_of_a_partition_gets_its_events_and_learns_which_it_does_not_get(engine: EngineClient) -> None:
    await engine.fund()
    for symbol in ("BTC-USD", "ETH-USD", "BTC-USD"):
        await engine.place(symbol=symbol)
    last = await engine.last_sequence()
    deposits = list(range(1, last - 2))
    got: dict[str, list[list[int]]] = {}
    for number in ("0", "1"):
        async with engine.stream(1, batch="true", partition=number, partitions="2") as stream:
            await stream.next()
            seen: list[list[int]] = []
            while not seen or seen[-1][-1] < last:
                for event in await stream.next():
                    is_skipped = event["type"] == "skipped"
                    seen.append([event["firstSeq"], event["lastSeq"]] if is_skipped else [event["seq"]])
        got[number] = seen
    # ETH-USD is in partition 1; BTC-USD, and the deposits, which have no symbol, in partition 0.
    assert got == {
        "0": [*([number] for number in deposits), [last - 2], [last - 1, last - 1], [last]],
        "1": [[1, last - 2], [last - 1], [last, last]],
    }


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        ({"partition": "0"}, "partition and partitions must be given together"),
        ({"partitions": "2"}, "partition and partitions must be given together"),
        ({"partition": "0", "partitions": "0"}, "partitions must be a whole number from 1 to 16"),
        ({"partition": "0", "partitions": "17"}, "partitions must be a whole number from 1 to 16"),
        ({"partition": "0", "partitions": "x"}, "partitions must be a whole number from 1 to 16"),
        ({"partition": "2", "partitions": "2"}, "partition must be a whole number from 0 to partitions - 1"),
        ({"partition": "-1", "partitions": "2"}, "partition must be a whole number from 0 to partitions - 1"),
    ],
)
def test_a_partition_that_does_not_exist_is_refused(parameters: dict[str, str], fault: str) -> None:
    assert event_stream._parameter_fault(QueryParams(parameters)) == fault
