"""The route of present triggers: real bus and database, a router of this process."""

from collections.abc import AsyncIterator

import pytest

from openspot.contracts.messages import GetTriggers
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.kit.settings import Settings
from tests.support.fake_router import FakeRouter
from tests.support.rest_client import RestClient, running_edge

PATH = "/orders/triggers?orderIds="


@pytest.fixture
async def complete_edge(settings: Settings) -> AsyncIterator[RestClient]:
    """An edge of this test alone with the complete rules, asked as the user `u1`."""
    async with running_edge(settings.model_copy(update={"rules": "complete"})) as client:
        client.as_user("u1")
        yield client


async def test_the_triggers_of_the_orders_that_are_named_are_those_of_the_router(
    complete_edge: RestClient, router: FakeRouter
) -> None:
    reply = await complete_edge("GET", f"{PATH}order1,order2")
    assert reply.status == 200
    assert reply.body == [
        {"orderId": "order1", "triggerPrice": "99.5", "limitPrice": "99"},
        {"orderId": "order2", "triggerPrice": "99.5", "limitPrice": "99"},
    ]
    assert router.triggers_asked == [GetTriggers("u1", ("order1", "order2"))]

    router.refusal = Refusal(RefusalCode.UNAVAILABLE, "no engine")
    assert (await complete_edge("GET", f"{PATH}order1")).code == "SERVICE_UNAVAILABLE"
    router.refusal = Refusal(RefusalCode.VALIDATION, "userId is not valid")
    assert (await complete_edge("GET", f"{PATH}order1")).code == "VALIDATION_FAILED"


@pytest.mark.parametrize(
    ("order_ids", "reason"),
    [
        *((text, "be order ids with commas between them") for text in ("", "order1,", "one two", "x" * 65, "x%0A")),
        (",".join(f"order{number}" for number in range(21)), "have at most 20 entries"),
    ],
)
async def test_what_is_no_list_of_few_ids_is_refused(
    complete_edge: RestClient, router: FakeRouter, order_ids: str, reason: str
) -> None:
    reply = await complete_edge("GET", PATH + order_ids)
    assert (reply.status, reply.message) == (400, [f"orderIds must {reason}"])
    assert router.triggers_asked == []


async def test_with_the_rules_of_the_specification_there_is_no_such_route(edge: RestClient, router: FakeRouter) -> None:
    # The word is the id of an order then, and nobody has such a one.
    assert (await edge("GET", f"{PATH}order1")).code == "ORDER_NOT_FOUND"
    assert router.triggers_asked == []
