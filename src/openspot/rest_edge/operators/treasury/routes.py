"""The routes of the treasury: `/operator/treasury`."""

from functools import partial
from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import context_of, operation_of
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.paging import respond_with_page
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import body_of, json_response, respond
from openspot.http.routing import Router
from openspot.rest_edge.operators.acting import acting
from openspot.rest_edge.operators.exports import Exports, WantedFileQuery
from openspot.rest_edge.operators.spans import SpanQuery
from openspot.rest_edge.operators.table_files import TABLE_FILE, columns_of
from openspot.rest_edge.operators.treasury.accounts import HouseAccounts
from openspot.rest_edge.operators.treasury.schemas import (
    HouseAccountResponse,
    HouseEntryResponse,
    HouseLevelBody,
    HouseLevelResponse,
    HouseTransferBody,
    HouseTransferResponse,
)
from openspot.rest_edge.operators.treasury.service import HouseTransfers
from openspot.rest_edge.operators.treasury.store import HouseTransferFilter

_ACCOUNT = "^house:[a-z]{1,40}$"
AccountPath = Annotated[str, Path(pattern=_ACCOUNT, description="Account of the house")]
AccountQuery = Annotated[
    str | None, Query(pattern=_ACCOUNT, description="Only transfers from or to this account of the house")
]
TransferPath = Annotated[str, Path(alias="id", pattern="^[A-Za-z0-9]{1,40}$", description="Id of the transfer")]

_EXPORT = Policy(Access.OPERATOR, permission=Permission.BALANCES_EXPORT)
_READ = Policy(Access.OPERATOR, permission=Permission.BALANCES_READ_ALL)
_SET = Policy(Access.OPERATOR, permission=Permission.BALANCES_TRANSFER, audit=True)
_MOVE = Policy(Access.OPERATOR, permission=Permission.BALANCES_TRANSFER, audit=True, idempotency=True)

_NO_ACCOUNT = {404: "the house has no such account: HOUSE_ACCOUNT_NOT_FOUND"}


def treasury_routes(prefix: str, accounts: HouseAccounts, transfers: HouseTransfers, exports: Exports) -> Router:
    """The routes of the treasury, below `prefix`."""
    router = Router(f"{prefix}/operator/treasury", tag="operator")
    columns = columns_of(HouseTransferResponse)

    @router.get(
        "/accounts", _READ, response=list[HouseAccountResponse],
        summary="The house's accounts: purpose, balances at engine and ledger, levels",
    )  # fmt: skip
    async def list_house_accounts() -> Response:
        return json_response([body_of(each) for each in await accounts.all()])

    @router.get(
        "/accounts/{account}/entries", _READ, response=list[HouseEntryResponse], headers=NEXT_CURSOR_HEADER,
        refusals=_NO_ACCOUNT, summary="What moved on an account of the house without a trade, newest first",
    )  # fmt: skip
    async def list_house_entries(
        account: AccountPath, span: SpanQuery, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
    ) -> Response:
        accounts.require_account(account)
        return respond_with_page(await accounts.entries(account, span, limit, cursor))

    @router.get(
        "/accounts/{account}/entries/export", _EXPORT, responses=TABLE_FILE,
        refusals={400: "a parameter is not valid"} | _NO_ACCOUNT,
        summary="What moved on an account of the house without a trade as a file, newest first",
    )  # fmt: skip
    async def export_house_entries(account: AccountPath, span: SpanQuery, file: WantedFileQuery) -> Response:
        accounts.require_account(account)
        filters = {"account": account} | span.texts()
        read = partial(accounts.entries, account, span)
        columns = columns_of(HouseEntryResponse)
        return await exports.file("house_entries", columns, file, filters, read, needs=Permission.BALANCES_READ_ALL)

    @router.put(
        "/levels", _SET, response=HouseLevelResponse, refusals={400: "the body is not valid"},
        summary="Set the level below which an account of the house raises an alert; null removes it",
    )  # fmt: skip
    async def set_house_level(request: Request, body: HouseLevelBody) -> Response:
        return respond(await accounts.set_level(body, acting(request, body.reason)))

    @router.post(
        "/transfers", _MOVE, response=HouseTransferResponse, status=201,
        refusals={400: "the body is not valid, or one of the accounts is not open to transfers"},
        summary="Move money between two accounts of the house; beyond a bound another person approves",
    )  # fmt: skip
    async def move_house_money(request: Request, body: HouseTransferBody) -> Response:
        operation = operation_of(context_of(request))
        return respond(await transfers.move(body, acting(request, body.reason), operation), 201)

    @router.get(
        "/transfers", _READ, response=list[HouseTransferResponse], headers=NEXT_CURSOR_HEADER,
        summary="The transfers between the house's accounts that were made, newest first",
    )  # fmt: skip
    async def list_house_transfers(
        span: SpanQuery, account: AccountQuery = None, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
    ) -> Response:
        return respond_with_page(await transfers.moves.page(HouseTransferFilter(account, span), limit, cursor))

    @router.get(
        "/transfers/export", _EXPORT, responses=TABLE_FILE,
        refusals={400: "a parameter is not valid"},
        summary="The transfers between the house's accounts that were made as a file, newest first",
    )  # fmt: skip
    async def export_house_transfers(span: SpanQuery, file: WantedFileQuery, account: AccountQuery = None) -> Response:
        filters = {"account": account} | span.texts()
        read = partial(transfers.moves.page, HouseTransferFilter(account, span))
        return await exports.file("house_transfers", columns, file, filters, read, needs=Permission.BALANCES_READ_ALL)

    @router.get(
        "/transfers/{id}", _READ, response=HouseTransferResponse,
        refusals={404: "there is no such transfer: HOUSE_TRANSFER_NOT_FOUND"},
        summary="One transfer between the house's accounts, or the request for it",
    )  # fmt: skip
    async def get_house_transfer(transfer_id: TransferPath) -> Response:
        return respond(await transfers.moves.get(transfer_id))

    return router
