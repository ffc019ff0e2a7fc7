"""What is written to one client and when, byte by byte, and what a slow client does not get."""

import pytest
from websockets.frames import Frame, Opcode

from openspot.ws_edge.connection import Flusher, Limits, text_frame
from openspot.ws_edge.settings import WsEdgeSettings
from tests.unit.ws_edge.scripted_connection import EOF, ScriptedLoop, Served, closing, counted

SLOW = closing(1013, "the client reads too slowly")
TICKER, BOOK = "ticker:BTC-USD", "orderbook:BTC-USD"


def test_a_text_frame_is_whole_and_not_masked() -> None:
    assert text_frame(b"{}") == b"\x81\x02{}"
    assert text_frame(b"x" * 200) == b"\x81\x7e\x00\xc8" + b"x" * 200


@pytest.mark.parametrize("length", [0, 1, 125, 126, 127, 255, 256, 65_535, 65_536, 100_000])
def test_a_text_frame_of_every_length_is_the_librarys(length: int) -> None:
    payload = b"x" * length
    assert text_frame(payload) == Frame(Opcode.TEXT, payload).serialize(mask=False)


def test_the_bounds_of_a_connection_are_those_of_the_settings() -> None:
    settings = WsEdgeSettings(
        ws_queue_max=1, ws_queue_bytes_max=2, ws_idle_s=3, ws_ping_s=4, ws_messages_max=5, jwt_secret="x" * 32
    )

    def clock() -> float:
        return 6.0

    assert Limits.of(settings, clock) == Limits(1, 2, 3.0, 4.0, 5, clock)


async def test_a_new_connection_is_nobodys_and_has_no_snapshots() -> None:
    edge = Served().edge
    assert (edge.claims, edge.api_key, edge.failed_logins, edge.channels) == (None, None, 0, set())
    assert (edge.address, edge.network) == ("", "")
    assert edge.snapshot_of(TICKER) is None


async def test_what_is_pushed_in_one_turn_goes_out_in_one_write_in_its_order() -> None:
    client = Served().shake_hands()
    for frame in (b"one", b"two", b"three"):
        client.edge.push(frame)
    assert client.socket.take() == []
    assert len(client.loop.soon) == 1
    assert client.written == [b"onetwothree"]
    client.edge.push(b"four")
    assert client.written == [b"four"]
    assert client.loop.soon == []


async def test_clients_of_one_turn_are_served_in_their_order_and_share_what_is_joined() -> None:
    loop, flusher = ScriptedLoop(), Flusher()
    first, second, third = (Served(loop=loop, flusher=flusher).shake_hands() for _ in range(3))
    for client in (first, second):
        client.edge.push(b"one")
        client.edge.push(b"two")
    third.edge.push(b"other")
    third.edge.push(b"two")
    assert len(loop.soon) == 1
    loop.end_turn()
    assert first.socket.written == second.socket.written == [b"onetwo"]
    assert first.socket.written[0] is second.socket.written[0]
    assert third.socket.written == [b"othertwo"]
    assert flusher.waiting == []


async def test_65536_waiting_bytes_are_written_at_once() -> None:
    client = Served().shake_hands()
    client.edge.push(b"a" * 32_768)
    client.edge.push(b"b" * 32_767)
    assert client.socket.take() == []
    assert client.written == [b"a" * 32_768 + b"b" * 32_767]
    client.edge.push(b"c" * 32_768)
    client.edge.push(b"d" * 32_768)
    assert client.socket.take() == [b"c" * 32_768 + b"d" * 32_768]
    assert client.written == []


async def test_what_waits_for_a_slow_client_is_written_when_it_reads_again() -> None:
    client = Served().shake_hands()
    client.fill()
    client.edge.push(b"one")
    client.edge.push(b"two")
    assert client.written == []
    client.edge.resume_writing()
    assert client.socket.take() == [b"onetwo"]
    client.edge.push(b"three")
    assert client.written == [b"three"]


async def test_what_waits_is_written_in_parts_of_65536_bytes_until_the_buffer_is_full() -> None:
    client = Served(queue_bytes_max=300_000).shake_hands()
    client.fill()
    frames = [letter * 65_536 for letter in (b"a", b"b", b"c")]
    for frame in frames:
        client.edge.push(frame)
    client.socket.fills_after = 2
    client.edge.resume_writing()
    assert client.socket.take() == frames[:2]
    client.edge.resume_writing()
    assert client.socket.take() == frames[2:]


