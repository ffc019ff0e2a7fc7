"""Traces of orders: what a collector receives, and what an order's way through the platform leaves."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from openspot.deposit.deposit import deposit
from openspot.kit import tracing
from openspot.kit.settings import Settings
from openspot.kit.tracing import Step, recorder, trace_id_of
from openspot.kit.tracing.files import SpanLine, read
from openspot.kit.tracing.steps import PLACES, root_of, span_id_of
from tests.support.in_process_platform import running
from tests.support.order_connection import order_connection
from tests.support.ports import free_port
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually, stretched

OF_AN_ORDER = [step for step in Step if root_of(step) is Step.ORDER]


@pytest.fixture
async def collector() -> AsyncIterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """The address of a collector, and what it has received."""
    received: list[ExportTraceServiceRequest] = []

    async def take(request: web.Request) -> web.Response:
        received.append(ExportTraceServiceRequest.FromString(await request.read()))
        return web.Response(content_type="application/x-protobuf")

    app, port = web.Application(), free_port()
    app.router.add_post("/v1/traces", take)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    yield f"http://127.0.0.1:{port}/v1/traces", received
    await runner.cleanup()


async def test_a_collector_receives_the_spans_with_the_ids_that_every_process_computes(
    collector: tuple[str, list[ExportTraceServiceRequest]],
) -> None:
    address, received = collector
    tracing.start(Settings(tracing_endpoint=address, tracing_share=1), "test")
    try:
        tracing.record("o1", Step.ORDER, 1_000, 9_000, symbol="BTC-USD")
        tracing.record("o1", Step.SETTLE, 5_000, 7_000, key="t1")

        async def both_arrived() -> bool:
            return sum(len(scope.spans) for part in received for group in part.resource_spans
                       for scope in group.scope_spans) == 2  # fmt: skip

        await eventually(both_arrived)
    finally:
        tracing.stop()
    spans = {
        group.resource.attributes[0].value.string_value: span
        for part in received
        for group in part.resource_spans
        for scope in group.scope_spans
        for span in scope.spans
    }
    order, settle = spans["openspot-rest-edge"], spans["openspot-ledger"]
    assert {order.trace_id, settle.trace_id} == {trace_id_of("o1").to_bytes(16)}
    assert (order.name, order.parent_span_id, order.start_time_unix_nano) == ("place order", b"", 1_000)
    assert settle.parent_span_id == order.span_id == span_id_of("o1", Step.ORDER).to_bytes(8)
    assert settle.span_id == span_id_of("o1", Step.SETTLE, "t1").to_bytes(8)


def test_a_collector_that_is_away_holds_nobody_up_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "GOODBYE_S_MAX", 0.2)
    tracing.start(Settings(tracing_endpoint=f"http://127.0.0.1:{free_port()}/v1/traces", tracing_share=1), "test")
    for number in range(3_000):
        tracing.record(f"o{number}", Step.ORDER, 1, 2)
    began = time.monotonic()
    tracing.stop()
    assert time.monotonic() - began < stretched(recorder.EXPORT_S_MAX), "one batch alone is tried for so long"


async def test_an_order_that_trades_leaves_every_step_of_its_way(settings: Settings, tmp_path: Path) -> None:
    traced = settings.model_copy(update={"tracing_endpoint": "file", "tracing_share": 1.0})
    async with running(traced, "engine", "ledger", "ledger-worker", "router", "rest-edge"):
        for user, asset in (("alice", "USD"), ("bob", "BTC")):
            await deposit(traced, user, asset, "1000", f"{user}-1")
        client = RestClient(traced)
        body = {"symbol": "BTC-USD", "type": "limit", "price": "100", "quantity": "1"}
        client.as_user("bob")
        maker = await client("POST", "/orders", body | {"side": "sell"})
        client.as_user("alice")
        taker = await client("POST", "/orders", body | {"side": "buy"})
        await client.close()
        assert (maker.status, taker.body["status"]) == (201, "filled")
        wanted = f"{trace_id_of(taker.body['orderId']):032x}"

        def spans() -> dict[str, SpanLine]:
            return {span.name: span for span in read(traced.data_dir) if span.trace_id == wanted}

        async def complete() -> bool:
            return spans().keys() == {step.value for step in OF_AN_ORDER}

        await eventually(complete)
    found = spans()
    assert {name: span.service for name, span in found.items()} == {
        step.value: f"openspot-{PLACES[step].service}" for step in OF_AN_ORDER
    }
    for step in (Step.REQUEST, Step.SUBMIT, Step.CHECKS, Step.CALL, Step.ENGINE, Step.JOURNAL):
        parent = PLACES[step].parent
        assert parent is not None
        assert found[parent].began <= found[step].began <= found[step].ended <= found[parent].ended
    assert all(found[Step.ENGINE].began < found[step].ended for step in (Step.PUBLISH, Step.ROWS, Step.SETTLE))


LIMIT = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "price": "100", "quantity": "1"}
PAIR = {
    "type": "oco",
    "orders": [
        {"symbol": "BTC-USD", "side": "sell", "type": "limit", "price": "105", "quantity": "1"},
        {"symbol": "BTC-USD", "side": "sell", "type": "stop_limit", "stopPrice": "95", "price": "95", "quantity": "1"},
    ],
}


async def test_cancels_amendments_lists_and_orders_of_connections_are_traced_too(settings: Settings) -> None:
    traced = settings.model_copy(update={"tracing_endpoint": "file", "tracing_share": 1.0, "rules": "complete"})

    def traces() -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for span in read(traced.data_dir):
            found.setdefault(span.trace_id, set()).add(span.name)
        return found

    def names(order_id: str, root: Step = Step.ORDER) -> set[str]:
        """The spans of the one trace of that kind that the order has, whatever its key."""
        own = {span.trace_id for span in read(traced.data_dir) if span.attributes["order.id"] == order_id}
        return next((found for each in own if root in (found := traces()[each])), set())

    placed = {Step.ORDER, Step.REQUEST, Step.SUBMIT, Step.CHECKS, Step.CALL, Step.ENGINE, Step.JOURNAL}
    async with running(traced, "engine", "ledger", "router", "rest-edge"):
        for asset in ("USD", "BTC"):
            await deposit(traced, "alice", asset, "1000", f"alice-{asset}")
        client = RestClient(traced)
        client.as_user("alice")
        order_id = (await client("POST", "/orders", LIMIT)).body["orderId"]
        assert (await client("PATCH", f"/orders/{order_id}", {"price": "99"})).status == 200
        new = await client("POST", f"/orders/{order_id}/replace", LIMIT | {"price": "98"})
        assert new.status == 201, new.body
        new_id = new.body["order"]["orderId"]
        assert (await client("DELETE", f"/orders/{new_id}")).status == 200
        # Whoever asks for an id that no edge has made leaves nothing.
        assert (await client("DELETE", "/orders/chosen-by-somebody")).status == 404
        listed = await client("POST", "/orders/lists", PAIR)
        assert listed.status == 201, listed.body
        async with order_connection(client) as connection:
            own = (await connection.ask("placeOrder", LIMIT))["body"]["orderId"]
        await client.close()

        async def complete() -> bool:
            whole = [new_id, own, *(each["orderId"] for each in listed.body["orders"])]
            return (
                all(names(each) >= {step.value for step in placed} for each in whole)
                and names(order_id, Step.AMEND) == {Step.AMEND, Step.AMEND_WORK, Step.AMEND_CALL}
                and names(new_id, Step.CANCEL) == {Step.CANCEL, Step.CANCEL_WORK, Step.CANCEL_CALL}
            )

        await eventually(complete)
    spans = list(read(traced.data_dir))
    assert not [span for span in spans if span.attributes["order.id"] == "chosen-by-somebody"]
    by_name = {span.name: span for span in spans if root_of(Step(span.name)) is Step.CANCEL}
    outer, inner = by_name[Step.CANCEL], by_name[Step.CANCEL_CALL]
    assert outer.began <= inner.began <= inner.ended <= outer.ended
