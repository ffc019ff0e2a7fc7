"""The service's requests. Each method returns a reply, even to a bad request."""

import re
from collections.abc import Awaitable, Callable
from decimal import Decimal

from asyncpg import LockNotAvailableError

from openspot.contracts import subjects
from openspot.contracts.messages import (
    BorrowMargin,
    CheckBalance,
    CheckBalanceReply,
    CheckMargin,
    CheckMarginReply,
    CloseMarginPosition,
    GetMarginAccount,
    GetMarginLevel,
    GetMarketNeeds,
    MarginLevelReply,
    MarginReply,
    MarketNeedsReply,
    OpenMarginPosition,
    ReduceMarginPositions,
    RepayMargin,
    TransferCollateral,
)
from openspot.contracts.refusals import InvalidRequestError, Refusal, RefusalCode
from openspot.domain.ids import ORDER_ID_TEXT, PARTICIPANT_ID_TEXT
from openspot.domain.money import AMOUNT_PLACES, MoneyError, amount_to_text, parse_decimal, to_amount
from openspot.domain.order import Side
from openspot.domain.symbol import SYMBOL_TEXT
from openspot.engine_client.errors import EngineError
from openspot.kit.bus import Bus, BusError
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.margin import loan_store, store
from openspot.margin.accounts import MarginRefusedError, NoAccountError, account_record, text_or_none
from openspot.margin.departures import market_needs
from openspot.margin.dependencies import Dependencies
from openspot.margin.figures import (
    UnpricedError,
    UnsurePriceError,
    check_sure,
    involved,
    leverage_error,
    margin_figures,
)
from openspot.margin.holdings import holdings_of
from openspot.margin.loans import Loans
from openspot.margin.orders import OrderUndecidedError
from openspot.margin.positions import Positions

log = get_logger("margin")

REQUEST_ID_LENGTH_MAX = 64
_REQUEST_ID_TEXT = re.compile(rf"[A-Za-z0-9_-]{{1,{REQUEST_ID_LENGTH_MAX}}}")
USER_ID_LENGTH_MAX = 48
"""Such an id with the prefix and number of a margin account is short enough for a participant id."""
_UNKNOWN = Refusal(RefusalCode.STATUS_UNKNOWN, "the outcome is not known yet: repeat the request with its requestId")


