"""Paths of the FIFO cost basis (facts B4.5-20 to B4.5-25)."""

import re
from typing import Annotated, Literal

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from openspot.http.context import caller, context_of
from openspot.http.errors import HttpError, validation_error
from openspot.http.lists import (
    LIMIT_DEFAULT,
    NEXT_CURSOR,
    NEXT_CURSOR_HEADER,
    Cursor,
    Limit,
    decode_cursor,
    encode_cursor,
    unknown_cursor,
)
from openspot.http.paging import SERIAL_MAX, page_of, respond_with_page
from openspot.http.policy import Access, Policy
from openspot.http.responses import body_of, json_response, respond
from openspot.http.routing import Router
from openspot.http.validation import Currency, ParticipantId
from openspot.positions.access import require_visible, visible
from openspot.positions.cost_basis.imports import FORMATS, ImportSource, rendered
from openspot.positions.cost_basis.receiving import Receipts, temporary_file
from openspot.positions.cost_basis.schemas import (
    Account,
    AssetCostBasisResponse,
    CostBasisResponse,
    ImportResponse,
    OwnerResponse,
    TransactionBody,
    TransactionResponse,
)
from openspot.positions.cost_basis.service import CostBasisService
from openspot.positions.holdings.routes import CHANGE, NOT_FOUND, READ, text_of
from openspot.positions.import_rules import ImportDefaults
from openspot.positions.tax_years import TaxYearStart

UserPath = Annotated[ParticipantId, Path(alias="userId", description="Id of the user")]
UserQuery = Annotated[ParticipantId | None, Query(alias="userId", description="By default your own")]
CurrencyPath = Annotated[Currency, Path(description="The asset, for example BTC")]
TaxYearQuery = Annotated[
    int | None, Query(alias="taxYear", ge=1970, le=9998, description="The calendar year in which the tax year begins")
]
YearBeginsQuery = Annotated[
    str,
    Query(alias="yearBegins", pattern=r"^[0-9]{2}-[0-9]{2}$", description="Month and day of a tax year's first day"),
]
FormatQuery = Annotated[
    Literal["json", "csv"],
    Query(alias="format", description="csv: the disposals of `taxYear`, oldest first, as a file"),
]
MapQuery = Annotated[
    list[str],
    Query(
        alias="map",
        max_length=13,
        description="`field:column`, once for each field; without it the layout is recognised from the columns",
        examples=[["externalId:Trade", "timestamp:Date"]],
    ),
]

_IMPORT = Policy(Access.USER, audit=True)
_FILE = {media_type: {"schema": {"type": "string", "format": "binary"}} for media_type in FORMATS}
_CSV = {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}
_COLUMN = re.compile(r"([A-Za-z]{1,20}):(.{1,200})")
_LATEST = (SERIAL_MAX, "", 0)


