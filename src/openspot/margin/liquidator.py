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
from openspot.domain.money import AMOUNT_SCALE, amount_to_text
from openspot.domain.order import Side
from openspot.domain.symbol import SymbolSpec
from openspot.kit.clock import datetime_from_ms
from openspot.kit.log import get_logger
from openspot.margin import store
from openspot.margin.accounts import LockedAccount, lock_and_settle, text_or_none
from openspot.margin.dependencies import Dependencies
from openspot.margin.figures import AssetBalance, Balances, Marks, UnpricedError, margin_figures
from openspot.margin.lifecycle import (
    AccountStatus,
    AccountTrigger,
    MarginPositionStatus,
    MarginPositionTrigger,
    next_account_status,
    next_position_status,
)
from openspot.margin.liquidation import (
    ROUNDS_MAX,
    Liquidation,
    LiquidationOrder,
    LiquidationStep,
    another_round,
    finish_step,
    liquidation_orders,
    settle,
)
from openspot.margin.metrics import LIQUIDATIONS
from openspot.margin.orders import MarketOrder, OrderRefusedError, fill_of, nothing_filled
from openspot.margin.records import LiquidationRow, MarginPositionRow, derived_id
from openspot.margin.transfers import add_repayment

log = get_logger("margin")

STEPS_MAX = 200
"""One call of `advance` does at most this many steps, more than all rounds of a liquidation need."""
ORDERS_MAX = 200
WAIT_MS = 500
"""The pause before a step that had to wait is tried again."""
ROUND_MS, ROUND_MS_MAX = 2_000, 60_000
"""The pause before the second round of orders, and the longest one. The pause grows with each round."""


