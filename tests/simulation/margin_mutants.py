"""Margin services with one deliberate fault each. The auditor must find every one of them."""

import itertools
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from openspot.domain.fair_price.crossing import IDENTITY, AssetPrice
from openspot.domain.fair_price.model import PriceState
from openspot.domain.money import text_to_amount
from openspot.domain.order import Side
from openspot.domain.result_code import ResultCode
from openspot.engine.intake import money_intake
from openspot.engine_client.commands import TransferOutcome
from openspot.engine_client.errors import EngineAmbiguousError
from openspot.margin import liquidation_plan, liquidator, loans, orders, positions, transfers
from openspot.margin.interest import Repayment
from openspot.margin.liquidation import Liquidation
from openspot.margin.marks import MarkPriceCache
from openspot.margin.slices import bound_price
from tests.simulation.margin import MarginEngineClient
from tests.simulation.mutants import Fault
from tests.simulation.rows import Rows


def loans_lose_their_reference() -> Fault:
    """Each attempt of a transfer is one of its own for the engine."""
    halves, numbers = money_intake._reference, itertools.count(1)

    def always_new(text: str) -> tuple[int, int]:
        return halves(f"{text} {next(numbers)}") if text.startswith("margin:") else halves(text)

    return patch.object(money_intake, "_reference", always_new)


def an_unknown_outcome_is_a_refusal() -> Fault:
    """The service takes a lost reply of the engine for a refusal."""
    transfer = MarginEngineClient.transfer

    async def certain(client: Any, *request: Any) -> TransferOutcome:
        try:
            return await transfer(client, *request)
        except EngineAmbiguousError:
            return TransferOutcome(ResultCode.RISK_NSF, "", 0)

    return patch.object(MarginEngineClient, "transfer", certain)


def repayments_are_not_noted() -> Fault:
    """Now and then a loan owes as much after a repayment as before it."""
    repaid, numbers = transfers._repaid, itertools.count(1)

    async def forgetful(connection: Any, loan: Any, transfer: Any) -> None:
        if next(numbers) % 3:
            await repaid(connection, loan, transfer)

    return patch.object(transfers, "_repaid", forgetful)


def interest_goes_to_the_pool() -> Fault:
    """Interest is paid into the lending pool."""
    return patch.object(transfers, "INTEREST_ACCOUNT_ID", transfers.LENDING_ACCOUNT_ID)


def orders_have_new_ids() -> Fault:
    """Each attempt places an order of its own."""
    outcome_of, numbers = orders.outcome_of, itertools.count(1)

    async def anew(dependencies: Any, connection: Any, order: Any) -> Any:
        return await outcome_of(
            dependencies, connection, order._replace(order_id=f"{order.order_id[:-4]}{next(numbers):04}")
        )

    return patch.object(positions, "outcome_of", anew)


def an_order_in_flight_is_given_up() -> Fault:
    """A refusal of the router counts, although an earlier attempt may be on its way."""
    outcome_of = positions.outcome_of

    async def hasty(dependencies: Any, connection: Any, order: Any) -> Any:
        try:
            return await outcome_of(dependencies, connection, order)
        except orders.OrderRefusedError as error:
            return orders.nothing_filled(str(error))

    return patch.object(positions, "outcome_of", hasty)


def loans_have_new_ids() -> Fault:
    """A repeated request borrows again."""
    derived, numbers = loans.derived_id, itertools.count(1)

    def always_new(*parts: str) -> str:
        return derived(*parts, str(next(numbers))) if parts[0] == "loan" else derived(*parts)

    return patch.object(loans, "derived_id", always_new)


def reductions_are_not_noted() -> Fault:
    """A repeated reduce-only request closes again."""

    async def always_new(*_: Any) -> bool:
        return True

    return patch.object(positions.store, "add_reduction", always_new)


def users_are_not_told() -> Fault:
    """Every second liquidation forgets its user."""
    notify, numbers = liquidator.Liquidator._notify_user, itertools.count(1)

    async def forgetful(service: Any, account: Any, row: Any) -> bool:
        if next(numbers) % 2:
            return await notify(service, account, row)
        step = liquidator.LiquidationStep.NOTIFY_USER
        row.liquidation = liquidator.finish_step(row.liquidation, step, row.liquidation.round)
        return True

    return patch.object(liquidator.Liquidator, "_notify_user", forgetful)


def repeated_steps_have_new_ids() -> Fault:
    """A step that is repeated, as after a kill, tells its messages again under other ids."""
    notify, numbers = liquidator.Liquidator._notify_user, itertools.count(1)
    message_id = Liquidation.message_id

    def always_new(liquidation: Any, item: str) -> str:
        return f"{message_id(liquidation, item)}:{next(numbers)}"

    async def twice(service: Any, account: Any, row: Any) -> bool:
        with patch.object(Liquidation, "message_id", always_new):
            await notify(service, account, replace(row))
            return await notify(service, account, row)

    return patch.object(liquidator.Liquidator, "_notify_user", twice)


def losses_are_forgiven() -> Fault:
    """What a liquidated account cannot pay is struck off, and nobody pays the pool."""
    repay = transfers.repay

    async def strike_off(
        dependencies: Any, connection: Any, loan: Any, amount: int, reference: str, **kind: Any
    ) -> None:
        if kind.get("is_loss"):
            given: Repayment = repay(loan.accrual, amount, dependencies.now_ms())
            loan.accrual, loan.status = given.loan, transfers.LoanStatus.WRITTEN_OFF
            await transfers.loan_store.save_loan(connection, loan)
        else:
            await add(dependencies, connection, loan, amount, reference)

    add = transfers.add_repayment
    return patch.object(liquidator, "add_repayment", strike_off)


def unsure_prices_are_used() -> Fault:
    """Disputed and stale prices decide like any other."""
    return patch.object(PriceState, "is_usable", property(lambda _: True))


def liquidations_have_no_floor() -> Fault:
    """A liquidation takes the worst price that the router's band allows."""

    def far_price(price: int, side: Side, bps: int, spec: Any) -> int:
        return bound_price(price, side, 1_900, spec)

    return patch.object(liquidation_plan, "bound_price", far_price)


def liquidations_trade_all_at_once() -> Fault:
    """A liquidation does not ask how much the market absorbs."""
    return patch.object(liquidation_plan, "absorbed", lambda *_: None)


def last_trades_are_believed(rows: Rows) -> Fault:
    """Mark prices are the last trades of the markets."""

    def current(marks: Any) -> dict[str, AssetPrice]:
        last = {trade.symbol: text_to_amount(trade.price) for trade in rows.trades.values()}
        exact = {
            symbol.split("-")[0]: AssetPrice(each, each, each, each, PriceState.GOOD) for symbol, each in last.items()
        }
        return {"USD": IDENTITY} | exact

    return patch.object(MarkPriceCache, "current", current)
