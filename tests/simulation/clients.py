"""The clients of the simulation: traders and custody, and what each of them was told.

Traders ask over the bus like the REST edge. A trader that got no reply asks again with the same order
id now and then.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from openspot.contracts import subjects
from openspot.contracts.messages import (
    AmendOrders,
    AmendOrdersReply,
    CancelOpenOrders,
    CancelOpenOrdersReply,
    CancelOrder,
    CancelOrderList,
    CancelOrderListReply,
    CancelOrderReply,
    DepositConfirmed,
    GetOrder,
    GetOrderReply,
    OrderAmendment,
    OrderRecord,
    OrderRequest,
    ReplaceOrder,
    ReplaceOrderReply,
    SubmitOrder,
    SubmitOrderList,
    SubmitOrderListReply,
    SubmitOrderReply,
    WithdrawalOutcome,
    WithdrawalRequested,
)
from openspot.contracts.refusals import UNCERTAIN
from openspot.kit.bus import RequestFailedError, encode
from openspot.rest_edge.orders.bulk_cancel import OpenOrderCancels
from tests.simulation.bus import BusServer, SimulatedBus
from tests.simulation.complete_orders import complete_list, complete_order
from tests.simulation.engine import SYMBOLS, SimulatedEngine
from tests.simulation.process import Process

USERS = ("ann", "bob", "cem", "dua")
STRANGER = "eve"
NOT_ATTEMPTED = "REPLACEMENT_NOT_ATTEMPTED"
TOO_MUCH = "90"
"""More of any asset than anybody has."""
COMPLETE = 0.55
"""The share of orders that ask for something of the complete rules, where these are on."""
MANY_OF_ONE = ("BTC-USD", "BTC-USD", "BTC-USD", "ETH-USD")
"""Symbols to choose from: one of them is traded more than the other."""


@dataclass(slots=True)
class Told:
    """What the clients asked for and were told."""

    asked: dict[str, SubmitOrder] = field(default_factory=dict)
    accepted: dict[str, list[OrderRecord]] = field(default_factory=dict)
    """Order id → the record of each reply that accepted the order."""
    refused: dict[str, str] = field(default_factory=dict)
    """Order id → why there is no such order."""
    unknown: set[str] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)
    """Orders that were submitted more than once: a refusal then says nothing about the other attempts."""
    checked_anew: set[str] = field(default_factory=set)
    """Orders that are repeated even if a check may refuse one attempt and pass another."""
    cancelled: dict[str, OrderRecord] = field(default_factory=dict)
    swept: dict[str, str] = field(default_factory=dict)
    """Order id → the user whose bulk cancel was told to have cancelled it."""
    amended: list[OrderRecord] = field(default_factory=list)
    """Orders as they were told to be after an amendment."""
    seen: list[OrderRecord] = field(default_factory=list)
    """Orders as `orders.get` showed them."""
    ended: list[tuple[str, int, int]] = field(default_factory=list)
    """For each dead man's switch: the user, and the engine's newest command before and after it."""
    lists: dict[int, str] = field(default_factory=dict)
    """Lists of orders that the engine was asked for past the router → their users."""
    listed: dict[str, str] = field(default_factory=dict)
    """Their orders → the user."""
    asked_lists: dict[str, SubmitOrderList] = field(default_factory=dict)
    """Lists of orders that a router was asked for."""
    placed_lists: set[str] = field(default_factory=set)
    refused_lists: dict[str, str] = field(default_factory=dict)
    unknown_lists: set[str] = field(default_factory=set)
    cancelled_lists: set[str] = field(default_factory=set)
    replacements: dict[str, ReplaceOrder] = field(default_factory=dict)
    """Order id → the replacement that should place the order, which is among `asked`, too."""
    replaced: list[tuple[ReplaceOrder, ReplaceOrderReply]] = field(default_factory=list)
    """Each reply to a replacement."""
    unknown_replacements: set[str] = field(default_factory=set)
    foreign: list[str] = field(default_factory=list)
    """Orders that another user could see or cancel."""

    @property
    def requests(self) -> dict[str, SubmitOrder]:
        """Every order that a router was asked for, alone or in a list."""
        listed = {
            order.order_id: SubmitOrder(asked.user_id, order)
            for asked in self.asked_lists.values()
            for order in asked.orders
        }
        return self.asked | listed

    deposits: dict[str, DepositConfirmed] = field(default_factory=dict)
    withdrawals: dict[str, WithdrawalRequested] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)
    """Withdrawal id → the subject on which custody published the outcome."""


class Traders:
    """Places, cancels and looks at orders."""

    def __init__(
        self,
        process: Process,
        server: BusServer,
        chance: random.Random,
        told: Told,
        edges: Callable[[], list[tuple[Process, SimulatedBus]]] = list,
        now_ms: Callable[[], int] | None = None,
    ) -> None:
        """`edges` returns the edges that share a process with a router, and run: most requests go to them.

        With `now_ms`, the milliseconds since 1970, the traders use the complete rules of orders.
        """
        self._process = process
        self._bus = SimulatedBus(server, process)
        self._edges = edges
        self._chance = chance
        self._told = told
        self._now_ms = now_ms
        self.waiting = 0
        """Requests without a reply so far."""
        self.to_edges = 0
        """Requests that went to an edge beside a router."""

    def place(self) -> None:
        """Place a new order, or repeat one whose outcome is unknown."""
        chance, told = self._chance, self._told
        # Repeat only orders that pass the pre-trade check again: otherwise it would refuse an order that may stand.
        unknown = sorted(order_id for order_id in told.unknown if _is_unobjectionable(told.asked[order_id].order))
        if unknown and chance.random() < 0.3:
            order_id = chance.choice(unknown)
            told.repeated.add(order_id)
        else:
            order_id = f"o{len(told.asked) + 1}"
            user = chance.choice(USERS)
            told.asked[order_id] = SubmitOrder(user, self._order(order_id, user))
        self._process.start(self._place(told.asked[order_id]))

    def submit(self, asked: SubmitOrder) -> None:
        """Place a given order."""
        self._told.asked[asked.order.order_id] = asked
        self._process.start(self._place(asked))

    def trade_first(self) -> None:
        """Let every market have a price that the engine remembers: without one, many orders are refused."""
        for symbol in SYMBOLS:
            for user, side in zip(USERS[:2], ("buy", "sell"), strict=True):
                order = OrderRequest(
                    f"first-{side}-{symbol}", symbol, side, "limit", "0.25", "100.00", self_trade_prevention="none"
                )
                self.submit(SubmitOrder(user, order))

    def _order(self, order_id: str, user: str) -> OrderRequest:
        chance = self._chance
        if self._now_ms is not None and chance.random() < COMPLETE:
            return complete_order(chance, order_id, user, chance.choice(MANY_OF_ONE), self._now_ms())
        symbol, side = chance.choice(MANY_OF_ONE), chance.choice(("buy", "sell"))
        quantity = str(chance.randint(2, 60) / 100)
        kind = chance.random()
        if kind < 0.1:
            if side == "buy" and chance.random() < 0.5:
                return OrderRequest(order_id, symbol, side, "market", quote_quantity=str(chance.randint(1, 50)))
            return OrderRequest(order_id, symbol, side, "market", quantity=quantity)
        if kind < 0.12:
            return OrderRequest(order_id, symbol, side, "stop_limit", quantity=quantity, price="100")
        price = f"{100 + chance.randint(-5, 5) / 4:.2f}"
        if kind < 0.14:
            quantity = TOO_MUCH
        time_in_force = chance.choice(("gtc", "gtc", "gtc", "gtc", "ioc", "fok"))
        return OrderRequest(
            order_id,
            symbol,
            side,
            "limit",
            quantity,
            price,
            time_in_force=time_in_force,
            client_order_id=f"c-{order_id}",
        )

    async def _place(self, asked: SubmitOrder) -> None:
        told, order_id = self._told, asked.order.order_id
        reply: SubmitOrderReply | None = await self._asked(subjects.ORDERS_SUBMIT, asked, SubmitOrderReply)
        if reply is None or reply.code in UNCERTAIN:
            told.unknown.add(order_id)
        elif reply.success:
            assert reply.order is not None, "an accepted order is shown"
            told.accepted.setdefault(order_id, []).append(reply.order)
            told.unknown.discard(order_id)
        elif order_id not in told.repeated:
            told.refused[order_id] = reply.error or ""

    def cancel(self) -> None:
        """Cancel some order, usually as its owner."""
        asked = self._any_order()
        if asked is not None:
            user = asked.user_id if self._chance.random() < 0.9 else STRANGER
            self._process.start(self._cancel(CancelOrder(user, asked.order.order_id, asked.order.symbol)))

    def _any_order(self) -> SubmitOrder | None:
        """A recent order, usually one that was accepted."""
        told, chance = self._told, self._chance
        requests = told.requests
        order_ids = list(told.accepted if told.accepted and chance.random() < 0.7 else requests)[-15:]
        return requests[chance.choice(order_ids)] if order_ids else None

    async def _cancel(self, asked: CancelOrder) -> None:
        reply: CancelOrderReply | None = await self._asked(subjects.ORDERS_CANCEL, asked, CancelOrderReply)
        if reply is None or not reply.success:
            return
        assert reply.order is not None, "a cancelled order is shown"
        if asked.user_id == STRANGER:
            self._told.foreign.append(asked.order_id)
        self._told.cancelled[asked.order_id] = reply.order

    def cancel_open(self) -> None:
        """Cancel the open orders of a user, of every side and symbol or of one."""
        chance = self._chance
        asked = CancelOpenOrders(
            chance.choice(USERS), chance.choice(("", *MANY_OF_ONE)), chance.choice(("", "buy", "sell"))
        )
        self._process.start(self._cancel_open(asked))

    async def _cancel_open(self, asked: CancelOpenOrders) -> None:
        reply: CancelOpenOrdersReply | None = await self._asked(
            subjects.ORDERS_CANCEL_OPEN, asked, CancelOpenOrdersReply
        )
        if reply is not None:
            self._told.swept |= dict.fromkeys(reply.cancelled, asked.user_id)

    def place_list(self) -> None:
        """Place a list of orders, or repeat one whose outcome is unknown."""
        chance, told = self._chance, self._told
        assert self._now_ms is not None, "only the complete rules have lists"
        # As of orders: not those that a check may refuse the second time.
        unknown = [
            list_id
            for list_id in sorted(told.unknown_lists)
            if not any(order.expires_at for order in told.asked_lists[list_id].orders)
        ]
        if unknown and chance.random() < 0.5:
            list_id = chance.choice(unknown)
        else:
            list_id, user = f"list{len(told.asked_lists) + 1}", chance.choice(USERS)
            list_type, orders = complete_list(chance, list_id, user, chance.choice(MANY_OF_ONE), self._now_ms())
            told.asked_lists[list_id] = SubmitOrderList(user, list_id, list_type, orders)
        self._process.start(self._place_list(told.asked_lists[list_id]))

    async def _place_list(self, asked: SubmitOrderList) -> None:
        told, list_id = self._told, asked.list_id
        reply: SubmitOrderListReply | None = await self._asked(subjects.ORDERS_SUBMIT_LIST, asked, SubmitOrderListReply)
        if reply is None or reply.code in UNCERTAIN:
            told.unknown_lists.add(list_id)
        elif reply.success:
            told.placed_lists.add(list_id)
            told.seen += reply.orders
        elif list_id not in told.unknown_lists:
            told.refused_lists[list_id] = reply.error or ""

    def cancel_list(self) -> None:
        """Cancel a list, usually as its owner."""
        told = self._told
        list_ids = (sorted(told.placed_lists) if self._chance.random() < 0.8 else []) or list(told.asked_lists)
        if list_ids:
            asked = told.asked_lists[self._chance.choice(list_ids[-6:])]
            user = asked.user_id if self._chance.random() < 0.9 else STRANGER
            self._process.start(self._cancel_list(CancelOrderList(user, asked.list_id)))

    async def _cancel_list(self, asked: CancelOrderList) -> None:
        reply: CancelOrderListReply | None = await self._asked(subjects.ORDERS_CANCEL_LIST, asked, CancelOrderListReply)
        if reply is not None and reply.success:
            self._told.cancelled_lists.add(asked.list_id)
            self._told.seen += reply.orders
            if asked.user_id == STRANGER:
                self._told.foreign.append(asked.list_id)

    def end_all(self, engine: SimulatedEngine) -> None:
        """Cancel whatever a user has open, as the REST edge does when a dead man's switch has run out."""
        self._process.start(self._end_all(self._chance.choice(USERS), engine))

    async def _end_all(self, user: str, engine: SimulatedEngine) -> None:
        first = engine.machine.core.command_sequence
        bus: Any = self._bus
        self.waiting += 1
        try:
            failure = await OpenOrderCancels(bus).cancel(user, None, None, [])
        finally:
            self.waiting -= 1
        if failure is None:
            self._told.ended.append((user, first, engine.machine.core.command_sequence))

    def amend(self) -> None:
        """Amend up to three orders of one user, one of them perhaps as a stranger."""
        chance, first = self._chance, self._any_order()
        if first is None:
            return
        others = [self._any_order() for _ in range(chance.randint(0, 2))]
        order_ids = dict.fromkeys(
            asked.order.order_id for asked in (first, *others) if asked is not None and asked.user_id == first.user_id
        )
        amendments = tuple(
            OrderAmendment(
                order_id,
                f"{100 + chance.randint(-5, 5) / 4:.2f}" if chance.random() < 0.6 else None,
                str(chance.randint(2, 60) / 100),
            )
            for order_id in order_ids
        )
        user = first.user_id if chance.random() < 0.9 else STRANGER
        self._process.start(self._amend(AmendOrders(user, amendments)))

    def amend_listed(self, user: str, order_id: str, *, has_stop: bool) -> None:
        """Give an order of a list another price, and one that waits for a price another trigger, too."""
        chance = self._chance
        price = f"{100 + chance.randint(-6, 6) / 4:.2f}"
        stop = f"{100 + chance.randint(-6, 6) / 4:.2f}" if has_stop else None
        self._process.start(self._amend(AmendOrders(user, (OrderAmendment(order_id, price, stop_price=stop),))))

    async def _amend(self, asked: AmendOrders) -> None:
        reply: AmendOrdersReply | None = await self._asked(subjects.ORDERS_AMEND, asked, AmendOrdersReply)
        for outcome in () if reply is None else reply.outcomes:
            if outcome.success:
                assert outcome.order is not None, "an amended order is shown"
                self._told.amended.append(outcome.order)
                if asked.user_id == STRANGER:
                    self._told.foreign.append(outcome.order_id)

    def replace(self) -> None:
        """Replace an order, usually as its owner, or repeat a replacement whose outcome is unknown."""
        chance, told = self._chance, self._told
        unknown = [each for each in sorted(told.unknown_replacements) if _is_unobjectionable(told.asked[each].order)]
        if unknown and chance.random() < 0.5:
            order_id = chance.choice(unknown)
            told.repeated.add(order_id)
        else:
            tried = [self._any_order() for _ in range(4)]
            first = next((each for each in tried if each is not None and self._seems_open(each)), tried[0])
            if first is None:
                return
            order_id = f"o{len(told.asked) + 1}"
            user = first.user_id if chance.random() < 0.9 else chance.choice(USERS)
            order = self._order(order_id, user)
            changes: dict[str, Any] = {"symbol": first.order.symbol} if chance.random() < 0.95 else {}
            if chance.random() < 0.5:
                changes["client_order_id"] = first.order.client_order_id
            new = SubmitOrder(user, msgspec.structs.replace(order, **changes))
            told.asked[order_id] = new
            told.replacements[order_id] = ReplaceOrder(
                user, first.order.order_id, new.order, allow_failure=chance.random() < 0.3
            )
        self._process.start(self._replace(told.replacements[order_id]))

    def _seems_open(self, asked: SubmitOrder) -> bool:
        records = self._told.accepted.get(asked.order.order_id, [])
        return bool(records) and records[-1].status in ("open", "partially_filled")

    async def _replace(self, asked: ReplaceOrder) -> None:
        told, order_id = self._told, asked.order.order_id
        reply: ReplaceOrderReply | None = await self._asked(subjects.ORDERS_REPLACE, asked, ReplaceOrderReply)
        placed = None if reply is None else reply.placed
        if reply is None or reply.code in UNCERTAIN or (placed is not None and placed.code in UNCERTAIN):
            told.unknown_replacements.add(order_id)
            return
        told.replaced.append((asked, reply))
        if placed is not None and placed.success:
            assert placed.order is not None, "an accepted order is shown"
            told.accepted.setdefault(order_id, []).append(placed.order)
            told.unknown_replacements.discard(order_id)
        elif order_id not in told.repeated:
            reason = NOT_ATTEMPTED if placed is None else placed.error
            told.refused[order_id] = reply.error or reason or ""

    def look(self) -> None:
        """Ask for an order's state."""
        asked = self._any_order()
        if asked is not None:
            user = asked.user_id if self._chance.random() < 0.9 else STRANGER
            self._process.start(self._look(GetOrder(user, asked.order.order_id)))

    async def _look(self, asked: GetOrder) -> None:
        reply: GetOrderReply | None = await self._asked(subjects.ORDERS_GET, asked, GetOrderReply)
        if reply is not None and reply.order is not None:
            self._told.seen.append(reply.order)
            if asked.user_id == STRANGER:
                self._told.foreign.append(asked.order_id)

    async def _asked(self, subject: str, message: Any, reply_type: type[Any]) -> Any:
        self.waiting += 1
        try:
            edges = self._edges()
            if edges and self._chance.random() < 0.8:
                return await self._asked_at(*self._chance.choice(edges), subject, message, reply_type)
            return await self._bus.request(subject, message, reply_type)
        except RequestFailedError:
            return None
        finally:
            self.waiting -= 1

    async def _asked_at(
        self, process: Process, bus: SimulatedBus, subject: str, message: Any, reply_type: type[Any]
    ) -> Any:
        """Ask an edge. It may die while it works on the request; then the outcome is unknown."""
        self.to_edges += 1
        work = process.start(bus.request(subject, message, reply_type))
        await asyncio.wait({work})
        return None if work.cancelled() else work.result()


