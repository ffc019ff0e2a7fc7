"""The workload of exchange-core's own benchmark, generated over a plain book of its own.

A symbol has a first price, a deviation, and bounds around it. Its book is filled to a target, then commands keep
it there: few new orders and cancels, many moves. A move goes 1 % of the way to the last trade's price, rounded away
from zero, and not beyond the upper bound. After a trade at a bound, three of four new orders push back.

Every command is applied to the plain book as it is generated, so the last price and the live orders are always
right. At the end the measured core must hold the same books.

Commands are this project's records. Accounts have self-trade prevention off, because exchange-core has none.
"""

import random
from bisect import bisect_left, insort
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import EngineOrderType, Side
from openspot.engine.core.records import FLAG_ACTIVE, Command, CommandKind, CreateSymbol

USERS = 1_000
USER_FIRST = 100
QUOTE = 1
DEPOSIT = 10**33
SAMPLE_EVERY = 512
OLDEST = 512

DepthRows = list[tuple[int, int, int]]


class Order:
    """A live order of the plain book."""

    __slots__ = ("order_id", "price", "remaining", "side", "user")

    def __init__(self, order_id: int, user: int, side: Side, price: int, remaining: int) -> None:
        self.order_id = order_id
        self.user = user
        self.side = side
        self.price = price
        self.remaining = remaining


class BookSide:
    """One side: sorted ranks, best (lowest) first, and the queue of each. A rank is `sign` × price."""

    def __init__(self, sign: int) -> None:
        self.sign = sign
        self.ranks: list[int] = []
        self.queues: dict[int, dict[int, Order]] = {}
        self.count = 0

    def add(self, order: Order) -> None:
        """Put an order at the end of its price's queue."""
        rank = self.sign * order.price
        queue = self.queues.get(rank)
        if queue is None:
            insort(self.ranks, rank)
            queue = self.queues[rank] = {}
        queue[order.order_id] = order
        self.count += 1

    def remove(self, order: Order) -> None:
        """Remove an order."""
        rank = self.sign * order.price
        queue = self.queues[rank]
        del queue[order.order_id]
        self.count -= 1
        if not queue:
            del self.queues[rank]
            del self.ranks[bisect_left(self.ranks, rank)]

    def crossing(self, limit: int | None) -> Iterator[Order]:
        """Resting orders that satisfy a limit, in the order of matching. None is no limit."""
        for rank in self.ranks:
            if limit is not None and rank > self.sign * limit:
                return
            yield from self.queues[rank].values()

    def depth(self) -> DepthRows:
        """(price, total, orders), best first."""
        return [
            (self.sign * rank, sum(order.remaining for order in queue.values()), len(queue))
            for rank, queue in ((rank, self.queues[rank]) for rank in self.ranks)
        ]


