"""Judges the margin service: compares its tables, messages and replies with what really happened in the engine.

No loan may be lost or doubled: what the pool holds and what is owed to it is what was put in, and every transfer of the
service is one of the engine.
"""

import json
from collections import Counter
from decimal import Decimal
from typing import Any

from openspot.contracts import subjects
from openspot.contracts.messages import (
    BorrowMargin,
    MarginReply,
    OpenMarginPosition,
    ReduceMarginPositions,
    TransferCollateral,
)
from openspot.margin.lifecycle import LoanStatus, MarginPositionStatus
from openspot.margin.records import (
    MarginLoanRow,
    MarginPositionRow,
    Purpose,
    derived_id,
    part_order_id,
    reduction_request,
)
from tests.simulation.auditor import Messages, units
from tests.simulation.fair_prices import Known, MarketData
from tests.simulation.history import ONE, History, TransferHistory
from tests.simulation.margin import INTEREST, POOL, ToldOfMargin
from tests.simulation.margin_tables import MarginTables

PREFIX = "margin:"
VALUATION_ASSET = "USD"
SURE = ("good", "thin")
SMALLEST_AT_MOST = Decimal("0.3")
"""The smallest order of a market is no larger at any price of the simulation. A slice is at least such an order."""
LEAST, MOST = Decimal("0.98"), Decimal("1.02")
"""The bounds of a liquidation's prices, as parts of the fair price."""
_INTEREST_AT_MOST = ONE // 100
"""A short that is closed whole buys its interest back, too. In a run that is less than this."""
_PAID_OUT = (LoanStatus.ACTIVE, LoanStatus.REPAID, LoanStatus.WRITTEN_OFF)
_ENDED = (MarginPositionStatus.FAILED, MarginPositionStatus.CLOSED, MarginPositionStatus.LIQUIDATED)
_ORDER_OF_EVENTS = (subjects.MARGIN_POSITION_CLOSED, subjects.NOTIFICATIONS_SEND, subjects.ORDERS_LIQUIDATION)


