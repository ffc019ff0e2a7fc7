"""Paths of positions, balances, trades, profit and loss, risk and statistics (facts B4.5-01 to B4.5-19)."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of, operation_of
from openspot.http.lists import (
    LIMIT_DEFAULT,
    NEXT_CURSOR_HEADER,
    Cursor,
    Limit,
    decode_cursor,
    unknown_cursor,
)
from openspot.http.paging import page_of, respond_with_page, serial_of
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import respond
from openspot.http.routing import Router
from openspot.http.validation import Currency, ParticipantId, Symbol
from openspot.kit.clock import datetime_from_ms
from openspot.positions.access import require_visible, visible
from openspot.positions.holdings.schemas import (
    BalanceResponse,
    ParticipantStatistics,
    PnlResponse,
    PositionResponse,
    PositionState,
    RiskResponse,
    SnapshotResponse,
    SummaryStatistics,
    SymbolPnlResponse,
    TradeResponse,
    TradeSource,
)
from openspot.positions.holdings.service import (
    HoldingService,
    balance_response,
    position_response,
    snapshot_response,
    statistics_response,
    trade_response,
)
from openspot.positions.times import milliseconds_of

READ = Policy(Access.USER, Scope.READ)
CHANGE = Policy(Access.USER, audit=True, idempotency=True)

ParticipantPath = Annotated[ParticipantId, Path(alias="participantId", description="Id of the participant: a user")]
ParticipantQuery = Annotated[
    ParticipantId | None,
    Query(alias="participantId", description="By default your own; an administrator's default is all"),
]
SymbolPath = Annotated[Symbol, Path(description="The market, for example BTC-USD")]
SymbolQuery = Annotated[Symbol | None, Query(description="Only those of this market")]
AssetPath = Annotated[Currency, Path(alias="assetId", description="The asset, for example BTC")]
AssetQuery = Annotated[Currency | None, Query(alias="assetId", description="Only those of this asset")]

NOT_FOUND = {404: "there is no such participant, or it is not yours to see"}
TIME_MAX_MS = 253_402_300_799_999


def holding_routes(prefix: str, holdings: HoldingService) -> Router:
    """The routes below `prefix`."""
    router = Router(prefix, tag="positions")
    store = holdings.store

    @router.get(
        "/positions", READ, response=list[PositionResponse], headers=NEXT_CURSOR_HEADER, refusals=NOT_FOUND,
        summary="Positions, by participant and symbol",
    )  # fmt: skip
    async def list_positions(
        request: Request,
        participant_id: ParticipantQuery = None,
        symbol: SymbolQuery = None,
        status: Annotated[PositionState | None, Query(description="By default both")] = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        wanted = visible(caller(request), participant_id)
        is_open = None if status is None else status == "open"
        rows = await store.positions(wanted, symbol, is_open=is_open, after=_pair(cursor), limit=limit + 1)
        return respond_with_page(
            page_of(rows, limit, lambda row: [row["participant_id"], row["symbol"]], position_response)
        )

    @router.get(
        "/positions/snapshots", READ, response=list[SnapshotResponse], headers=NEXT_CURSOR_HEADER, refusals=NOT_FOUND,
        summary="Snapshots of positions, newest first",
    )  # fmt: skip
    async def list_snapshots(
        request: Request,
        participant_id: ParticipantQuery = None,
        symbol: SymbolQuery = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        rows = await store.snapshots(
            visible(caller(request), participant_id), symbol, _snapshot_place(cursor), limit + 1
        )
        return respond_with_page(page_of(
            rows, limit, lambda row: [milliseconds_of(row["taken_at"]), row["participant_id"], row["symbol"]],
            snapshot_response,
        ))  # fmt: skip

    @router.get(
        "/positions/{participantId}/{symbol}", READ, response=PositionResponse,
        refusals={404: "there is no such position, or it is not yours to see"}, summary="One position",
    )  # fmt: skip
    async def get_position(request: Request, participant_id: ParticipantPath, symbol: SymbolPath) -> Response:
        return respond(await holdings.position(require_visible(caller(request), participant_id), symbol))

    @router.post(
        "/positions/{participantId}/{symbol}/close", CHANGE, response=PositionResponse,
        refusals={
            404: "there is no such position, or it is not yours to see",
            409: "the position is flat, has no mark price, or follows the fills of the exchange",
        },
        summary="Close a position at its mark price",
    )  # fmt: skip
    async def close_position(request: Request, participant_id: ParticipantPath, symbol: SymbolPath) -> Response:
        operation = operation_of(context_of(request))
        owner = require_visible(caller(request), participant_id)
        return respond(await holdings.close(owner, symbol, operation.operation_id))

    @router.get(
        "/balances", READ, response=list[BalanceResponse], headers=NEXT_CURSOR_HEADER, refusals=NOT_FOUND,
        summary="Balances, by participant and asset",
    )  # fmt: skip
    async def list_balances(
        request: Request,
        participant_id: ParticipantQuery = None,
        asset: AssetQuery = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        rows = await store.balances(visible(caller(request), participant_id), asset, _pair(cursor), limit + 1)
        return respond_with_page(
            page_of(rows, limit, lambda row: [row["participant_id"], row["asset"]], balance_response)
        )

    @router.get(
        "/balances/{participantId}/{assetId}", READ, response=BalanceResponse, refusals=NOT_FOUND, summary="One balance"
    )
    async def get_balance(request: Request, participant_id: ParticipantPath, asset: AssetPath) -> Response:
        return respond(await holdings.balance(require_visible(caller(request), participant_id), asset))

    @router.get(
        "/trades", READ, response=list[TradeResponse], headers=NEXT_CURSOR_HEADER, refusals=NOT_FOUND,
        summary="Trades that moved positions, newest first",
    )  # fmt: skip
    async def list_trades(
        request: Request,
        participant_id: ParticipantQuery = None,
        symbol: SymbolQuery = None,
        source: Annotated[TradeSource | None, Query(description="Where the trade comes from")] = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        wanted = visible(caller(request), participant_id)
        rows = await store.trades(wanted, symbol, source, serial_of(cursor), limit + 1)
        return respond_with_page(page_of(rows, limit, lambda row: [row["serial"]], trade_response))

    @router.get(
        "/pnl/{participantId}", READ, response=PnlResponse, refusals=NOT_FOUND, summary="Profit and loss by quote asset"
    )
    async def get_pnl(request: Request, participant_id: ParticipantPath) -> Response:
        return respond(await holdings.results(require_visible(caller(request), participant_id)))

    @router.get(
        "/pnl/{participantId}/by-symbol", READ, response=SymbolPnlResponse, refusals=NOT_FOUND,
        summary="Profit and loss by symbol",
    )  # fmt: skip
    async def get_pnl_by_symbol(request: Request, participant_id: ParticipantPath) -> Response:
        return respond(await holdings.results_by_symbol(require_visible(caller(request), participant_id)))

    @router.get(
        "/risk/{participantId}", READ, response=RiskResponse, refusals=NOT_FOUND,
        summary="Exposure, concentration and value at risk",
    )  # fmt: skip
    async def get_risk(request: Request, participant_id: ParticipantPath) -> Response:
        return respond(await holdings.risk(require_visible(caller(request), participant_id)))

    @router.get(
        "/stats/participants", READ, response=list[ParticipantStatistics], headers=NEXT_CURSOR_HEADER,
        refusals=NOT_FOUND, summary="Counts by participant",
    )  # fmt: skip
    async def list_statistics(
        request: Request,
        participant_id: ParticipantQuery = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        after = "" if cursor is None else text_of(decode_cursor(cursor, tuple[str])[0])
        rows = await store.statistics(visible(caller(request), participant_id), after, limit + 1)
        return respond_with_page(page_of(rows, limit, lambda row: [row["participant_id"]], statistics_response))

    @router.get("/stats/summary", READ, response=SummaryStatistics, summary="Counts and results over all that you see")
    async def get_summary(request: Request) -> Response:
        return respond(await holdings.summary(visible(caller(request))))

    return router


def text_of(text: str) -> str:
    """Return a text of a cursor. Raises HttpError (400) if the database could not compare it."""
    if "\x00" in text:
        raise unknown_cursor()
    return text


def _pair(cursor: str | None) -> tuple[str, str]:
    if cursor is None:
        return "", ""
    first, second = decode_cursor(cursor, tuple[str, str])
    return text_of(first), text_of(second)


def _snapshot_place(cursor: str | None) -> tuple[datetime, str, str]:
    if cursor is None:
        return datetime.max.replace(tzinfo=UTC), "", ""
    milliseconds, participant_id, symbol = decode_cursor(cursor, tuple[int, str, str])
    if not 0 <= milliseconds <= TIME_MAX_MS:
        raise unknown_cursor()
    return datetime_from_ms(milliseconds), text_of(participant_id), text_of(symbol)