class Session:
    """One symbol: its prices, its plain book, and its next commands."""

    def __init__(self, symbol: int, target: int, generator: random.Random) -> None:
        self.symbol = symbol
        self.target = target
        self.random = generator
        first = int(10 ** (3.3 + 1.5 * generator.random() + 1.5 * generator.random()))
        self.deviation = min(int(0.05 * first), 10_000)
        self.lowest, self.highest = first - 5 * self.deviation, first + 5 * self.deviation
        self.last = first
        self.direction = 0
        """1 after a trade at the lower bound (more buys), −1 after one at the upper bound (more sells), else 0."""
        self.sides = {Side.BUY: BookSide(-1), Side.SELL: BookSide(1)}
        self.live: dict[int, Order] = {}
        self._sampled = {Side.BUY: 0, Side.SELL: 0}
        self._reached_target = False
        self._until_sample = 0
        self.trades = 0

    def prefill(self, order_id: int) -> Command:
        """An order of the untimed filling."""
        return self._limit_order(order_id)

    def next(self, order_id: int) -> Command:
        """The next command; a new order gets `order_id`."""
        if self._until_sample == 0:
            self._sample()
        self._until_sample -= 1
        half = self.target / 2
        lack = half - self._sampled[self._side()]
        grows = lack > 0
        self._reached_target |= not grows
        fast = not self._reached_target or lack > min(512, 0.75 * half)
        choices = (2 if fast else 10) if grows else 40
        choice = self.random.randrange(choices)
        if choice < 2 or not self.live:
            return self._limit_order(order_id) if grows else self._instant_order(order_id)
        order = self._old_order()
        if choice == 2:
            return self._cancel(order)
        if choice == 3:
            return self._reduce(order)
        return self._move(order)

    def depth(self) -> tuple[DepthRows, DepthRows]:
        """What a core's `depth` must return."""
        return self.sides[Side.BUY].depth(), self.sides[Side.SELL].depth()

    def _side(self) -> Side:
        """A random side: as likely one as the other, but 3 : 1 for the side that pushes back from a bound."""
        return Side.BUY if self.random.randrange(4) + self.direction >= 2 else Side.SELL

    def _sample(self) -> None:
        self._sampled = {side: book_side.count for side, book_side in self.sides.items()}
        self._until_sample = SAMPLE_EVERY

    def _old_order(self) -> Order:
        place = self.random.randrange(min(len(self.live), OLDEST))
        return next(islice(self.live.values(), place, None))

    def _size(self) -> int:
        draw = self.random.randrange
        return 1 + draw(6) * draw(6) * draw(6)

    def _limit_order(self, order_id: int) -> Command:
        side = self._side()
        spread = 1 + int(self.random.random() ** 2 * self.deviation)
        offset = abs(sum(self.random.randrange(spread) for _ in range(4)) // 4 * 2 - spread)
        price = max(1, self.last + (-offset if side == Side.BUY else offset))
        order = Order(order_id, self._user(), side, price, self._size())
        command = self._place(order, EngineOrderType.GTC, price if side == Side.BUY else 0)
        self._match_and_rest(order)
        return command

    def _instant_order(self, order_id: int) -> Command:
        side = self._side()
        bound = self.highest if side == Side.BUY else self.lowest
        if self.random.randrange(32):
            order = Order(order_id, self._user(), side, bound, self._size())
            command = self._place(order, EngineOrderType.IOC, bound if side == Side.BUY else 0)
            if self._match(order, bound):
                self._until_sample = 0
            return command
        draw = self.random.randrange
        order = Order(order_id, self._user(), side, 0, 1 + draw(8) * draw(8) * draw(8))
        budget = order.remaining * bound
        command = self._place(order, EngineOrderType.FOK_BUDGET, budget * AMOUNT_SCALE)
        if self._fills_within(order, budget):
            self._match(order, None)
        else:
            self._until_sample = 0
        return command

    def _user(self) -> int:
        return USER_FIRST + self.random.randrange(USERS)

    def _place(self, order: Order, order_type: EngineOrderType, amount: int) -> Command:
        return Command(
            CommandKind.PLACE,
            side=order.side,
            order_type=order_type,
            symbol=self.symbol,
            order_id=order.order_id,
            account=order.user,
            price=order.price,
            quantity=order.remaining,
            amount=amount,
        )

    def _cancel(self, order: Order) -> Command:
        self._take_out(order)
        return Command(CommandKind.CANCEL, symbol=self.symbol, order_id=order.order_id, account=order.user)

    def _reduce(self, order: Order) -> Command:
        quantity = self.random.randint(1, order.remaining)
        order.remaining -= quantity
        if not order.remaining:
            self._take_out(order)
        return Command(CommandKind.REDUCE, order_id=order.order_id, account=order.user, quantity=quantity)

    def _move(self, order: Order) -> Command:
        self.sides[order.side].remove(order)
        order.price = self._moved_price(order.price)
        command = Command(CommandKind.MOVE, order_id=order.order_id, account=order.user, price=order.price)
        if self._match(order, order.price):
            self.sides[order.side].add(order)
        else:
            del self.live[order.order_id]
        return command

    def _moved_price(self, price: int) -> int:
        """1 % of the way to the last price, but at least one tick; one tick either way if it is there already."""
        way = self.last - price
        if way:
            ticks = -(-abs(way) // 100)
            price += ticks if way > 0 else -ticks
        else:
            price += self.random.choice((1, -1))
        return max(1, min(price, self.highest))

    def _take_out(self, order: Order) -> None:
        self.sides[order.side].remove(order)
        del self.live[order.order_id]

    def _match_and_rest(self, order: Order) -> None:
        if self._match(order, order.price):
            self.sides[order.side].add(order)
            self.live[order.order_id] = order

    def _fills_within(self, order: Order, budget: int) -> bool:
        missing, notional = order.remaining, 0
        for resting in self._opposite(order).crossing(None):
            traded = min(missing, resting.remaining)
            missing -= traded
            notional += traded * resting.price
            if not missing:
                return notional <= budget if order.side == Side.BUY else notional >= budget
        return False

    def _opposite(self, order: Order) -> BookSide:
        return self.sides[Side.SELL if order.side == Side.BUY else Side.BUY]

    def _match(self, order: Order, limit: int | None) -> int:
        """Match `order` and return what remains of it."""
        opposite = self._opposite(order)
        while order.remaining:
            resting = next(opposite.crossing(limit), None)
            if resting is None:
                break
            traded = min(order.remaining, resting.remaining)
            order.remaining -= traded
            resting.remaining -= traded
            self.trades += 1
            self._follow_trade(resting.price)
            if not resting.remaining:
                self._take_out(resting)
        return order.remaining

    def _follow_trade(self, price: int) -> None:
        self.last = min(max(price, self.lowest), self.highest)
        if price <= self.lowest:
            self.direction = 1
        elif price >= self.highest:
            self.direction = -1


class Workload(NamedTuple):
    """Commands, and what must hold after them."""

    setup: bytes
    """Currencies, symbols, users, and the orders that fill the books untimed."""
    commands: bytes
    depths: dict[int, tuple[DepthRows, DepthRows]]
    kinds: dict[str, int]
    trades: int


def generate(commands: int, symbols: int, orders: int, seed: int) -> Workload:
    """A workload of `commands` on `symbols` symbols, which share `orders` resting orders by a Pareto distribution."""
    generator = random.Random(seed)
    weights = [0.001 * generator.paretovariate(1.5) for _ in range(symbols)]
    sessions = [
        Session(number, max(2, round(orders * weight / sum(weights))), generator)
        for number, weight in enumerate(weights, 1)
    ]
    records = [command.encode() for command in _world(symbols)]
    order_id = 0
    for session in sessions:
        for _ in range(session.target):
            order_id += 1
            records.append(session.prefill(order_id).encode())
    flow = []
    kinds: dict[str, int] = {}
    trades_before = sum(session.trades for session in sessions)
    for session in generator.choices(sessions, weights, k=commands):
        order_id += 1
        command = session.next(order_id)
        name = EngineOrderType(command.order_type).name if command.order_type else CommandKind(command.kind).name
        kinds[name] = kinds.get(name, 0) + 1
        flow.append(command.encode())
    trades = sum(session.trades for session in sessions) - trades_before
    depths = {session.symbol: session.depth() for session in sessions}
    return Workload(b"".join(records), b"".join(flow), depths, kinds, trades)


def _world(symbols: int) -> Iterator[Command | CreateSymbol]:
    currencies = [QUOTE, *(QUOTE + number for number in range(1, symbols + 1))]
    for currency in currencies:
        yield Command(CommandKind.CREATE_CURRENCY, symbol=currency)
    for number in range(1, symbols + 1):
        yield CreateSymbol(
            symbol=number,
            timestamp=0,
            base=QUOTE + number,
            quote=QUOTE,
            base_scale_k=1,
            quote_scale_k=1,
            tick=1,
            lot=1,
            taker_fee_bps=25,
            maker_fee_bps=15,
        )
    for user in range(USER_FIRST, USER_FIRST + USERS):
        yield Command(CommandKind.CREATE_ACCOUNT, flags=FLAG_ACTIVE, account=user)
        for currency in currencies:
            yield Command(CommandKind.DEPOSIT, symbol=currency, account=user, amount=DEPOSIT)
