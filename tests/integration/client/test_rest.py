"""The client against the real edges, router and engine."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal

import grpc.aio
import pytest

from openspot.client import ApiError, OpenSpotClient, Push, StreamClosedError
from openspot.contracts.gen.exchange.v1 import accounts_pb2, accounts_pb2_grpc
from openspot.kit.settings import Settings
from tests.support.engine_client import AsService
from tests.support.in_process_platform import running
from tests.support.waiting import eventually, stretched

PASSWORD = "correct horse battery staple"


@pytest.fixture
async def platform(settings: Settings) -> AsyncIterator[Settings]:
    async with running(
        settings,
        "engine",
        "router",
        "market-data",
        "rest-edge",
        "ws-edge",
    ):
        yield settings


async def client_of(settings: Settings, name: str) -> OpenSpotClient:
    """A client in a session of a new user with money."""
    client = OpenSpotClient(settings.rest_url, settings.ws_url)
    user = await client.register(f"{name}@example.org", PASSWORD)
    session = await client.login(f"{name}@example.org", PASSWORD)
    assert session.user_id == user.user_id
    async with grpc.aio.insecure_channel(settings.engine_grpc_address, interceptors=[AsService(settings)]) as channel:
        accounts = accounts_pb2_grpc.AccountServiceStub(channel)
        for asset, amount in (("USD", "100000"), ("BTC", "10")):
            request = accounts_pb2.DepositRequest(
                participant_id=user.user_id, currency=asset, amount=amount, reference=f"{name}-{asset}"
            )
            assert (await accounts.Deposit(request)).success
    return client


async def test_everything_a_trader_does(platform: Settings) -> None:
    async with await client_of(platform, "maker") as maker, await client_of(platform, "taker") as taker:
        markets = {market.symbol: market for market in await maker.markets()}
        assert markets["BTC-USD"].tick_size == Decimal("0.01")
        assert await maker.market("BTC-USD") == markets["BTC-USD"]
        balance = await maker.balance("USD")
        assert (balance.total, balance.locked, balance.source) == (Decimal(100000), 0, "engine")

        async with maker.stream() as stream:
            resting = await maker.place_order(
                "BTC-USD", "sell", quantity="0.5", price="50000", client_order_id="mine", time_in_force="gtc"
            )
            assert (resting.status, resting.price, resting.client_order_id) == ("open", Decimal(50000), "mine")
            await eventually(lambda: _asks(maker, [(Decimal(50000), Decimal("0.5"))]))

            bought = await taker.place_order("BTC-USD", "buy", quantity=Decimal("0.2"), price=50000)
            assert bought.status == "filled"
            market_order = await eventually(lambda: _market_buy(taker))
            assert (market_order.type, market_order.status) == ("market", "filled")

            events = aiter(stream)
            seen = []
            while len(seen) < 3:
                event = await asyncio.wait_for(anext(events), stretched(30))
                assert isinstance(event, Push)
                if event.channel == "orders":
                    seen.append((event.event, event.data["orderId"], event.data["filledQuantity"]))
            assert seen == [
                ("order.created", resting.order_id, "0"),
                ("order.updated", resting.order_id, "0.2"),
                ("order.updated", resting.order_id, "0.3"),
            ]

        await eventually(lambda: _has_filled(maker, resting.order_id, Decimal("0.3")))
        assert [order.order_id for order in await maker.orders(status="partially_filled", client_order_id="mine")] == [
            resting.order_id
        ]
        await eventually(lambda: _traded(maker, [Decimal("0.1"), Decimal("0.2")]))
        ticker = await maker.ticker("BTC-USD")
        assert (ticker.last_price, ticker.ask_price, ticker.bid_price) == (Decimal(50000), Decimal(50000), None)
        assert "BTC-USD" in {entry.symbol for entry in await maker.tickers()}

        cancelled = await maker.cancel_order(resting.order_id)
        assert (cancelled.status, cancelled.filled_quantity) == ("cancelled", Decimal("0.3"))
        with pytest.raises(ApiError) as late:
            await maker.cancel_order(resting.order_id)
        assert late.value.status == 409
        with pytest.raises(ApiError) as foreign:
            await taker.order(resting.order_id)
        assert foreign.value.status == 404
        assert {entry.asset: entry.locked for entry in await maker.balances()}["BTC"] == 0


async def _asks(client: OpenSpotClient, expected: list[tuple[Decimal, Decimal]]) -> bool:
    """Market data follows the engine some moments later."""
    return (await client.order_book("BTC-USD", depth=5)).asks == expected


async def _traded(client: OpenSpotClient, expected: list[Decimal]) -> bool:
    """Whether these are the quantities of the newest trades."""
    return [trade.quantity for trade in await client.trades("BTC-USD")] == expected


async def _market_buy(client: OpenSpotClient):  # type: ignore[no-untyped-def]
    """A market order, once the router has seen a trade price."""
    try:
        return await client.place_order("BTC-USD", "buy", order_type="market", quantity="0.1")
    except ApiError as error:
        assert "no recent trade price" in error.message
        return None


async def _has_filled(client: OpenSpotClient, order_id: str, quantity: Decimal) -> bool:
    return (await client.order(order_id)).filled_quantity == quantity


async def test_many_orders_are_cancelled_at_once_and_pages_list_them(platform: Settings) -> None:
    async with await client_of(platform, "many") as client:
        placed = [
            (await client.place_order("BTC-USD", "buy", quantity="0.01", price=str(100 + number))).order_id
            for number in range(5)
        ]
        other = (await client.place_order("ETH-USD", "buy", quantity="0.1", price="100")).order_id

        async def listed() -> list[str]:
            ids: list[str] = []
            page = await client.orders(status="open", limit=2)
            ids += [order.order_id for order in page]
            while page.next_cursor is not None:
                page = await client.orders(status="open", limit=2, cursor=page.next_cursor)
                ids += [order.order_id for order in page]
            return ids

        async def all_listed() -> bool:
            return set(await listed()) == {*placed, other}

        await eventually(all_listed)
        outcome = await client.cancel_orders(symbol="BTC-USD")
        assert set(outcome.cancelled) == set(placed)
        assert outcome.failed == []
        by_id = await client.cancel_orders(order_ids=[other, placed[0]])
        assert by_id.cancelled == [other]
        assert [failure.order_id for failure in by_id.failed] == [placed[0]]

        async def all_ended() -> bool:
            return {order.order_id for order in await client.order_history()} == {*placed, other}

        await eventually(all_ended)


async def test_what_is_refused_says_why(platform: Settings) -> None:
    async with await client_of(platform, "refused") as client:
        with pytest.raises(ApiError) as unfunded:
            await client.place_order("BTC-USD", "sell", quantity="50", price="50000")
        assert unfunded.value.status == 400
        with pytest.raises(ApiError, match="price is required") as invalid:
            await client.place_order("BTC-USD", "buy", quantity="1")
        assert invalid.value.code == "VALIDATION_FAILED"
        with pytest.raises(ApiError) as common:
            await client.register("common@example.org", "password1234")
        assert common.value.status == 400
        with pytest.raises(ApiError) as wrong:
            await client.login("refused@example.org", "another password")
        assert wrong.value.status == 401
        with pytest.raises(ApiError) as anonymous:
            await client.balances()
        assert anonymous.value.status == 401


async def test_a_session_is_renewed_and_ended(platform: Settings) -> None:
    async with await client_of(platform.model_copy(), "session") as client:
        session = await client.login("session@example.org", PASSWORD)
        client.resume(type(session)("not.a.token", session.refresh_token, 1, session.user_id))
        assert (await client.balance("USD")).total == Decimal(100000)
        async with client.stream() as stream:
            await client.logout()
            with pytest.raises(StreamClosedError, match="4401 the session has ended"):
                await asyncio.wait_for(anext(aiter(stream)), stretched(30))
        client.resume(session)
        with pytest.raises(ApiError) as ended:
            await client.balances()
        assert ended.value.status == 401
