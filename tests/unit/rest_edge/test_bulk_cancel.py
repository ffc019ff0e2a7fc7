"""Bulk cancels take turns and come in pieces (fact B4.1-11)."""

import asyncio
from typing import Any

import pytest

from openspot.contracts.messages import CancelOpenOrders, CancelOpenOrdersReply
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.http.errors import HttpError
from openspot.kit.bus import NoAnswerError, NotSentError
from openspot.rest_edge.orders.bulk_cancel import (
    NOT_SENT,
    PIECES_AT_ONCE,
    UNKNOWN,
    WAITING_MAX,
    BulkCancelTurns,
    OpenOrderCancels,
)


class Bus:
    """Answers each request with the next reply, and counts how many run at once."""

    def __init__(self, *replies: CancelOpenOrdersReply | Exception) -> None:
        self.replies = list(replies)
        self.requests: list[CancelOpenOrders] = []
        self.running = self.running_max = 0

    async def request(self, subject: str, request: CancelOpenOrders, reply_type: type) -> CancelOpenOrdersReply:
        assert (subject, reply_type) == ("orders.cancel_open", CancelOpenOrdersReply)
        self.requests.append(request)
        self.running += 1
        self.running_max = max(self.running_max, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        reply = self.replies.pop(0) if self.replies else CancelOpenOrdersReply(True)
        if isinstance(reply, Exception):
            raise reply
        return reply


def cancels(bus: Bus) -> OpenOrderCancels:
    as_bus: Any = bus
    return OpenOrderCancels(as_bus)


async def test_pieces_follow_each_other_until_none_remains() -> None:
    bus = Bus(CancelOpenOrdersReply(True, ("a", "b"), more_remain=True), CancelOpenOrdersReply(True, ("c",)))
    cancelled: list[str] = []
    assert await cancels(bus).cancel("u1", "BTC-USD", "buy", cancelled) is None
    assert cancelled == ["a", "b", "c"]
    assert bus.requests == [CancelOpenOrders("u1", "BTC-USD", "buy")] * 2


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (CancelOpenOrdersReply.refused(Refusal(RefusalCode.BUSY, "ENGINE_BUSY")), NOT_SENT),
        (CancelOpenOrdersReply.refused(Refusal(RefusalCode.UNAVAILABLE, "no engine at 10.0.0.1")), NOT_SENT),
        (CancelOpenOrdersReply.refused(Refusal(RefusalCode.STATUS_UNKNOWN, "lost")), UNKNOWN),
        (CancelOpenOrdersReply.refused(Refusal(RefusalCode.UNRECOGNISED, "new")), UNKNOWN),
    ],
)
async def test_a_piece_that_fails_ends_the_bulk_cancel_with_its_reason(
    failure: CancelOpenOrdersReply, reason: str
) -> None:
    bus = Bus(CancelOpenOrdersReply(True, ("a",), more_remain=True), failure)
    cancelled: list[str] = []
    assert await cancels(bus).cancel("u1", None, None, cancelled) == reason
    assert cancelled == ["a"]
    assert bus.requests == [CancelOpenOrders("u1")] * 2


@pytest.mark.parametrize(("error", "reason"), [(NoAnswerError("lost"), UNKNOWN), (NotSentError("away"), NOT_SENT)])
async def test_a_request_without_an_answer_says_whether_it_may_have_happened(error: Exception, reason: str) -> None:
    assert await cancels(Bus(error)).cancel("u1", None, None, []) == reason


async def test_few_pieces_run_at_once_whoever_asks() -> None:
    bus = Bus()
    together = cancels(bus)
    await asyncio.gather(*(together.cancel(f"u{number}", None, None, []) for number in range(20)))
    assert (len(bus.requests), bus.running_max) == (20, PIECES_AT_ONCE)


async def test_one_bulk_cancel_of_a_user_runs_at_a_time_and_others_are_not_kept() -> None:
    turns, running, order = BulkCancelTurns(), set[str](), list[str]()

    async def run(user_id: str, name: str) -> None:
        async with turns.of(user_id):
            assert user_id not in running
            running.add(user_id)
            order.append(name)
            await asyncio.sleep(0)
            running.discard(user_id)

    await asyncio.gather(run("u1", "first"), run("u1", "second"), run("u2", "other"), run("u1", "third"))
    assert order == ["first", "other", "second", "third"]


async def test_too_many_waiting_bulk_cancels_of_a_user_are_refused_until_some_have_ended() -> None:
    turns, gate = BulkCancelTurns(), asyncio.Event()

    async def run(user_id: str) -> str:
        try:
            async with turns.of(user_id):
                await gate.wait()
        except HttpError as refusal:
            return f"{refusal.status_code} {refusal.code}"
        return "done"

    asked = [asyncio.create_task(run("u1")) for _ in range(WAITING_MAX + 2)]
    other = asyncio.create_task(run("u2"))
    await asyncio.sleep(0)
    gate.set()
    refused = "409 BULK_CANCEL_IN_PROGRESS"
    assert await asyncio.gather(*asked) == ["done"] * (WAITING_MAX + 1) + [refused]
    assert (await other, await run("u1")) == ("done", "done")
