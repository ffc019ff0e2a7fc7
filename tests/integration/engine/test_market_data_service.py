"""exchange.v1.MarketDataService over gRPC."""

import grpc
import pytest

from openspot.contracts.gen.exchange.v1 import market_data_pb2 as pb
from tests.support.engine_client import EngineClient


async def trade(engine: EngineClient, price: str, quantity: str, side: str = "buy") -> None:
    maker_side = "sell" if side == "buy" else "buy"
    await engine.place(maker_side, price, quantity, "maker")
    await engine.place(side, price, quantity, "taker")


@pytest.mark.spec("B4.4-28", "B4.4-31")
async def test_the_order_book_shows_levels_best_first(engine: EngineClient) -> None:
    await engine.fund()
    for side, price, quantity in (
        ("buy", "99", "1"),
        ("buy", "99", "0.5"),
        ("buy", "98", "2"),
        ("sell", "101", "1"),
        ("sell", "102.5", "3"),
    ):
        await engine.place(side, price, quantity)
    book = await engine.market_data.GetOrderBook(pb.GetOrderBookRequest(symbol="BTC-USD"))
    assert [(level.price, level.quantity, level.orders) for level in book.bids] == [("99", "1.5", 2), ("98", "2", 1)]
    assert [(level.price, level.quantity) for level in book.asks] == [("101", "1"), ("102.5", "3")]
    assert book.sequence == await engine.last_sequence()
    shallow = await engine.market_data.GetOrderBook(pb.GetOrderBookRequest(symbol="BTC-USD", depth=1))
    assert (len(shallow.bids), len(shallow.asks)) == (1, 1)


@pytest.mark.spec("B4.4-31")
async def test_recent_trades_come_newest_first(engine: EngineClient) -> None:
    await engine.fund("maker")
    await engine.fund("taker")
    await trade(engine, "100", "1")
    await trade(engine, "101", "2", "sell")
    trades = (await engine.market_data.GetRecentTrades(pb.GetRecentTradesRequest(symbol="BTC-USD"))).trades
    assert [(row.price, row.quantity, row.side) for row in trades] == [("101", "2", "sell"), ("100", "1", "buy")]
    stream_ids = [event["tradeId"] for event in await engine.events(1, trades[0].sequence) if event["type"] == "trade"]
    assert [row.trade_id for row in trades] == stream_ids[::-1]
    limited = await engine.market_data.GetRecentTrades(pb.GetRecentTradesRequest(symbol="BTC-USD", limit=1))
    assert len(limited.trades) == 1
    quiet = await engine.market_data.GetRecentTrades(pb.GetRecentTradesRequest(symbol="ETH-USD"))
    assert len(quiet.trades) == 0


@pytest.mark.spec("B4.4-31", "A2.5-02")
async def test_symbols_are_listed_with_their_specification(engine: EngineClient) -> None:
    symbols = (await engine.market_data.GetSymbols(pb.GetSymbolsRequest())).symbols
    assert len(symbols) == 12
    first = symbols[0]
    assert (first.symbol, first.symbol_id, first.base_currency, first.quote_currency) == ("BTC-USD", 1, "BTC", "USD")
    assert (first.base_scale_k, first.quote_scale_k) == (100_000_000, 100)
    assert (first.tick_size, first.lot_size, first.taker_fee, first.maker_fee) == ("0.01", "0.00000001", 25, 15)


async def test_an_unknown_symbol_is_not_found(engine: EngineClient) -> None:
    for call in (
        engine.market_data.GetOrderBook(pb.GetOrderBookRequest(symbol="NO-SUCH")),
        engine.market_data.GetRecentTrades(pb.GetRecentTradesRequest(symbol="")),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND
        assert "symbol" in (caught.value.details() or "")


@pytest.mark.spec("B4.4-27")
async def test_no_operation_streams() -> None:
    methods = pb.DESCRIPTOR.services_by_name["MarketDataService"].methods
    assert {method.name for method in methods} == {"GetOrderBook", "GetSymbols", "GetRecentTrades"}
    assert not any(method.server_streaming or method.client_streaming for method in methods)