class MarginAuditor:
    """Checks margin accounts. `findings` lists what is wrong."""

    def __init__(self, history: History, tables: MarginTables, told: ToldOfMargin) -> None:
        self._history = history
        self._tables = tables
        self._told = told
        self._transfers = {each.reference: each for each in history.transfers if each.reference.startswith(PREFIX)}
        self.findings: list[str] = []

    def _expect(self, what: str, shown: object, real: object) -> None:
        if shown != real:
            self.findings.append(f"{what}: {shown!r} is shown, {real!r} is right")

    def look_at_pool(self, put_in: Counter[str]) -> None:
        """The pool and what is owed to it are what was put in. All interest that was paid lies in its account."""
        owed, paid = Counter[str](), Counter[str]()
        for loan in self._tables.loans:
            paid[loan.asset] += loan.accrual.paid
            if loan.status is LoanStatus.ACTIVE:
                owed[loan.asset] += loan.accrual.principal
        totals = self._history.totals
        for asset, amount in put_in.items():
            self._expect(f"{asset} of the pool with what is owed", totals[POOL, asset] + owed[asset], amount)
            self._expect(f"interest paid in {asset}", paid[asset], totals[INTEREST, asset])

    def look_at_transfers(self) -> None:
        """Each transfer of the service is one of the engine if it is done, and none if it was refused."""
        for row in self._tables.transfers:
            real = self._transfers.get(row.reference)
            movements = tuple((each.source, each.destination, each.asset, units(each.amount)) for each in row.movements)
            if row.status == "done":
                self._expect(f"transfer {row.reference}", movements, None if real is None else real.movements)
            else:
                self._expect(f"transfer {row.reference} is {row.status}, in the engine", real, None)
                self._expect(f"status of transfer {row.reference}", row.status, "refused")
        known = {row.reference for row in self._tables.transfers}
        self._expect("transfers of no row", sorted(self._transfers.keys() - known), [])

    def look_at_loans(self) -> None:
        """Each loan was paid out once, owes what the engine has not moved back, and had each interest posted once."""
        repaid, interest = Counter[str](), Counter[str]()
        for row in self._tables.transfers:
            if row.purpose in (Purpose.REPAY, Purpose.LOSS) and row.loan_id is not None:
                for _, receiver, _, amount in self._movements(row.reference):
                    (repaid if receiver == POOL else interest)[row.loan_id] += amount
                    self._expect(f"receiver of {row.reference}", receiver in (POOL, INTEREST), True)
        posted = Counter[str]()
        for posting in self._tables.all("interest"):
            posted[posting.loan_id] += posting.amount
        for loan in self._tables.loans:
            self._look_at_loan(loan, repaid[loan.loan_id], interest[loan.loan_id])
            self._expect(f"interest of loan {loan.loan_id}", loan.accrual.posted, posted[loan.loan_id])

    def _look_at_loan(self, loan: MarginLoanRow, repaid: int, interest: int) -> None:
        name, accrual = f"loan {loan.loan_id}", loan.accrual
        paid_out = ((POOL, loan.account_id, loan.asset, loan.borrowed),) if loan.status in _PAID_OUT else ()
        self._expect(
            f"payment of {name}, which is {loan.status}", self._movements(f"{PREFIX}{name[5:]}:borrow"), paid_out
        )
        self._expect(f"whether {name} is pending", loan.status is LoanStatus.PENDING, False)
        if loan.status in _PAID_OUT:
            self._expect(f"principal of {name}", accrual.principal, loan.borrowed - repaid)
            self._expect(f"paid interest of {name}", accrual.paid, interest)
            is_owed = accrual.principal > 0 or accrual.paid < accrual.posted
            self._expect(f"status of {name} that owes {accrual}", loan.status is LoanStatus.ACTIVE, is_owed)
        self._expect(f"repayment under way of {name}", loan.repaying, None)

    def _movements(self, reference: str) -> tuple[tuple[str, str, str, int], ...]:
        found: TransferHistory | None = self._transfers.get(reference)
        return () if found is None else found.movements

    def look_at_positions(self) -> None:
        """A position is what its orders have traded, and none of them is under way."""
        reductions = [key for key, asked in self._told.asked.items() if isinstance(asked, ReduceMarginPositions)]
        for position in self._tables.positions:
            name = f"position {position.position_id}, which is {position.status}"
            # A router that slept after its last check may still send an order that has been given up.
            failed_ms = None
            if position.status is MarginPositionStatus.FAILED and position.closed_at is not None:
                failed_ms = round(position.closed_at.timestamp() * 1000)
            opened = self._filled(derived_id("open", position.position_id), failed_ms)
            closed = sum(
                self._filled(derived_id("close", position.position_id, str(number + 1)))
                for number in range(position.closings)
            )
            closed += sum(
                self._filled(part_order_id(position.position_id, reduction_request(request_id)))
                for request_id in reductions
            )
            left = 0 if position.status in _ENDED else max(opened - closed, 0)
            self._expect(f"quantity of {name}", position.quantity, left)
            under_way = position.status not in (MarginPositionStatus.OPEN, *_ENDED)
            self._expect(f"whether {name} is under way", under_way, False)
            self._expect(f"whether {name} has failed", position.status is MarginPositionStatus.FAILED, not opened)

    def _filled(self, order_id: str, until_ms: int | None = None) -> int:
        """What an order of a position has traded. One that came to the engine after `until_ms` counts as none."""
        order = self._history.orders.get(order_id)
        if order is None or (until_ms is not None and order.placed_ms > until_ms):
            return 0
        return order.final.filled * ONE // order.market.quantity_scale

    def look_at_requests(self) -> None:
        """Who was told that something is done has it once; who was refused has nothing of it."""
        accounts = {row.account.user_id: row.account.account_id for row in self._tables.all("accounts")}
        loans = {loan.loan_id: loan for loan in self._tables.loans}
        wanted: set[str] = set()
        for request_id, asked in self._told.asked.items():
            account_id = accounts.get(asked.user_id, "")
            replies = self._told.done.get(request_id, [])
            is_refused = request_id in self._told.refused
            if isinstance(asked, BorrowMargin):
                loan = loans.get(derived_id("loan", account_id, request_id))
                wanted.add(derived_id("loan", account_id, request_id))
                borrowed = None if loan is None or loan.status is LoanStatus.REFUSED else (loan.asset, loan.borrowed)
                if replies:
                    self._expect(f"loan of request {request_id}", borrowed, (asked.asset, units(asked.amount)))
                if is_refused:
                    self._expect(f"loan of refused request {request_id}", borrowed, None)
            elif isinstance(asked, OpenMarginPosition):
                position_id = derived_id("position", account_id, request_id)
                wanted.add(derived_id("loan of", position_id))
                self._look_at_opening(request_id, position_id, replies, is_refused)
            elif isinstance(asked, ReduceMarginPositions) and asked.quantity is not None:
                closed = sum(self._closed(position, request_id) for position in self._tables.positions)
                is_too_much = closed > units(asked.quantity) + _INTEREST_AT_MOST
                self._expect(f"whether request {request_id} closed more than {asked.quantity}", is_too_much, False)
            elif isinstance(asked, TransferCollateral):
                reference = f"{PREFIX}{derived_id('transfer', account_id, request_id)}"
                is_moved = reference in self._transfers
                if replies or is_refused:
                    self._expect(f"collateral of request {request_id}", is_moved, bool(replies))
        self._expect("loans that nobody asked for", sorted(loans.keys() - wanted), [])
        self._expect("requests of unknown outcome", list(self._told.unknown), [])

    def _closed(self, position: MarginPositionRow, request_id: str) -> int:
        """What a reduce-only request has traded back of a position."""
        request = reduction_request(request_id)
        order_ids = [part_order_id(position.position_id, request)]
        if position.close_request == request and position.closing_quantity is None:
            order_ids.append(derived_id("close", position.position_id, str(position.closings)))
        return sum(map(self._filled, order_ids))

    def _look_at_opening(self, request_id: str, position_id: str, replies: list[MarginReply], is_refused: bool) -> None:
        found: MarginPositionRow | None = self._tables.rows.get(("positions", position_id))
        stands = found is not None and found.status is not MarginPositionStatus.FAILED
        if replies or is_refused:
            self._expect(f"position of request {request_id}", stands, bool(replies))
        shown = {reply.position_id for reply in replies}
        self._expect(f"ids of the position of request {request_id}", shown - {position_id}, set())

    def look_at_liquidations(self, messages: Messages) -> None:
        """Each liquidation has ended, and told its steps in their order, each once by message id."""
        told: dict[str, list[tuple[str, Any]]] = {}
        for (subject, message_id), event in self._firsts(messages).items():
            told.setdefault(message_id.split(":", 1)[0], []).append((subject, event))
        liquidated = [each for each in self._tables.positions if each.status is MarginPositionStatus.LIQUIDATED]
        closed = Counter[str]()
        for row in self._tables.liquidations:
            liquidation = row.liquidation
            name = f"liquidation {liquidation.liquidation_id}"
            self._expect(f"step of {name}", liquidation.step, None)
            heard = [subject for subject, _ in told.get(liquidation.liquidation_id, [])]
            self._expect(f"notifications of {name}", heard.count(subjects.NOTIFICATIONS_SEND), 1)
            self._expect(f"events of {name}", heard, sorted(heard, key=_ORDER_OF_EVENTS.index))
            for subject, event in told.get(liquidation.liquidation_id, []):
                if subject == subjects.MARGIN_POSITION_CLOSED:
                    closed[event["positionId"]] += 1
                elif subject == subjects.ORDERS_LIQUIDATION:
                    self._look_at_order(event)
        self._expect("positions closed", closed, Counter(each.position_id for each in liquidated))
        known = {row.liquidation.liquidation_id for row in self._tables.liquidations}
        self._expect("liquidations that nobody began", sorted(told.keys() - known), [])

    def _firsts(self, messages: Messages) -> dict[tuple[str, str], Any]:
        """The first event of each message id, oldest first. A repetition may differ from it in its time only."""
        firsts: dict[tuple[str, str], Any] = {}
        for subject, message_id, payload in messages:
            if subject in _ORDER_OF_EVENTS:
                event = json.loads(payload)
                first = firsts.setdefault((subject, message_id), event)
                self._expect(f"a repeat of {message_id}", event | {"timestamp": 0}, first | {"timestamp": 0})
        return firsts

    def _look_at_order(self, event: dict[str, Any]) -> None:
        order = self._history.orders.get(event["orderId"])
        if order is not None:
            shown = event["symbol"], event["side"], units(event["quantity"], order.market.quantity_scale)
            real = order.market.symbol, order.side, order.quantity
            self._expect(f"liquidation order {order.order_id}", shown, real)
            self._expect(f"account of liquidation order {order.order_id}", order.user, event["marginAccountId"])

    def look_at_prices(self, messages: Messages, market_data: MarketData) -> None:
        """No slice goes beyond its bound or what the market absorbs, and nothing is decided at an unsure price."""
        for (subject, message_id), event in self._firsts(messages).items():
            if subject == subjects.ORDERS_LIQUIDATION:
                seen = market_data.seen(event["symbol"], event["timestamp"])
                name = f"liquidation order {message_id} at {event['price']}"
                prices = [Decimal(each.price) for each in seen]
                price, is_sale = Decimal(event["price"]), event["side"] == "sell"
                is_fair = price >= min(prices) * LEAST if is_sale else price <= max(prices) * MOST
                self._expect(f"whether the worst price of {name} is fair", is_fair, True)
                self._expect_sure(name, seen)
                most = max(SMALLEST_AT_MOST, *(Decimal(each.absorbed) for each in seen))
                self._expect(f"whether the market absorbs {name}", Decimal(event["quantity"]) <= most, True)
        for position in self._tables.positions:
            at_ms = round(position.opened_at.timestamp() * 1000)
            self._expect_sure(f"opening of {position.position_id}", market_data.seen(position.symbol, at_ms))
        for loan in self._tables.loans:
            if loan.asset != VALUATION_ASSET:
                at_ms = round(loan.created_at.timestamp() * 1000)
                seen = market_data.seen(f"{loan.asset}-{VALUATION_ASSET}", at_ms)
                self._expect_sure(f"loan {loan.loan_id}", seen)

    def _expect_sure(self, what: str, seen: list[Known]) -> None:
        self._expect(f"whether the price of {what} was sure", any(each.state in SURE for each in seen), True)

    def look_at_levels(self, prices: dict[str, str]) -> None:
        """No account is left at or below 105 %."""
        marks = {symbol.split("-")[0]: Decimal(price) for symbol, price in prices.items()} | {"USD": Decimal(1)}
        for row in self._tables.all("accounts"):
            name = row.account.account_id
            held = sum(self._history.totals[name, asset] * mark for asset, mark in marks.items())
            owed = sum(
                (loan.accrual.principal + loan.accrual.posted - loan.accrual.paid) * marks[loan.asset]
                for loan in self._tables.loans
                if loan.account_id == name and loan.status is LoanStatus.ACTIVE
            )
            self._expect(f"status of account {name}", row.account.status.value, "active")
            self._expect(f"whether {name} must be liquidated", bool(owed) and held * 100 <= owed * 105, False)
