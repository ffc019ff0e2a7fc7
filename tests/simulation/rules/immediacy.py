"""Orders that never rest, and orders that never take.

What an IOC cannot trade at once ends, and it trades all that it can. A FOK trades everything at once or nothing, and
nothing only if the book does not hold enough for it. A post-only order rests at the price that was asked for; one that
slides goes one tick behind the best opposite price if its own would trade. It is refused only if neither can rest.
"""

from openspot.domain.order import EngineOrderType, Side
from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import EVENT_AUCTION, FLAG_SLIDE, Command, CommandKind, Event, EventType
from tests.simulation.rules.story import POST_ONLY, LiveOrder, Rule, Story

_IMMEDIATE = (EngineOrderType.IOC, EngineOrderType.FOK, EngineOrderType.FOK_BUDGET)
_ALL_OR_NOTHING = (EngineOrderType.FOK, EngineOrderType.FOK_BUDGET)


class ImmediacyRule(Rule):
    """Looks at each order when it comes to the book, and at what it leaves there."""

    def __init__(self, story: Story) -> None:
        super().__init__(story)
        self._immediate: dict[int, int] = {}
        """Orders that have come to the book in this command and must not stay there → how much each brought."""
        self._linked: set[int] = set()
        """Accounts that have been of one owner with another one."""
        self._command: Command | None = None

    def begin(self, command: Command) -> None:
        """Know who may be whose owner."""
        self._command = command
        if command.kind == CommandKind.SET_OWNER:
            self._linked |= {command.account, command.order_id}

    def take(self, event: Event) -> None:
        """Follow what comes to the book."""
        match event.type:
            case EventType.ACCEPTED | EventType.TRIGGERED:
                if self._type_of(event.order_id) in _IMMEDIATE:
                    self._immediate[event.order_id] = event.remaining
                elif event.type == EventType.ACCEPTED and event.order_type == POST_ONLY:
                    self._rest(event)
            case EventType.REJECT if event.code == ResultCode.POST_ONLY_WOULD_CROSS:
                self._refuse(event)
            case EventType.TRADE if not event.flags & EVENT_AUCTION:
                is_maker = event.order_type == POST_ONLY or self._type_of(event.order_id) == POST_ONLY
                self.demand(not is_maker, f"post-only order {event.order_id} took from the book")
            case EventType.REDUCE if event.order_id in self._immediate:
                self._end_early(event)

    def end(self, number: int) -> None:
        """None of the immediate orders is in the book."""
        for order_id in self._immediate.keys() & self.story.live.keys():
            self.demand(self.story.live[order_id].waits, f"immediate order {order_id} rests after command {number}")
        self._immediate.clear()

    def _type_of(self, order_id: int) -> int | None:
        asked = self.story.asked.get(order_id)
        return None if asked is None else asked.command.order_type

    def _end_early(self, event: Event) -> None:
        order = self.story.live[event.order_id]
        name = f"order {event.order_id}"
        if self._type_of(event.order_id) in _ALL_OR_NOTHING:
            whole = self._immediate[event.order_id]
            filled = whole - order.remaining
            self.demand(not filled, f"{name}, which fills wholly or not at all, filled {filled} of {whole}")
            if event.code == ResultCode.FOK_NOT_FILLABLE and order.limit and not self._may_meet_itself(order):
                there = sum(each.remaining for each in self._within(order.symbol, order.limit, is_buy=order.is_buy))
                self.demand(there < whole, f"{name} wanted {whole}, and {there} was there")
        elif event.code == ResultCode.IOC_REMAINDER:
            left = [each.order_id for each in self._within(order.symbol, order.limit, is_buy=order.is_buy)]
            self.demand(not left, f"{name} ended before orders {left} within its limit")

    def _rest(self, event: Event) -> None:
        asked = self.story.asked[event.order_id].command
        right = self._resting_price(asked)
        self.demand(event.price == right, f"post-only order {event.order_id} rests at {event.price}, not {right}")

    def _refuse(self, event: Event) -> None:
        command = self._command
        if command is None or command.kind != CommandKind.PLACE or command.order_type != POST_ONLY:
            # A list has several orders, and in the phase of that name all orders must rest.
            return
        right = self._resting_price(command)
        self.demand(right is None, f"post-only order {event.order_id} was refused, and could rest at {right}")

    def _resting_price(self, asked: Command) -> int | None:
        """Where a post-only order rests; None if it would trade."""
        is_buy = asked.side == Side.BUY
        in_the_way = [order.limit for order in self._within(asked.symbol, asked.price, is_buy=is_buy)]
        if not in_the_way:
            return asked.price
        tick = self.story.markets[asked.symbol].tick
        behind = min(in_the_way) - tick if is_buy else max(in_the_way) + tick
        return behind if asked.flags & FLAG_SLIDE and behind > 0 else None

    def _within(self, symbol: int, limit: int, *, is_buy: bool) -> list[LiveOrder]:
        """The resting orders of the other side at which a limit would trade."""
        return [
            order
            for order in self.story.live.values()
            if order.symbol == symbol
            and order.is_buy != is_buy
            and not order.waits
            and (order.limit <= limit if is_buy else order.limit >= limit)
        ]

    def _may_meet_itself(self, order: LiveOrder) -> bool:
        owners = self._linked | {order.account}
        return any(each.account in owners for each in self._within(order.symbol, order.limit, is_buy=order.is_buy))