async def test_a_slow_client_is_closed_when_more_waits_than_its_queue_holds() -> None:
    before = counted("closed", code="1013")
    client = Served().shake_hands()
    client.fill()
    for frame in (b"1", b"2", b"3"):
        client.edge.push(frame)
    assert client.written == []
    client.edge.push(b"4")
    assert client.written == [SLOW]
    assert counted("closed", code="1013") == before + 1
    # It misses nothing that it could still read: what comes now is dropped.
    client.edge.push(b"5")
    client.edge.push_latest(TICKER, None, b"6")
    assert len(client.edge._outgoing) == 0
    client.edge.resume_writing()
    assert client.written == []
    assert client.floods == []


async def test_a_slow_client_is_closed_when_more_bytes_wait_than_its_queue_holds() -> None:
    client = Served().shake_hands()
    client.fill()
    client.edge.push(b"x" * 999)
    client.edge.push(b"x")
    assert client.written == []
    client.edge.push(b"x")
    assert client.written == [SLOW]


async def test_what_is_pushed_in_a_turn_must_fit_into_the_queue_if_the_buffer_is_full_at_its_end() -> None:
    for pushes, written in ((3, []), (4, [SLOW])):
        client = Served().shake_hands()
        for _ in range(pushes):
            client.edge.push(b"trade")
        # The answer to a ping has filled it.
        client.fill()
        assert client.written == written


async def test_a_slow_client_gets_only_the_latest_of_each_part() -> None:
    before = counted("conflated", channel="ticker")
    client = Served().shake_hands()
    client.edge.push_latest(TICKER, None, b"t1")
    assert client.written == [b"t1"]
    client.fill()
    client.edge.push_latest(TICKER, None, b"t2")
    candles = counted("conflated", channel="candles")
    client.edge.push_latest("candles:BTC-USD:1m", 60, b"c0")
    client.edge.push_latest("candles:BTC-USD:1m", 120, b"c2")
    assert (counted("conflated", channel="ticker"), counted("conflated", channel="candles")) == (before, candles)
    client.edge.push_latest("candles:BTC-USD:1m", 60, b"c1")
    assert counted("conflated", channel="candles") == candles + 1
    client.edge.push_latest(TICKER, None, b"t3")
    assert counted("conflated", channel="ticker") == before + 1
    client.edge.resume_writing()
    assert client.written == [b"t3c1c2"]


async def test_the_latest_of_more_parts_than_the_queue_holds_close_a_slow_client() -> None:
    client = Served().shake_hands()
    client.fill()
    for part in (1, 2, 3):
        client.edge.push_latest("candles:BTC-USD:1m", part, b"c")
    assert client.written == []
    client.edge.push_latest("candles:BTC-USD:1m", 4, b"c")
    assert client.written == [SLOW]


async def test_a_slow_client_gets_a_snapshot_for_the_updates_that_it_missed() -> None:
    before = counted("conflated", channel="orderbook")
    client = Served().shake_hands()
    client.edge.snapshot_of = {BOOK: b"snapshot"}.get
    client.edge.push_update(BOOK, b"u1")
    assert client.written == [b"u1"]
    client.fill()
    client.edge.push_update(BOOK, b"u2")
    client.edge.push_update(BOOK, b"u3")
    assert counted("conflated", channel="orderbook") == before + 2
    client.edge.push(b"trade")
    client.edge.resume_writing()
    assert client.written == [b"trade", b"snapshot"]
    client.edge.push_update(BOOK, b"u4")
    assert client.written == [b"u4"]


async def test_an_owed_snapshot_comes_at_the_end_of_the_turn_instead_of_updates() -> None:
    client = Served().shake_hands()
    client.edge.snapshot_of = {BOOK: b"snapshot", TICKER: b"ticker"}.get
    client.edge.owe_snapshot(BOOK)
    client.edge.owe_snapshot(TICKER)
    client.edge.push_update(BOOK, b"u1")
    client.edge.push_latest(TICKER, None, b"t1")
    client.edge.push(b"reply")
    assert client.socket.take() == []
    assert client.written == [b"reply", b"snapshot", b"ticker"]
    client.edge.push_update(BOOK, b"u2")
    client.edge.push_latest(TICKER, None, b"t2")
    assert client.written == [b"u2t2"]


async def test_a_snapshot_that_does_not_exist_yet_stays_owed() -> None:
    client = Served().shake_hands()
    snapshots = {TICKER: b"ticker"}
    client.edge.snapshot_of = snapshots.get
    client.edge.owe_snapshot(BOOK)
    client.edge.owe_snapshot(TICKER)
    assert client.written == [b"ticker"]
    snapshots[BOOK] = b"snapshot"
    client.edge.push(b"trade")
    assert client.written == [b"trade", b"snapshot"]
    client.edge.push(b"trade")
    assert client.written == [b"trade"]


