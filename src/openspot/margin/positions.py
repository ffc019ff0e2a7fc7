"""Opens and closes positions: borrows the missing amount, places an order near the fair price, repays the loan.

A request writes the position with its loan. All later steps follow from the rows, and whoever locks the account next
does them: the request itself, or after a kill the process that scans. The order's id is made from the position's, so
the order is placed once.
"""

import asyncio
from decimal import Decimal

from openspot.contracts import subjects
from openspot.contracts.messages import MarginPositionUpdated
from openspot.contracts.refusals import InvalidRequestError, RefusalCode
from openspot.domain.money import AMOUNT_SCALE, amount_to_text
from openspot.domain.order import Side
from openspot.domain.symbol import SymbolSpec
from openspot.kit.clock import datetime_from_ms
from openspot.kit.database import Connection
from openspot.margin import loan_store, store
from openspot.margin.accounts import (
    LockedAccount,
    MarginRefusedError,
    lock_and_settle,
    lock_and_settle_of_user,
    marks_for,
)
from openspot.margin.departures import refuse_new_risk
from openspot.margin.dependencies import Dependencies
from openspot.margin.figures import Marks
from openspot.margin.holdings import holdings_of
from openspot.margin.interest import MINUTE_MS
from openspot.margin.lifecycle import (
    AccountStatus,
    LoanStatus,
    MarginPositionStatus,
    MarginPositionTrigger,
    next_position_status,
)
from openspot.margin.loans import Loans
from openspot.margin.opening import MarginDecision, OpeningRequest, RefusalReason, borrowing, check_margin, price_of
from openspot.margin.order_prices import affordable_price, closing_price, opening_price
from openspot.margin.order_sizes import cost_price, lot_of, part_error, smallest_market_order
from openspot.margin.orders import (
    MarginOrder,
    OrderOutcome,
    OrderRefusedError,
    OrderUndecidedError,
    nothing_filled,
    outcome_of,
    recorded_outcome,
    was_never_placed,
    was_placed,
)
from openspot.margin.records import MarginLoanRow, MarginPositionRow, derived_id, part_order_id, reduction_request
from openspot.margin.reduction import parts_of
from openspot.margin.transfers import add_repayment
from openspot.margin.user_state import refuse_inactive_user

POSITIONS_MAX = 50
"""An account has at most this many positions that have not ended."""
OPENING_MS_MAX = 30_000
"""If its order cannot be placed for this long, a position fails: a later order would trade at another price."""
OWN_MS = 2_000
"""For this long only the request that wrote a position places its order, so nobody placed it before."""
_CODES = {
    RefusalReason.NO_MARK_PRICE: RefusalCode.NO_MARK_PRICE,
    RefusalReason.PRICE_NOT_SURE: RefusalCode.PRICE_NOT_SURE,
}


