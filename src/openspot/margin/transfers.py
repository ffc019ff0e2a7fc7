"""Money of margin accounts: engine transfers that are written first, then sent until the engine's decision is known.

All borrowed money comes from `house:lending` and returns there. Interest goes to `house:interest`. `house:insurance`
pays what a liquidated account cannot. The engine carries out each reference once, and never lets an account become
negative. So it refuses a loan from an empty pool.

Only the holder of the account's lock sends its transfers (`engine_transfers/locked.py`). So whoever has the lock and
has settled the account's transfers knows all of its money.
"""

from dataclasses import replace
from datetime import datetime

from openspot.domain.ids import INSURANCE_ACCOUNT_ID, INTEREST_ACCOUNT_ID, LENDING_ACCOUNT_ID
from openspot.domain.transfer import Movement
from openspot.engine_transfers.engine import EngineTransfers
from openspot.engine_transfers.locked import settle_locked
from openspot.engine_transfers.model import TransferResult, TransferStatus
from openspot.kit.clock import datetime_from_ms, utc_datetime
from openspot.kit.database import Connection
from openspot.kit.sql import numeric
from openspot.margin import loan_store, store
from openspot.margin.dependencies import Dependencies
from openspot.margin.interest import repay
from openspot.margin.lifecycle import LoanStatus, LoanTrigger, next_loan_status
from openspot.margin.metrics import TRANSFERS
from openspot.margin.records import MarginLoanRow, MarginTransferRow, Purpose


class MarginTransferRules:
    """What the outcome of a margin account's transfer does to its loan.

    The platform owes a loss, so its transfer is sent again until the operator has funded the insurance account.
    """

    def __init__(self, dependencies: Dependencies, purpose: Purpose) -> None:
        self._dependencies = dependencies
        self.is_owed = purpose is Purpose.LOSS

    async def before(self, transfer: MarginTransferRow) -> None:
        """Do nothing: a margin transfer needs no preparation."""

    async def settle(
        self, connection: Connection, transfer: MarginTransferRow, result: TransferResult, now: datetime
    ) -> None:
        """Write the loan's new state, and make the next scan check the account."""
        if transfer.loan_id is not None:
            await self._settle_loan(connection, transfer.loan_id, transfer, is_done=result.succeeded)
        await store.touch(connection, transfer.account_id)

    async def _settle_loan(
        self, connection: Connection, loan_id: str, transfer: MarginTransferRow, *, is_done: bool
    ) -> None:
        loan = await loan_store.loan(connection, loan_id)
        assert loan is not None, "a loan's transfer is written with the loan"
        if transfer.purpose is Purpose.BORROW:
            now_ms = self._dependencies.now_ms()
            _move(loan, LoanTrigger.FUNDED if is_done else LoanTrigger.POOL_EMPTY)
            loan.accrual = replace(loan.accrual, segment_start=now_ms)
            loan.ended_at = None if is_done else datetime_from_ms(now_ms)
        else:
            loan.repaying = None
            if is_done:
                await _repaid(connection, loan, transfer)
        await loan_store.save_loan(connection, loan)


async def settle_transfers(dependencies: Dependencies, connection: Connection, account_id: str) -> bool:
    """Send the account's pending transfers, oldest first. Returns False if the insurance account cannot pay a loss yet.

    The caller has locked the account. Raises EngineError if a decision is not known; the transfer then stays pending.
    """
    pending = await store.pending_transfers(connection, account_id)
    statuses = await settle_locked(
        connection,
        pending,
        engine=EngineTransfers(dependencies.commands),
        store=store,
        rules_of=lambda transfer: MarginTransferRules(dependencies, transfer.purpose),
        now=lambda: utc_datetime(dependencies.clock),
    )
    for transfer, status in zip(pending, statuses, strict=True):
        TRANSFERS.labels(transfer.purpose.value, "done" if status is TransferStatus.DONE else "refused").inc()
    return TransferStatus.PENDING not in statuses


