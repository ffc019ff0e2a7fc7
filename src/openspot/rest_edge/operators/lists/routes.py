"""The routes of the lists over all users: `/operator/withdrawals`, `/operator/deposits`, `/operator/payments`."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Query
from pydantic import TypeAdapter
from starlette.responses import Response

from openspot.http.errors import validation_error
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import page_response
from openspot.http.routing import Router
from openspot.http.validation import Currency, ResponseBody, UtcDatetime
from openspot.rest_edge.operators.exports import WantedFileQuery
from openspot.rest_edge.operators.lists.listings import DEPOSITS, PAYMENTS, WITHDRAWALS, ListFilter, Listing
from openspot.rest_edge.operators.lists.schemas import (
    OperatedDepositResponse,
    OperatedPaymentResponse,
    OperatedWithdrawalResponse,
)
from openspot.rest_edge.operators.lists.service import Lists
from openspot.rest_edge.operators.table_files import TABLE_FILE, columns_of, file_response
from openspot.rest_edge.operators.user_parameters import UserQuery

AssetQuery = Annotated[Currency | None, Query(description="Only those of this asset")]
StateQuery = Annotated[str | None, Query(pattern="^[a-z_]{1,32}$", description="Only those in this state")]
SinceQuery = Annotated[UtcDatetime | None, Query(alias="from", description="Created then or later")]
UntilQuery = Annotated[UtcDatetime | None, Query(alias="to", description="Created before that")]
AssigneeQuery = Annotated[
    str | None,
    Query(
        pattern=r"^(nobody|(user|engine):[A-Za-z0-9_.:-]{1,64})$",
        description="Only those that this operator is asked to decide on, or nobody",
    ),
]

_BAD = {400: "a parameter is not valid"}


class _Listed(NamedTuple):
    listing: Listing
    row: type[ResponseBody]
    read: Permission
    export: Permission


LISTED = (
    _Listed(WITHDRAWALS, OperatedWithdrawalResponse, Permission.WITHDRAWALS_READ, Permission.WITHDRAWALS_EXPORT),
    _Listed(DEPOSITS, OperatedDepositResponse, Permission.DEPOSITS_READ, Permission.DEPOSITS_EXPORT),
    _Listed(PAYMENTS, OperatedPaymentResponse, Permission.PAYMENTS_READ, Permission.PAYMENTS_EXPORT),
)


def list_routes(prefix: str, lists: Lists) -> Router:
    """The routes of the lists, below `prefix`: each on pages, and as a file below `/export`."""
    router = Router(f"{prefix}/operator", tag="operator")
    for listed in LISTED:
        _routes_of(router, lists, listed)
    return router


def _filter_of(listing: Listing) -> Callable[..., Awaitable[ListFilter]]:
    """What reads the filters of a list from the parameters. Raises HttpError (400) for an unknown state."""
    states = ", ".join(listing.states)

    async def filtered(
        user_id: UserQuery = None,
        asset: AssetQuery = None,
        state: StateQuery = None,
        since: SinceQuery = None,
        until: UntilQuery = None,
    ) -> ListFilter:
        if state is not None and state not in listing.states:
            raise validation_error([f"state must be one of {states}"])
        return ListFilter(user_id, asset, state, since, until)

    async def with_assignee(
        wanted: Annotated[ListFilter, Depends(filtered)], assignee: AssigneeQuery = None
    ) -> ListFilter:
        return replace(wanted, assignee=assignee)

    return with_assignee if listing.has_assignees else filtered


def _routes_of(router: Router, lists: Lists, listed: _Listed) -> None:
    listing = listed.listing
    rows_of: TypeAdapter[Any] = TypeAdapter(list[listed.row])  # type: ignore[name-defined]
    columns = columns_of(listed.row)
    states = ", ".join(listing.states)
    filters = Depends(_filter_of(listing))

    @router.get(
        f"/{listing.name}", Policy(Access.OPERATOR, permission=listed.read), response=list[listed.row],  # type: ignore[name-defined]
        headers=NEXT_CURSOR_HEADER, refusals=_BAD, name=f"list_all_{listing.name}",
        summary=f"The {listing.name} of all users, newest first; states: {states}",
    )  # fmt: skip
    async def list_rows(
        wanted: Annotated[ListFilter, filters], limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
    ) -> Response:
        rows, following = await lists.page(listing, wanted, limit, cursor)
        shown = rows_of.dump_python(rows_of.validate_python(rows), mode="json", by_alias=True)
        return page_response(shown, following)

    @router.get(
        f"/{listing.name}/export", Policy(Access.OPERATOR, permission=listed.export), responses=TABLE_FILE,
        refusals=_BAD, name=f"export_{listing.name}",
        summary=f"The {listing.name} of all users as a file, newest first",
    )  # fmt: skip
    async def export_rows(wanted: Annotated[ListFilter, filters], file: WantedFileQuery) -> Response:
        await lists.note_export(listing, wanted, file)
        return file_response(listing.name, file.written_as, columns, lists.pages(listing, wanted))
