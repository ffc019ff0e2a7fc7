"""Gathers the two sides: the engine's balances and events, and the rows of the mirrors."""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from types import TracebackType
from typing import Any, NamedTuple, Self

from openspot.contracts.engine_events import EngineEvent, Hello
from openspot.domain.accounts import AccountKey
from openspot.domain.money import EXACT
from openspot.engine_client.errors import EngineError
from openspot.engine_client.queries import EngineQueries
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.engine_client.stream import EngineStream, StreamEndedError
from openspot.kit.database import Pool
from openspot.reconcile.records import OrderFacts, TradeFacts

EVENTS_AT_A_TIME = 4096
STREAM_END = 2**62
"""Beyond every event: a stream opened from here reports its position and sends nothing."""


class EngineUnavailableError(Exception):
    """The engine does not answer; the message says which request failed."""


class EngineReader:
    """Reads the engine and changes nothing. Use it with `async with`. Every method raises EngineUnavailableError."""

    def __init__(self, settings: EngineConnectionSettings) -> None:
        self._settings = settings
        self._queries: EngineQueries | None = None

    async def __aenter__(self) -> Self:
        self._queries = EngineQueries(self._settings, self._settings.nested_timeout_s)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._queries is not None:
            await self._queries.close()

    async def balances(self, participants: Collection[str] | None = None) -> dict[AccountKey, Decimal]:
        """Totals of these participants' accounts, or of all accounts. An unknown participant has none."""
        assert self._queries is not None, "used within `async with`"
        try:
            totals = await self._queries.account_totals()
        except EngineError as error:
            raise EngineUnavailableError(f"balances: {error}") from error
        wanted = None if participants is None else frozenset(participants)
        return {
            AccountKey(entry.participant_id, entry.asset): entry.total
            for entry in totals
            if wanted is None or entry.participant_id in wanted
        }

    async def position(self) -> Hello:
        """The event stream's present position."""
        async with self._stream(STREAM_END) as stream:
            return stream.hello

    async def events(self, from_sequence: int, until: int | None = None) -> AsyncIterator[list[EngineEvent]]:
        """Yield every event from `from_sequence` up to `until`, in order, in batches. None means the newest event now.

        Raises EngineUnavailableError if an event is missing or does not come.
        """
        async with self._stream(from_sequence) as stream:
            following, last = from_sequence, stream.hello.last_seq if until is None else until
            while following <= last:
                try:
                    async with asyncio.timeout(self._settings.nested_timeout_s):
                        await stream.arrived()
                        events = stream.take(EVENTS_AT_A_TIME)
                except TimeoutError as error:
                    raise EngineUnavailableError(f"event stream: event {following} does not come") from error
                batch = [event for event in events if event.seq <= last]
                if [event.seq for event in batch] != list(range(following, following + len(batch))):
                    raise EngineUnavailableError(f"event stream: event {following} is missing")
                following += len(batch)
                yield batch

    @asynccontextmanager
    async def _stream(self, from_sequence: int) -> AsyncIterator[EngineStream]:
        assert self._queries is not None, "used within `async with`"
        try:
            async with EngineStream(
                self._queries.session,
                self._settings.engine_url,
                from_sequence,
                hello_s_max=self._settings.nested_timeout_s,
            ) as stream:
                yield stream
        except StreamEndedError as error:
            raise EngineUnavailableError(f"event stream: {error}") from error


class RowCounts(NamedTuple):
    """Numbers of order rows and of trade rows."""

    orders: int
    trades: int


class MirrorReader:
    """Reads what the router and the ledger have written."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def balances(self, participants: Sequence[str]) -> dict[AccountKey, Decimal]:
        """Totals of these participants' ledger accounts: available and locked."""
        rows = await self._pool.fetch(
            "SELECT user_id, asset, available, locked FROM ledger_accounts WHERE user_id = ANY($1::text[])",
            list(participants),
        )
        return {AccountKey(row["user_id"], row["asset"]): EXACT.add(row["available"], row["locked"]) for row in rows}

    async def counts(self, users: Sequence[str]) -> RowCounts:
        """How many rows these users have."""
        row = await self._pool.fetchrow(
            "SELECT (SELECT count(*) FROM orders WHERE user_id = ANY($1::text[])) AS orders,"
            " (SELECT count(*) FROM trades WHERE buyer_id = ANY($1::text[]) OR seller_id = ANY($1::text[])) AS trades",
            list(users),
        )
        assert row is not None, "a count always has a row"
        return RowCounts(row["orders"], row["trades"])

    async def orders(self, users: Sequence[str]) -> dict[str, OrderFacts]:
        """Order rows of these users by order id."""
        rows = await self._pool.fetch(
            "SELECT order_id, user_id, symbol, side, price, quantity, filled_quantity, filled_notional,"
            " remaining_quantity, fee, status FROM orders WHERE user_id = ANY($1::text[])",
            list(users),
        )
        return {row["order_id"]: _order(row) for row in rows}

    async def trades(self, users: Sequence[str]) -> dict[str, TradeFacts]:
        """Trade rows of these users by trade id."""
        rows = await self._pool.fetch(
            "SELECT trade_id, symbol, price, quantity, taker_side, taker_order_id, maker_order_id, buyer_id,"
            " seller_id, taker_fee, maker_fee, fee_currency FROM trades"
            " WHERE buyer_id = ANY($1::text[]) OR seller_id = ANY($1::text[])",
            list(users),
        )
        return {row["trade_id"]: TradeFacts(*row.values()) for row in rows}


def _order(row: Any) -> OrderFacts:
    return OrderFacts(
        order_id=row["order_id"],
        user_id=row["user_id"],
        symbol=row["symbol"],
        side=row["side"],
        price=row["price"],
        quantity=row["quantity"],
        filled=row["filled_quantity"],
        notional=row["filled_notional"],
        remaining=row["remaining_quantity"],
        fee=row["fee"],
        status=row["status"],
    )
