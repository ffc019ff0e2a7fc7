"""Paths of the accounts (Document B 4.1)."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.domain.symbol import CURRENCY_TEXT
from openspot.rest_edge.accounts.schemas import BalanceAnswer, TransactionAnswer
from openspot.rest_edge.accounts.service import AccountService
from openspot.rest_edge.answers import ExactRoute, json_response, page_response, refusals
from openspot.rest_edge.authentication import required_identity
from openspot.rest_edge.context import context_of
from openspot.rest_edge.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit

AssetPath = Annotated[str, Path(pattern=f"^{CURRENCY_TEXT.pattern}$", examples=["BTC"])]
AssetQuery = Annotated[str | None, Query(pattern=f"^{CURRENCY_TEXT.pattern}$", examples=["BTC"])]

_PAGE: dict[int | str, dict[str, Any]] = {200: {"headers": NEXT_CURSOR_HEADER}}


def _caller(request: Request) -> str:
    return required_identity(context_of(request)).user_id


def account_routes(accounts: AccountService) -> APIRouter:
    """The routes below `/accounts`."""
    router = APIRouter(prefix="/accounts", tags=["accounts"], route_class=ExactRoute)

    @router.get(
        "/balances", response_model=list[BalanceAnswer],
        responses=refusals(_503="neither the engine nor the ledger answers"),
        summary="Your balances",
    )  # fmt: skip
    async def list_balances(request: Request) -> Response:
        return json_response(await accounts.balances(_caller(request)))

    @router.get(
        "/balances/{asset}", response_model=BalanceAnswer,
        responses=refusals(_404="the platform has no such asset", _503="neither the engine nor the ledger answers"),
        summary="Your balance of one asset",
    )  # fmt: skip
    async def get_balance(request: Request, asset: AssetPath) -> Response:
        return json_response(await accounts.balance(_caller(request), asset))

    @router.get(
        "/transactions", response_model=list[TransactionAnswer],
        responses=_PAGE | refusals(_400="a parameter is not valid", _503="the ledger does not answer"),
        summary="Your ledger entries, newest first",
    )  # fmt: skip
    async def list_transactions(
        request: Request, asset: AssetQuery = None, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
    ) -> Response:
        page = await accounts.transactions(_caller(request), asset, limit, cursor)
        return page_response(page.entries, page.next_cursor)

    return router