def _is_unobjectionable(order: OrderRequest) -> bool:
    # One that expires is refused once its time is over.
    is_plain = order.type == "limit" and order.quantity != TOO_MUCH and order.expires_at is None
    shows_all = order.display_quantity is not None and float(order.display_quantity) >= float(order.quantity or 0)
    return is_plain and not shows_all


class Custody:
    """Confirms deposits and carries out withdrawals. It publishes some events several times."""

    def __init__(self, server: BusServer, chance: random.Random, told: Told) -> None:
        self._server = server
        self._chance = chance
        self._told = told
        self._messages = 0
        self._looked_at = 0
        self._open: list[str] = []

    def deposit(self, user: str, asset: str, amount: str) -> None:
        """Confirm a new deposit."""
        event = DepositConfirmed(f"tx-{len(self._told.deposits) + 1}", user, asset, amount)
        self._told.deposits[event.tx_hash] = event
        self._tell(subjects.CUSTODY_DEPOSIT_CONFIRMED, event)

    def repeat(self) -> None:
        """Publish some deposit or withdrawal request again."""
        deposits, withdrawals = list(self._told.deposits.values()), list(self._told.withdrawals.values())
        if withdrawals and self._chance.random() < 0.5:
            self._tell(subjects.CUSTODY_WITHDRAWAL_REQUESTED, self._chance.choice(withdrawals))
        else:
            self._tell(subjects.CUSTODY_DEPOSIT_CONFIRMED, self._chance.choice(deposits))

    def request_withdrawal(self) -> None:
        """Ask the router to hold funds."""
        number, chance = len(self._told.withdrawals) + 1, self._chance
        user, asset = chance.choice(USERS), chance.choice(("USD", "BTC"))
        amount = chance.choice(("1", "0.5", "7.25", "100000000"))
        event = WithdrawalRequested(f"w-{number}", user, asset, amount)
        self._told.withdrawals[event.withdrawal_id] = event
        self._tell(subjects.CUSTODY_WITHDRAWAL_REQUESTED, event)

    def carry_out(self) -> None:
        """Complete a withdrawal whose funds are held, or let it fail."""
        messages = self._server.streams["CUSTODY"].messages
        for message in messages[self._looked_at :]:
            if message.subject == subjects.CUSTODY_WITHDRAWAL_RESERVED:
                withdrawal_id = message.message_id.removesuffix("-reserved")
                if withdrawal_id not in self._told.outcomes and withdrawal_id not in self._open:
                    self._open.append(withdrawal_id)
        self._looked_at = len(messages)
        if self._open:
            withdrawal = self._told.withdrawals[self._open.pop(0)]
            subject = self._chance.choice((subjects.CUSTODY_WITHDRAWAL_COMPLETED, subjects.CUSTODY_WITHDRAWAL_FAILED))
            self._told.outcomes[withdrawal.withdrawal_id] = subject
            event = WithdrawalOutcome(
                withdrawal.withdrawal_id, withdrawal.user_id, withdrawal.asset, withdrawal.amount, "by custody"
            )
            for _ in range(self._chance.randint(1, 2)):
                self._tell(subject, event)

    def _tell(self, subject: str, event: Any) -> None:
        self._messages += 1
        self._server.store(subject, f"custody-{self._messages}", encode(event))
