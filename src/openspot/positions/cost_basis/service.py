"""FIFO cost basis of users."""

import asyncio
import csv
import io
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import IO, Any

from openspot.domain.money import parse_decimal, to_amount
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.kit.clock import datetime_from_ms
from openspot.kit.database import Pool
from openspot.positions.access import participant_not_found
from openspot.positions.amounts import amount_of, shown
from openspot.positions.cost_basis import store
from openspot.positions.cost_basis.computation import compute
from openspot.positions.cost_basis.imports import ImportReport, ImportSource, store_rows, too_many_transactions
from openspot.positions.cost_basis.schemas import (
    AssetCostBasisResponse,
    CostBasisResponse,
    DisposalResponse,
    HoldingResponse,
    LotResponse,
    ShortfallResponse,
    TransactionBody,
    TransactionResponse,
    YearResponse,
)
from openspot.positions.cost_basis.store import CostBasisStore
from openspot.positions.cost_basis.turns import Turns
from openspot.positions.fifo_transaction import FifoTransaction, TransactionError, TransactionKind
from openspot.positions.import_rules import AcceptedTransaction, fingerprint
from openspot.positions.tax_years import GainSum, TaxYearStart, YearlyGain, gains_by_tax_year
from openspot.positions.times import milliseconds_of

LOTS_SHOWN = 1_000
SHORTFALLS_SHOWN = 100
WAIT_S_MAX = 20.0
"""A reader waits this long for a computation, and is then told to ask again."""
PLACE_S_MAX = 30.0
"""A received file waits this long for a place."""
TURN_S_MAX = 10.0
"""A transaction to be recorded waits this long for computations of results."""
CSV_COLUMNS = (
    "disposalId", "disposedAt", "account", "asset", "reason", "quantity", "proceeds", "cost", "gain", "acquiredAt",
    "acquisitionId",
)  # fmt: skip


