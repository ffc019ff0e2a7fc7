"""Handles the reports of a broker of record: each becomes one trade or one exception."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from openspot.domain.market import MarketLimits
from openspot.domain.money import parse_decimal, to_amount
from openspot.domain.order import Side
from openspot.http.context import Identity
from openspot.http.errors import HttpError
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.database import Connection, Pool
from openspot.positions.access import is_admin
from openspot.positions.amounts import amount_of
from openspot.positions.broker.schemas import BrokenRuleResponse, CompletedOrderBody, ExceptionResponse, IntakeResponse
from openspot.positions.broker_of_record import (
    AcceptedReport,
    BrokerException,
    CompletedOrder,
    ExceptedReport,
    IntakeContext,
    KnownOrder,
    PriceRange,
    RepeatedReport,
    ReportedFill,
    judge,
)
from openspot.positions.holdings.store import HoldingStore
from openspot.positions.holdings.trade_store import NewTrade, PositionKey, book_trades
from openspot.positions.times import milliseconds_of

EXCEPTION_ID_LENGTH = 32
TRADE_PREFIX = "broker:"


class BrokerService:
    """Does the work of the broker of record's routes. Raises HttpError."""

    def __init__(
        self,
        pool: Pool,
        holdings: HoldingStore,
        limits: dict[str, MarketLimits],
        clock: Clock,
        *,
        follows_fills: bool,
    ) -> None:
        self._pool = pool
        self._holdings = holdings
        self._limits = limits
        self._clock = clock
        self._follows_fills = follows_fills

    async def take(self, body: CompletedOrderBody) -> IntakeResponse:
        """Check a report. Then book its trade, or store an exception."""
        report, text = _report(body), json.dumps(body.model_dump(by_alias=True, mode="json"), sort_keys=True)
        marks = await self._holdings.marks()
        async with self._pool.acquire() as connection, connection.transaction():
            # Without a lock, two reports of one order could both find that there is no earlier one.
            lock = f"openspot-broker-order:{report.order_id}"
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", lock)
            outcome = judge(report, await self._context(connection, report, marks))
            if isinstance(outcome, ExceptedReport):
                exception_id = await self._keep(connection, report, text, outcome.exceptions)
                return _response("exception", report, exception_id=exception_id)
            if isinstance(outcome, RepeatedReport):
                return _response("repeated", report)
            await self._accept(connection, report, text, outcome)
        return _response("accepted", report)

    async def page(self, participant_id: str | None, before: int, limit: int) -> Sequence[Any]:
        """Exceptions with a serial below `before`, newest first."""
        return await self._pool.fetch(
            """
            SELECT * FROM broker_exceptions WHERE serial < $1 AND ($2::text IS NULL OR participant_id = $2)
            ORDER BY serial DESC LIMIT $3
            """,
            before, participant_id, limit,
        )  # fmt: skip

    async def exception(self, caller: Identity, exception_id: str) -> ExceptionResponse:
        """One exception. Raises HttpError (404) if there is none that the caller may see."""
        row = await self._pool.fetchrow("SELECT * FROM broker_exceptions WHERE exception_id = $1", exception_id)
        if row is None or not (is_admin(caller) or row["participant_id"] == caller.subject):
            raise HttpError(404, f"exception {exception_id} not found", "EXCEPTION_NOT_FOUND")
        return exception_response(row)

    async def _context(
        self, connection: Connection, report: CompletedOrder, marks: dict[str, int]
    ) -> IntakeContext:  # fmt: skip
        known = await connection.fetchval("SELECT true FROM users WHERE user_id = $1", report.participant_id)
        order = await connection.fetchrow(
            "SELECT user_id, symbol, side, quantity FROM orders WHERE order_id = $1", report.order_id
        )
        earlier = await connection.fetchval("SELECT report FROM broker_reports WHERE order_id = $1", report.order_id)
        return IntakeContext(
            symbols=frozenset(self._limits),
            participant_known=bool(known),
            ranges={
                symbol: PriceRange(price, self._limits[symbol].deviation_bps_max)
                for symbol, price in marks.items()
                if symbol in self._limits
            },
            now=self._clock() // NANOSECONDS_PER_MS,
            order=None if order is None else _known_order(order),
            earlier=None if earlier is None else _report(CompletedOrderBody.model_validate_json(earlier)),
            is_followed=order is not None and self._follows_fills,
        )

    async def _accept(self, connection: Connection, report: CompletedOrder, text: str, outcome: AcceptedReport) -> None:
        await connection.execute(
            "INSERT INTO broker_reports (order_id, report) VALUES ($1, $2::jsonb)", report.order_id, text
        )
        trade = replace(outcome.trade, trade_id=_trade_id(report))
        await book_trades(connection, [NewTrade(PositionKey(report.participant_id, report.symbol), trade, "broker")])

    async def _keep(
        self, connection: Connection, report: CompletedOrder, text: str, reasons: Sequence[BrokerException]
    ) -> str:
        """Store an exception and return its id. The same report with the same codes is the same exception."""
        codes = [f"{reason.code}:{reason.field}" for reason in reasons]
        exception_id = hashlib.sha256(json.dumps([text, codes]).encode()).hexdigest()[:EXCEPTION_ID_LENGTH]
        await connection.execute(
            """
            INSERT INTO broker_exceptions AS known (exception_id, order_id, participant_id, report, reasons)
            VALUES ($1, $2, $3, $4::jsonb, $5::jsonb)
            ON CONFLICT (exception_id) DO UPDATE SET times_reported = known.times_reported + 1
            """,
            exception_id, report.order_id, report.participant_id, text,
            json.dumps([reason._asdict() for reason in reasons]),
        )  # fmt: skip
        return exception_id


def exception_response(row: Any) -> ExceptionResponse:
    """The response for a row of exceptions."""
    return ExceptionResponse(
        id=row["exception_id"],
        order_id=row["order_id"],
        participant_id=row["participant_id"],
        reasons=[BrokenRuleResponse(**reason) for reason in json.loads(row["reasons"])],
        report=json.loads(row["report"]),
        times_reported=row["times_reported"],
        created_at=row["created_at"],
    )


def _response(status: str, report: CompletedOrder, exception_id: str | None = None) -> IntakeResponse:
    trade_id = None if status == "exception" else _trade_id(report)
    return IntakeResponse.model_validate(
        {"status": status, "orderId": report.order_id, "tradeId": trade_id, "exceptionId": exception_id}
    )


def _trade_id(report: CompletedOrder) -> str:
    return TRADE_PREFIX + report.order_id


def _report(body: CompletedOrderBody) -> CompletedOrder:
    return CompletedOrder(
        order_id=body.order_id,
        participant_id=body.participant_id,
        symbol=body.symbol,
        side=Side[body.side.upper()],
        quantity=_amount(body.quantity),
        price=_amount(body.price),
        fee=_amount(body.fee),
        fee_asset=body.fee_asset,
        completed_at=milliseconds_of(body.completed_at),
        fills=tuple(ReportedFill(_amount(fill.quantity), _amount(fill.price)) for fill in body.fills),
    )


def _amount(text: str) -> int:
    return to_amount(parse_decimal(text))


def _known_order(row: Any) -> KnownOrder:
    return KnownOrder(row["user_id"], row["symbol"], Side[row["side"].upper()], amount_of(row["quantity"]))
