"""Phases of a market over the engine's interfaces: who sets them, what is streamed, and what a kill leaves."""

import time
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

import aiohttp
import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.domain.market_phase import MarketPhase
from openspot.domain.result_code import ResultCode
from openspot.engine import phase_operator
from openspot.engine.core.records import UNCROSS_STEPS_MAX, CommandKind
from openspot.engine.engine import Engine
from openspot.engine.settings import EngineSettings
from openspot.engine.transport.http_app import http_error
from openspot.kit.disk import Disk
from openspot.kit.settings import Settings, as_part
from tests.support.engine_client import EngineClient, order, running_engine
from tests.support.engine_faults import (
    KILLED_AFTER_APPLY,
    KILLED_AFTER_COMMIT,
    KILLED_BEFORE_COMMIT,
    tell_to_die,
)
from tests.support.engine_nursery import Nursery, forked_engine
from tests.support.waiting import eventually

PHASE = "/api/v1/admin/symbols/BTC-USD/phase"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """An engine under the complete rules."""
    return settings.model_copy(update={"rules": "complete"})


async def set_phase(engine: EngineClient, phase: str, seconds: int = 0) -> dict[str, Any]:
    status, body = await engine.request("PUT", PHASE, {"phase": phase, "seconds": seconds, "reason": "a test"})
    assert status == 200, body
    return dict(body)


async def phase_of(engine: EngineClient) -> str:
    _, markets = await engine.request("GET", "/api/v1/markets")
    (market,) = (market for market in markets if market["symbol"] == "BTC-USD")
    return str(market.get("phase", "continuous"))


async def is_continuous(engine: EngineClient) -> bool:
    return await phase_of(engine) == "continuous"


async def totals(engine: EngineClient) -> Counter[str]:
    """What all accounts own, by currency."""
    _, body = await engine.request("GET", "/api/v1/balances")
    owned: Counter[str] = Counter()
    for balance in body["balances"]:
        owned[balance["currency"]] += Decimal(balance["total"])  # type: ignore[assignment]
    return owned


async def fund(engine: EngineClient) -> None:
    await engine.fund("alice")
    await engine.fund("bob")


async def test_without_the_complete_rules_no_phase_can_be_set(settings: Settings) -> None:
    async with running_engine(settings.model_copy(update={"rules": "specification"})) as engine:
        status, body = await engine.request("PUT", PHASE, {"phase": "halted", "reason": "a test"})
        assert status >= 400
        assert "OPENSPOT_RULES=complete" in body["message"]
        assert await is_continuous(engine)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({"phase": "uncrossing", "reason": "r"}, "phase"),
        ({"phase": "halted"}, "reason"),
        ({"phase": "halted", "reason": " "}, "reason"),
        ({"phase": "halted", "reason": "r", "seconds": -1}, "seconds"),
        ({"phase": "halted", "reason": "r", "seconds": 10**9}, "seconds"),
        ({"phase": "continuous", "reason": "r", "seconds": 5}, "seconds"),
    ],
)
async def test_a_bad_phase_is_refused_with_its_field(engine: EngineClient, body: dict[str, Any], fault: str) -> None:
    status, answer = await engine.request("PUT", PHASE, body)
    assert status in (400, 409, 422)
    assert fault in str(answer)
    assert await is_continuous(engine)


async def test_a_phase_is_set_only_on_the_phase_that_the_caller_saw(engine: EngineClient) -> None:
    await set_phase(engine, "post-only")
    body = {"phase": "halted", "expected": "continuous", "reason": "a test"}
    status, answer = await engine.request("PUT", PHASE, body)
    assert (status, answer["code"]) == (409, "PHASE_CHANGED")
    assert await phase_of(engine) == "post-only"
    status, answer = await engine.request("PUT", PHASE, body | {"expected": "post-only"})
    assert (status, answer["phase"]) == (200, "halted")


def test_while_an_auction_is_traded_the_refusal_of_a_phase_is_a_conflict() -> None:
    assert http_error(ResultCode.PHASE_UNCROSSING, "BTC-USD: PHASE_UNCROSSING").status_code == 409


async def test_a_halted_market_refuses_orders_by_name_and_lets_them_be_cancelled(engine: EngineClient) -> None:
    await fund(engine)
    placed = await engine.place("buy", "90")
    body = await set_phase(engine, "halted")
    assert (body["phase"], body["phaseEndsAt"]) == ("halted", 0)
    assert (await engine.place("buy", "91")).result_code == "PHASE_HALTED"
    cancelled = await engine.cancel(placed.order_id)
    assert cancelled.result_code == "SUCCESS"
    assert (await engine.request("PUT", "/api/v1/admin/symbols/NO-SUCH/phase", {"phase": "halted", "reason": "r"}))[
        0
    ] == 404


async def test_an_auction_trades_at_one_price_when_its_time_is_over(engine: EngineClient) -> None:
    await fund(engine)
    body = await set_phase(engine, "auction", 1)
    assert body["phase"] == "auction"
    assert body["phaseEndsAt"] > time.time() * 1000 - 5_000
    buy = await engine.place("buy", "110", "2", "alice")
    sell = await engine.place("sell", "100", "1", "bob")
    assert (buy.filled_quantity, sell.filled_quantity) == (0, 0)
    assert (await engine.place("buy", "110", "1", type=pb.IOC)).result_code == "PHASE_AUCTION"
    await eventually(lambda: is_continuous(engine))

    events = await engine.events(sell.sequence + 1, await engine.last_sequence())
    events = [event for event in events if event["type"] != "reject"]
    assert [event["type"] for event in events] == ["phase", "trade", "phase"]
    priced, trade, ended = events
    assert (priced["phase"], priced["price"], priced["volume"]) == ("uncrossing", "105", "1")
    assert (trade["price"], trade["takerLimit"], trade["makerLimit"]) == ("105", "100", "110")
    assert (ended["phase"], ended["price"]) == ("continuous", "")
    found = await engine.find(buy.order_id)
    assert found.status == "PARTIALLY_FILLED"
    # A buyer who offered 110 paid 105 and his fee, and holds his limit for the rest.
    balance = (await engine.balances())["USD"]
    assert balance.locked == "110"


