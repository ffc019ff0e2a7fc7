"""The operators' routes of users that read: `/operator/users`."""

from functools import partial
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from openspot.contracts.messages import LedgerHistoryEntry, OrderRecord
from openspot.http.lists import LIMIT_DEFAULT, NEXT_CURSOR_HEADER, Cursor, Limit
from openspot.http.paging import respond_with_page
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response, page_response, respond
from openspot.http.routing import Router
from openspot.rest_edge.identity.activity.schemas import ActivityResponse
from openspot.rest_edge.identity.api_keys.schemas import ApiKeyResponse
from openspot.rest_edge.identity.sessions.schemas import UserSessionResponse
from openspot.rest_edge.notifications.schemas import NotificationResponse
from openspot.rest_edge.operators.exports import Exports, WantedFileQuery
from openspot.rest_edge.operators.spans import SpanQuery
from openspot.rest_edge.operators.table_files import TABLE_FILE, columns_of
from openspot.rest_edge.operators.user_parameters import AccountQuery, UserPath, require_own
from openspot.rest_edge.operators.users.schemas import (
    ClosedUserResponse,
    FoundUserResponse,
    FoundUsersResponse,
    NoteResponse,
    SideBySideResponse,
    UserOverviewResponse,
    UserTrade,
)
from openspot.rest_edge.operators.users.service import OperatedUsers
from openspot.rest_edge.operators.users.views import UserViews

SearchQuery = Annotated[
    str,
    Query(
        alias="q",
        min_length=2,
        max_length=128,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        description="What an email address or a name begins with (three letters or more), or exactly: the id of a "
        "user, order, trade, withdrawal, payment or ledger entry, a client order id, the engine's number of an order, "
        "an address, a transaction",
    ),
]

_EXPORT = Policy(Access.OPERATOR, permission=Permission.USERS_EXPORT)
_EXPORT_TRADES = Policy(Access.OPERATOR, permission=Permission.TRADES_EXPORT)
_READ = Policy(Access.OPERATOR, permission=Permission.USERS_READ)
_BAD = {400: "a parameter is not valid"}
_UNKNOWN = {404: "there is no such user"}


