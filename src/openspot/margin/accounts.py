"""Locks an account after its transfers are settled, and shows it to clients."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from openspot.contracts.messages import (
    MarginAccount,
    MarginBalance,
    MarginLoan,
    MarginPosition,
    MarginPrice,
)
from openspot.contracts.refusals import InvalidRequestError, RefusalCode
from openspot.domain.accounts import margin_account_id
from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.money import amount_to_text, decimal_to_text
from openspot.kit.clock import iso_of
from openspot.kit.database import Connection, Pool, text_of
from openspot.margin import loan_store, store
from openspot.margin.dependencies import Dependencies
from openspot.margin.figures import AssetBalance, MarginFigures, Marks, UnpricedError, margin_figures
from openspot.margin.holdings import Holdings, holdings_of
from openspot.margin.limits import borrowable, shared
from openspot.margin.records import MarginAccountRow, MarginLoanRow, MarginPositionRow
from openspot.margin.transfers import settle_transfers


class NoAccountError(InvalidRequestError):
    """The user has no margin account."""

    def __init__(self) -> None:
        super().__init__("the user has no margin account: move collateral into it first", RefusalCode.NOT_FOUND)


class MarginRefusedError(InvalidRequestError):
    """The state of the account does not allow the request. The message gives the reason."""

    def __init__(self, message: str, code: RefusalCode = RefusalCode.MARGIN_REFUSED) -> None:
        super().__init__(message, code)


@dataclass(slots=True)
class LockedAccount:
    """An account that this transaction has locked. The engine has decided all its transfers except uncovered losses."""

    connection: Connection
    account: MarginAccountRow
    holdings: Holdings
    is_covered: bool

    @property
    def account_id(self) -> str:
        """Its id."""
        return self.account.account_id


@asynccontextmanager
async def lock_and_settle(dependencies: Dependencies, account_id: str) -> AsyncIterator[LockedAccount | None]:
    """Lock the account in a transaction of its own, and settle its transfers.

    Yields None if there is no such account. Raises EngineError if the outcome of a transfer or the balances are not
    known.
    """
    async with dependencies.turn(account_id), dependencies.pool.acquire() as connection:
        # The outcomes of transfers stay, even if a later statement fails.
        async with connection.transaction():
            account = await store.lock_account(connection, account_id)
            if account is None:
                yield None
                return
            await settle_transfers(dependencies, connection, account_id)
        async with connection.transaction():
            account = await store.lock_account(connection, account_id)
            assert account is not None, "accounts are never deleted"
            is_covered = await settle_transfers(dependencies, connection, account_id)
            loans = await loan_store.loans_of(connection, account_id)
            holdings = await holdings_of(dependencies.queries, account_id, loans, dependencies.offer.assets)
            yield LockedAccount(connection, account, holdings, is_covered)


@asynccontextmanager
async def lock_and_settle_of_user(dependencies: Dependencies, user_id: str) -> AsyncIterator[LockedAccount]:
    """Like `lock_and_settle`, for the user's account. Raises NoAccountError if there is none."""
    found = await store.account_of_user(dependencies.pool, user_id)
    if found is None:
        raise NoAccountError
    async with lock_and_settle(dependencies, found.account_id) as account:
        if account is None:
            raise NoAccountError
        yield account


async def ensure_account(dependencies: Dependencies, user_id: str) -> str:
    """The id of the user's account. Opens an account if there is none."""
    async with dependencies.pool.acquire() as connection, connection.transaction():
        found = await store.account_of_user(connection, user_id)
        if found is None:
            number = await store.count_accounts(connection, user_id) + 1
            await store.add_account(connection, margin_account_id(user_id, number), user_id, dependencies.now_ms())
            # Another request may have opened the account meanwhile.
            found = await store.account_of_user(connection, user_id)
    if found is None:
        raise InvalidRequestError("the margin account was closed meanwhile", RefusalCode.BUSY)
    return found.account_id


