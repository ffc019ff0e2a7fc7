"""Carries liquidations out, step by step (fact A3.2-04). The rules and the order of the steps are in `liquidation`.

Every step runs under the account's lock. The transaction that ends a step stores the next one. If a process is killed,
the next process repeats the step that was under way. Messages, orders and transfers have ids that are made from
liquidation, step and round, so a repetition does nothing twice.
"""

from collections.abc import Awaitable, Callable

from openspot.contracts import subjects
from openspot.contracts.messages import (
    CancelOrder,
    CancelOrderCommand,
    CancelOrderReply,
    LiquidationOrderEvent,
    MarginPositionClosed,
    SendNotification,
)
from openspot.domain.money import amount_to_text
from openspot.kit.clock import datetime_from_ms
from openspot.kit.log import get_logger
from openspot.margin import liquidation_store, loan_store, store
from openspot.margin.accounts import LockedAccount, lock_and_settle, text_or_none
from openspot.margin.dependencies import Dependencies
from openspot.margin.figures import UnpricedError, judged_figures
from openspot.margin.lifecycle import (
    AccountStatus,
    AccountTrigger,
    MarginPositionStatus,
    MarginPositionTrigger,
    next_account_status,
    next_position_status,
)
from openspot.margin.liquidation import (
    Liquidation,
    LiquidationOrder,
    LiquidationStep,
    another_round,
    finish_step,
    pause_ms,
    settle,
)
from openspot.margin.liquidation_plan import Markets, is_sure, round_orders, sellable_quantities, worst_price
from openspot.margin.metrics import LIQUIDATIONS
from openspot.margin.orders import (
    MarginOrder,
    OrderOutcome,
    OrderRefusedError,
    nothing_filled,
    outcome_of,
    recorded_outcome,
)
from openspot.margin.records import LiquidationRow, MarginPositionRow, derived_id
from openspot.margin.slices import Slices, is_fair
from openspot.margin.transfers import add_repayment

log = get_logger("margin")

STEPS_MAX = 200
"""One call of `advance` does at most this many steps, more than one round of a liquidation needs."""
ORDERS_MAX = 200
WAIT_MS = 500
"""The pause before a step that had to wait is tried again."""
INSURANCE_MS = 6_000
"""The pause before the insurance account is asked again for a loss that it could not pay."""