class RequestHandlers:
    """Handles the requests of one process."""

    def __init__(self, dependencies: Dependencies, loans: Loans, positions: Positions) -> None:
        self._dependencies = dependencies
        self._loans = loans
        self._positions = positions

    async def serve(self, bus: Bus) -> None:
        """Serve the requests in the queue group that all margin processes share."""
        queue = subjects.MARGIN_QUEUE
        await bus.serve(subjects.RISK_MARGIN_CHECK, queue, CheckMargin, self.check_margin, CheckMarginReply.refused)
        await bus.serve(subjects.RISK_BALANCE_CHECK, queue, CheckBalance, self.check_balance, CheckBalanceReply.refused)
        await bus.serve(subjects.RISK_MARGIN_LEVEL, queue, GetMarginLevel, self.level, MarginLevelReply.refused)
        await bus.serve(subjects.RISK_MARGIN_ACCOUNT, queue, GetMarginAccount, self.account, MarginReply.refused)
        await bus.serve(subjects.RISK_MARGIN_TRANSFER, queue, TransferCollateral, self.transfer, MarginReply.refused)
        await bus.serve(subjects.RISK_MARGIN_OPEN, queue, OpenMarginPosition, self.open, MarginReply.refused)
        await bus.serve(subjects.RISK_MARGIN_BORROW, queue, BorrowMargin, self.borrow, MarginReply.refused)
        await bus.serve(subjects.RISK_MARGIN_REPAY, queue, RepayMargin, self.repay, MarginReply.refused)
        await bus.serve(subjects.RISK_MARGIN_CLOSE, queue, CloseMarginPosition, self.close, MarginReply.refused)
        await bus.serve(subjects.RISK_MARGIN_REDUCE, queue, ReduceMarginPositions, self.reduce, MarginReply.refused)
        await bus.serve(subjects.RISK_MARGIN_NEEDS, queue, GetMarketNeeds, self.needs, MarketNeedsReply.refused)

    async def check_margin(self, request: CheckMargin) -> CheckMarginReply:
        """Check an opening. A user without a margin account has no margin, so the check approves nothing."""
        try:
            _check_user(request.user_id)
            _check_symbol(request.symbol)
            side, leverage = _side(request.side), _number("leverage", str(request.leverage))
            quantity = _amount("quantity", request.quantity)
            decision = await self._positions.check(request.user_id, request.symbol, side, quantity, leverage)
        except MarginRefusedError as error:
            return CheckMarginReply(False, error.refusal.message)
        except InvalidRequestError as error:
            return CheckMarginReply.refused(error.refusal)
        except (EngineError, *TRANSIENT_ERRORS) as error:
            return CheckMarginReply.refused(_unavailable(error))
        return CheckMarginReply(
            decision.approved,
            None if decision.reason is None else f"{decision.reason}: {decision.detail}",
            text_or_none(decision.liquidation_price),
            text_or_none(decision.required_margin),
            text_or_none(decision.available_margin),
        )

    async def check_balance(self, request: CheckBalance) -> CheckBalanceReply:
        """Whether an amount is free in the margin account. Without an account nothing is free."""
        try:
            _check_user(request.user_id)
            self._check_known(request.asset)
            amount, free = _amount("amount", request.amount), 0
            account = await store.account_of_user(self._dependencies.pool, request.user_id)
            if account is not None:
                offered = self._dependencies.offer.assets
                holdings = await holdings_of(self._dependencies.queries, account.account_id, (), offered)
                free = holdings.free(request.asset)
        except InvalidRequestError as error:
            return CheckBalanceReply.refused(error.refusal)
        except (EngineError, *TRANSIENT_ERRORS) as error:
            return CheckBalanceReply.refused(_unavailable(error))
        return CheckBalanceReply(free >= amount, amount_to_text(free))

    async def level(self, request: GetMarginLevel) -> MarginLevelReply:
        """The level of the user's account."""
        try:
            _check_user(request.user_id)
            if request.margin_account_id is not None and not PARTICIPANT_ID_TEXT.fullmatch(request.margin_account_id):
                raise InvalidRequestError("marginAccountId is not the id of an account")
            account = await store.account_of_user(self._dependencies.pool, request.user_id)
            if account is None:
                raise NoAccountError
            if request.margin_account_id not in (None, account.account_id):
                raise InvalidRequestError("marginAccountId is not an account of the user", RefusalCode.NOT_FOUND)
            loans = await loan_store.loans_of(self._dependencies.pool, account.account_id)
            offered = self._dependencies.offer.assets
            holdings = await holdings_of(self._dependencies.queries, account.account_id, loans, offered)
            balances, marks = holdings.balances(), self._dependencies.marks.current()
            figures = margin_figures(balances, marks)
            check_sure(involved(balances), marks)
        except UnpricedError as error:
            return MarginLevelReply.refused(Refusal(RefusalCode.NO_MARK_PRICE, str(error)))
        except UnsurePriceError as error:
            return MarginLevelReply.refused(Refusal(RefusalCode.PRICE_NOT_SURE, str(error)))
        except InvalidRequestError as error:
            return MarginLevelReply.refused(error.refusal)
        except (EngineError, *TRANSIENT_ERRORS) as error:
            return MarginLevelReply.refused(_unavailable(error))
        return MarginLevelReply(
            text_or_none(figures.level),
            amount_to_text(figures.equity),
            amount_to_text(figures.debt_amount),
            figures.is_at_risk,
        )

    async def account(self, request: GetMarginAccount) -> MarginReply:
        """The user's account with its positions and loans."""

        async def work() -> MarginReply:
            _check_user(request.user_id)
            account = await store.account_of_user(self._dependencies.pool, request.user_id)
            if account is None:
                raise NoAccountError
            return await self._done(account.account_id)

        return await _answered(work)

    async def transfer(self, request: TransferCollateral) -> MarginReply:
        """Move collateral in or out."""

        async def work() -> MarginReply:
            _check_request(request.request_id, request.user_id)
            asset = request.asset
            if request.direction == "in":
                amount = self._amount_of(asset, request.amount)
            elif request.direction == "out":
                # Fees and interest leave amounts with more places. An account that keeps them could never be closed.
                self._check_known(asset)
                amount = -_amount("amount", request.amount)
            else:
                raise InvalidRequestError("direction must be in or out")
            return await self._done(await self._loans.transfer(request.request_id, request.user_id, asset, amount))

        return await _answered(work)

    async def open(self, request: OpenMarginPosition) -> MarginReply:
        """Open a position."""

        async def work() -> MarginReply:
            _check_request(request.request_id, request.user_id)
            _check_symbol(request.symbol)
            side, leverage = _side(request.side), _number("leverage", str(request.leverage))
            if error := leverage_error(leverage):
                raise InvalidRequestError(error)
            quantity = _amount("quantity", request.quantity)
            account_id, position_id = await self._positions.open(
                request.request_id, request.user_id, request.symbol, side, quantity, leverage
            )
            return await self._done(account_id, position_id=position_id)

        return await _answered(work)

    async def borrow(self, request: BorrowMargin) -> MarginReply:
        """Borrow an amount."""

        async def work() -> MarginReply:
            _check_request(request.request_id, request.user_id)
            asset, amount = request.asset, self._amount_of(request.asset, request.amount)
            account_id, loan_id = await self._loans.borrow(request.request_id, request.user_id, asset, amount)
            return await self._done(account_id, loan_id=loan_id)

        return await _answered(work)

    async def repay(self, request: RepayMargin) -> MarginReply:
        """Repay a loan."""

        async def work() -> MarginReply:
            _check_request(request.request_id, request.user_id)
            _check_id("loanId", request.loan_id)
            amount = None if request.amount is None else _amount("amount", request.amount)
            account_id, loan_id = await self._loans.repay(request.request_id, request.user_id, request.loan_id, amount)
            return await self._done(account_id, loan_id=loan_id)

        return await _answered(work)

    async def close(self, request: CloseMarginPosition) -> MarginReply:
        """Close a position, or the account."""

        async def work() -> MarginReply:
            _check_request(request.request_id, request.user_id)
            if request.position_id is None:
                return await self._done(await self._loans.close_account(request.user_id))
            _check_id("positionId", request.position_id)
            quantity = None if request.quantity is None else _amount("quantity", request.quantity)
            account_id, position_id = await self._positions.close(
                request.request_id, request.user_id, request.position_id, quantity
            )
            return await self._done(account_id, position_id=position_id)

        return await _answered(work)

    async def reduce(self, request: ReduceMarginPositions) -> MarginReply:
        """Trade positions of a market back, and open none."""

        async def work() -> MarginReply:
            _check_request(request.request_id, request.user_id)
            _check_symbol(request.symbol)
            side = _side(request.side)
            quantity = None if request.quantity is None else _amount("quantity", request.quantity)
            return await self._done(
                await self._positions.reduce(request.request_id, request.user_id, request.symbol, side, quantity)
            )

        return await _answered(work)

    async def needs(self, request: GetMarketNeeds) -> MarketNeedsReply:
        """Which accounts need a market that is to be delisted."""
        try:
            _check_symbol(request.symbol)
            return await market_needs(self._dependencies, request.symbol)
        except InvalidRequestError as error:
            return MarketNeedsReply.refused(error.refusal)
        except (EngineError, LockNotAvailableError, *TRANSIENT_ERRORS) as error:
            return MarketNeedsReply.refused(_unavailable(error))

    async def _done(
        self, account_id: str, *, position_id: str | None = None, loan_id: str | None = None
    ) -> MarginReply:
        record = await account_record(self._dependencies, account_id)
        if loan_id is None and position_id is not None:
            loan_id = next((each.loan_id for each in record.positions if each.position_id == position_id), None)
        return MarginReply(True, record, position_id, loan_id)

    def _check_known(self, asset: str) -> None:
        """Raise InvalidRequestError for what is no asset. One that margin does not offer can be seen, and leave."""
        if asset not in self._dependencies.markets.assets:
            raise InvalidRequestError(f"asset must be one of {', '.join(sorted(self._dependencies.offer.assets))}")

    def _amount_of(self, asset: str, text: str) -> int:
        self._check_known(asset)
        if asset not in self._dependencies.offer.assets:
            raise InvalidRequestError(f"asset is not offered on margin: {asset} was listed later")
        amount, places = _amount("amount", text), self._dependencies.markets.assets[asset].places
        if amount % 10 ** (AMOUNT_PLACES - places):
            raise InvalidRequestError(f"amount must have at most {places} decimal places for {asset}")
        return amount


