"""The house's accounts as operators see them, and the levels that they should have.

A level is a promise that operators make to themselves: nothing is refused below it. The metric
`openspot_house_account_below_level` says which accounts are below, and an alert follows it.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal

from prometheus_client import Gauge

from openspot.domain.ids import EXTERNAL_ACCOUNT_ID, HOUSE_ACCOUNT_PURPOSES
from openspot.domain.market import AssetScale
from openspot.engine_client.errors import EngineError
from openspot.engine_client.queries import EngineBalance, EngineQueries
from openspot.http.errors import HttpError, validation_error
from openspot.http.paging import Page, page_of, serial_of
from openspot.kit.clock import iso_of
from openspot.kit.database import TRANSIENT_ERRORS, Pool, text_of
from openspot.kit.log import get_logger
from openspot.rest_edge.operators.acting import Acting, record
from openspot.rest_edge.operators.moves.rules import amount_faults
from openspot.rest_edge.operators.spans import Span
from openspot.rest_edge.operators.treasury import store
from openspot.rest_edge.operators.treasury.rules import CLOSED, CLOSED_TO_OUTSIDE, account_fault, is_low
from openspot.rest_edge.operators.treasury.schemas import (
    HouseAccountResponse,
    HouseBalanceResponse,
    HouseEntryResponse,
    HouseLevelBody,
    HouseLevelResponse,
)

log = get_logger("treasury")

BELOW_LEVEL = Gauge(
    "openspot_house_account_below_level",
    "1 while an account of the house has less of an asset than its level",
    ["account", "asset"],
)
LOOK_INTERVAL_S = 15.0
"""How often the accounts that have levels are looked at."""


class HouseAccounts:
    """Reads the house's accounts, and sets their levels. Methods raise HttpError."""

    def __init__(
        self,
        pool: Pool,
        engine: EngineQueries,
        assets: Mapping[str, AssetScale],
        now: Callable[[], datetime],
    ) -> None:
        self._pool = pool
        self._engine = engine
        self._assets = assets
        self._now = now

    async def all(self) -> list[HouseAccountResponse]:
        """Every account, with its balances side by side. A side that does not respond is null.

        503 if not even the levels can be read.
        """
        found = await asyncio.gather(*(self._at_engine(account) for account in HOUSE_ACCOUNT_PURPOSES))
        at_engine = dict(zip(HOUSE_ACCOUNT_PURPOSES, found, strict=True))
        levels = {(each.account, each.asset): each.level for each in await store.levels(self._pool)}
        try:
            ledger: dict[tuple[str, str], Decimal] | None = {
                (each.account, each.asset): each.total for each in await store.ledger_balances(self._pool)
            }
        except TRANSIENT_ERRORS as error:
            log.warning("the ledger's accounts of the house cannot be read", error=repr(error))
            ledger = None
        return [
            HouseAccountResponse(
                account=account,
                purpose=purpose,
                closed_because=CLOSED.get(account),
                closed_to_outside_because=CLOSED_TO_OUTSIDE.get(account),
                balances=_balances(account, at_engine[account], ledger, levels),
            )
            for account, purpose in HOUSE_ACCOUNT_PURPOSES.items()
        ]

    async def set_level(self, body: HouseLevelBody, acting: Acting) -> HouseLevelResponse:
        """Set the level of an asset in an account, or remove it. 400 for one that can have none."""
        faults = [fault for fault in (account_fault("account", body.account),) if fault]
        faults += amount_faults(self._assets, body.asset, "level", body.level or Decimal(0))
        if faults:
            raise validation_error(faults)
        async with self._pool.acquire() as connection, connection.transaction():
            before = await store.lock_level(connection, body.account, body.asset)
            await store.set_level(connection, body.account, body.asset, body.level, acting.operator.name, self._now())
            await record(
                connection, acting, "house_level.set", "account", body.account,
                {"asset": body.asset, "level": None if before is None else text_of(before)},
                {"asset": body.asset, "level": None if body.level is None else text_of(body.level)},
            )  # fmt: skip
        level = None if body.level is None else text_of(body.level)
        return HouseLevelResponse(account=body.account, asset=body.asset, level=level)

    def require_account(self, account: str) -> None:
        """404 for an account that the house has not."""
        if account not in HOUSE_ACCOUNT_PURPOSES:
            raise HttpError(404, f"the house has no account {account}", "HOUSE_ACCOUNT_NOT_FOUND")

    async def entries(self, account: str, span: Span, limit: int, cursor: str | None) -> Page[HouseEntryResponse]:
        """Entries of an account in a span that no trade made, newest first."""
        rows = await store.entries(self._pool, account, span, limit + 1, serial_of(cursor))
        return page_of(
            rows,
            limit,
            lambda row: [row.entry_id],
            lambda row: HouseEntryResponse(
                id=row.transaction_id,
                asset=row.asset,
                amount=text_of(row.amount),
                balance=text_of(row.balance),
                kind=row.entry_type,
                reference=row.reference_id,
                created_at=iso_of(row.created_at),
            ),
        )

    async def look(self) -> None:
        """Set the metric of each account that has a level. If the engine is silent, the metric stays as it was."""
        levels = await store.levels(self._pool)
        try:
            found = {
                account: {row.asset: row for row in await self._engine.balances(account)}
                for account in sorted({each.account for each in levels})
            }
        except EngineError as error:
            log.warning("the levels of the house's accounts cannot be checked", error=str(error))
            return
        BELOW_LEVEL.clear()
        for account, asset, level in levels:
            row = found[account].get(asset)
            available = Decimal(row.available) if row is not None else Decimal(0)
            BELOW_LEVEL.labels(account, asset).set(is_low(available, level))

    async def _at_engine(self, account: str) -> dict[str, EngineBalance] | None:
        if account == EXTERNAL_ACCOUNT_ID:
            # The outside world is an account of the ledger alone.
            return {}
        try:
            return {row.asset: row for row in await self._engine.balances(account)}
        except EngineError as error:
            log.warning("an account of the house cannot be read at the engine", account=account, error=str(error))
            return None


def _balances(
    account: str,
    engine: Mapping[str, EngineBalance] | None,
    ledger: Mapping[tuple[str, str], Decimal] | None,
    levels: Mapping[tuple[str, str], Decimal],
) -> list[HouseBalanceResponse]:
    assets = {asset for of, asset in (*(ledger or ()), *levels) if of == account} | set(engine or ())
    rows = []
    for asset in sorted(assets):
        row = None if engine is None else engine.get(asset)
        total = None if engine is None else Decimal(row.total) if row is not None else Decimal(0)
        available = None if engine is None else Decimal(row.available) if row is not None else Decimal(0)
        posted = None if ledger is None else ledger.get((account, asset), Decimal(0))
        level = levels.get((account, asset))
        # The engine has no account of the outside world, so there is nothing to compare.
        is_compared = total is not None and posted is not None and account != EXTERNAL_ACCOUNT_ID
        rows.append(
            HouseBalanceResponse(
                asset=asset,
                engine_total=_text(None if account == EXTERNAL_ACCOUNT_ID else total),
                engine_available=_text(None if account == EXTERNAL_ACCOUNT_ID else available),
                ledger_total=_text(posted),
                difference=_text(posted - total) if is_compared and posted is not None and total is not None else None,
                level=_text(level),
                is_low=is_low(available, level),
            )
        )
    return rows


def _text(value: Decimal | None) -> str | None:
    return None if value is None else text_of(value)
