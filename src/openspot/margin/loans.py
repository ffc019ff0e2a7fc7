"""Requests of users for collateral, loans and repayments. Each is written once, then its transfer is sent."""

from functools import partial

from openspot.contracts.refusals import InvalidRequestError, RefusalCode
from openspot.kit.clock import datetime_from_ms
from openspot.margin import loan_store, store
from openspot.margin.accounts import (
    LockedAccount,
    MarginRefusedError,
    NoAccountError,
    ensure_account,
    lock_and_settle,
    lock_and_settle_of_user,
    marks_for,
)
from openspot.margin.departures import refuse_new_collateral, refuse_new_risk
from openspot.margin.dependencies import Dependencies
from openspot.margin.figures import UnpricedError, UnsurePriceError, involved
from openspot.margin.interest import new_loan, yearly_rate
from openspot.margin.lifecycle import (
    AccountStatus,
    AccountTrigger,
    LoanStatus,
    account_close_error,
    next_account_status,
)
from openspot.margin.limits import LimitRule, borrowable, borrowing_error, has_debt, outflow_error
from openspot.margin.records import MarginLoanRow, MarginTransferRow, derived_id
from openspot.margin.transfers import add_collateral_transfer, add_funding, add_repayment
from openspot.margin.user_state import refuse_inactive_user

LOANS_MAX = 50
"""An account has at most this many loans that are not repaid."""


