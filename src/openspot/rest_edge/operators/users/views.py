"""A user's lists as the user sees them, for operators: the same services read them, for each of the user's accounts."""

from datetime import datetime
from typing import Any, Literal

import msgspec

from openspot.contracts.messages import LedgerHistoryEntry, LedgerHistoryRequest, OrderRecord
from openspot.http.context import Identity
from openspot.http.lists import decode_cursor, encode_cursor
from openspot.http.paging import Page, SerialNumber, page_of, serial_of
from openspot.http.policy import Access
from openspot.http.responses import body_of
from openspot.kit.clock import iso_of
from openspot.kit.database import Pool
from openspot.rest_edge.funds.accounts.service import AccountService
from openspot.rest_edge.identity.activity.log import Activity, ActivityKind, ActivityLog
from openspot.rest_edge.identity.activity.schemas import ActivityResponse
from openspot.rest_edge.identity.api_keys.service import ApiKeyService
from openspot.rest_edge.identity.sessions.session_list import SessionList
from openspot.rest_edge.notifications.schemas import NotificationResponse
from openspot.rest_edge.notifications.store import KeptNotification, NotificationStore
from openspot.rest_edge.operators.spans import Span
from openspot.rest_edge.operators.user_parameters import require_own
from openspot.rest_edge.operators.users.accounts import merged
from openspot.rest_edge.operators.users.schemas import UserTrade
from openspot.rest_edge.operators.users.store import margin_accounts
from openspot.rest_edge.orders.own_trades import OwnTradeFilter, OwnTradePosition
from openspot.rest_edge.orders.positions import OrderPosition, cursor_of, position_of
from openspot.rest_edge.orders.recent import OrderFilter, place_of
from openspot.rest_edge.orders.service import OrderService

Rows = list[dict[str, Any]]


class UserViews:
    """Pages of one user's lists, each with the cursor of the next page. An unknown user has nothing in any."""

    def __init__(
        self,
        pool: Pool,
        orders: OrderService,
        accounts: AccountService,
        sessions: SessionList,
        keys: ApiKeyService,
        activity: ActivityLog,
        notifications: NotificationStore,
    ) -> None:
        self._pool = pool
        self._orders = orders
        self._accounts = accounts
        self._sessions = sessions
        self._keys = keys
        self._activity = activity
        self._notifications = notifications

    async def orders(
        self, user_id: str, account: str | None, span: Span, limit: int, cursor: str | None
    ) -> tuple[list[OrderRecord], str | None]:
        """Orders that were made in `span`, newest first; of all accounts of the user, or of one.

        Raises HttpError (400) for an account of another user, and for a cursor that the list did not give.
        """
        wanted, after = OrderFilter(since=span.since, until=span.until), position_of(cursor)
        pages = []
        for each in await self._accounts_of(user_id, account):
            rows, following = await self._orders.list_of(each, wanted, limit, after)
            pages.append((rows, None if following is None else following.place))
        page, end = merged(pages, limit, place_of)
        return page, cursor_of(None if end is None else OrderPosition(datetime.fromisoformat(end[0]), end[1]))

    async def trades(
        self, user_id: str, account: str | None, span: Span, limit: int, cursor: str | None
    ) -> tuple[list[UserTrade], str | None]:
        """Trades of `span`, newest first; of all accounts of the user, or of one.

        Raises HttpError (400) for an account of another user, and for a cursor that the list did not give.
        """
        after = None
        if cursor is not None:
            after = OwnTradePosition(*decode_cursor(cursor, tuple[SerialNumber, Literal["maker", "taker"]]))
        wanted = OwnTradeFilter(since=span.since, until=span.until)
        pages = []
        for each in await self._accounts_of(user_id, account):
            rows, following = await self._orders.trades_of(each, wanted, limit, after)
            pages.append(([UserTrade(**msgspec.structs.asdict(row), account=each) for row in rows], following))
        page, end = merged(pages, limit, lambda trade: OwnTradePosition(trade.sequence, trade.role))
        return page, None if end is None else encode_cursor(list(end))

    async def transactions(
        self, user_id: str, account: str | None, span: Span, limit: int, cursor: str | None
    ) -> tuple[list[LedgerHistoryEntry], str | None]:
        """Entries of the ledger that were made in `span`, newest first; of the spot account unless another is named.

        Raises HttpError: 400 for an account of another user and for a cursor that the list did not give, 503 if the
        ledger does not respond.
        """
        require_own(user_id, account)
        since, until = span.milliseconds()
        wanted = LedgerHistoryRequest(account or user_id, limit=limit, cursor=cursor, since=since, until=until)
        page = await self._accounts.transactions(wanted)
        return page.entries, page.next_cursor

    async def _accounts_of(self, user_id: str, account: str | None) -> list[str]:
        """The account that is named, or all that the user has had. Each costs a look at an index."""
        require_own(user_id, account)
        if account is not None:
            return [account]
        return [user_id, *(each.account_id for each in await margin_accounts(self._pool, user_id))]

    async def sessions(self, user_id: str) -> Rows:
        """Sessions that can still be refreshed. None of them is the operator's own."""
        return [body_of(row) for row in await self._sessions.all_of(Identity(user_id, Access.USER))]

    async def api_keys(self, user_id: str) -> Rows:
        """API keys that are not revoked."""
        return [body_of(row) for row in await self._keys.list_of(user_id)]

    async def activity(self, user_id: str, span: Span, limit: int, cursor: str | None) -> Page[ActivityResponse]:
        """Entries of the activity log that were made in `span`, newest first."""
        found = await self._activity.page(user_id, limit + 1, serial_of(cursor), since=span.since, until=span.until)
        return page_of(found, limit, lambda entry: [entry.activity_id], _activity)

    async def notifications(
        self, user_id: str, span: Span, limit: int, cursor: str | None
    ) -> Page[NotificationResponse]:
        """Notifications of `span`, newest first."""
        found = await self._notifications.page(
            user_id, limit + 1, serial_of(cursor), since=span.since, until=span.until
        )
        return page_of(found, limit, lambda row: [row.number], _notification)


def _activity(entry: Activity) -> ActivityResponse:
    return ActivityResponse(
        id=str(entry.activity_id),
        kind=ActivityKind(entry.kind),
        address=entry.address,
        user_agent=entry.user_agent,
        created_at=iso_of(entry.created_at),
    )


def _notification(row: KeptNotification) -> NotificationResponse:
    return NotificationResponse(
        id=row.notification_id, kind=row.kind, title=row.title, text=row.text, created_at=iso_of(row.created_at)
    )