class Positions:
    """The requests `risk.margin.check`, `open`, `close` and `reduce`, and the work that follows them."""

    def __init__(self, dependencies: Dependencies, loans: Loans) -> None:
        self._dependencies = dependencies
        self._loans = loans

    async def check(self, user_id: str, symbol: str, side: Side, quantity: int, leverage: Decimal) -> MarginDecision:
        """Check an opening. It changes nothing. Raises InvalidRequestError and EngineError."""
        spec = await self._dependencies.symbol_on_margin(symbol)
        request = OpeningRequest(spec.base, spec.quote, side, quantity, leverage)
        async with lock_and_settle_of_user(self._dependencies, user_id) as account:
            return await self._decision(account, request)

    async def open(
        self, request_id: str, user_id: str, symbol: str, side: Side, quantity: int, leverage: Decimal
    ) -> tuple[str, str]:
        """Open a position. Returns the ids of account and position. Raises InvalidRequestError and EngineError."""
        dependencies = self._dependencies
        spec = await dependencies.symbol_on_margin(symbol)
        lot = lot_of(spec)
        if quantity % lot:
            raise InvalidRequestError(f"quantity must be a multiple of the lot {amount_to_text(lot)}")
        request = OpeningRequest(spec.base, spec.quote, side, quantity, leverage)
        async with lock_and_settle_of_user(dependencies, user_id) as account:
            account_id = account.account_id
            position_id = derived_id("position", account_id, request_id)
            is_new = await store.position(account.connection, position_id) is None
            if is_new:
                decision = await self._decision(account, request)
                if decision.reason is not None:
                    code = _CODES.get(decision.reason, RefusalCode.MARGIN_REFUSED)
                    raise MarginRefusedError(f"{decision.reason}: {decision.detail}", code)
                await self._add(account, position_id, symbol, request, decision.required_margin or 0)
        await self.advance(account_id, position_id if is_new else None)
        async with dependencies.pool.acquire() as connection:
            position = await store.position(connection, position_id)
        assert position is not None, "it was written before"
        if position.status is MarginPositionStatus.OPENING:
            raise OrderUndecidedError("another request opens the position")
        if position.status is MarginPositionStatus.FAILED:
            is_pool = position.reason == LoanStatus.REFUSED.value
            code = RefusalCode.POOL_EMPTY if is_pool else RefusalCode.MARGIN_REFUSED
            message = (
                "the lending pool does not cover the loan" if is_pool else f"nothing was traded: {position.reason}"
            )
            raise MarginRefusedError(message, code)
        return account_id, position_id

    async def close(
        self, request_id: str, user_id: str, position_id: str, quantity: int | None = None
    ) -> tuple[str, str]:
        """Trade a position back, or `quantity` of it. Returns the ids of account and position.

        Raises InvalidRequestError and EngineError.
        """
        async with lock_and_settle_of_user(self._dependencies, user_id) as account:
            account_id = account.account_id
            position = await store.position(account.connection, position_id)
            if position is None or position.account_id != account_id:
                raise InvalidRequestError("positionId is not a position of the account", RefusalCode.NOT_FOUND)
            part_id = part_order_id(position_id, request_id)
            # Others may have closed parts since the request did. Earlier releases noted none: the router's row tells.
            was_part = await store.has_reduction(account.connection, account_id, part_id) or await was_placed(
                account.connection, part_id
            )
            if position.close_request != request_id and not was_part:
                # Before anything is written: where no order is taken, the closing could only be given up.
                await self._dependencies.traded_symbol(position.symbol)
                _begin_closing(position, request_id)
                position.closing_quantity = None if quantity is None else await self._part_of(position, quantity)
                await store.save_position(account.connection, position)
                if position.closing_quantity is not None:
                    now = datetime_from_ms(self._dependencies.now_ms())
                    await store.add_reduction(account.connection, account_id, part_id, now)
        await self._advance_to_the_end(account_id)
        return account_id, position_id

    async def reduce(self, request_id: str, user_id: str, symbol: str, side: Side, quantity: int | None) -> str:
        """Trade the account's positions of a market back, the oldest first: longs for a sell, shorts for a buy.

        At most what is open is traded, so nothing is opened or borrowed. Returns the account's id.
        Raises InvalidRequestError and EngineError.
        """
        dependencies = self._dependencies
        spec = await dependencies.traded_symbol(symbol)
        async with lock_and_settle_of_user(dependencies, user_id) as account:
            account_id, now = account.account_id, datetime_from_ms(dependencies.now_ms())
            if await store.add_reduction(account.connection, account_id, request_id, now):
                positions = [
                    position
                    for position in await store.positions_of(account.connection, account_id)
                    if (position.symbol, position.status) == (symbol, MarginPositionStatus.OPEN)
                    and position.side is not side
                ]
                if not positions:
                    what = "long" if side is Side.SELL else "short"
                    raise MarginRefusedError(f"there is no open {what} of {symbol} to reduce")
                least = self._smallest_order(spec)
                parts = parts_of(quantity, [position.quantity for position in positions], lot_of(spec), least)
                for position, part in zip(positions, parts, strict=False):
                    _begin_closing(position, reduction_request(request_id))
                    position.closing_quantity = None if part == position.quantity else part
                    await store.save_position(account.connection, position)
        await self._advance_to_the_end(account_id)
        return account_id

    async def _advance_to_the_end(self, account_id: str) -> None:
        """`advance`, and once more when the end of refused orders can be decided.

        It waits for that without the account's lock and without a connection: a user could hold all of them otherwise.
        """
        try:
            await self.advance(account_id)
        except OrderRefusedError:
            await asyncio.sleep(self._dependencies.settings.order_late_ms / 1000)
            await self.advance(account_id)

    async def advance(self, account_id: str, written: str | None = None) -> bool:
        """Do the steps of the account's positions that can be done now. Returns False if there is no such account.

        `written` is the position that the caller has just written. Raises EngineError, and OrderUndecidedError if an
        order has not ended. A refused order, whose end is decided later, keeps no other one back: OrderRefusedError
        is raised when everything else is done.
        """
        done: list[MarginPositionRow] = []
        finished: set[str] = set()
        refused: OrderRefusedError | None = None
        while True:
            # One in a transaction, so that what it repays is settled before the next one looks at what is free.
            async with lock_and_settle(self._dependencies, account_id) as account:
                if account is None:
                    return False
                under_way = (
                    position
                    for position in await store.positions_of(account.connection, account_id)
                    if position.status in (MarginPositionStatus.OPENING, MarginPositionStatus.CLOSING)
                )
                position = next((each for each in under_way if each.position_id not in finished), None)
                if position is None:
                    break
                finished.add(position.position_id)
                refusal = await self._finish(account, position, written)
            if refusal is None:
                done.append(position)
            else:
                refused = refusal
        if done:
            self._dependencies.wake()
        for position in done:
            await self._announce(account.account.user_id, position)
        if refused is not None:
            raise refused
        return True

    async def _finish(
        self, account: LockedAccount, position: MarginPositionRow, written: str | None
    ) -> OrderRefusedError | None:
        """Do the next step of a position. Returns the refusal of its closing order while its end is not decided."""
        if position.status is MarginPositionStatus.OPENING:
            is_young = self._age_ms(position) <= OWN_MS
            is_own = position.position_id == written
            if is_own or not is_young:
                await self._finish_opening(account, position, is_first=is_own and is_young)
        elif account.account.status is AccountStatus.ACTIVE:
            return await self._finish_closing(account, position)
        return None

    async def _part_of(self, position: MarginPositionRow, quantity: int) -> int | None:
        """The part to trade back; None if it is the whole. Raises InvalidRequestError."""
        if quantity == position.quantity:
            return None
        spec = await self._dependencies.symbol(position.symbol)
        fault = part_error(quantity, position.quantity, lot_of(spec), self._smallest_order(spec))
        if fault is not None:
            raise InvalidRequestError(fault)
        return quantity

    def _smallest_order(self, spec: SymbolSpec) -> int:
        """The smallest order that closes a part. Without a price the market's least quantity alone counts."""
        marks = self._dependencies.marks.current()
        price = price_of(marks, spec.base, spec.quote) if {spec.base, spec.quote} <= marks.keys() else 0
        return smallest_market_order(spec, self._dependencies.markets.limits[spec.symbol], price)

    async def _decision(self, account: LockedAccount, request: OpeningRequest) -> MarginDecision:
        positions = await store.positions_of(account.connection, account.account_id)
        if len(positions) >= POSITIONS_MAX:
            raise MarginRefusedError(f"the account has {POSITIONS_MAX} positions already")
        await refuse_inactive_user(self._dependencies, account)
        await refuse_new_risk(self._dependencies, account, "symbol", request.base, request.quote)
        marks = await marks_for(self._dependencies, account.connection, account.account.user_id)
        required = [each.required_margin for each in positions]
        left = await self._loans.borrowable(account, request.base if request.side is Side.SELL else request.quote)
        return check_margin(request, account.account.status, account.holdings.balances(), marks, required, left)

    async def _add(
        self, account: LockedAccount, position_id: str, symbol: str, request: OpeningRequest, required: int
    ) -> None:
        dependencies = self._dependencies
        spec = await dependencies.symbol(symbol)
        price = price_of(dependencies.marks.current(), request.base, request.quote)
        if request.quantity < smallest_market_order(spec, dependencies.markets.limits[symbol], price):
            raise InvalidRequestError("quantity is below the smallest order of the market at its price")
        cost = cost_price(spec, price, dependencies.settings.margin_slippage_bps)
        borrowed = borrowing(request, cost, account.holdings.free(request.quote))
        own = 0
        if request.side is Side.BUY:
            own = -(-request.quantity * cost // AMOUNT_SCALE) - borrowed.amount
        loan_id = derived_id("loan of", position_id) if borrowed.amount > 0 else None
        if loan_id is not None:
            await self._loans.add_loan(account, loan_id, borrowed.asset, borrowed.amount)
        position = MarginPositionRow(
            position_id=position_id,
            account_id=account.account_id,
            symbol=symbol,
            side=request.side,
            quantity=request.quantity,
            leverage=request.leverage,
            required_margin=required,
            own_funds=own,
            entry_price=None,
            status=MarginPositionStatus.OPENING,
            reason=None,
            loan_id=loan_id,
            closings=0,
            close_request=None,
            closing_quantity=None,
            opened_at=datetime_from_ms(dependencies.now_ms()),
            closed_at=None,
        )
        await store.add_position(account.connection, position)

    def _age_ms(self, position: MarginPositionRow) -> int:
        return self._dependencies.now_ms() - int(position.opened_at.timestamp() * 1000)

    async def _finish_opening(self, account: LockedAccount, position: MarginPositionRow, *, is_first: bool) -> None:
        dependencies, connection = self._dependencies, account.connection
        loan = None if position.loan_id is None else await loan_store.loan(connection, position.loan_id)
        if loan is not None and loan.status is LoanStatus.REFUSED:
            _fail(position, LoanStatus.REFUSED.value, dependencies.now_ms())
            await store.save_position(connection, position)
            return
        assert loan is None or loan.status is not LoanStatus.PENDING, "the account's transfers are settled"
        order = await self._opening_order(account, position, 0 if loan is None else loan.borrowed)
        outcome = await self._opening_outcome(account, position, order, is_first=is_first)
        wanted, position.quantity = position.quantity, outcome.quantity
        if outcome.quantity:
            status = next_position_status(position.status, MarginPositionTrigger.OPEN_FILLED)
            assert status is not None, "an opening position can be filled"
            position.status, position.entry_price = status, outcome.average_price
            position.required_margin = -(-position.required_margin * outcome.quantity // wanted)
        else:
            _fail(position, outcome.reason or "nothing was traded", dependencies.now_ms())
        await store.save_position(connection, position)
        await store.touch(connection, account.account_id)
        if loan is not None and loan.status is LoanStatus.ACTIVE:
            used = outcome.quantity if position.side is Side.SELL else max(outcome.spent - position.own_funds, 0)
            await self._repay(account, position, loan, loan.borrowed - used, "surplus")

    async def _opening_order(
        self, account: LockedAccount, position: MarginPositionRow, borrowed: int
    ) -> MarginOrder | None:
        """The order that opens a position; None without a price."""
        spec = await self._dependencies.symbol(position.symbol)
        marks = self._marks_of(spec)
        if marks is None:
            return None
        price = opening_price(spec, position.side, marks, self._dependencies.settings.margin_slippage_bps)
        if position.side is Side.BUY:
            # The price may have moved since the loan was decided.
            price = min(price, affordable_price(spec, position.quantity, position.own_funds + borrowed))
        return MarginOrder(
            position.order_id, account.account_id, position.symbol, position.side, position.quantity, price
        )

    def _marks_of(self, spec: SymbolSpec) -> Marks | None:
        """The prices now; None if one of a market's assets has none, as while they come and when it is delisted."""
        marks = self._dependencies.marks.current()
        return marks if {spec.base, spec.quote} <= marks.keys() else None

    async def _opening_outcome(
        self, account: LockedAccount, position: MarginPositionRow, order: MarginOrder | None, *, is_first: bool
    ) -> OrderOutcome:
        """How the opening order ended. Raises OrderUndecidedError and EngineError."""
        dependencies, connection = self._dependencies, account.connection
        age_ms = self._age_ms(position)
        if age_ms <= OPENING_MS_MAX or not await was_never_placed(dependencies, connection, position.order_id):
            try:
                return await self._outcome_of(connection, position, order)
            except OrderRefusedError as error:
                if is_first:
                    return nothing_filled(str(error))
                raise
        if age_ms <= OPENING_MS_MAX + dependencies.settings.order_late_ms:
            raise OrderUndecidedError("an earlier attempt may still be on its way")
        return nothing_filled("its order could not be placed in time")

    async def _outcome_of(
        self, connection: Connection, position: MarginPositionRow, order: MarginOrder | None
    ) -> OrderOutcome:
        """`outcome_of` a position's order. Without a price to bound it there is none: it is not placed, but refused."""
        if order is not None:
            return await outcome_of(self._dependencies, connection, order)
        recorded = await recorded_outcome(connection, position.order_id)
        if recorded is None:
            raise OrderRefusedError("there is no fair price of the market now")
        return recorded

    async def _finish_closing(self, account: LockedAccount, position: MarginPositionRow) -> OrderRefusedError | None:
        dependencies, connection = self._dependencies, account.connection
        spec = await dependencies.symbol(position.symbol)
        side = Side.SELL if position.side is Side.BUY else Side.BUY
        loan = None if position.loan_id is None else await loan_store.loan(connection, position.loan_id)
        quantity = position.quantity if position.closing_quantity is None else position.closing_quantity
        is_part = position.closing_quantity is not None
        if side is Side.BUY and not is_part and loan is not None and loan.status is LoanStatus.ACTIVE:
            # The interest must be bought, too, with that of the next minute.
            lot = lot_of(spec)
            missing = loan.accrual.owed(dependencies.now_ms() + MINUTE_MS) - account.holdings.free(spec.base)
            quantity = max(quantity, -(-missing // lot) * lot)
        marks, order = self._marks_of(spec), None
        if marks is not None:
            price = closing_price(
                spec, side, quantity, account.holdings.balances(dependencies.now_ms()), marks,
                slippage_bps=dependencies.settings.margin_slippage_bps,
                liquidation_bps=dependencies.settings.margin_liquidation_bps,
            )  # fmt: skip
            order = MarginOrder(position.order_id, account.account_id, position.symbol, side, quantity, price)
        try:
            outcome = await self._closing_outcome(connection, position, order)
        except OrderRefusedError as error:
            if position.closing_refused_at is None:
                position.reason, position.closing_refused_at = str(error), datetime_from_ms(dependencies.now_ms())
                await store.save_position(connection, position)
            return error
        position.closing_refused_at = None
        before, position.quantity = position.quantity, max(position.quantity - outcome.quantity, 0)
        is_closed = not position.quantity
        trigger = MarginPositionTrigger.CLOSE_FILLED if is_closed else MarginPositionTrigger.CLOSE_ABANDONED
        if is_part and not is_closed and outcome.quantity >= quantity:
            trigger = MarginPositionTrigger.PART_CLOSED
        status = next_position_status(position.status, trigger)
        assert status is not None, "a closing position can be filled or abandoned"
        position.status = status
        position.required_margin = -(-position.required_margin * position.quantity // before) if before else 0
        if is_closed:
            position.closed_at = datetime_from_ms(dependencies.now_ms())
        elif trigger is MarginPositionTrigger.CLOSE_ABANDONED:
            position.reason = outcome.reason or "only a part could be traded"
        await store.save_position(connection, position)
        await store.touch(connection, account.account_id)
        if loan is not None and loan.status is LoanStatus.ACTIVE and loan.repaying is None and outcome.quantity:
            owed = loan.accrual.owed(dependencies.now_ms())
            gained = outcome.quantity if side is Side.BUY else 2 * outcome.notional - outcome.spent
            is_whole = is_closed and loan.asset in (spec.base, spec.quote)
            await self._repay(account, position, loan, owed if is_whole else min(gained, owed), str(position.closings))
        return None

    async def _closing_outcome(
        self, connection: Connection, position: MarginPositionRow, order: MarginOrder | None
    ) -> OrderOutcome:
        """How a closing order ended. A refused one has traded nothing, unless an earlier attempt reaches the engine.

        So `order_late_ms` pass after a refusal without another attempt, by whichever process. Until then the refusal is
        raised. Raises OrderUndecidedError if there was an earlier attempt, and EngineError.
        """
        dependencies, refused_at = self._dependencies, position.closing_refused_at
        if refused_at is None:
            return await self._outcome_of(connection, position, order)
        refusal = position.reason or "the router refused the order"
        if dependencies.now_ms() < int(refused_at.timestamp() * 1000) + dependencies.settings.order_late_ms:
            raise OrderRefusedError(refusal)
        if not await was_never_placed(dependencies, connection, position.order_id):
            position.closing_refused_at = None
            return await self._outcome_of(connection, position, order)
        return nothing_filled(refusal)

    async def _repay(
        self, account: LockedAccount, position: MarginPositionRow, loan: MarginLoanRow, amount: int, what: str
    ) -> None:
        """Repay `amount` of a position's loan, or as much of it as is free in the account after the order."""
        dependencies = self._dependencies
        after = await holdings_of(dependencies.queries, account.account_id, (), dependencies.offer.assets)
        free = after.free(loan.asset)
        paid = min(amount, free, loan.accrual.owed(dependencies.now_ms()))
        if paid > 0:
            reference = f"margin:{derived_id('repay', position.position_id, what)}"
            await add_repayment(dependencies, account.connection, loan, paid, reference)

    async def _announce(self, user_id: str, position: MarginPositionRow) -> None:
        """Publish the position's state, so that the account is scanned. If the event is lost, a later scan finds it."""
        message_id = f"{position.position_id}:{position.status}:{position.closings}"
        event = MarginPositionUpdated(
            message_id,
            position.account_id,
            user_id,
            position.position_id,
            position.status.value,
            amount_to_text(position.quantity),
            self._dependencies.now_ms(),
        )
        await self._dependencies.bus.publish(subjects.MARGIN_POSITION_UPDATED, event, message_id)


def _begin_closing(position: MarginPositionRow, request_id: str) -> None:
    """Let a request close a position. Raises MarginRefusedError if it is not open."""
    status = next_position_status(position.status, MarginPositionTrigger.CLOSE_REQUESTED)
    if status is None:
        raise MarginRefusedError(f"the position is {position.status}")
    position.status, position.close_request, position.reason = status, request_id, None
    position.closings += 1
    position.closing_refused_at = None


def _fail(position: MarginPositionRow, reason: str, now_ms: int) -> None:
    status = next_position_status(position.status, MarginPositionTrigger.OPEN_FAILED)
    assert status is not None, "only an opening position fails"
    position.status, position.reason, position.closed_at = status, reason, datetime_from_ms(now_ms)
    position.quantity = position.required_margin = 0