def cost_basis_routes(prefix: str, cost_basis: CostBasisService, import_bytes_max: int) -> Router:
    """The routes of `/fifo`, below `prefix`."""
    router = Router(f"{prefix}/fifo", tag="fifo")
    reader = cost_basis.reader
    receipts = Receipts(import_bytes_max)

    @router.get(
        "/users", READ, response=list[OwnerResponse], headers=NEXT_CURSOR_HEADER, summary="Users with FIFO transactions"
    )
    async def list_fifo_users(request: Request, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        after = "" if cursor is None else text_of(decode_cursor(cursor, tuple[str])[0])
        rows = await reader.owners(visible(caller(request)), after, limit + 1)
        return respond_with_page(
            page_of(rows, limit, lambda row: [row["user_id"]], lambda row: OwnerResponse(**dict(row)))
        )

    @router.get(
        "/users/{userId}/currencies", READ, response=list[str], refusals=NOT_FOUND,
        summary="The currencies of a user's transactions",
    )  # fmt: skip
    async def list_fifo_currencies(request: Request, user_id: UserPath) -> Response:
        return json_response(await reader.assets(require_visible(caller(request), user_id)))

    @router.get(
        "/{userId}/{currency}", READ, response=AssetCostBasisResponse, headers=NEXT_CURSOR_HEADER, refusals=NOT_FOUND,
        summary="A user's lots, gains and disposals in one currency",
    )  # fmt: skip
    async def get_fifo_currency(
        request: Request,
        user_id: UserPath,
        currency: CurrencyPath,
        year_begins: YearBeginsQuery = "01-01",
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        owner = require_visible(caller(request), user_id)
        start, before = _year_start(year_begins), _place(cursor)
        await cost_basis.await_results(owner)
        rows = await reader.disposals(owner, currency, before, limit + 1)
        found = await cost_basis.of_asset(owner, currency, start, rows[:limit])
        response = respond(found)
        if len(rows) > limit:
            last = rows[limit - 1]
            response.headers[NEXT_CURSOR] = encode_cursor([last["disposed_ms"], last["disposal_id"], last["part"]])
        return response

    @router.get(
        "/{userId}", READ, response=CostBasisResponse, refusals=NOT_FOUND, responses=_CSV,
        summary="A user's cost basis, and the export of a tax year",
    )  # fmt: skip
    async def get_fifo(
        request: Request,
        user_id: UserPath,
        year_begins: YearBeginsQuery = "01-01",
        tax_year: TaxYearQuery = None,
        export_format: FormatQuery = "json",
    ) -> Response:
        owner = require_visible(caller(request), user_id)
        start = _year_start(year_begins)
        if export_format == "csv":
            if tax_year is None:
                raise validation_error(["taxYear is required for an export"])
            await cost_basis.await_results(owner)
            name = f'attachment; filename="gains-{tax_year}.csv"'
            pieces = cost_basis.export(owner, tax_year, start)
            return StreamingResponse(pieces, media_type="text/csv", headers={"Content-Disposition": name})
        found = await cost_basis.overview(owner, start)
        if tax_year is not None:
            found = found.model_copy(update={"gains": [gain for gain in found.gains if gain.tax_year == tax_year]})
        return json_response(body_of(found))

    @router.post(
        "/transactions", CHANGE, status=201, response=TransactionResponse,
        refusals=NOT_FOUND | {
            409: "the id belongs to other content, an account would hold too little, the user has too many: "
            "TOO_MANY_TRANSACTIONS, or another one of the user is being recorded: TRANSACTION_IN_PROGRESS, Retry-After",
            503: "too many results are being computed: TOO_MANY_COMPUTATIONS",
        },
        responses={200: {"model": TransactionResponse, "description": "it was recorded before"}},
        summary="Record a FIFO transaction",
    )  # fmt: skip
    async def add_fifo_transaction(request: Request, body: TransactionBody) -> Response:
        identity = caller(request)
        owner = require_visible(identity, body.user_id or identity.subject)
        await cost_basis.require_user(owner, identity.subject)
        transaction, is_new = await cost_basis.add(owner, body)
        return respond(transaction, 201 if is_new else 200)

    @router.post(
        "/transactions/import", _IMPORT, response=ImportResponse, content=_FILE,
        refusals=NOT_FOUND | {
            400: "a parameter is not valid, or the columns of the file are of no known layout: UNKNOWN_LAYOUT",
            408: "the file did not arrive in time",
            409: "an import of this user is running: IMPORT_IN_PROGRESS",
            413: "the file is too large",
            415: "the body is none of text/csv, application/json and application/x-ndjson",
            503: "too many files are received or imported at a time: TOO_MANY_IMPORTS",
        },
        summary="Import a file of FIFO transactions",
    )  # fmt: skip
    async def import_fifo_transactions(
        request: Request,
        user_id: UserQuery = None,
        account: Annotated[Account, Query(description="The account of rows that name none")] = "main",
        columns: MapQuery = [],  # noqa: B006
    ) -> Response:
        identity = caller(request)
        owner = require_visible(identity, user_id or identity.subject)
        await cost_basis.require_user(owner, identity.subject)
        mapping = _columns(columns)
        media_type = context_of(request).content_type.partition(b";")[0].strip().lower().decode("latin-1")
        if media_type not in FORMATS:
            raise HttpError(415, f"the body must be a file: Content-Type one of {', '.join(FORMATS)}")
        cost_basis.require_place()
        # The response reads this file, and closes it at its end.
        refused = temporary_file()
        async with receipts.received(owner, request.stream()) as file, cost_basis.importing():
            source = ImportSource(file, media_type, mapping, ImportDefaults(account, cost_basis.currency))
            report = await cost_basis.take_file(owner, source, refused)
        return StreamingResponse(rendered(report, owner), media_type="application/json")

    return router


def _year_start(text: str) -> TaxYearStart:
    try:
        return TaxYearStart(int(text[:2]), int(text[3:]))
    except ValueError as error:
        raise validation_error(["yearBegins must be a month and a day that every year has, such as 04-06"]) from error


def _columns(pairs: list[str]) -> dict[str, str]:
    mapping: dict[str, str] = {}
    for pair in pairs:
        found = _COLUMN.fullmatch(pair)
        if found is None:
            raise validation_error([f"map must be field:column, not {pair[:40]!r}"])
        if found[1] in mapping:
            raise validation_error([f"map names the field {found[1]} twice"])
        mapping[found[1]] = found[2]
    return mapping


def _place(cursor: str | None) -> tuple[int, str, int]:
    if cursor is None:
        return _LATEST
    milliseconds, disposal_id, part = decode_cursor(cursor, tuple[int, str, int])
    if not 0 <= milliseconds <= SERIAL_MAX or not 0 <= part < 2**31:
        raise unknown_cursor()
    return milliseconds, text_of(disposal_id), part
