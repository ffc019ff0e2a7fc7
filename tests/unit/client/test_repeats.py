"""Which requests the client sends again, and how it signs after a refusal of its clock."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from openspot.client import ApiError, HmacKey, OpenSpotClient, UnreachableError
from openspot.client.transport import RetryPolicy
from tests.support.fake_rest_edge import CUT, FakeRestEdge, running_fake

QUOTE = {"id": "c1", "quoteId": "q1", "status": "completed", "fromAsset": "BTC", "toAsset": "USD", "fromAmount": "1"}
QUOTE |= {"toAmount": "2", "spreadAmount": "0", "price": "2", "failureCode": None, "completedAt": None}
CONVERSION = QUOTE | {"createdAt": "2026-01-02T03:04:05Z"}
QUICK = RetryPolicy(attempts_max=4, pause_s=0.001)


@pytest.fixture
async def fake() -> AsyncIterator[FakeRestEdge]:
    async with running_fake() as edge:
        yield edge


async def test_a_request_with_an_idempotency_key_is_sent_again_and_without_one_it_is_not(fake: FakeRestEdge) -> None:
    async with OpenSpotClient(fake.url, retry=QUICK) as client:
        fake.answers.append(CUT)
        fake.refuse(409, "IDEMPOTENCY_KEY_IN_USE")
        fake.refuse(504, "ORDER_STATUS_UNKNOWN")
        fake.answer(201, CONVERSION)
        assert (await client.convert("q1", idempotency_key="k1")).id == "c1"
        fake.answers.append(CUT)
        with pytest.raises(UnreachableError):
            await client.convert("q1")
        fake.refuse(409, "IDEMPOTENCY_KEY_REUSED")
        with pytest.raises(ApiError, match="REUSED"):
            await client.convert("q2", idempotency_key="k1")
    assert len(fake.asked) == 6


class NotedKey(HmacKey):
    """Notes the timestamps that it signs."""

    def __init__(self) -> None:
        super().__init__("k1", "secret")
        self.stamps: list[int] = []

    def headers(self, method: str, target: str, body: bytes) -> dict[str, str]:
        signed = super().headers(method, target, body)
        self.stamps.append(int(signed["X-API-Timestamp"]))
        return signed


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_wrong_clock_is_corrected_by_the_refusal_and_the_request_signed_again(
    fake: FakeRestEdge, hours: int
) -> None:
    key, there = NotedKey(), datetime.now(UTC) + timedelta(hours=hours)
    fake.refuse(401, "INVALID_CREDENTIAL", Date=format_datetime(there, usegmt=True))
    fake.answer(200, [])
    async with OpenSpotClient(fake.url, api_key=key, retry=QUICK) as client:
        assert await client.balances() == []
    assert abs((key.stamps[1] - key.stamps[0]) / 3_600_000 - hours) < 0.1


async def test_a_refused_signature_with_a_right_clock_is_not_sent_again(fake: FakeRestEdge) -> None:
    fake.refuse(401, "INVALID_CREDENTIAL", Date=format_datetime(datetime.now(UTC), usegmt=True))
    async with OpenSpotClient(fake.url, api_key=NotedKey(), retry=QUICK) as client:
        with pytest.raises(ApiError, match="401 INVALID_CREDENTIAL"):
            await client.balances()
    assert len(fake.asked) == 1


async def test_a_refusal_names_its_fields(fake: FakeRestEdge) -> None:
    fake.refuse(400, "VALIDATION_FAILED", ["quantity must be greater than 0", "price is required"])
    fake.refuse(404, "NOT_FOUND", "there is none")
    async with OpenSpotClient(fake.url, retry=QUICK) as client:
        with pytest.raises(ApiError) as refused:
            await client.place_order("BTC-USD", "buy")
        assert (refused.value.field, len(refused.value.reasons)) == ("quantity", 2)
        with pytest.raises(ApiError) as missing:
            await client.order("x")
        assert (missing.value.field, missing.value.reasons) == (None, ["there is none"])
