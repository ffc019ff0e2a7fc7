"""REST edge and order router in one process: an order does not take the way over the bus between them."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import GetOrder, GetOrderReply, OrderRequest, SubmitOrder, SubmitOrderReply
from openspot.http.server import FILES_RESERVED
from openspot.kit.bus import Bus
from openspot.kit.bus.consumer import LAG_INTERVAL_S
from openspot.kit.description import Process
from openspot.kit.secrets_file import with_secrets
from openspot.kit.service import ServiceMain
from openspot.kit.settings import Settings
from openspot.kit.shared_process import SharedProcess
from openspot.up.one_process import together
from openspot.up.run import run
from openspot.up.services import SERVICES, SHARING, PlatformSettings
from openspot.up.supervisor import child_settings, environment_of, is_ready
from tests.support.engine_client import EngineClient
from tests.support.in_process_platform import running
from tests.support.rest_client import RestClient
from tests.support.router_client import Published, listening
from tests.support.waiting import START_S_MAX, eventually, stretched

ORDER = {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1", "price": "100"}


async def ready(settings: Settings) -> bool:
    ports = [SERVICES[name].ready_port(settings) for name in SHARING]
    return all([await is_ready(settings.host, port, stretched(3)) for port in ports])


@asynccontextmanager
async def one_process(settings: Settings) -> AsyncIterator[asyncio.Task[None]]:
    """Both services as tasks of the test, put together as in a process of `openspot up`."""
    stop = asyncio.Event()
    task = asyncio.ensure_future(together(dict.fromkeys(SHARING, settings))(None, stop))
    try:
        await eventually(lambda: ready(settings), START_S_MAX)
        yield task
    finally:
        stop.set()
        await asyncio.wait_for(task, stretched(30))


@pytest.fixture
async def alice(settings: Settings) -> AsyncIterator[RestClient]:
    """A user with funds, at the edge of a platform whose edge and router share a process."""
    async with running(settings, "engine", "ledger"), one_process(settings):
        engine, rest = EngineClient(settings), RestClient(settings)
        await engine.fund("alice")
        rest.as_user("alice")
        yield rest
        await rest.close()
        await engine.close()


def heard_subjects(heard: Published) -> set[str]:
    return {name for name, *_ in heard.messages}


async def test_an_order_is_placed_found_and_cancelled_without_a_request_on_the_bus(
    settings: Settings, alice: RestClient
) -> None:
    async with listening(settings.nats_url, "orders.>") as heard:
        placed = await alice("POST", "/orders", ORDER)
        assert placed.status == 201, placed.body
        other = await alice("POST", "/orders", ORDER)
        cancelled = await alice("DELETE", f"/orders/{placed.body['orderId']}")
        assert (cancelled.status, cancelled.body["status"]) == (200, "cancelled")
        swept = await alice("DELETE", "/orders", {})
        assert (swept.status, swept.body["cancelled"]) == (200, [other.body["orderId"]]), swept.body
        assert (await alice("GET", "/orders/unknown-0000000000000000")).status in (400, 404)
        await eventually(lambda: len(heard.orders("orders.cancelled.alice")) == 2)
        # The ear is good: it hears what follows from the orders.
        assert "orders.created.alice" in heard_subjects(heard)
        asked = {subjects.ORDERS_SUBMIT, subjects.ORDERS_CANCEL, subjects.ORDERS_CANCEL_OPEN, subjects.ORDERS_GET}
        assert not heard_subjects(heard) & asked


async def test_a_stranger_on_the_bus_places_orders_too(settings: Settings, alice: RestClient, bus: Bus) -> None:
    async with listening(settings.nats_url, "orders.submit") as heard:
        order = OrderRequest("order-of-a-stranger", "BTC-USD", "buy", "limit", "1", "100")
        reply = await bus.request(subjects.ORDERS_SUBMIT, SubmitOrder("alice", order), SubmitOrderReply)
        assert reply.success, reply
        found = await bus.request(subjects.ORDERS_GET, GetOrder("alice", order.order_id), GetOrderReply)
        assert found.order is not None
        assert heard_subjects(heard) == {subjects.ORDERS_SUBMIT}
    listed = await eventually(lambda: alice("GET", "/orders"))
    assert listed.status == 200


async def test_each_port_shows_the_metrics_of_its_service(settings: Settings, alice: RestClient) -> None:
    assert (await alice("POST", "/orders", ORDER)).status == 201
    edge = (await alice("GET", "/metrics", prefix="")).body
    router_url = f"http://{settings.host}:{SERVICES['router'].ready_port(settings)}"
    router_client = RestClient(settings, base_url=router_url)

    async def router_metrics() -> str:
        """The router's page, once it has looked at its consumers for the first time."""
        page: str = (await router_client("GET", "/metrics", prefix="")).body
        return page if '\nopenspot_bus_consumer_lag_messages{durable="router-deposit"}' in page else ""

    router = await eventually(router_metrics, 2 * LAG_INTERVAL_S)
    await router_client.close()
    assert "\nopenspot_router_orders_total{" in router
    assert "\nopenspot_router_orders_total{" not in edge
    assert "\nopenspot_audit_waiting " in edge
    assert "\nopenspot_audit_waiting " not in router