async def account_record(dependencies: Dependencies, account_id: str) -> MarginAccount:
    """The account as clients see it. Raises EngineError."""
    pool = dependencies.pool
    account = (await store.accounts_by_id(pool, [account_id]))[account_id]
    loans = await loan_store.loans_of(pool, account_id, all_states=True)
    holdings = await holdings_of(dependencies.queries, account_id, loans, dependencies.offer.assets)
    balances = holdings.balances()
    marks = await marks_for(dependencies, pool, account.user_id)
    figures: MarginFigures | None = None
    with suppress(UnpricedError):
        figures = margin_figures(balances, marks)
    debts = await loan_store.open_debts(pool)
    share = dependencies.settings.margin_buyable_share
    return MarginAccount(
        margin_account_id=account_id,
        user_id=account.user_id,
        status=account.status.value,
        valuation_asset=dependencies.settings.margin_valuation_asset,
        margin_level=None if figures is None else text_or_none(figures.level),
        equity=None if figures is None else amount_to_text(figures.equity),
        debt=None if figures is None else amount_to_text(figures.debt_amount),
        is_at_risk=None if figures is None else figures.is_at_risk,
        balances=[
            _balance_record(asset, balance, holdings.free(asset))
            for asset, balance in sorted(balances.items())
            if balance.held or balance.debt
        ]
        + [
            _uncounted_record(asset, total, holdings.free(asset))
            for asset, total in sorted(holdings.uncounted().items())
        ],
        positions=[_position_record(each) for each in await store.positions_of(pool, account_id, all_states=True)],
        loans=[_loan_record(each) for each in loans],
        prices=[
            _price_record(asset, price, borrowable(price, debts.get(asset, 0), share))
            for asset, price in sorted(marks.items())
        ],
        borrow_rate=text_of(dependencies.settings.margin_yearly_rate),
    )


async def marks_for(dependencies: Dependencies, connection: Connection | Pool, user_id: str) -> Marks:
    """The mark prices for a user's account. All accounts of one owner share what a market can absorb.

    Raises EngineError.
    """
    marks = dependencies.marks.current()
    others = []
    for account_id in await store.accounts_of_same_owner(connection, user_id):
        loans = await loan_store.loans_of(connection, account_id)
        holdings = await holdings_of(dependencies.queries, account_id, loans, dependencies.offer.assets)
        others.append(holdings.balances())
    return shared(marks, others) if others else marks


def text_or_none(amount: int | None) -> str | None:
    """An amount as text, or None."""
    return None if amount is None else amount_to_text(amount)


def _balance_record(asset: str, balance: AssetBalance, free: int) -> MarginBalance:
    return MarginBalance(
        asset,
        amount_to_text(balance.held),
        amount_to_text(free),
        amount_to_text(balance.owed),
        amount_to_text(balance.interest),
    )


def _uncounted_record(asset: str, total: int, free: int) -> MarginBalance:
    nothing = amount_to_text(0)
    return MarginBalance(asset, amount_to_text(total), amount_to_text(free), nothing, nothing, is_offered=False)


def _price_record(asset: str, price: AssetPrice, left: int | None) -> MarginPrice:
    return MarginPrice(
        asset=asset,
        low=amount_to_text(price.low),
        price=amount_to_text(price.price),
        high=amount_to_text(price.high),
        day_median=amount_to_text(price.day_median),
        state=price.state.value,
        reason=price.reason,
        sellable=text_or_none(price.sellable),
        borrowable=text_or_none(left),
    )


def _position_record(position: MarginPositionRow) -> MarginPosition:
    return MarginPosition(
        position_id=position.position_id,
        margin_account_id=position.account_id,
        symbol=position.symbol,
        side=position.side.name.lower(),
        quantity=amount_to_text(position.quantity),
        leverage=text_of(position.leverage),
        required_margin=amount_to_text(position.required_margin),
        entry_price=None if position.entry_price is None else decimal_to_text(position.entry_price),
        status=position.status.value,
        reason=position.reason,
        loan_id=position.loan_id,
        opened_at=iso_of(position.opened_at),
        closed_at=None if position.closed_at is None else iso_of(position.closed_at),
    )


def _loan_record(loan: MarginLoanRow) -> MarginLoan:
    return MarginLoan(
        loan_id=loan.loan_id,
        margin_account_id=loan.account_id,
        asset=loan.asset,
        principal=amount_to_text(loan.borrowed),
        outstanding=amount_to_text(loan.accrual.principal),
        interest=amount_to_text(loan.interest),
        interest_paid=amount_to_text(loan.accrual.paid),
        rate=text_of(loan.yearly_rate),
        status=loan.status.value,
        created_at=iso_of(loan.created_at),
        ended_at=None if loan.ended_at is None else iso_of(loan.ended_at),
    )