def user_reading_routes(prefix: str, users: OperatedUsers, views: UserViews, exports: Exports) -> Router:
    """The routes of `/operator/users` that read, below `prefix`."""
    router = Router(f"{prefix}/operator/users", tag="operator")
    # Nobody in a list of all was looked for.
    columns = columns_of(FoundUserResponse, without={"found_by"})
    # What an order made at once is a list, and stands among the trades; no stored order has it.
    order_columns = columns_of(OrderRecord, without={"fills", "fills_truncated"})
    trade_columns = columns_of(UserTrade)
    entry_columns = columns_of(LedgerHistoryEntry)
    activity_columns, notice_columns = columns_of(ActivityResponse), columns_of(NotificationResponse)
    note_columns = columns_of(NoteResponse)

    @router.get("/search", _READ, response=FoundUsersResponse, summary="The users whom a text points at")
    async def search_users(text: SearchQuery) -> Response:
        return respond(await users.search(text.strip()))

    @router.get(
        "",
        _READ,
        response=list[FoundUserResponse],
        headers=NEXT_CURSOR_HEADER,
        summary="All users by their registration, newest first",
    )
    async def list_users(span: SpanQuery, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
        return respond_with_page(await users.newest(span, limit, cursor))

    @router.get(
        "/export", _EXPORT, responses=TABLE_FILE, refusals=_BAD, summary="All users as a file, newest first",
    )  # fmt: skip
    async def export_users(span: SpanQuery, file: WantedFileQuery) -> Response:
        read = partial(users.newest, span)
        return await exports.file("users", columns, file, span.texts(), read, needs=Permission.USERS_READ)

    @router.get(
        "/{userId}", _READ, response=UserOverviewResponse | ClosedUserResponse, refusals=_UNKNOWN,
        summary="One user, or what is known of a closed account",
    )  # fmt: skip
    async def get_user(user_id: UserPath) -> Response:
        return respond(await users.overview(user_id))

    @router.get(
        "/{userId}/balances", Policy(Access.OPERATOR, permission=Permission.BALANCES_READ_ALL),
        response=list[SideBySideResponse], refusals={503: "neither the engine nor the ledger responds"},
        summary="The balances of a user's accounts at the engine and in the ledger",
    )  # fmt: skip
    async def list_user_balances(user_id: UserPath) -> Response:
        rows = await users.balances(user_id)
        return json_response([SideBySideResponse(**row._asdict()).model_dump(by_alias=True) for row in rows])

    @router.get(
        "/{userId}/orders", Policy(Access.OPERATOR, permission=Permission.ORDERS_READ_ALL), response=list[OrderRecord],
        headers=NEXT_CURSOR_HEADER, summary="The orders of a user's accounts, or of one, newest first",
    )  # fmt: skip
    async def list_user_orders(
        user_id: UserPath,
        span: SpanQuery,
        account: AccountQuery = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        return page_response(*await views.orders(user_id, account, span, limit, cursor))

    @router.get(
        "/{userId}/orders/export", _EXPORT_TRADES, responses=TABLE_FILE, refusals=_BAD,
        summary="A user's orders as a file, newest first",
    )  # fmt: skip
    async def export_user_orders(
        user_id: UserPath, span: SpanQuery, file: WantedFileQuery, account: AccountQuery = None
    ) -> Response:
        require_own(user_id, account)
        read = partial(views.orders, user_id, account, span)
        filters = {"user": user_id, "account": account} | span.texts()
        return await exports.file("orders", order_columns, file, filters, read, needs=Permission.ORDERS_READ_ALL)

    @router.get(
        "/{userId}/trades", Policy(Access.OPERATOR, permission=Permission.TRADES_READ_ALL), response=list[UserTrade],
        headers=NEXT_CURSOR_HEADER, summary="The trades of a user's accounts, or of one, newest first",
    )  # fmt: skip
    async def list_user_trades(
        user_id: UserPath,
        span: SpanQuery,
        account: AccountQuery = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        return page_response(*await views.trades(user_id, account, span, limit, cursor))

    @router.get(
        "/{userId}/trades/export", _EXPORT_TRADES, responses=TABLE_FILE, refusals=_BAD,
        summary="A user's trades as a file, newest first",
    )  # fmt: skip
    async def export_user_trades(
        user_id: UserPath, span: SpanQuery, file: WantedFileQuery, account: AccountQuery = None
    ) -> Response:
        require_own(user_id, account)
        read = partial(views.trades, user_id, account, span)
        filters = {"user": user_id, "account": account} | span.texts()
        return await exports.file("trades", trade_columns, file, filters, read, needs=Permission.TRADES_READ_ALL)

    @router.get(
        "/{userId}/transactions", Policy(Access.OPERATOR, permission=Permission.BALANCES_READ_ALL),
        response=list[LedgerHistoryEntry], headers=NEXT_CURSOR_HEADER,
        refusals={503: "the ledger does not respond"},
        summary="The ledger entries of a user's spot account, or of the one that is named, newest first",
    )  # fmt: skip
    async def list_user_transactions(
        user_id: UserPath,
        span: SpanQuery,
        account: AccountQuery = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        return page_response(*await views.transactions(user_id, account, span, limit, cursor))

    @router.get(
        "/{userId}/transactions/export", Policy(Access.OPERATOR, permission=Permission.BALANCES_EXPORT),
        responses=TABLE_FILE, refusals=_BAD, summary="A user's ledger entries as a file, newest first",
    )  # fmt: skip
    async def export_user_transactions(
        user_id: UserPath, span: SpanQuery, file: WantedFileQuery, account: AccountQuery = None
    ) -> Response:
        require_own(user_id, account)
        read = partial(views.transactions, user_id, account, span)
        filters = {"user": user_id, "account": account} | span.texts()
        return await exports.file(
            "transactions", entry_columns, file, filters, read, needs=Permission.BALANCES_READ_ALL
        )

    @router.get(
        "/{userId}/sessions", Policy(Access.OPERATOR, permission=Permission.SESSIONS_READ),
        response=list[UserSessionResponse], summary="A user's sessions, the last used first",
    )  # fmt: skip
    async def list_user_sessions(user_id: UserPath) -> Response:
        return json_response(await views.sessions(user_id))

    @router.get(
        "/{userId}/api-keys", Policy(Access.OPERATOR, permission=Permission.API_KEYS_READ_ALL),
        response=list[ApiKeyResponse], summary="A user's API keys, without their secrets",
    )  # fmt: skip
    async def list_user_api_keys(user_id: UserPath) -> Response:
        return json_response(await views.api_keys(user_id))

    @router.get(
        "/{userId}/activity", _READ, response=list[ActivityResponse], headers=NEXT_CURSOR_HEADER,
        summary="What happened to a user's account, newest first",
    )  # fmt: skip
    async def list_user_activity(
        user_id: UserPath, span: SpanQuery, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
    ) -> Response:
        return respond_with_page(await views.activity(user_id, span, limit, cursor))

    @router.get(
        "/{userId}/activity/export", _EXPORT, responses=TABLE_FILE, refusals=_BAD,
        summary="What happened to a user's account as a file, newest first",
    )  # fmt: skip
    async def export_user_activity(user_id: UserPath, span: SpanQuery, file: WantedFileQuery) -> Response:
        read = partial(views.activity, user_id, span)
        filters = {"user": user_id} | span.texts()
        return await exports.file("activity", activity_columns, file, filters, read, needs=Permission.USERS_READ)

    @router.get(
        "/{userId}/notifications", _READ, response=list[NotificationResponse], headers=NEXT_CURSOR_HEADER,
        summary="What a user was told in the last two weeks, newest first",
    )  # fmt: skip
    async def list_user_notifications(
        user_id: UserPath, span: SpanQuery, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
    ) -> Response:
        return respond_with_page(await views.notifications(user_id, span, limit, cursor))

    @router.get(
        "/{userId}/notifications/export", _EXPORT, responses=TABLE_FILE, refusals=_BAD,
        summary="What a user was told in the last two weeks as a file, newest first",
    )  # fmt: skip
    async def export_user_notifications(user_id: UserPath, span: SpanQuery, file: WantedFileQuery) -> Response:
        read = partial(views.notifications, user_id, span)
        filters = {"user": user_id} | span.texts()
        return await exports.file("notifications", notice_columns, file, filters, read, needs=Permission.USERS_READ)

    @router.get(
        "/{userId}/notes", _READ, response=list[NoteResponse], headers=NEXT_CURSOR_HEADER,
        summary="What operators noted about a user, newest first",
    )  # fmt: skip
    async def list_user_notes(
        user_id: UserPath, span: SpanQuery, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
    ) -> Response:
        return respond_with_page(await users.notes(user_id, span, limit, cursor))

    @router.get(
        "/{userId}/notes/export", _EXPORT, responses=TABLE_FILE, refusals=_BAD,
        summary="What operators noted about a user as a file, newest first",
    )  # fmt: skip
    async def export_user_notes(user_id: UserPath, span: SpanQuery, file: WantedFileQuery) -> Response:
        read = partial(users.notes, user_id, span)
        filters = {"user": user_id} | span.texts()
        return await exports.file("notes", note_columns, file, filters, read, needs=Permission.USERS_READ)

    return router
