"""When a client is pinged, and when its connection is closed: idle, silent, or with a token that has expired."""

from typing import Any

from openspot.kit.tokens import Claims
from tests.unit.ws_edge.scripted_connection import CLIENTS_PONG, EOF, PING, Served, client_text, closing

EXPIRED = closing(4401, "the access token has expired")


def claims(client: Served, life_s: int) -> Claims:
    return Claims("alice", "user", 1_700_000_000 + round(client.loop.now) + life_s)


def watched(life_s: int | None = None, **limits: Any) -> Served:
    """A client whose deadlines are watched from now on, a while after it connected."""
    client = Served(**limits).shake_hands()
    client.loop.advance(500.0)
    if life_s is not None:
        client.edge.claims = claims(client, life_s)
    client.edge.watch_deadlines()
    return client


def advance_alive(client: Served, seconds: float) -> list[bytes]:
    """Let time pass second by second, with a pong in each. Returns what was written."""
    for _ in range(round(seconds)):
        client.loop.advance(1.0)
        client.edge.data_received(CLIENTS_PONG)
    return client.written


async def test_a_client_is_pinged_every_20_seconds() -> None:
    client = watched()
    assert client.loop.timers == [20.0]
    assert advance_alive(client, 19) == []
    assert advance_alive(client, 1) == [PING]
    assert advance_alive(client, 19) == []
    assert advance_alive(client, 1) == [PING]
    assert client.loop.timers == [20.0]


async def test_a_client_without_a_message_for_120_seconds_is_idle_though_it_answers_pings() -> None:
    client = watched()
    assert advance_alive(client, 119) == [PING] * 5
    assert advance_alive(client, 1) == [closing(4408, "no message for 120 s")]
    assert client.floods == []


async def test_each_message_starts_the_time_of_the_idle_anew() -> None:
    client = watched()
    advance_alive(client, 119)
    client.edge.note_message()
    assert advance_alive(client, 119) == [PING] * 6
    assert advance_alive(client, 1) == [closing(4408, "no message for 120 s")]


async def test_a_client_that_is_silent_for_three_pings_is_gone() -> None:
    client = watched()
    client.loop.advance(59.0)
    assert client.written == [PING, PING]
    client.loop.advance(1.0)
    assert client.written == [closing(4408, "no pong for 60 s")]


async def test_any_byte_starts_the_time_of_the_silent_anew() -> None:
    client = watched()
    client.loop.advance(50.0)
    client.edge.data_received(client_text(b"x"))
    client.loop.advance(59.0)
    assert client.written == [PING] * 5
    client.loop.advance(1.0)
    assert client.written == [closing(4408, "no pong for 60 s")]


async def test_a_message_that_was_answered_late_counts_from_its_answer() -> None:
    client = watched()
    client.loop.advance(50.0)
    client.edge.note_message()
    client.loop.advance(59.0)
    assert client.written == [PING] * 5
    client.loop.advance(1.0)
    assert client.written == [closing(4408, "no pong for 60 s")]


async def test_a_connection_ends_with_its_token() -> None:
    client = watched(30)
    assert client.loop.timers == [20.0]
    assert advance_alive(client, 20) == [PING]
    assert client.loop.timers == [10.0]
    assert advance_alive(client, 9) == []
    assert advance_alive(client, 1) == [EXPIRED]
    assert client.floods == []


async def test_a_token_that_has_expired_ends_the_connection_at_once() -> None:
    client = watched(0)
    assert client.written == [EXPIRED]
    assert client.loop.timers == [3.0]


async def test_a_new_token_moves_the_end_and_does_not_count_as_a_message() -> None:
    client = watched(30)
    advance_alive(client, 10)
    client.edge.claims = claims(client, 35)
    client.edge.watch_deadlines()
    # The old deadline is gone, and the next ping comes at its time.
    assert client.loop.timers == [10.0]
    assert advance_alive(client, 34) == [PING, PING]
    assert advance_alive(client, 1) == [EXPIRED]
    other = watched(1000)
    advance_alive(other, 60)
    other.edge.watch_deadlines()
    assert advance_alive(other, 60)[-1] == closing(4408, "no message for 120 s")


async def test_a_client_that_did_not_answer_in_time_is_told_first_that_its_token_expired() -> None:
    client = watched(60, idle_s=60.0)
    client.loop.advance(60.0)
    assert client.written == [PING, PING, EXPIRED]
    silent = watched(idle_s=60.0)
    silent.loop.advance(60.0)
    assert silent.written == [PING, PING, closing(4408, "no message for 60 s")]


async def test_a_slow_client_is_not_pinged_until_it_reads_again() -> None:
    client = watched()
    client.fill()
    assert advance_alive(client, 30) == []
    client.edge.resume_writing()
    assert advance_alive(client, 9) == []
    assert advance_alive(client, 1) == [PING]


async def test_a_client_that_is_being_closed_is_not_pinged() -> None:
    client = watched(ping_s=1.0)
    client.edge.end(1008, "too much")
    assert client.written == [closing(1008, "too much"), EOF]
    client.loop.advance(2.0)
    assert client.written == []


async def test_half_a_second_before_its_deadline_a_connection_is_not_ended() -> None:
    with_token, idle = watched(30, ping_s=29.5), watched(ping_s=119.5)
    assert advance_alive(with_token, 29) == advance_alive(idle, 119) == []
    for client, end in ((with_token, EXPIRED), (idle, closing(4408, "no message for 120 s"))):
        client.loop.advance(0.5)
        assert client.written == [PING]
        client.loop.advance(0.5)
        assert client.written == [end]
    silent = watched()
    silent.loop.advance(0.5)
    silent.edge.data_received(CLIENTS_PONG)
    silent.loop.advance(59.5)
    assert silent.written == [PING, PING, PING]
    silent.loop.advance(0.5)
    assert silent.written == [closing(4408, "no pong for 60 s")]
