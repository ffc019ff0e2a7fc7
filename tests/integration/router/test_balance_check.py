"""The balance check: ledger first, engine before a refusal, silence lets the order proceed."""

import asyncio
import time

import pytest

from openspot.router.orders import available_funds
from tests.support.engine_client import EngineClient
from tests.support.fake_ledger import FakeLedger
from tests.support.router_client import RouterClient
from tests.support.waiting import eventually, stretched


@pytest.mark.spec("A1.3-16")
async def test_an_order_that_neither_ledger_nor_engine_cover_is_refused(
    router: RouterClient, engine: EngineClient, ledger: FakeLedger
) -> None:
    ledger.fund("carol", USD="99")
    await engine.fund("carol", USD="99.5")
    reply = await router.submit("carol")
    assert reply.error == "insufficient USD balance: the order needs 100, 99.5 is available"
    reply = await router.submit("carol", side="sell")
    assert reply.error == "insufficient BTC balance: the order needs 1, 0 is available"


@pytest.mark.spec("A1.3-16")
async def test_funds_that_only_the_engine_knows_count(
    router: RouterClient, engine: EngineClient, ledger: FakeLedger
) -> None:
    await engine.fund("carol", USD="1000")
    assert (await router.submit("carol")).success
    # What open orders hold is not there for another: 100 and its fee are gone.
    reply = await router.submit("carol", quantity="9")
    assert reply.error == "insufficient USD balance: the order needs 900, 899.75 is available"


@pytest.mark.spec("A1.3-17")
async def test_an_order_proceeds_without_a_ledger(router: RouterClient, ledger: FakeLedger) -> None:
    await ledger.stop()
    assert (await router.submit()).success


@pytest.mark.spec("A1.3-17")
async def test_an_order_proceeds_when_the_ledger_is_silent_or_cannot_say(
    router: RouterClient, ledger: FakeLedger
) -> None:
    ledger.answers.clear()
    began = time.monotonic()
    assert (await router.submit()).success
    assert time.monotonic() - began < stretched(4)
    ledger.answers.set()
    ledger.fails_with = "no database"
    assert (await router.submit()).success


async def test_identical_questions_under_way_share_one_answer(router: RouterClient, ledger: FakeLedger) -> None:
    ledger.answers.clear()
    orders = [asyncio.create_task(router.submit()) for _ in range(20)]
    sells = [asyncio.create_task(router.submit("bob", side="sell", price="200")) for _ in range(20)]
    await eventually(lambda: len(ledger.asked) >= 2)
    ledger.answers.set()
    replies = await asyncio.gather(*orders, *sells)
    assert all(reply.success for reply in replies)
    assert {(question.user_id, question.asset) for question in ledger.asked} == {("alice", "USD"), ("bob", "BTC")}
    assert len(ledger.asked) < 10


@pytest.fixture
def lasting_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a router that starts after this, no balance is forgotten because it is old."""
    monkeypatch.setattr(available_funds, "FIGURE_LIFE_S", 86_400.0)


async def test_the_ledger_is_asked_once_until_it_says_that_an_account_has_less(
    lasting_figures: None, router: RouterClient, ledger: FakeLedger
) -> None:
    for _ in range(5):
        assert (await router.submit()).success
    assert len(ledger.asked) == 1
    await ledger.change("bob", "USD", "1")
    await ledger.change("alice", "BTC", "1")
    await ledger.change("alice", "USD", "150")

    async def is_asked_again() -> bool:
        assert (await router.submit()).success
        return len(ledger.asked) > 1

    # Thousands of such orders fit into what the ledger said first.
    await eventually(is_asked_again)
    assert {(question.user_id, question.asset) for question in ledger.asked} == {("alice", "USD")}