async def add_collateral_transfer(
    dependencies: Dependencies,
    connection: Connection,
    reference: str,
    account_id: str,
    user_id: str,
    asset: str,
    amount: int,
) -> None:
    """Write a transfer between the user's spot account and the margin account: in if `amount` is positive, else out."""
    purpose = Purpose.IN if amount > 0 else Purpose.OUT
    source, destination = (user_id, account_id) if amount > 0 else (account_id, user_id)
    movement = Movement(source, destination, asset, numeric(abs(amount)))
    await store.add_transfer(
        connection,
        MarginTransferRow(
            reference=reference,
            account_id=account_id,
            purpose=purpose,
            loan_id=None,
            asset=asset,
            amount=abs(amount),
            movements=(movement,),
            at_ms=dependencies.now_ms(),
        ),
    )


async def add_funding(dependencies: Dependencies, connection: Connection, loan: MarginLoanRow) -> None:
    """Write the transfer that moves the amount of a new loan to the account."""
    movement = Movement(LENDING_ACCOUNT_ID, loan.account_id, loan.asset, numeric(loan.borrowed))
    await store.add_transfer(
        connection,
        MarginTransferRow(
            reference=f"margin:{loan.loan_id}:borrow",
            account_id=loan.account_id,
            purpose=Purpose.BORROW,
            loan_id=loan.loan_id,
            asset=loan.asset,
            amount=loan.borrowed,
            movements=(movement,),
            at_ms=dependencies.now_ms(),
        ),
    )


async def add_repayment(
    dependencies: Dependencies,
    connection: Connection,
    loan: MarginLoanRow,
    amount: int,
    reference: str,
    *,
    is_loss: bool = False,
) -> None:
    """Write a repayment of at most `amount`, interest first. If `is_loss`, the insurance account pays it.

    The repayment is dated now. No interest is posted to the loan until the engine has decided.
    """
    now_ms = dependencies.now_ms()
    repayment = repay(loan.accrual, amount, now_ms)
    source = INSURANCE_ACCOUNT_ID if is_loss else loan.account_id
    movements = tuple(
        Movement(source, destination, loan.asset, numeric(part))
        for destination, part in ((INTEREST_ACCOUNT_ID, repayment.interest), (LENDING_ACCOUNT_ID, repayment.principal))
        if part
    )
    paid = repayment.interest + repayment.principal
    purpose = Purpose.LOSS if is_loss else Purpose.REPAY
    await store.add_transfer(
        connection,
        MarginTransferRow(
            reference=reference,
            account_id=loan.account_id,
            purpose=purpose,
            loan_id=loan.loan_id,
            asset=loan.asset,
            amount=paid,
            movements=movements,
            at_ms=now_ms,
        ),
    )
    loan.repaying = reference
    await loan_store.save_loan(connection, loan)


async def _repaid(connection: Connection, loan: MarginLoanRow, transfer: MarginTransferRow) -> None:
    repayment = repay(loan.accrual, transfer.amount, transfer.at_ms)
    if repayment.posting is not None:
        posting_id, amount = repayment.posting
        await loan_store.add_interest(connection, posting_id, loan.loan_id, amount, transfer.at_ms)
    loan.accrual = repayment.loan
    if not repayment.is_full:
        _move(loan, LoanTrigger.PARTLY_REPAID)
        return
    is_loss = transfer.purpose is Purpose.LOSS
    _move(loan, LoanTrigger.LOSS_COVERED if is_loss else LoanTrigger.FULLY_REPAID)
    loan.ended_at = datetime_from_ms(transfer.at_ms)


def _move(loan: MarginLoanRow, trigger: LoanTrigger) -> None:
    status = next_loan_status(loan.status, trigger)
    assert status is not None, f"a {loan.status} loan cannot be {trigger}"
    loan.status = LoanStatus(status)
