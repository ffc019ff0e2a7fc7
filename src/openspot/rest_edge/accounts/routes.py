"""Paths of the accounts (Document B 4.1)."""

from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import json_response, page_response
from openspot.http.routing import Router
from openspot.http.validation import Currency
from openspot.rest_edge.accounts.schemas import BalanceResponse, TransactionResponse
from openspot.rest_edge.accounts.service import AccountService

AssetPath = Annotated[Currency, Path()]
AssetQuery = Annotated[Currency | None, Query()]

_READ = Policy(Access.USER, Scope.READ)


def account_routes(prefix: str, accounts: AccountService) -> Router:
    """The routes of `/accounts`, below `prefix`."""
    router = Router(f"{prefix}/accounts", tag="accounts")

    @router.get(
        "/balances", _READ, response=list[BalanceResponse],
        refusals={503: "neither the engine nor the ledger responds"}, summary="Your balances",
    )  # fmt: skip
    async def list_balances(request: Request) -> Response:
        return json_response(await accounts.balances(caller(request).user_id))

    @router.get(
        "/balances/{asset}", _READ, response=BalanceResponse,
        refusals={404: "the platform has no such asset", 503: "neither the engine nor the ledger responds"},
        summary="Your balance of one asset",
    )  # fmt: skip
    async def get_balance(request: Request, asset: AssetPath) -> Response:
        return json_response(await accounts.balance(caller(request).user_id, asset))

    @router.get(
        "/transactions", _READ, response=list[TransactionResponse], headers=NEXT_CURSOR_HEADER,
        refusals={400: "a parameter is not valid", 503: "the ledger does not respond"},
        summary="Your ledger entries, newest first",
    )  # fmt: skip
    async def list_transactions(
        request: Request, asset: AssetQuery = None, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
    ) -> Response:
        page = await accounts.transactions(caller(request).user_id, asset, limit, cursor)
        return page_response(page.entries, page.next_cursor)

    return router