class Liquidator:
    """Begins liquidations and carries them out."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._slices = Slices(self._pause_ms)
        self._steps: dict[LiquidationStep, Callable[[LockedAccount, LiquidationRow], Awaitable[bool]]] = {
            LiquidationStep.CANCEL_ORDERS: self._cancel_orders,
            LiquidationStep.POSITIONS_CLOSED: self._positions_closed,
            LiquidationStep.NOTIFY_USER: self._notify_user,
            LiquidationStep.LIQUIDATION_ORDERS: self._liquidation_orders,
            LiquidationStep.SETTLE_LOANS: self._settle_loans,
        }

    @property
    def _pause_ms(self) -> int:
        return round(self._dependencies.settings.margin_liquidation_pause_s * 1000)

    async def begin(self, account_id: str) -> bool:
        """Begin to liquidate an account if its exact balances still require it, at sure prices. Raises EngineError."""
        dependencies = self._dependencies
        async with lock_and_settle(dependencies, account_id) as account:
            if account is None or account.account.status is not AccountStatus.ACTIVE:
                return False
            connection = account.connection
            positions = await store.positions_of(connection, account_id)
            if any(each.status is MarginPositionStatus.OPENING for each in positions):
                # A position is opening. Within seconds its order ends, and the holdings are certain.
                return False
            try:
                figures = judged_figures(account.holdings.balances(), dependencies.marks.current())
            except UnpricedError:
                return False
            if figures is None or not figures.must_liquidate:
                return False
            number = await liquidation_store.count_liquidations(connection, account_id) + 1
            liquidation = Liquidation(derived_id("liquidation", account_id, str(number)), account_id)
            now_ms = dependencies.now_ms()
            await liquidation_store.add_liquidation(connection, liquidation, text_or_none(figures.level), now_ms)
            status = next_account_status(account.account.status, AccountTrigger.LIQUIDATION_STARTED)
            assert status is not None, "an active account can be liquidated"
            await store.set_account_status(connection, account_id, status, now_ms)
            for position in positions:
                _move(position, MarginPositionTrigger.LIQUIDATION_STARTED)
                await store.save_position(connection, position)
        LIQUIDATIONS.labels("started").inc()
        log.warning("liquidation begins", account_id=account_id, level=text_or_none(figures.level))
        return True

    async def advance(self, account_id: str) -> None:
        """Do the steps of the account's liquidation that can be done now.

        Raises EngineError, BusError or OrderUndecidedError. A later call repeats the step that was under way.
        """
        for _ in range(STEPS_MAX):
            if not await self._advance(account_id):
                return

    async def _advance(self, account_id: str) -> bool:
        """Do the next step. Returns False if there is none, or if it has to wait."""
        dependencies = self._dependencies
        async with lock_and_settle(dependencies, account_id) as account:
            if account is None:
                return False
            row = await liquidation_store.open_liquidation(account.connection, account_id)
            if row is None or row.liquidation.step is None or row.next_at > datetime_from_ms(dependencies.now_ms()):
                return False
            goes_on = await self._steps[row.liquidation.step](account, row)
            await liquidation_store.save_liquidation(account.connection, row, dependencies.now_ms())
            if row.liquidation.step is None:
                await self._end(account)
        return goes_on

    # The steps. Each returns whether the next one can begin at once. The caller stores the changed row.

    async def _cancel_orders(self, account: LockedAccount, row: LiquidationRow) -> bool:
        dependencies, liquidation = self._dependencies, row.liquidation
        orders = await store.open_orders(account.connection, account.account_id, ORDERS_MAX)
        for order_id, symbol in orders:
            message_id = liquidation.message_id(order_id)
            command = CancelOrderCommand(
                message_id,
                liquidation.liquidation_id,
                account.account_id,
                order_id,
                symbol,
                dependencies.now_ms(),
            )
            await dependencies.bus.publish(subjects.COMMANDS_ORDER_CANCEL, command, message_id)
            request = CancelOrder(account.account_id, order_id, symbol)
            await dependencies.bus.request(subjects.ORDERS_CANCEL, request, CancelOrderReply)
        if orders or account.holdings.has_locked:
            row.next_at = datetime_from_ms(dependencies.now_ms() + WAIT_MS)
            return False
        row.liquidation = finish_step(liquidation, LiquidationStep.CANCEL_ORDERS, liquidation.round)
        return True

    async def _positions_closed(self, account: LockedAccount, row: LiquidationRow) -> bool:
        dependencies, liquidation = self._dependencies, row.liquidation
        for position in await store.positions_of(account.connection, account.account_id):
            message_id = liquidation.message_id(position.position_id)
            event = MarginPositionClosed(
                id=message_id,
                liquidation_id=liquidation.liquidation_id,
                margin_account_id=account.account_id,
                user_id=account.account.user_id,
                position_id=position.position_id,
                symbol=position.symbol,
                side=position.side.name.lower(),
                quantity=amount_to_text(position.quantity),
                reason="liquidation",
                timestamp=dependencies.now_ms(),
            )
            await dependencies.bus.publish(subjects.MARGIN_POSITION_CLOSED, event, message_id)
        row.liquidation = finish_step(liquidation, LiquidationStep.POSITIONS_CLOSED, liquidation.round)
        return True

    async def _notify_user(self, account: LockedAccount, row: LiquidationRow) -> bool:
        dependencies, liquidation = self._dependencies, row.liquidation
        message_id = liquidation.message_id("user")
        level = f" ({row.margin_level})" if row.margin_level is not None else ""
        notification = SendNotification(
            message_id,
            account.account.user_id,
            "margin.liquidation",
            "Your margin account is being liquidated",
            f"The level of margin account {account.account_id} fell to the liquidation level{level}. Its positions are "
            "closed step by step near the fair price and its loans are repaid from the proceeds.",
            dependencies.now_ms(),
        )
        await dependencies.bus.publish(subjects.NOTIFICATIONS_SEND, notification, message_id)
        row.liquidation = finish_step(liquidation, LiquidationStep.NOTIFY_USER, liquidation.round)
        return True

    async def _liquidation_orders(self, account: LockedAccount, row: LiquidationRow) -> bool:
        dependencies, liquidation = self._dependencies, row.liquidation
        if row.orders is None:
            # Store the orders before placing the first one, so that a repetition places the same orders.
            plan = await self._plan(account, row.idle_rounds)
            if plan is None:
                row.next_at = datetime_from_ms(dependencies.now_ms() + WAIT_MS)
                return False
            row.orders = plan
            return True
        has_traded = False
        for order in row.orders:
            try:
                outcome = await self._place(account, row, order)
            except OrderRefusedError as error:
                # If an earlier attempt still reaches the engine, the next round trades with the changed holdings.
                outcome = nothing_filled(str(error))
            has_traded = has_traded or outcome.quantity > 0
            if not outcome.quantity:
                log.warning("a liquidation order was not filled", symbol=order.symbol, reason=outcome.reason)
        row.idle_rounds = 0 if has_traded else row.idle_rounds + 1
        row.liquidation = finish_step(liquidation, LiquidationStep.LIQUIDATION_ORDERS, liquidation.round)
        return True

    async def _place(self, account: LockedAccount, row: LiquidationRow, order: LiquidationOrder) -> OrderOutcome:
        """How an order of the round ended. It is placed now, unless it was placed before or its price is not fair.

        Raises OrderRefusedError if the router refuses it, now or before.
        """
        dependencies, liquidation = self._dependencies, row.liquidation
        message_id = liquidation.message_id(order.symbol)
        order_id = derived_id(message_id)
        if not await self._may_be_placed(order):
            # A process that was killed may have placed it already.
            placed_before = await recorded_outcome(account.connection, order_id)
            return placed_before or nothing_filled("the market takes no orders, or its price moved or is not sure")
        event = LiquidationOrderEvent(
            id=message_id,
            liquidation_id=liquidation.liquidation_id,
            margin_account_id=account.account_id,
            user_id=account.account.user_id,
            order_id=order_id,
            symbol=order.symbol,
            side=order.side.name.lower(),
            quantity=amount_to_text(order.quantity),
            price=text_or_none(order.price),
            round=liquidation.round,
            timestamp=dependencies.now_ms(),
        )
        await dependencies.bus.publish(subjects.ORDERS_LIQUIDATION, event, message_id)
        placed = MarginOrder(order_id, account.account_id, order.symbol, order.side, order.quantity, order.price)
        return await outcome_of(dependencies, account.connection, placed)

    async def _may_be_placed(self, order: LiquidationOrder) -> bool:
        """Whether its market takes orders, and the order's worst price is still near the fair price, which is sure."""
        dependencies = self._dependencies
        marks, spec = dependencies.marks.current(), (await dependencies.symbols()).get(order.symbol)
        if spec is None or not spec.active or not is_sure(spec, marks):
            return False
        # Twice the bound: the price may have moved a little since the order was planned.
        now = worst_price(spec, order.side, marks, 2 * dependencies.settings.margin_liquidation_bps)
        return order.price is None or is_fair(order.price, order.side, now)

    async def _settle_loans(self, account: LockedAccount, row: LiquidationRow) -> bool:
        dependencies, liquidation, connection = self._dependencies, row.liquidation, account.connection
        if not account.is_covered:
            # The operator has to fund the insurance account. Each attempt asks the engine again.
            row.next_at = datetime_from_ms(dependencies.now_ms() + INSURANCE_MS)
            return False
        balances = account.holdings.balances(dependencies.now_ms())
        sellable = sellable_quantities(await self._markets(with_paused=True), balances)
        if sellable is None:
            row.next_at = datetime_from_ms(dependencies.now_ms() + WAIT_MS)
            return False
        settlement = settle(balances, sellable)
        left = {each.asset: each.paid for each in settlement.loans}
        losses = {each.asset: each.loss for each in settlement.loans}
        pays = any(left.values())
        if not pays and settlement.needs_another_round:
            row.liquidation, row.orders = another_round(liquidation), None
            row.next_at = datetime_from_ms(dependencies.now_ms() + pause_ms(self._pause_ms, row.idle_rounds))
            return False
        for loan_of in account.holdings.loans:
            loan = await loan_store.loan(connection, loan_of.loan_id)
            assert loan is not None, "loans are never deleted"
            owed = loan.accrual.owed(dependencies.now_ms())
            amounts = left if pays else losses
            amount = min(owed, amounts.get(loan.asset, 0))
            if not amount:
                continue
            amounts[loan.asset] -= amount
            count = await store.count_transfers(connection, loan.loan_id)
            what = "loss" if not pays else "repayment"
            reference = f"margin:{liquidation.message_id(f'{what} {loan.loan_id} {count}').replace(' ', ':')}"
            # A loan is first repaid as far as possible. Only then is its whole rest a loss.
            await add_repayment(
                dependencies, connection, loan, owed if not pays else amount, reference, is_loss=not pays
            )
        if not account.holdings.loans:
            row.liquidation = finish_step(liquidation, LiquidationStep.SETTLE_LOANS, liquidation.round)
        return True

    async def _end(self, account: LockedAccount) -> None:
        connection = account.connection
        now_ms = self._dependencies.now_ms()
        for position in await store.positions_of(connection, account.account_id):
            _move(position, MarginPositionTrigger.LIQUIDATION_FILLED)
            position.quantity = position.required_margin = 0
            position.closed_at = datetime_from_ms(now_ms)
            await store.save_position(connection, position)
        status = next_account_status(account.account.status, AccountTrigger.LIQUIDATION_SETTLED)
        assert status is not None, "a liquidating account is settled once"
        await store.set_account_status(connection, account.account_id, status, now_ms)
        LIQUIDATIONS.labels("settled").inc()
        log.warning("liquidation settled", account_id=account.account_id)

    async def _plan(self, account: LockedAccount, idle_rounds: int) -> list[LiquidationOrder] | None:
        """The orders of a round. None while the prices that it needs are not there or not sure."""
        now_ms = self._dependencies.now_ms()
        free = {asset: held.free for asset, held in account.holdings.held.items()}
        balances = account.holdings.balances(now_ms)
        return round_orders(await self._markets(), balances, free, idle_rounds, self._slices, now_ms)

    async def _markets(self, *, with_paused: bool = False) -> Markets:
        dependencies = self._dependencies
        settings, symbols = dependencies.settings, await dependencies.symbols_on_margin()
        if with_paused:
            symbols |= await dependencies.paused_symbols()
        return Markets(
            symbols,
            dependencies.markets.limits,
            dependencies.marks.current(),
            settings.margin_valuation_asset,
            settings.margin_liquidation_bps,
        )


def _move(position: MarginPositionRow, trigger: MarginPositionTrigger) -> None:
    status = next_position_status(position.status, trigger)
    assert status is not None, f"a {position.status} position cannot be {trigger}"
    position.status = MarginPositionStatus(status)
