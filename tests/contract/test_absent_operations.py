"""Operations that no interface has (facts A1.2-16 to A1.2-27): neither by name, nor by trying them.

Every operation of the platform is listed from where it is declared: the HTTP routes of edge and engine, the services of
the gRPC packages, the subjects of the bus, the commands.
"""

import re

import pytest
from google.protobuf.descriptor import ServiceDescriptor
from typer.main import get_command

from openspot.cli import app
from openspot.contracts import subjects
from openspot.contracts.gen.exchange.v1 import accounts_pb2, admin_pb2, market_data_pb2, orders_pb2
from openspot.up.services import PlatformSettings
from tests.support.engine_client import EngineClient, engine_settings, running_engine
from tests.support.http_routes import all_routes

ABSENT = {
    "a strategy kill-switch": re.compile(r"kill|strateg|panic|emergency", re.IGNORECASE),
    "a venue failover": re.compile(r"failover|fail_over|venue", re.IGNORECASE),
    "an operation that halts a market": re.compile(r"halt|suspend|freeze|auction", re.IGNORECASE),
    "an operation that pauses a market": re.compile(r"pause", re.IGNORECASE),
    "an operation that resumes a market": re.compile(r"resume|unhalt|reopen", re.IGNORECASE),
}
ONE_VENUE = {
    "fair_price_venue_age_s",
    "openspot venue-simulator",
    "venue",
    "venue_config",
    "venue_host",
    "venue_port",
    "venue_queue_max",
    "venue_reconnect_s_max",
    "venue_stale_s",
    "venue_symbols",
}
"""Names that speak of the venue adapter, which follows one venue, or of the simulated one: no failover."""
TRANSFERS_OF_COINS = {
    "GET /api/v1/operator/pauses",
    "PUT /api/v1/operator/pauses",
    "POST /api/v1/operator/pauses/resumptions",
}
"""Names about deposits and withdrawals of a coin: no market stands still, and no order waits."""
FREEZES_OF_PARTICIPANTS = {
    f"{method} /api/v1/{of}/participants/{{participantId}}/freeze"
    for method in ("PUT", "DELETE")
    for of in ("admin", "operator")
}
"""Names about the orders of one participant: no market stands still."""
FACTS = ("A1.2-19", "A1.2-20", "A1.2-21", "A1.2-22", "A1.2-23")


def services() -> list[ServiceDescriptor]:
    modules = (accounts_pb2, admin_pb2, market_data_pb2, orders_pb2)
    return [service for module in modules for service in module.DESCRIPTOR.services_by_name.values()]


def http_operations() -> set[str]:
    """Method and path of every HTTP route of every service."""
    return {f"{route.method} {route.path}" for _, route in all_routes()}


def operations() -> set[str]:
    """The name of everything that can be asked of the platform."""
    commands = get_command(app).commands
    bus = {value for name, value in vars(subjects).items() if name.isupper() and isinstance(value, str)}
    grpc = {f"{service.full_name}/{method.name}" for service in services() for method in service.methods}
    return {*http_operations(), *grpc, *bus, *(f"openspot {name}" for name in commands)}


def test_the_list_of_operations_is_the_platforms() -> None:
    known = operations()
    assert {
        "POST /api/v1/orders",
        "PUT /api/v1/admin/symbols/{symbol}",
        "exchange.v1.OrderService/PlaceOrder",
        "orders.submit",
        "openspot up",
    } <= known
    assert len(known) > 80


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.spec(fact)) for name, fact in zip(ABSENT, FACTS, strict=True)]
)
def test_no_operation_bears_such_a_name(name: str) -> None:
    allowed = ONE_VENUE | TRANSFERS_OF_COINS | FREEZES_OF_PARTICIPANTS
    assert not {operation for operation in operations() if ABSENT[name].search(operation)} - allowed


@pytest.mark.spec("A1.2-19", "A1.2-20", "A1.2-21", "A1.2-22", "A1.2-23")
def test_no_setting_turns_such_an_operation_on() -> None:
    # The pauses that settings speak of are those between two attempts, two slices of a liquidation or two volatility
    # interruptions, whose auction is a phase of continuous markets.
    known = {name for name in PlatformSettings.model_fields if any(pattern.search(name) for pattern in ABSENT.values())}
    assert known - ONE_VENUE == {
        "symbol_load_pause_s", "margin_liquidation_pause_s", "volatility_auction_s", "volatility_pause_s"
    }  # fmt: skip


@pytest.fixture
async def engine(tmp_path):  # type: ignore[no-untyped-def]
    """A new engine in this process, and a client with the service's key."""
    async with running_engine(engine_settings(tmp_path)) as client:
        yield client


@pytest.mark.spec("A1.2-21", "A1.2-22", "A1.2-23")
@pytest.mark.parametrize("verb", ["halt", "pause", "resume", "suspend"])
async def test_the_engine_knows_no_such_call_and_goes_on_trading(engine: EngineClient, verb: str) -> None:
    paths = (f"/admin/symbols/BTC-USD/{verb}", f"/markets/BTC-USD/{verb}", f"/admin/markets/BTC-USD/{verb}",
             f"/admin/{verb}", f"/{verb}")  # fmt: skip
    for path in paths:
        for method in ("POST", "PUT"):
            status, _ = await engine.request(method, f"/api/v1{path}", {"symbol": "BTC-USD"})
            assert status in (404, 405), (method, path)
    # A field of the symbol that means as much is refused by its name.
    for field in ("halted", "paused", "status", "state", "tradingEnabled"):
        status, body = await engine.request("PUT", "/api/v1/admin/symbols/BTC-USD", {field: verb})
        assert status == 400, (field, body)
    await engine.fund()
    assert (await engine.place("buy", "100", "1")).result_code == "SUCCESS"


@pytest.mark.spec("A1.2-21", "A1.2-22", "A1.2-23")
async def test_a_deactivated_symbol_refuses_new_orders_and_halts_nothing_else(engine: EngineClient) -> None:
    """`active` of a symbol deactivates it (docs/deviations.md): no halt, since resting orders stay and can go."""
    await engine.fund()
    resting = await engine.place("buy", "100", "1")
    path = "/api/v1/admin/symbols/BTC-USD"
    assert (await engine.request("PATCH", path, {"active": False}))[1]["active"] is False
    assert (await engine.place("buy", "100", "1")).result_code == "SYMBOL_INACTIVE"
    book = (await engine.request("GET", "/api/v1/marketdata/orderbook/BTC-USD"))[1]
    assert book["bids"] == [["100", "1"]]
    assert (await engine.cancel(resting.order_id)).result_code == "SUCCESS"
