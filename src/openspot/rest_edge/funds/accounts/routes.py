"""The routes of the accounts (facts B4.1-13 to B4.1-19)."""

from typing import Annotated, Literal

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.contracts.messages import LedgerHistoryEntry, LedgerHistoryRequest
from openspot.http.context import RequestContext, caller, identity_of
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import FastPathResponse, encode_json, json_response, page_response, respond
from openspot.http.routing import FastPathHandler, Router
from openspot.http.validation import Currency
from openspot.rest_edge.funds.accounts.portfolio_service import PortfolioService
from openspot.rest_edge.funds.accounts.schemas import Balance, PortfolioPointResponse, PortfolioReturnResponse
from openspot.rest_edge.funds.accounts.service import AccountService

TIME_MAX_MS = 4_102_444_800_000
"""The year 2100."""

AssetPath = Annotated[Currency, Path(description="The asset, for example BTC")]
AssetQuery = Annotated[Currency | None, Query(description="Only entries of this asset")]
TypeQuery = Annotated[
    str | None,
    Query(
        alias="type",
        pattern=r"^[A-Za-z0-9_.:-]{1,64}$",
        description="Only entries of this type: deposit, withdrawal, trade, fee, rebate, …",
        examples=["deposit"],
    ),
]
IntervalQuery = Annotated[Literal["1h", "1d", "1w"], Query(description="Time between two points")]
PeriodQuery = Annotated[
    Literal["day", "week", "month", "year", "all"],
    Query(description="The last 24 hours, 7, 30 or 365 days, or since the first entry"),
]
FromQuery = Annotated[
    int | None, Query(alias="from", ge=0, le=TIME_MAX_MS, description="ms since 1970; by default 30 points before `to`")
]
ToQuery = Annotated[int | None, Query(alias="to", ge=0, le=TIME_MAX_MS, description="ms since 1970; by default now")]

_READ = Policy(Access.USER, Scope.READ)


def account_routes(
    prefix: str, accounts: AccountService, portfolio: PortfolioService, *, fast_paths: bool = True
) -> Router:
    """The routes of `/accounts`, below `prefix`. Without `fast_paths` FastAPI handles every route."""
    router = Router(f"{prefix}/accounts", tag="accounts")

    @router.get(
        "/balances", _READ, response=list[Balance],
        refusals={503: "neither the engine nor the ledger responds"},
        fast_path=_list_by_fast_path(accounts) if fast_paths else None, summary="Your balances",
    )  # fmt: skip
    async def list_balances(request: Request) -> Response:
        return json_response(await accounts.balances(caller(request).user_id))

    @router.get(
        "/balances/{asset}", _READ, response=Balance,
        refusals={404: "the platform has no such asset", 503: "neither the engine nor the ledger responds"},
        summary="Your balance of one asset",
    )  # fmt: skip
    async def get_balance(request: Request, asset: AssetPath) -> Response:
        return json_response(await accounts.balance(caller(request).user_id, asset))

    @router.get(
        "/transactions", _READ, response=list[LedgerHistoryEntry], headers=NEXT_CURSOR_HEADER,
        refusals={400: "a parameter is not valid", 503: "the ledger does not respond"},
        summary="Your ledger entries, newest first",
    )  # fmt: skip
    async def list_transactions(
        request: Request,
        asset: AssetQuery = None,
        entry_type: TypeQuery = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        wanted = LedgerHistoryRequest(caller(request).user_id, asset, limit, cursor, entry_type)
        page = await accounts.transactions(wanted)
        return page_response(page.entries, page.next_cursor)

    @router.get(
        "/portfolio-history", _READ, response=list[PortfolioPointResponse],
        refusals={400: "a parameter is not valid"},
        summary="What you held and what it was worth in USD, oldest first",
    )  # fmt: skip
    async def list_portfolio_history(
        request: Request,
        interval: IntervalQuery = "1d",
        start: FromQuery = None,
        end: ToQuery = None,
    ) -> Response:
        history = await portfolio.history(caller(request).user_id, interval, start, end)
        return json_response([point.model_dump(by_alias=True) for point in history])

    @router.get(
        "/portfolio-return", _READ, response=PortfolioReturnResponse,
        refusals={400: "a parameter is not valid"},
        summary="What you gained in USD over a period, without deposits and withdrawals",
    )  # fmt: skip
    async def get_portfolio_return(request: Request, period: PeriodQuery = "month") -> Response:
        return respond(await portfolio.period_return(caller(request).user_id, period))

    return router


def _list_by_fast_path(accounts: AccountService) -> FastPathHandler:
    """Handle `GET /accounts/balances` without FastAPI."""

    async def list_all(context: RequestContext) -> FastPathResponse:
        return FastPathResponse(200, encode_json(await accounts.balances(identity_of(context).user_id)))

    return list_all