async def _answered(work: Callable[[], Awaitable[MarginReply]]) -> MarginReply:
    try:
        return await work()
    except InvalidRequestError as error:
        return MarginReply.refused(error.refusal)
    except (EngineError, OrderUndecidedError, BusError, *TRANSIENT_ERRORS) as error:
        # The request may be written already. Then it is carried out as soon as the engine can be reached.
        log.warning("the outcome of a request is not known yet", error=repr(error))
        return MarginReply.refused(_UNKNOWN)


def _check_request(request_id: str, user_id: str) -> None:
    if not _REQUEST_ID_TEXT.fullmatch(request_id):
        raise InvalidRequestError(f"requestId must be 1 to {REQUEST_ID_LENGTH_MAX} letters, digits, _ or -")
    _check_user(user_id)


def _check_user(user_id: str) -> None:
    is_id = PARTICIPANT_ID_TEXT.fullmatch(user_id) and ":" not in user_id
    if not is_id or len(user_id) > USER_ID_LENGTH_MAX:
        raise InvalidRequestError(f"userId must be 1 to {USER_ID_LENGTH_MAX} letters, digits or _ -")


def _check_symbol(symbol: str) -> None:
    if not SYMBOL_TEXT.fullmatch(symbol):
        raise InvalidRequestError("symbol must look like BTC-USD")


def _check_id(field: str, value: str) -> None:
    if not ORDER_ID_TEXT.fullmatch(value):
        raise InvalidRequestError(f"{field} is not the id of anything")


def _side(text: str) -> Side:
    if text not in ("buy", "sell"):
        raise InvalidRequestError("side must be buy or sell")
    return Side[text.upper()]


def _number(field: str, text: str) -> Decimal:
    try:
        return parse_decimal(text)
    except MoneyError as error:
        raise InvalidRequestError(f"{field} {error}") from error


def _amount(field: str, text: str) -> int:
    try:
        amount = to_amount(_number(field, text))
    except MoneyError as error:
        raise InvalidRequestError(f"{field} {error}") from error
    if amount <= 0:
        raise InvalidRequestError(f"{field} must be positive")
    return amount


def _unavailable(error: Exception) -> Refusal:
    log.warning("request refused", error=repr(error))
    return Refusal(RefusalCode.UNAVAILABLE, "the matching engine or the database does not answer")
