"""What waits for one client: order, bounds, and what stands for what."""

import pytest

from openspot.ws_edge.outgoing import OutgoingFrames, QueueFullError


def test_the_queue_comes_first_and_then_the_latest_of_each_part() -> None:
    outgoing = OutgoingFrames(10, 1000)
    outgoing.add(b"a")
    assert not outgoing.replace("ticker:A", None, b"old")
    assert not outgoing.replace("candles:A", 1, b"first")
    assert not outgoing.replace("candles:A", 2, b"second")
    assert outgoing.replace("ticker:A", None, b"newer")
    outgoing.add(b"b")
    assert (len(outgoing), outgoing.bytes) == (5, 18)
    assert outgoing.take(1000) == [b"a", b"b", b"newer", b"first", b"second"]
    assert (len(outgoing), outgoing.bytes) == (0, 0)


def test_frames_are_taken_until_there_are_enough_bytes() -> None:
    outgoing = OutgoingFrames(10, 1000)
    for frame in (b"aa", b"bb", b"cc"):
        outgoing.add(frame)
    outgoing.replace("ticker:A", None, b"dd")
    assert outgoing.take(3) == [b"aa", b"bb"]
    assert outgoing.bytes == 4
    assert outgoing.take(3) == [b"cc", b"dd"]
    assert (len(outgoing), outgoing.bytes) == (0, 0)


def test_more_frames_or_bytes_than_allowed_are_reported() -> None:
    frames = OutgoingFrames(2, 1000)
    frames.add(b"a")
    frames.replace("ticker:A", None, b"b")
    frames.check()
    frames.replace("ticker:A", None, b"c")
    frames.check()
    frames.add(b"d")
    with pytest.raises(QueueFullError):
        frames.check()
    exact = OutgoingFrames(10, 5)
    exact.add(b"aaa")
    exact.add(b"bb")
    exact.check()
    many_bytes = OutgoingFrames(10, 5)
    many_bytes.add(b"x" * 100)
    # One frame alone may be larger, or it could never be sent.
    many_bytes.check()
    many_bytes.add(b"y")
    with pytest.raises(QueueFullError):
        many_bytes.check()


def test_a_channel_that_is_left_is_forgotten() -> None:
    outgoing = OutgoingFrames(10, 1000)
    outgoing.owed["orderbook:A"] = None
    outgoing.replace("candles:A", 1, b"aa")
    outgoing.replace("candles:A", 2, b"bbbb")
    outgoing.replace("candles:B", 1, b"cc")
    outgoing.forget("candles:A")
    outgoing.forget("orderbook:A")
    assert outgoing.owed == {}
    assert outgoing.bytes == 2
    assert outgoing.take(1000) == [b"cc"]


def test_frames_end_with_the_one_that_makes_enough_bytes() -> None:
    outgoing = OutgoingFrames(10, 1000)
    for frame in (b"aa", b"bb", b"cc"):
        outgoing.add(frame)
    assert outgoing.take(4) == [b"aa", b"bb"]
    assert outgoing.take(2) == [b"cc"]


def test_nothing_waits_after_all_is_dropped_but_what_is_owed() -> None:
    outgoing = OutgoingFrames(10, 1000)
    outgoing.add(b"a")
    outgoing.replace("ticker:A", None, b"b")
    outgoing.owed["orderbook:A"] = None
    outgoing.clear()
    assert (len(outgoing), outgoing.bytes, outgoing.owed) == (0, 0, {"orderbook:A": None})
    assert outgoing.take(1000) == []
