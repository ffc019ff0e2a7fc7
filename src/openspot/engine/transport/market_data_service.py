"""exchange.v1.MarketDataService. All methods are unary; none streams (fact B4.4-27)."""

from typing import NoReturn

import grpc

from openspot.contracts.gen.exchange.v1 import market_data_pb2 as pb
from openspot.contracts.gen.exchange.v1 import market_data_pb2_grpc
from openspot.engine.engine import Engine
from openspot.engine.state.state_machine import RECENT_TRADES_MAX
from openspot.engine.transport.market_views import LevelView, book_levels, lot_text, recent_trades, tick_text
from openspot.engine.transport.order_service import Context
from openspot.kit.clock import NANOSECONDS_PER_MS

_TRADES_DEFAULT = 100


class MarketDataService(market_data_pb2_grpc.MarketDataServiceServicer):
    """Market data. A call with an unknown symbol ends with NOT_FOUND."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._machine = engine.machine

    async def GetOrderBook(  # noqa: N802 - the name of the protocol
        self, request: pb.GetOrderBookRequest, context: Context
    ) -> pb.GetOrderBookResponse:
        """The level-2 book."""
        spec = self._machine.directory.symbols.get(request.symbol)
        if spec is None:
            await _abort_unknown(context, request.symbol)
        bids, asks = book_levels(self._machine, spec, request.depth)
        return pb.GetOrderBookResponse(
            symbol=spec.symbol,
            bids=_levels(bids),
            asks=_levels(asks),
            sequence=self._machine.core.event_sequence,
            timestamp=self._engine.sequencer.now() // NANOSECONDS_PER_MS,
        )

    async def GetSymbols(self, request: pb.GetSymbolsRequest, context: Context) -> pb.GetSymbolsResponse:  # noqa: N802
        """All symbols in order of their numbers."""
        specs = sorted(self._machine.directory.symbols.values(), key=lambda spec: spec.symbol_id)
        return pb.GetSymbolsResponse(
            symbols=[
                pb.SymbolSpecification(
                    symbol=spec.symbol,
                    symbol_id=spec.symbol_id,
                    base_currency=spec.base,
                    quote_currency=spec.quote,
                    base_scale_k=spec.base_scale_k,
                    quote_scale_k=spec.quote_scale_k,
                    tick_size=tick_text(spec),
                    lot_size=lot_text(spec),
                    taker_fee=spec.taker_fee_bps,
                    maker_fee=spec.maker_fee_bps,
                    active=spec.active,
                )
                for spec in specs
            ]
        )

    async def GetRecentTrades(  # noqa: N802
        self, request: pb.GetRecentTradesRequest, context: Context
    ) -> pb.GetRecentTradesResponse:
        """The newest trades of a symbol, newest first."""
        spec = self._machine.directory.symbols.get(request.symbol)
        if spec is None:
            await _abort_unknown(context, request.symbol)
        limit = min(request.limit or _TRADES_DEFAULT, RECENT_TRADES_MAX)
        trades = recent_trades(self._machine, self._engine.epoch, spec, limit)
        return pb.GetRecentTradesResponse(trades=[pb.RecentTrade(**trade._asdict()) for trade in trades])


def _levels(levels: list[LevelView]) -> list[pb.BookLevel]:
    return [pb.BookLevel(**level._asdict()) for level in levels]


async def _abort_unknown(context: Context, symbol: str) -> NoReturn:
    await context.abort(grpc.StatusCode.NOT_FOUND, f"symbol: there is no {symbol!r}")