class CostBasisService:
    """Does the work of the FIFO cost basis routes. Raises HttpError."""

    def __init__(
        self, pool: Pool, reader: CostBasisStore, currency: str, *, imports_max: int, transactions_max: int
    ) -> None:
        """At most `imports_max` imports run at a time. A user may record and import `transactions_max` transactions."""
        self._pool = pool
        self._imports = asyncio.Semaphore(imports_max)
        self._turns = Turns()
        self._adding: set[str] = set()
        self._transactions_max = transactions_max
        self._computing: dict[str, asyncio.Task[list[tuple[str, str]]]] = {}
        self.currency = currency
        self.reader = reader

    async def require_user(self, user_id: str, caller: str) -> str:
        """Return `user_id`. Raises HttpError (404) if an administrator names a user who does not exist."""
        if user_id != caller and not await self.reader.knows_user(user_id):
            raise participant_not_found(user_id)
        return user_id

    async def add(self, user_id: str, body: TransactionBody) -> tuple[TransactionResponse, bool]:
        """Store one transaction. Returns it, and whether it is new.

        Raises HttpError: 400 if a field breaks a rule; 409 if a different transaction has its id, if it takes more than
        its account holds, if a later transaction would then do so, if the user has as many as allowed, or if another
        one of the user is being recorded; 503 if too many results are being computed for TURN_S_MAX.
        """
        transaction = _transaction(body)
        if user_id in self._adding:
            message = "a transaction of this user is being recorded: wait for its answer"
            raise HttpError(409, message, "TRANSACTION_IN_PROGRESS", headers={"Retry-After": "1"})
        self._adding.add(user_id)
        try:
            async with self._turns.taken(user_id, TURN_S_MAX):
                return await self._add(user_id, transaction)
        finally:
            self._adding.discard(user_id)

    async def _add(self, user_id: str, transaction: FifoTransaction) -> tuple[TransactionResponse, bool]:
        mark = fingerprint(transaction)
        async with self._pool.acquire() as connection, connection.transaction():
            dirty = await store.lock_owner(connection, user_id)
            known = await store.fingerprints(connection, user_id, [transaction.external_id])
            if known:
                if known[transaction.external_id] == mark:
                    return _transaction_response(user_id, transaction), False
                message = f"transaction {transaction.external_id} is there already with other content"
                raise HttpError(409, message, "TRANSACTION_EXISTS")
            if await store.transaction_count(connection, user_id) >= self._transactions_max:
                raise HttpError(409, too_many_transactions(self._transactions_max), "TOO_MANY_TRANSACTIONS")
            if dirty is not None:
                # Compute first, or an older shortfall would count against this transaction.
                await compute(connection, user_id, dirty)
            await store.add_transactions(connection, user_id, [AcceptedTransaction(0, transaction, mark)])
            uncovered = await compute(connection, user_id, transaction.timestamp)
            if uncovered:
                external_id, reason = uncovered[0]
                raise HttpError(409, reason, "SHORTFALL", details={"externalId": external_id})
        return _transaction_response(user_id, transaction), True

    async def take_file(self, user_id: str, source: ImportSource, report_file: IO[bytes]) -> ImportReport:
        """Import a received file and compute the results. Raises HttpError (400) if the file has no known layout."""
        report = await store_rows(self._pool, user_id, source, report_file, self._transactions_max)
        report.uncovered = await self.compute(user_id)
        return report

    def require_place(self) -> None:
        """Raise HttpError (503) if no place for an import is free now, before a file is received in vain."""
        if self._imports.locked():
            raise _too_many_imports()

    @asynccontextmanager
    async def importing(self) -> AsyncIterator[None]:
        """Take a place for one import of a received file. Raises HttpError (503) if none is free for PLACE_S_MAX."""
        try:
            async with asyncio.timeout(PLACE_S_MAX):
                await self._imports.acquire()
        except TimeoutError as error:
            raise _too_many_imports() from error
        try:
            yield
        finally:
            self._imports.release()

    async def compute(self, user_id: str) -> list[tuple[str, str]]:
        """Bring a user's results up to date. Returns (external id, reason) of the transactions with a new shortfall."""
        async with self._turns.taken(user_id), self._pool.acquire() as connection, connection.transaction():
            dirty = await store.lock_owner(connection, user_id)
            return [] if dirty is None else await compute(connection, user_id, dirty)

    async def await_results(self, user_id: str) -> None:
        """Wait until a user's results are up to date. Raises HttpError (503) if that takes longer than WAIT_S_MAX."""
        if not await self.reader.is_dirty(user_id):
            return
        task = self._computing.get(user_id)
        if task is None:
            # The computation goes on if its reader leaves, and other readers join it.
            task = self._computing[user_id] = asyncio.create_task(self.compute(user_id))
            task.add_done_callback(lambda _: self._computing.pop(user_id, None))
        try:
            async with asyncio.timeout(WAIT_S_MAX):
                await asyncio.shield(task)
        except TimeoutError as error:
            raise service_unavailable("the results are being computed", "RESULTS_NOT_READY") from error

    async def stop(self) -> None:
        """End the running computations. The database keeps nothing of them."""
        for task in list(self._computing.values()):
            task.cancel()
        await asyncio.gather(*self._computing.values(), return_exceptions=True)

    async def overview(self, user_id: str, year_begins: TaxYearStart) -> CostBasisResponse:
        """Holdings, and gains by tax year."""
        await self.await_results(user_id)
        transactions, unvalued = await self.reader.counts(user_id)
        shortfall_count, shortfalls = await self.reader.shortfalls(user_id, SHORTFALLS_SHOWN)
        return CostBasisResponse(
            user_id=user_id,
            currency=self.currency,
            transactions=transactions,
            unvalued_fills=unvalued,
            holdings=[
                HoldingResponse(
                    account=row["account"],
                    asset=row["asset"],
                    quantity=shown(amount_of(row["quantity"])),
                    cost=shown(amount_of(row["cost"])),
                    lots=row["lots"],
                )
                for row in await self.reader.holdings(user_id)
            ],
            gains=await self._gains(user_id, year_begins),
            shortfall_count=shortfall_count,
            shortfalls=[
                ShortfallResponse(
                    external_id=row["external_id"],
                    timestamp=datetime_from_ms(row["executed_ms"]),
                    reason=row["shortfall"],
                )
                for row in shortfalls
            ],
        )

    async def of_asset(
        self, user_id: str, asset: str, year_begins: TaxYearStart, disposals: Sequence[Any]
    ) -> AssetCostBasisResponse:
        """The cost basis in one asset. `disposals` is the page of disposals to show."""
        held = [row for row in await self.reader.holdings(user_id) if row["asset"] == asset]
        return AssetCostBasisResponse(
            user_id=user_id,
            asset=asset,
            currency=self.currency,
            quantity=shown(sum(amount_of(row["quantity"]) for row in held)),
            cost=shown(sum(amount_of(row["cost"]) for row in held)),
            lot_count=sum(row["lots"] for row in held),
            lots=[_lot_response(row) for row in await self.reader.lots(user_id, asset, LOTS_SHOWN)],
            gains=[gain for gain in await self._gains(user_id, year_begins) if gain.asset == asset],
            disposals=[_disposal_response(row) for row in disposals],
        )

    async def export(self, user_id: str, tax_year: int, year_begins: TaxYearStart) -> AsyncIterator[bytes]:
        """The disposals of one tax year as CSV, oldest first, piece by piece."""
        yield (",".join(CSV_COLUMNS) + "\r\n").encode()
        since, until = year_begins.begin_of(tax_year), year_begins.begin_of(tax_year + 1)
        async for rows in self.reader.disposals_between(user_id, since, until):
            yield b"".join(map(_csv_line, rows))

    async def _gains(self, user_id: str, year_begins: TaxYearStart) -> list[YearResponse]:
        sums = [
            GainSum(
                row["day_ms"], row["asset"], row["disposals"], amount_of(row["quantity"]), amount_of(row["proceeds"]),
                amount_of(row["cost"]),
            )
            for row in await self.reader.daily_gains(user_id)
        ]  # fmt: skip
        return [_year_response(gain) for gain in gains_by_tax_year(sums, year_begins)]


