"""Judges answers: compares what traders and custody were told with what really happened."""

import json
from collections import Counter

from openspot.contracts.messages import OrderRecord, ReplaceOrder, ReplaceOrderReply
from tests.simulation.auditor import Messages, units
from tests.simulation.clients import Told
from tests.simulation.history import History, MoneyMove, OrderHistory, State

_ENDED = ("filled", "cancelled", "rejected")
_COMPLETED = "custody.withdrawal.completed"
_RESERVED, _FAILED = "custody.withdrawal.reserved", "custody.withdrawal.failed"


class AnswerAuditor:
    """Checks answers. `findings` lists what is wrong."""

    def __init__(self, history: History, told: Told) -> None:
        self._history = history
        self._told = told
        self.findings: list[str] = []

    def _demand(self, holds: bool, finding: str) -> None:
        if not holds:
            self.findings.append(finding)

    def look_at_orders(self) -> None:
        """Every acknowledged order exists as its client was told; a refused order does not stand."""
        history, told = self._history, self._told
        requests = told.requests
        for order_id, records in told.accepted.items():
            order = history.orders.get(order_id)
            if order is None:
                self.findings.append(f"order {order_id} was acknowledged and is lost")
                continue
            scale, answered = order.market.quantity_scale, order.answered
            real = (answered.status, answered.filled, answered.remaining, answered.fee)
            for record in records:
                amounts = units(record.filled_quantity, scale), units(record.remaining_quantity, scale)
                shown = (record.status, *amounts, units(record.fee))
                self._demand(shown == real, f"order {order_id} was answered as {shown}, and stood as {real}")
            self._demand(len(records) == 1, f"order {order_id} was acknowledged {len(records)} times")
        for order_id, reason in told.refused.items():
            order = history.orders.get(order_id)
            if order is not None:
                refusal = f"order {order_id} was refused ({reason})"
                self._demand(order.final.status == "rejected", f"{refusal} and stands: {order.final}")
                self._demand(order.final.reason == reason, f"{refusal} for another reason than {order.final.reason}")
        for order_id, order in history.orders.items():
            asked = requests.get(order_id)
            user = told.listed.get(order_id) if asked is None else asked.user_id
            self._demand(user is not None, f"order {order_id} was never asked for")
            self._demand(user in (None, order.user), f"order {order_id} is {order.user}'s")
            if order.final.status == "rejected":
                self._demand(order_id not in told.accepted, f"rejected order {order_id} was acknowledged")

    def look_at_lists(self) -> None:
        """All orders of a list exist, or none; as its client was told."""
        history, told = self._history, self._told
        for list_id, asked in told.asked_lists.items():
            found = [history.orders.get(order.order_id) for order in asked.orders]
            stands = [order is not None and order.final.status != "rejected" for order in found]
            self._demand(len(set(stands)) == 1, f"list {list_id} stands in part: {stands}")
            if list_id in told.placed_lists:
                self._demand(all(stands), f"list {list_id} was acknowledged and is lost")
            if list_id in told.refused_lists:
                self._demand(not any(stands), f"list {list_id} was refused ({told.refused_lists[list_id]}) and stands")
            if list_id in told.cancelled_lists:
                ended = [order is not None and order.final.status in _ENDED for order in found]
                self._demand(all(ended), f"list {list_id} was told as cancelled and has open orders")

    def look_at_replacements(self) -> None:
        """What a client was told of both orders is true, and nothing was done of which it was not told."""
        for asked, reply in self._told.replaced:
            self._look_at_replacement(asked, reply)

    def _look_at_replacement(self, asked: ReplaceOrder, reply: ReplaceOrderReply) -> None:
        told, new_id, old_id = self._told, asked.order.order_id, asked.order_id
        new, old = self._history.orders.get(new_id), self._history.orders.get(old_id)
        was_cancelled = new is not None and old is not None and new.replacing in _cancelled_in(old)
        is_cancelled = reply.cancelled is not None and reply.cancelled.success
        is_placed = reply.placed is not None and reply.placed.success
        name = f"replacement of {old_id} by {new_id}"
        if is_cancelled:
            self._demand(was_cancelled, f"{name} was told to have cancelled the first, and has not")
            self._demand(old is not None and old.user == asked.user_id, f"{name} cancelled another user's order")
            self._demand(reply.placed is not None, f"{name} was told nothing of the second, after the first was gone")
            shown = None if reply.cancelled is None or reply.cancelled.order is None else reply.cancelled.order.status
            self._demand(shown == "cancelled", f"{name} was told to have cancelled the first, which is {shown}")
        if is_placed:
            may_stand = is_cancelled or asked.allow_failure
            self._demand(may_stand, f"{name} was told to have placed the second, though the first was not cancelled")
        if new_id not in told.repeated and not is_cancelled:
            self._demand(not was_cancelled, f"{name} cancelled the first, and was told otherwise")

    def look_at_cancels(self) -> None:
        """An order that was reported as cancelled is cancelled. Nobody reaches another user's order."""
        told = self._told
        for order_id, record in told.cancelled.items():
            order = self._history.orders.get(order_id)
            is_cancelled = order is not None and order.final.status == "cancelled"
            self._demand(is_cancelled, f"order {order_id} was told as cancelled and is not")
            self._demand(record.status == "cancelled", f"order {order_id} was cancelled and told as {record.status}")
        for order_id, user in told.swept.items():
            order = self._history.orders.get(order_id)
            is_cancelled = order is not None and (order.final.status, order.user) == ("cancelled", user)
            self._demand(is_cancelled, f"order {order_id} was told as cancelled for {user} and is not")
        for order_id in told.foreign:
            self.findings.append(f"a stranger reached order {order_id}")
        for record in told.seen:
            self._look_at_seen(record)
        for record in told.amended:
            order = self._history.orders.get(record.order_id)
            shown = (0, 0) if order is None else self._price_and_quantity(record, order)
            was_so = order is not None and any(_may_show(record, *shown, state) for state in order.states)
            self._demand(was_so, f"order {record.order_id} was amended to {shown} and never was that")

    @staticmethod
    def _price_and_quantity(record: OrderRecord, order: OrderHistory) -> tuple[int, int]:
        price = units(record.price or "0", order.market.price_scale)
        return price, units(record.quantity, order.market.quantity_scale)

    def _look_at_seen(self, record: OrderRecord) -> None:
        order = self._history.orders.get(record.order_id)
        if order is None:
            # The order was refused, or not yet decided, when the trader looked.
            harmless = record.status in ("pending", "rejected") and record.order_id in self._told.requests
            self._demand(harmless, f"order {record.order_id} was seen as {record.status}, and is not in the engine")
            return
        statuses = {"pending", *(state.status for state in order.states)}
        self._demand(record.status in statuses, f"order {order.order_id} was seen as {record.status}")
        filled = units(record.filled_quantity, order.market.quantity_scale)
        self._demand(filled <= order.final.filled, f"order {order.order_id} was seen with too many fills")

    def look_at_custody(self, messages: Messages) -> None:
        """The engine credits each deposit once, and holds and ends each withdrawal once, as custody was told."""
        moves: dict[tuple[str, str], list[MoneyMove]] = {}
        for move in self._history.moves:
            moves.setdefault((move.kind, move.reference), []).append(move)
        for kind, reference in [key for key, found in moves.items() if len(found) > 1]:
            self.findings.append(f"{kind} for {reference} was done more than once")
        for tx_hash in self._told.deposits:
            self._demand(("DEPOSIT", tx_hash) in moves, f"deposit {tx_hash} is not in the engine")
        said: dict[str, Counter[str]] = {}
        for subject, message_id, payload in messages:
            # Only the router's messages, not custody's own outcomes.
            if subject == _RESERVED or (subject == _FAILED and not message_id.startswith("custody-")):
                said.setdefault(json.loads(payload)["withdrawalId"], Counter())[subject] += 1
        for withdrawal_id in self._told.withdrawals:
            answers = said.get(withdrawal_id, Counter())
            outcome = self._told.outcomes.get(withdrawal_id)
            self._demand(len(answers) == 1, f"withdrawal {withdrawal_id} was told {answers}")
            held, told = ("RESERVE", withdrawal_id) in moves, _RESERVED in answers
            self._demand(held or not told, f"withdrawal {withdrawal_id}: held {held}, told {answers}")
            done = {kind for kind in ("COMMIT", "RELEASE") if (kind, withdrawal_id) in moves}
            right = set() if outcome is None else {"COMMIT" if outcome == _COMPLETED else "RELEASE"}
            if held and not told:
                # One router was refused and told custody first, so the other one released its reservation.
                right = {"RELEASE"}
            self._demand(done == right, f"withdrawal {withdrawal_id}: {outcome}, and the engine did {done}")


def _cancelled_in(order: OrderHistory) -> set[int]:
    """The command that cancelled an order, if one did."""
    return {order.final.command} if order.final.status == "cancelled" else set()


def _may_show(record: OrderRecord, price: int, quantity: int, state: State) -> bool:
    """Whether a record of an amended order may show this price and quantity of an order that was in `state`."""
    if quantity != state.quantity:
        return False
    if record.price is None:
        # One that waits to match at any price within its slippage shows none.
        return True
    if record.trigger_status == "waiting" and record.type.startswith("trailing"):
        # Its limit follows the market, down for a buy and up for a sell. The engine tells nobody before it fires.
        return price <= state.price if record.side == "buy" else price >= state.price
    return price == state.price
