"""Margin requests of the REST edge: what a margin service, played by this process, is asked."""

from typing import Any

import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import (
    BorrowMargin,
    CloseMarginPosition,
    GetMarginAccount,
    MarginReply,
    ReduceMarginPositions,
)
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.kit.bus import Bus
from tests.support.rest_client import RestClient


class UncertainMargin:
    """Says at first that it does not know the outcome, and carries the request out when it comes again."""

    def __init__(self) -> None:
        self.request_ids: list[str] = []

    async def reply(self, request: Any) -> MarginReply:
        """The reply to the next request."""
        self.request_ids.append(request.request_id)
        if len(self.request_ids) % 2 == 1:
            return MarginReply.refused(Refusal(RefusalCode.STATUS_UNKNOWN, "the engine does not respond"))
        return MarginReply(True, loan_id="loan-1")


@pytest.mark.parametrize(
    ("subject", "message", "path", "body"),
    [
        (subjects.RISK_MARGIN_BORROW, BorrowMargin, "/margin/loans", {"asset": "USD", "amount": "10"}),
        (subjects.RISK_MARGIN_CLOSE, CloseMarginPosition, "/margin/account/close", None),
        (
            subjects.RISK_MARGIN_REDUCE,
            ReduceMarginPositions,
            "/margin/positions/reduce",
            {"symbol": "BTC-USD", "side": "sell"},
        ),
    ],
    ids=["borrow", "close the account", "reduce"],
)
async def test_a_repetition_under_a_key_is_the_same_request_to_the_margin_service(
    edge: RestClient, bus: Bus, subject: str, message: Any, path: str, body: Any
) -> None:
    margin = UncertainMargin()
    await bus.serve(subject, "margin-risk", message, margin.reply, MarginReply.refused)
    await bus.check()
    first, second = [await edge("POST", path, body, headers={"idempotency-key": "k1"}) for _ in range(2)]
    assert (first.status, first.code) == (504, "MARGIN_STATUS_UNKNOWN")
    assert second.status in (200, 201)
    assert len(set(margin.request_ids)) == 1
    for _ in range(2):
        await edge("POST", path, body)
    assert len(set(margin.request_ids)) == 3


async def test_a_user_without_a_margin_account_gets_null_and_no_error(edge: RestClient, bus: Bus) -> None:
    refusals = [Refusal(RefusalCode.NOT_FOUND, "the user has no margin account: move collateral into it first")]
    refusals.append(Refusal(RefusalCode.NO_MARK_PRICE, "no price"))

    async def reply(request: GetMarginAccount) -> MarginReply:
        return MarginReply.refused(refusals.pop(0))

    await bus.serve(subjects.RISK_MARGIN_ACCOUNT, "margin-risk", GetMarginAccount, reply, MarginReply.refused)
    await bus.check()
    none = await edge("GET", "/margin/account")
    assert (none.status, none.body) == (200, None)
    unknown = await edge("GET", "/margin/account")
    assert (unknown.status, unknown.code) == (503, "NO_MARK_PRICE")