def _too_many_imports() -> HttpError:
    return service_unavailable("too many imports at a time", "TOO_MANY_IMPORTS")


def _transaction(body: TransactionBody) -> FifoTransaction:
    try:
        return FifoTransaction(
            external_id=body.external_id,
            timestamp=milliseconds_of(body.timestamp),
            kind=TransactionKind(body.type),
            account=body.account,
            asset=body.asset,
            quantity=to_amount(parse_decimal(body.quantity)),
            value=to_amount(parse_decimal(body.value)),
            fee=to_amount(parse_decimal(body.fee)),
            fee_asset=body.fee_asset,
            fee_quantity=to_amount(parse_decimal(body.fee_quantity)),
            destination=body.destination,
        )
    except TransactionError as error:
        raise validation_error([str(error)]) from error


def _transaction_response(user_id: str, transaction: FifoTransaction) -> TransactionResponse:
    return TransactionResponse(
        user_id=user_id,
        external_id=transaction.external_id,
        timestamp=datetime_from_ms(transaction.timestamp),
        type=transaction.kind.value,
        account=transaction.account,
        asset=transaction.asset,
        quantity=shown(transaction.quantity),
        value=shown(transaction.value),
        fee=shown(transaction.fee),
        fee_asset=transaction.fee_asset,
        fee_quantity=shown(transaction.fee_quantity),
        destination=transaction.destination,
    )


def _lot_response(row: Any) -> LotResponse:
    return LotResponse(
        account=row["account"],
        acquired_at=datetime_from_ms(row["acquired_ms"]),
        acquisition_id=row["acquisition_id"],
        quantity=shown(amount_of(row["quantity"])),
        cost=shown(amount_of(row["cost"])),
    )


def _disposal_response(row: Any) -> DisposalResponse:
    proceeds, cost = amount_of(row["proceeds"]), amount_of(row["cost"])
    return DisposalResponse(
        disposal_id=row["disposal_id"],
        disposed_at=datetime_from_ms(row["disposed_ms"]),
        account=row["account"],
        asset=row["asset"],
        reason=row["reason"],
        quantity=shown(amount_of(row["quantity"])),
        proceeds=shown(proceeds),
        cost=shown(cost),
        gain=shown(proceeds - cost),
        acquired_at=datetime_from_ms(row["acquired_ms"]),
        acquisition_id=row["acquisition_id"],
    )


def _year_response(gain: YearlyGain) -> YearResponse:
    return YearResponse(
        tax_year=gain.tax_year,
        asset=gain.asset,
        disposals=gain.disposals,
        quantity=shown(gain.quantity),
        proceeds=shown(gain.proceeds),
        cost=shown(gain.cost),
        gain=shown(gain.gain),
    )


def _csv_line(row: Any) -> bytes:
    """The line of one disposal. An apostrophe is put before a text that a spreadsheet would read as a formula."""
    fields = _disposal_response(row).model_dump(by_alias=True, mode="json")
    cells = [str(fields[name]) for name in CSV_COLUMNS]
    for place, name in enumerate(CSV_COLUMNS):
        if name in ("disposalId", "account", "acquisitionId") and cells[place].startswith(("=", "+", "-", "@")):
            cells[place] = "'" + cells[place]
    line = io.StringIO(newline="")
    csv.writer(line).writerow(cells)
    return line.getvalue().encode()