class Loans:
    """The requests. Their methods raise InvalidRequestError and EngineError, and return ids."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies

    async def transfer(self, request_id: str, user_id: str, asset: str, amount: int) -> str:
        """Move collateral in if `amount` is positive, else out. Returns the account's id."""
        dependencies = self._dependencies
        if amount > 0:
            account_id = await ensure_account(dependencies, user_id)
        else:
            found = await store.account_of_user(dependencies.pool, user_id)
            if found is None:
                raise NoAccountError
            account_id = found.account_id
        reference = f"margin:{derived_id('transfer', account_id, request_id)}"
        async with lock_and_settle(dependencies, account_id) as account:
            assert account is not None, "the account was there before"
            if await store.transfer(account.connection, reference) is None:
                if account.account.status is not AccountStatus.ACTIVE and amount < 0:
                    raise MarginRefusedError(f"the margin account is {account.account.status}")
                if account.account.status is AccountStatus.CLOSED:
                    raise MarginRefusedError("the margin account was closed meanwhile")
                if amount < 0:
                    await self._check_outflow(account, asset, -amount)
                else:
                    await self._check_inflow(account, asset)
                await add_collateral_transfer(
                    dependencies, account.connection, reference, account_id, user_id, asset, amount
                )
        await self._outcome(account_id, reference, f"{'the spot' if amount > 0 else 'the margin'} account")
        return account_id

    async def borrow(self, request_id: str, user_id: str, asset: str, amount: int) -> tuple[str, str]:
        """Borrow an amount. Returns the ids of account and loan."""
        dependencies = self._dependencies
        async with lock_and_settle_of_user(dependencies, user_id) as account:
            account_id = account.account_id
            loan_id = derived_id("loan", account_id, request_id)
            if await loan_store.loan(account.connection, loan_id) is None:
                await self._check_borrowing(account, asset, amount)
                await self.add_loan(account, loan_id, asset, amount)
        await self._outcome(account_id, f"margin:{loan_id}:borrow", "the lending pool")
        return account_id, loan_id

    async def add_loan(self, account: LockedAccount, loan_id: str, asset: str, amount: int) -> None:
        """Write a loan, and the transfer that moves its amount to the account."""
        dependencies = self._dependencies
        if len(account.holdings.loans) >= LOANS_MAX:
            raise MarginRefusedError(f"the account has {LOANS_MAX} loans already")
        rate, now_ms = dependencies.settings.margin_yearly_rate, dependencies.now_ms()
        accrual = new_loan(loan_id, amount, yearly_rate(rate), now_ms)
        created_at = datetime_from_ms(now_ms)
        loan = MarginLoanRow(
            account_id=account.account_id,
            asset=asset,
            borrowed=amount,
            accrual=accrual,
            yearly_rate=rate,
            repaying=None,
            status=LoanStatus.PENDING,
            created_at=created_at,
            ended_at=None,
        )
        await loan_store.add_loan(account.connection, loan)
        await add_funding(dependencies, account.connection, loan)

    async def repay(self, request_id: str, user_id: str, loan_id: str, amount: int | None) -> tuple[str, str]:
        """Repay `amount` of a loan, or all of it if that is None. Returns the ids of account and loan."""
        dependencies = self._dependencies
        async with lock_and_settle_of_user(dependencies, user_id) as account:
            account_id = account.account_id
            reference = f"margin:{derived_id('repay', account_id, request_id)}"
            loan = await loan_store.loan(account.connection, loan_id)
            if loan is None or loan.account_id != account_id:
                raise InvalidRequestError("loanId is not a loan of the account", RefusalCode.NOT_FOUND)
            if await store.transfer(account.connection, reference) is None:
                if account.account.status is AccountStatus.LIQUIDATING:
                    raise MarginRefusedError("the margin account is liquidating")
                if loan.status is not LoanStatus.ACTIVE:
                    raise MarginRefusedError(f"the loan is {loan.status}")
                owed = loan.accrual.owed(dependencies.now_ms())
                paid = owed if amount is None else min(amount, owed)
                await add_repayment(dependencies, account.connection, loan, paid, reference)
        await self._outcome(account_id, reference, "the margin account")
        return account_id, loan_id

    async def close_account(self, user_id: str) -> str:
        """Close the user's account, which must be empty. Returns its id."""
        dependencies = self._dependencies
        async with lock_and_settle_of_user(dependencies, user_id) as account:
            holdings = account.holdings
            positions = await store.positions_of(account.connection, account.account_id)
            if error := account_close_error(len(holdings.loans), len(positions)):
                raise MarginRefusedError(error)
            if left := sorted(asset for asset, held in holdings.held.items() if held.total):
                raise MarginRefusedError(f"account still holds {', '.join(left)}: move it out first")
            status = next_account_status(account.account.status, AccountTrigger.CLOSE_REQUESTED)
            if status is None:
                raise MarginRefusedError(f"the margin account is {account.account.status}")
            await store.set_account_status(account.connection, account.account_id, status, dependencies.now_ms())
            return account.account_id

    async def _outcome(self, account_id: str, reference: str, source: str) -> MarginTransferRow:
        """Send the transfer, and return it when it is decided. Raises MarginRefusedError if the engine refuses."""
        async with lock_and_settle(self._dependencies, account_id) as account:
            assert account is not None, "the account was there before"
            transfer = await store.transfer(account.connection, reference)
        assert transfer is not None, "it was written before"
        self._dependencies.wake()
        if transfer.status == "refused":
            is_pool = transfer.purpose == "borrow"
            code = RefusalCode.POOL_EMPTY if is_pool else RefusalCode.INSUFFICIENT_BALANCE
            raise MarginRefusedError(f"{source} does not cover the amount ({transfer.result_code})", code)
        return transfer

    async def _check_outflow(self, account: LockedAccount, asset: str, amount: int) -> None:
        """Raise MarginRefusedError unless the amount is free and the limits of the account let it leave."""
        if account.holdings.free(asset) < amount:
            raise MarginRefusedError(
                f"the margin account has less free {asset} than amount", RefusalCode.INSUFFICIENT_BALANCE
            )
        # An account without debt needs no prices, and what secures nothing may always leave.
        if asset in self._dependencies.offer.assets and has_debt(account.holdings.balances()):
            await self._check_limit(outflow_error, account, asset, amount)

    async def _check_inflow(self, account: LockedAccount, asset: str) -> None:
        """Raise MarginRefusedError for an asset that never had a price: with it the account would have no level.

        And for one that brings the account to need a market that is delisted soon, and if the user is not active.
        """
        await refuse_inactive_user(self._dependencies, account)
        if asset not in self._dependencies.marks.current() and asset not in involved(account.holdings.balances()):
            raise MarginRefusedError(
                f"no mark price for {asset}: it would secure nothing. Wait until it is traded",
                RefusalCode.NO_MARK_PRICE,
            )
        await refuse_new_collateral(self._dependencies, account, asset)

    async def _check_borrowing(self, account: LockedAccount, asset: str, amount: int) -> None:
        if account.account.status is not AccountStatus.ACTIVE:
            raise MarginRefusedError(f"the margin account is {account.account.status}")
        await refuse_inactive_user(self._dependencies, account)
        await refuse_new_risk(self._dependencies, account, "asset", asset)
        left = await self.borrowable(account, asset)
        await self._check_limit(partial(borrowing_error, borrowable=left), account, asset, amount)

    async def borrowable(self, account: LockedAccount, asset: str) -> int | None:
        """The amount of an asset that may still be borrowed; None without a bound.

        Until the caller's transaction ends, nobody else borrows this asset.
        """
        dependencies = self._dependencies
        price = dependencies.marks.current().get(asset)
        if price is None or price.buyable is None:
            return None
        await loan_store.lock_asset(account.connection, asset)
        debts = await loan_store.open_debts(account.connection, asset)
        return borrowable(price, debts.get(asset, 0), dependencies.settings.margin_buyable_share)

    async def _check_limit(self, limit: LimitRule, account: LockedAccount, asset: str, amount: int) -> None:
        """Raise MarginRefusedError with the reason that `limit` gives."""
        marks = await marks_for(self._dependencies, account.connection, account.account.user_id)
        positions = await store.positions_of(account.connection, account.account_id)
        required = [each.required_margin for each in positions]
        try:
            error = limit(account.holdings.balances(), marks, required, asset, amount)
        except UnpricedError as unpriced:
            raise MarginRefusedError(str(unpriced), RefusalCode.NO_MARK_PRICE) from unpriced
        except UnsurePriceError as unsure:
            raise MarginRefusedError(str(unsure), RefusalCode.PRICE_NOT_SURE) from unsure
        if error is not None:
            raise MarginRefusedError(error)
