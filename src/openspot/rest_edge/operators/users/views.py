"""A user's lists as the user sees them, for operators: the same services read them."""

from typing import Any, Literal

from openspot.contracts.messages import LedgerHistoryEntry, LedgerHistoryRequest, OrderRecord
from openspot.http.context import Identity
from openspot.http.lists import decode_cursor, encode_cursor
from openspot.http.paging import Page, SerialNumber, page_of, serial_of
from openspot.http.policy import Access
from openspot.http.responses import body_of
from openspot.kit.clock import iso_of
from openspot.rest_edge.funds.accounts.service import AccountService
from openspot.rest_edge.identity.activity.log import Activity, ActivityKind, ActivityLog
from openspot.rest_edge.identity.activity.schemas import ActivityResponse
from openspot.rest_edge.identity.api_keys.service import ApiKeyService
from openspot.rest_edge.identity.sessions.session_list import SessionList
from openspot.rest_edge.notifications.schemas import NotificationResponse
from openspot.rest_edge.notifications.store import KeptNotification, NotificationStore
from openspot.rest_edge.operators.spans import Span
from openspot.rest_edge.orders.own_trades import OwnTradeFilter, OwnTradePosition
from openspot.rest_edge.orders.positions import cursor_of, position_of
from openspot.rest_edge.orders.recent import OrderFilter
from openspot.rest_edge.orders.schemas import OwnTrade
from openspot.rest_edge.orders.service import OrderService

Rows = list[dict[str, Any]]


class UserViews:
    """Pages of one user's lists, each with the cursor of the next page. An unknown user has nothing in any."""

    def __init__(
        self,
        orders: OrderService,
        accounts: AccountService,
        sessions: SessionList,
        keys: ApiKeyService,
        activity: ActivityLog,
        notifications: NotificationStore,
    ) -> None:
        self._orders = orders
        self._accounts = accounts
        self._sessions = sessions
        self._keys = keys
        self._activity = activity
        self._notifications = notifications

    async def orders(
        self, user_id: str, span: Span, limit: int, cursor: str | None
    ) -> tuple[list[OrderRecord], str | None]:
        """Orders that were made in `span`, newest first."""
        wanted = OrderFilter(since=span.since, until=span.until)
        rows, following = await self._orders.list_of(user_id, wanted, limit, position_of(cursor))
        return rows, cursor_of(following)

    async def trades(
        self, user_id: str, span: Span, limit: int, cursor: str | None
    ) -> tuple[list[OwnTrade], str | None]:
        """Trades of `span`, newest first."""
        after = None
        if cursor is not None:
            after = OwnTradePosition(*decode_cursor(cursor, tuple[SerialNumber, Literal["maker", "taker"]]))
        rows, following = await self._orders.trades_of(
            user_id, OwnTradeFilter(since=span.since, until=span.until), limit, after
        )
        return rows, None if following is None else encode_cursor(list(following))

    async def transactions(
        self, user_id: str, span: Span, limit: int, cursor: str | None
    ) -> tuple[list[LedgerHistoryEntry], str | None]:
        """Entries of the ledger that were made in `span`, newest first.

        Raises HttpError: 400 for a cursor that the list did not give, 503 if the ledger does not respond.
        """
        since, until = span.milliseconds()
        wanted = LedgerHistoryRequest(user_id, limit=limit, cursor=cursor, since=since, until=until)
        page = await self._accounts.transactions(wanted)
        return page.entries, page.next_cursor

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
