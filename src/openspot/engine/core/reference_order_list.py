"""The reference core's order lists as data: which orders depend on each other.

reference_list_links.py has the rules.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from openspot.domain.order import OrderListType
from openspot.engine.core.protocol import CoreOrderList
from openspot.engine.core.records import Command
from openspot.engine.core.reference_triggers import Waiter

LIST_SIZES = {OrderListType.OCO: 2, OrderListType.OTO: 2, OrderListType.BRACKET: 3}
LIST_SIZE_MAX = max(LIST_SIZES.values())


class ListPart(NamedTuple):
    """An order that waits for its PLACE_LIST: its TERMS, and the LIST_ORDER with the fields of a PLACE."""

    terms: Command
    order: Command


@dataclass(slots=True)
class OrderList:
    """Orders of one account and symbol that depend on each other.

    `entry` is the id of the entry while it is open, else 0. Until the exits are armed for the first time they are
    `plans`, which hold nothing and are no open orders; from then on `exits` has their ids. `unarmed` is the quantity
    that the entry has filled and no exit covers yet.
    """

    list_id: int
    list_type: int
    account: int
    symbol: int
    entry: int = 0
    unarmed: int = 0
    plans: list[Waiter] = field(default_factory=list)
    exits: list[int] = field(default_factory=list)

    @property
    def members(self) -> list[int]:
        """The ids of its orders: the entry, and the exits, armed or not."""
        return [*([self.entry] if self.entry else []), *self.exits, *(plan.order.order_id for plan in self.plans)]

    def other_exit(self, order_id: int) -> int:
        """The exit beside this one; 0 if there is none."""
        return next((other for other in self.exits if other != order_id), 0)

    def plan_of(self, order_id: int) -> Waiter | None:
        """The exit with this id, if it is planned."""
        return next((plan for plan in self.plans if plan.order.order_id == order_id), None)

    def as_core_list(self) -> CoreOrderList:
        """The list as queries return it."""
        return CoreOrderList(
            list_id=self.list_id,
            list_type=self.list_type,
            account=self.account,
            symbol=self.symbol,
            entry=self.entry,
            unarmed=self.unarmed,
            armed_exits=tuple(self.exits),
            planned_exits=tuple(plan.order.order_id for plan in self.plans),
        )