async def test_an_uncross_of_many_orders_is_cut_into_commands(engine: EngineClient) -> None:
    await fund(engine)
    await set_phase(engine, "auction")
    count = 2 * UNCROSS_STEPS_MAX + 10
    requests = [order("sell", "100", "0.001", "bob") for _ in range(count)]
    await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=requests))
    await engine.place("buy", "100", str(count / 1000), "alice")
    await set_phase(engine, "continuous")
    await eventually(lambda: is_continuous(engine))
    assert {(await engine.find(request.order_id)).status for request in requests} == {"FILLED"}


async def test_the_command_line_sets_and_lists_phases(engine: EngineClient, settings: Settings) -> None:
    own = as_part(settings, EngineSettings)
    line = await phase_operator.set_phase(own, "BTC-USD", "post-only", timedelta(hours=1), "a test", "shell:ada")
    assert line.startswith("BTC-USD is post-only until ")
    assert line in await phase_operator.listed_phases(own)
    epoch = (await engine.request("GET", "/api/v1/admin/actions"))[1]["epoch"]
    (noted,) = (await engine.request("GET", f"/api/v1/admin/actions?epoch={epoch}"))[1]["actions"]
    assert (noted["action"]["operator"], noted["action"]["action"]) == ("shell:ada", "markets.phase")
    for symbol, phase, fault in (("BTC-USD", "open", "PHASE"), ("NO-SUCH", "halted", "NO-SUCH")):
        with pytest.raises(phase_operator.PhaseOperatorError, match=fault):
            await phase_operator.set_phase(own, symbol, phase, timedelta(), "a test", "shell:ada")


async def test_a_restart_keeps_a_phase_and_when_it_ends(settings: Settings) -> None:
    async with running_engine(settings) as engine:
        await fund(engine)
        await set_phase(engine, "auction", 2)
        await engine.place("buy", "110", "1", "alice", order_id=7)
        await engine.place("sell", "100", "1", "bob")
    async with running_engine(settings) as engine:
        assert await phase_of(engine) == "auction"
        await eventually(lambda: is_continuous(engine))
        assert (await engine.find(7)).status == "FILLED"


@pytest.mark.parametrize("moment", [KILLED_BEFORE_COMMIT, KILLED_AFTER_COMMIT, KILLED_AFTER_APPLY])
async def test_an_engine_killed_in_an_auction_and_at_its_uncross_trades_each_order_once(
    settings: Settings, nursery: Nursery, moment: str
) -> None:
    count = UNCROSS_STEPS_MAX + 10
    async with forked_engine(settings, nursery, moment) as (child, engine):
        await fund(engine)
        before = await totals(engine)
        await set_phase(engine, "auction")
        sells = [order("sell", "100", "0.001", "bob") for _ in range(count)]
        await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=sells))
        buy = await engine.place("buy", "101", str(count / 1000), "alice")
        child.kill()
        child.start()
        await child.ready(engine)
        assert await phase_of(engine) == "auction"

        tell_to_die(settings)
        with pytest.raises(aiohttp.ClientError):
            await set_phase(engine, "continuous")
        assert child.wait() == -9
        child.start()
        await child.ready(engine)
        if moment == KILLED_BEFORE_COMMIT:
            assert await phase_of(engine) == "auction"
            await set_phase(engine, "continuous")
        await eventually(lambda: is_continuous(engine))
        assert {(await engine.find(one.order_id)).status for one in sells} == {"FILLED"}
        assert (await engine.find(buy.order_id)).status == "FILLED"
        events = await engine.events(buy.sequence, await engine.last_sequence())
        trades = [event for event in events if event["type"] == "trade"]
        assert len(trades) == count
        assert {trade["price"] for trade in trades} == {"100.5"}
        assert await totals(engine) == before, "an uncross made or lost money"


async def test_a_halt_and_an_order_that_end_while_the_disk_is_full_end_once_there_is_space(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    time_ns = time.time_ns()
    engine = await Engine.open(as_part(settings, EngineSettings), lambda: time_ns)
    core, symbol = engine.machine.core, engine.machine.directory.symbols["BTC-USD"].symbol_id
    await engine.money_intake.change_balance(CommandKind.DEPOSIT, "alice", "USD", "1000", "")
    placed = engine.intake.place([order("buy", "90", "1", order_id=7, expires_at_ms=time_ns // 1_000_000 + 100)]).future
    assert placed is not None
    await placed
    await engine.intake.set_phase("BTC-USD", MarketPhase.HALTED, 1)
    refusals: list[str] = []

    def refusal(_: Disk) -> str:
        refusals.append("the disk is full")
        return refusals[-1]

    with monkeypatch.context() as patch:
        patch.setattr(Disk, "refusal", property(refusal))
        time_ns += 5 * 10**9
        await eventually(lambda: len(refusals) > 3)
        assert core.order(7) is not None
        assert [row.symbol for row in core.phases()] == [symbol]
    await eventually(lambda: core.order(7) is None and not core.phases())
    await engine.close()