class Liquidator:
    """Begins liquidations and carries them out."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._steps: dict[LiquidationStep, Callable[[LockedAccount, LiquidationRow], Awaitable[bool]]] = {
            LiquidationStep.CANCEL_ORDERS: self._cancel_orders,
            LiquidationStep.POSITIONS_CLOSED: self._positions_closed,
            LiquidationStep.NOTIFY_USER: self._notify_user,
            LiquidationStep.LIQUIDATION_ORDERS: self._liquidation_orders,
            LiquidationStep.SETTLE_LOANS: self._settle_loans,
        }

    async def begin(self, account_id: str) -> bool:
        """Begin to liquidate an account if its exact balances still require it. Raises EngineError."""
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
                figures = margin_figures(account.holdings.balances(), await dependencies.marks.current())
            except UnpricedError:
                return False
            if not figures.must_liquidate:
                return False
            number = await store.count_liquidations(connection, account_id) + 1
            liquidation = Liquidation(derived_id("liquidation", account_id, str(number)), account_id)
            now_ms = dependencies.now_ms()
            await store.add_liquidation(connection, liquidation, text_or_none(figures.level), now_ms)
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
            row = await store.open_liquidation(account.connection, account_id)
            if row is None or row.liquidation.step is None or row.next_at > datetime_from_ms(dependencies.now_ms()):
                return False
            goes_on = await self._steps[row.liquidation.step](account, row)
            await store.save_liquidation(account.connection, row, dependencies.now_ms())
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
            "closed at market prices and its loans are repaid from the proceeds.",
            dependencies.now_ms(),
        )
        await dependencies.bus.publish(subjects.NOTIFICATIONS_SEND, notification, message_id)
        row.liquidation = finish_step(liquidation, LiquidationStep.NOTIFY_USER, liquidation.round)
        return True

    async def _liquidation_orders(self, account: LockedAccount, row: LiquidationRow) -> bool:
        dependencies, liquidation = self._dependencies, row.liquidation
        if row.orders is None:
            # Store the orders before placing the first one, so that a repetition places the same orders.
            plan = await self._plan(account, liquidation.round)
            if plan is None:
                row.next_at = datetime_from_ms(dependencies.now_ms() + WAIT_MS)
                return False
            row.orders = plan
            return True
        for order in row.orders:
            message_id = liquidation.message_id(order.symbol)
            order_id = derived_id(message_id)
            event = LiquidationOrderEvent(
                id=message_id,
                liquidation_id=liquidation.liquidation_id,
                margin_account_id=account.account_id,
                user_id=account.account.user_id,
                order_id=order_id,
                symbol=order.symbol,
                side=order.side.name.lower(),
                quantity=amount_to_text(order.quantity),
                round=liquidation.round,
                timestamp=dependencies.now_ms(),
            )
            await dependencies.bus.publish(subjects.ORDERS_LIQUIDATION, event, message_id)
            placed = MarketOrder(order_id, account.account_id, order.symbol, order.side, order.quantity)
            try:
                fill = await fill_of(dependencies, account.connection, placed)
            except OrderRefusedError as error:
                # If an earlier attempt still reaches the engine, the next round trades with the changed holdings.
                fill = nothing_filled(str(error))
            if not fill.quantity:
                log.warning("a liquidation order was not filled", order_id=order_id, reason=fill.reason)
        row.liquidation = finish_step(liquidation, LiquidationStep.LIQUIDATION_ORDERS, liquidation.round)
        return True

    async def _settle_loans(self, account: LockedAccount, row: LiquidationRow) -> bool:
        dependencies, liquidation, connection = self._dependencies, row.liquidation, account.connection
        if not account.is_covered:
            # The operator has to fund the insurance account. Each attempt asks the engine again.
            row.next_at = datetime_from_ms(dependencies.now_ms() + ROUND_MS_MAX // 10)
            return False
        balances = account.holdings.balances(dependencies.now_ms())
        sellable = await self._sellable(balances)
        if sellable is None:
            row.next_at = datetime_from_ms(dependencies.now_ms() + WAIT_MS)
            return False
        settlement = settle(balances, sellable)
        left = {each.asset: each.paid for each in settlement.loans}
        losses = {each.asset: each.loss for each in settlement.loans}
        pays = any(left.values())
        if not pays and settlement.needs_another_round:
            pause_ms = min(ROUND_MS * liquidation.round, ROUND_MS_MAX)
            if liquidation.round >= ROUNDS_MAX:
                row.next_at = datetime_from_ms(dependencies.now_ms() + ROUND_MS_MAX)
                log.error("a liquidation has used up its rounds", liquidation_id=liquidation.liquidation_id)
                return False
            row.liquidation, row.orders = another_round(liquidation), None
            row.next_at = datetime_from_ms(dependencies.now_ms() + pause_ms)
            return False
        for loan_of in account.holdings.loans:
            loan = await store.loan(connection, loan_of.loan_id)
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

    # What to trade

    async def _plan(self, account: LockedAccount, round_number: int) -> list[LiquidationOrder] | None:
        """The orders of a round. The account can pay for each buy. None without prices.

        The router's price may be above the mark. So each further round leaves one percent more room for it.
        """
        marks = await self._dependencies.marks.current(0)
        balances = account.holdings.balances(self._dependencies.now_ms())
        if not _are_priced(balances, marks):
            return None
        markets = await self._markets(balances)
        lots = {symbol: spec.lot * spec.base_unit for symbol, spec in markets.items()}
        free = {asset: held.free for asset, held in account.holdings.held.items()}
        orders = []
        for order in liquidation_orders(lots, balances):
            spec, quantity = markets[order.symbol], order.quantity
            price = max(marks[spec.base] * AMOUNT_SCALE // marks[spec.quote], 1)
            smallest = self._dependencies.smallest_quantity(spec, price)
            if order.side is Side.BUY:
                slippage = self._dependencies.markets.limits[order.symbol].slippage_bps_max
                cost = self._dependencies.cost_price(spec, price, slippage) * (99 + round_number) // 100
                lot = lots[order.symbol]
                affordable = free.get(spec.quote, 0) * AMOUNT_SCALE // cost // lot * lot
                quantity = min(max(quantity, smallest), affordable)
                free[spec.quote] = free.get(spec.quote, 0) - quantity * cost // AMOUNT_SCALE
            if quantity >= smallest:
                orders.append(order._replace(quantity=quantity))
        # Sells come first: their proceeds pay for the buys of the next round.
        return sorted(orders, key=lambda order: (order.side is Side.BUY, order.symbol))

    async def _sellable(self, balances: Balances) -> dict[str, int] | None:
        """The smallest quantity of each asset that can be sold in the markets of the orders. None without prices."""
        marks = await self._dependencies.marks.current(0)
        if not _are_priced(balances, marks):
            return None
        found: dict[str, int] = {}
        for symbol, spec in (await self._markets(balances)).items():
            price = max(marks[spec.base] * AMOUNT_SCALE // marks[spec.quote], 1)
            smallest = self._dependencies.smallest_quantity(spec, price)
            own = balances.get(spec.base, AssetBalance())
            if own.held > own.debt:
                found[spec.base] = smallest
            elif own.debt > own.held:
                slippage = self._dependencies.markets.limits[symbol].slippage_bps_max
                cost = self._dependencies.cost_price(spec, price, slippage)
                needed = -(-smallest * cost // AMOUNT_SCALE)
                found[spec.quote] = min(found.get(spec.quote, needed), needed)
        return found

    async def _markets(self, balances: Balances) -> dict[str, SymbolSpec]:
        """The markets that close positions and sell collateral.

        A surplus is sold for an owed asset, and a shortage is bought with a surplus asset. Without such a market, the
        valuation asset is the other side.
        """
        valuation = self._dependencies.settings.margin_valuation_asset
        surplus = {asset for asset, each in balances.items() if each.held > each.debt}
        shortage = {asset for asset, each in balances.items() if each.debt > each.held}
        symbols = await self._dependencies.symbols()
        direct = {
            name: spec
            for name, spec in sorted(symbols.items())
            if (spec.base in surplus and spec.quote in shortage) or (spec.base in shortage and spec.quote in surplus)
        }
        if direct or not shortage:
            return direct
        return {
            name: spec
            for name, spec in sorted(symbols.items())
            if spec.quote == valuation and spec.base in surplus | shortage
        }


def _are_priced(balances: Balances, marks: Marks) -> bool:
    return all(marks.get(asset) for asset, each in balances.items() if each.held or each.debt)


def _move(position: MarginPositionRow, trigger: MarginPositionTrigger) -> None:
    status = next_position_status(position.status, trigger)
    assert status is not None, f"a {position.status} position cannot be {trigger}"
    position.status = MarginPositionStatus(status)
