"""Paths of the accounts (Document B 4.1)."""

from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.answers import json_response, page_response
from openspot.http.context import caller
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.policy import Access, Policy, Scope
from openspot.http.routing import Router
from openspot.http.validation import Currency
from openspot.rest_edge.accounts.schemas import BalanceAnswer, TransactionAnswer
from openspot.rest_edge.accounts.service import AccountService

AssetPath = Annotated[Currency, Path()]
AssetQuery = Annotated[Currency | None, Query()]

_READ = Policy(Access.USER, Scope.READ)


def account_routes(prefix: str, accounts: AccountService) -> Router:
    """The routes of `/accounts`, below `prefix`."""
    router = Router(f"{prefix}/accounts", tag="accounts")

    @router.get(
        "/balances", _READ, answer=list[BalanceAnswer],
        refusals={503: "neither the engine nor the ledger answers"}, summary="Your balances",
    )  # fmt: skip
    async def list_balances(request: Request) -> Response:
        return json_response(await accounts.balances(caller(request).user_id))

    @router.get(
        "/balances/{asset}", _READ, answer=BalanceAnswer,
        refusals={404: "the platform has no such asset", 503: "neither the engine nor the ledger answers"},
        summary="Your balance of one asset",
    )  # fmt: skip
    async def get_balance(request: Request, asset: AssetPath) -> Response:
        return json_response(await accounts.balance(caller(request).user_id, asset))

    @router.get(
        "/transactions", _READ, answer=list[TransactionAnswer], headers=NEXT_CURSOR_HEADER,
        refusals={400: "a parameter is not valid", 503: "the ledger does not answer"},
        summary="Your ledger entries, newest first",
    )  # fmt: skip
    async def list_transactions(
        request: Request, asset: AssetQuery = None, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
    ) -> Response:
        page = await accounts.transactions(caller(request).user_id, asset, limit, cursor)
        return page_response(page.entries, page.next_cursor)

    return router
