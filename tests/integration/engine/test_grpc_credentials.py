"""Orders and money over gRPC are for services; market data is for everybody, administration for its own tokens."""

from typing import Any

import grpc
import pytest

from openspot.contracts.gen.exchange.v1 import accounts_pb2, admin_pb2, admin_pb2_grpc, market_data_pb2, orders_pb2
from openspot.kit.service_credential import headers
from tests.support.engine_client import EngineClient

KEY, SECRET = "test-key", "test-secret"
RIGHT = headers(KEY, SECRET)
WRONG: dict[str, Any] = {
    "none": {"x-unrelated": "1"},
    "no secret": {name: value for name, value in RIGHT.items() if name != "x-api-secret"},
    "no key": {name: value for name, value in RIGHT.items() if name != "x-api-key"},
    "no participant type": {name: value for name, value in RIGHT.items() if name != "x-participant-type"},
    "empty": headers("", ""),
    "wrong key": headers("another", SECRET),
    "wrong secret": headers(KEY, f"{SECRET}x"),
    "beginning of the secret": headers(KEY, SECRET[:-1]),
    "swapped": headers(SECRET, KEY),
    "another type": RIGHT | {"x-participant-type": "USER"},
    "administrator's token": {"authorization": "Bearer abc"},
}
DEPOSIT = accounts_pb2.DepositRequest(participant_id="mallory", currency="USD", amount="1000000")


async def status_of(call: Any, request: Any, metadata: dict[str, str]) -> grpc.StatusCode:
    try:
        await call(request, metadata=tuple(metadata.items()))
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


@pytest.mark.parametrize("metadata", WRONG.values(), ids=WRONG)
async def test_without_the_credential_nothing_of_orders_and_accounts_can_be_called(
    engine: EngineClient, metadata: dict[str, str]
) -> None:
    calls = [
        (method, request_type())
        for stub, service in ((engine.orders, orders_pb2), (engine.accounts, accounts_pb2))
        for descriptor in service.DESCRIPTOR.services_by_name.values()
        for method, request_type in (
            (getattr(stub, found.name), getattr(service, found.input_type.name)) for found in descriptor.methods
        )
    ]
    assert len(calls) > 8
    for method, request in [*calls, (engine.accounts.Deposit, DEPOSIT)]:
        assert await status_of(method, request, metadata) == grpc.StatusCode.UNAUTHENTICATED
    status, body = await engine.request("GET", "/api/v1/balances?participantId=mallory")
    assert (status, body["balances"]) == (200, [])


async def test_with_the_credential_money_is_credited(engine: EngineClient) -> None:
    assert await status_of(engine.accounts.Deposit, DEPOSIT, RIGHT) == grpc.StatusCode.OK


async def test_a_refused_caller_may_call_again_with_the_credential(engine: EngineClient) -> None:
    for _ in range(3):
        refused = await status_of(engine.accounts.Deposit, DEPOSIT, WRONG["wrong secret"])
        taken = await status_of(engine.accounts.Deposit, DEPOSIT, RIGHT)
        assert (refused, taken) == (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.OK)


async def test_market_data_is_public_and_administration_asks_for_its_own_token(engine: EngineClient) -> None:
    book = market_data_pb2.GetOrderBookRequest(symbol="BTC-USD")
    assert await status_of(engine.market_data.GetOrderBook, book, {"x-unrelated": "1"}) == grpc.StatusCode.OK
    admin = admin_pb2_grpc.AdminServiceStub(engine.channel)
    stats = admin_pb2.GetExchangeStatsRequest()
    assert await status_of(admin.GetExchangeStats, stats, RIGHT) == grpc.StatusCode.UNAUTHENTICATED