async def test_snapshots_stop_when_the_buffer_is_full_and_go_on_afterwards() -> None:
    client = Served().shake_hands()
    client.edge.snapshot_of = {BOOK: b"snapshot", TICKER: b"ticker"}.get
    client.edge.owe_snapshot(BOOK)
    client.edge.owe_snapshot(TICKER)
    client.socket.fills_after = 1
    assert client.written == [b"snapshot"]
    client.edge.owe_snapshot(BOOK)
    assert client.loop.soon == []
    client.edge.resume_writing()
    assert client.socket.take() == [b"ticker", b"snapshot"]


async def test_a_channel_that_the_client_left_is_owed_nothing() -> None:
    client = Served().shake_hands()
    client.edge.snapshot_of = {BOOK: b"snapshot"}.get
    client.fill()
    client.edge.push_update(BOOK, b"u1")
    client.edge.push_latest(TICKER, None, b"t1")
    client.edge.forget(BOOK)
    client.edge.forget(TICKER)
    client.edge.resume_writing()
    assert client.written == []


async def test_a_close_comes_after_what_was_pushed_in_the_turn_and_nothing_after_it() -> None:
    before = counted("closed", code="4401")
    client = Served().shake_hands()
    client.edge.push(b"one")
    client.edge.push(b"two")
    assert client.edge.end(4401, "the session has ended")
    assert client.socket.take() == [b"onetwo", closing(4401, "the session has ended")]
    assert counted("closed", code="4401") == before + 1
    assert not client.edge.end(4401, "the session has ended")
    client.edge.push(b"three")
    client.edge.snapshot_of = {BOOK: b"snapshot"}.get
    client.edge.owe_snapshot(BOOK)
    assert client.written == []
    assert (counted("closed", code="4401"), client.floods) == (before + 1, [])


async def test_a_close_of_a_slow_client_drops_what_waits_for_it() -> None:
    client = Served().shake_hands()
    client.fill()
    client.edge.push(b"one")
    assert client.edge.end(1012, "the service is stopping")
    client.edge.resume_writing()
    assert client.written == [closing(1012, "the service is stopping")]


async def test_a_client_that_does_not_reply_to_a_close_is_cut_off_after_three_seconds() -> None:
    client = Served().shake_hands()
    assert client.edge.end(1012, "the service is stopping")
    client.loop.advance(2.9)
    assert (client.written, client.socket.ended) == ([closing(1012, "the service is stopping")], "")
    client.loop.advance(0.1)
    assert client.socket.ended == "aborted"


async def test_a_client_that_sends_too_much_is_noted_and_not_waited_for() -> None:
    for code in (1008, 1009):
        client = Served().shake_hands()
        assert client.edge.end(code, "too much")
        assert client.written == [closing(code, "too much"), EOF]
        assert client.floods == ["198.51.100.7"]
        client.loop.advance(3.0)
        assert client.socket.ended == "aborted"


async def test_a_connection_that_is_lost_gives_its_place_back_and_calls_nothing_more() -> None:
    client = Served().shake_hands()
    client.edge.watch_deadlines()
    client.edge.end(1012, "the service is stopping")
    client.fill()
    client.edge.data_received(b"\x81" * 300)
    client.edge._outgoing.add(b"late")
    assert (len(client.open_connections), len(client.loop.timers)) == (1, 3)
    client.edge.connection_lost(None)
    client.loop.advance(10.0)
    assert (len(client.open_connections), client.socket.ended) == (0, "")
    assert (len(client.edge._outgoing), len(client.edge._received)) == (0, 0)


async def test_a_connection_that_is_lost_without_a_close_keeps_the_reason() -> None:
    client, reset = Served().shake_hands(), ConnectionResetError()
    client.edge.connection_lost(reset)
    assert (len(client.open_connections), client.edge.connection_exc) == (0, reset)


async def test_a_complete_handshake_keeps_its_place_from_newer_sockets() -> None:
    client = Served().shake_hands()
    client.edge.note_upgrade()
    for number in range(3):
        client.open_connections.admit(number, "203.0.113.9", lambda: None)
    assert client.socket.ended == ""
    other = Served()
    for number in range(3):
        other.open_connections.admit(number, "203.0.113.9", lambda: None)
    assert other.socket.ended == "aborted"


async def test_the_sockets_buffer_is_full_at_65536_bytes() -> None:
    assert Served().socket.limits == (65_536, None)