@contextmanager
def services_that(**mains: ServiceMain) -> Iterator[None]:
    """Replace what the services run, by name with an underscore for the hyphen."""

    def main(process: Process) -> ServiceMain:
        return mains[process.name.replace("-", "_")]

    with patch.object(Process, "main", main):
        yield


async def test_if_one_of_them_fails_the_other_stops_in_order_and_the_process_fails(settings: Settings) -> None:
    ended: list[str] = []

    async def serve(_: Any, stop: asyncio.Event, shared: SharedProcess) -> None:
        await stop.wait()
        ended.append("stopped")

    async def fail(_: Any, stop: asyncio.Event, shared: SharedProcess) -> None:
        raise RuntimeError("broken")

    for mains in ({"rest_edge": serve, "router": fail}, {"rest_edge": fail, "router": serve}):
        ended.clear()
        with services_that(**mains), pytest.raises(RuntimeError, match="broken"):  # type: ignore[arg-type]
            await asyncio.wait_for(together(dict.fromkeys(SHARING, settings))(None, asyncio.Event()), stretched(30))
        assert ended == ["stopped"]


async def test_a_fault_at_the_end_is_the_processes_fault(settings: Settings) -> None:
    async def serve(_: Any, stop: asyncio.Event, shared: SharedProcess) -> None:
        await stop.wait()

    async def fail(_: Any, stop: asyncio.Event, shared: SharedProcess) -> None:
        await stop.wait()
        raise RuntimeError("broken at the end")

    stop = asyncio.Event()
    stop.set()
    with services_that(rest_edge=serve, router=fail), pytest.raises(RuntimeError, match="at the end"):
        await asyncio.wait_for(together(dict.fromkeys(SHARING, settings))(None, stop), stretched(30))


async def test_the_edge_stops_before_the_router_that_it_asks(settings: Settings) -> None:
    ended: list[str] = []

    def named(name: str) -> Any:
        async def serve(_: Any, stop: asyncio.Event, shared: SharedProcess) -> None:
            await stop.wait()
            ended.append(f"{name} begins to stop")
            await asyncio.sleep(0.01)
            ended.append(f"{name} has stopped")

        return serve

    stop = asyncio.Event()
    with services_that(rest_edge=named("edge"), router=named("router")):
        task = asyncio.ensure_future(together(dict.fromkeys(SHARING, settings))(None, stop))
        await asyncio.sleep(0)
        stop.set()
        await asyncio.wait_for(task, stretched(30))
    assert ended == ["edge begins to stop", "edge has stopped", "router begins to stop", "router has stopped"]


async def test_both_servers_together_leave_the_process_files_of_its_own(settings: Settings) -> None:
    bounds: dict[str, int] = {}

    async def note(given: Settings, stop: asyncio.Event, shared: SharedProcess) -> None:
        bounds[str(len(bounds))] = given.http_connections_max
        await stop.wait()

    stop = asyncio.Event()
    stop.set()
    few = settings.model_copy(update={"http_connections_max": 10})
    with services_that(rest_edge=note, router=note), patch("openspot.http.server.raise_file_limit", lambda: 1024):
        await asyncio.wait_for(together({"rest-edge": settings, "router": few})(None, stop), stretched(30))
    assert list(bounds.values()) == [(1024 - FILES_RESERVED) // 2, 10]


@pytest.mark.proof
def test_services_that_do_not_share_a_process_are_not_run_in_one(tmp_path: Path) -> None:
    outcome = subprocess.run(
        [sys.executable, "-m", "openspot.cli", "run", "ledger", "router"],
        capture_output=True, text=True, check=False, env=os.environ | {"OPENSPOT_DATA_DIR": str(tmp_path)},
    )  # fmt: skip
    assert outcome.returncode == 1
    assert "these services do not share a process; those that do: rest-edge router" in " ".join(outcome.stderr.split())


@pytest.mark.proof
def test_a_bad_setting_of_either_is_named(tmp_path: Path) -> None:
    for name in ("OPENSPOT_ROUTER_PORT", "OPENSPOT_REST_PORT"):
        outcome = subprocess.run(
            [sys.executable, "-m", "openspot.cli", "run", *SHARING],
            capture_output=True, text=True, check=False,
            env=os.environ | {"OPENSPOT_DATA_DIR": str(tmp_path), name: "nowhere"},
        )  # fmt: skip
        assert (outcome.returncode, name in outcome.stderr) == (1, True), outcome.stderr


def test_each_service_gets_its_own_settings_and_its_own_user_of_the_bus(tmp_path: Path) -> None:
    platform = with_secrets(PlatformSettings(data_dir=tmp_path, router_port=4006, fee_token="BTC"))
    users = {name: f"nats://{name}:secret@127.0.0.1:4222" for name in SHARING}
    given = {name: child_settings(name, platform, users) for name in SHARING}
    found: dict[str, Settings] = {}

    def note(settings: dict[str, Settings]) -> None:
        found.update(settings)

    with (
        patch.dict(os.environ, environment_of(given), clear=True),
        patch("openspot.up.run.together", note),
        patch("openspot.up.run.run_service", return_value=0),
    ):
        run(SHARING)
    assert found == given
    assert {name: settings.nats_url for name, settings in found.items()} == users
