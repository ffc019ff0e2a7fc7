"""Seeded random commands for a matching core, with every kind, every mode and every bound of a field.

A stream queries the core to find open orders, and keeps the books small (tens of orders), so that a state hash after
each command stays cheap. The same seed and the same core give the same commands.
"""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import AMOUNT_MAX, AMOUNT_SCALE
from openspot.domain.order import RESTING_TYPES, EngineOrderType, Side, StpMode, TriggerKind
from openspot.domain.symbol import SCALED_MAX
from openspot.domain.transfer import MOVEMENTS_MAX
from openspot.engine.core.protocol import FEE_ACCOUNT, MatchingCore, RestingOrder
from openspot.engine.core.records import (
    COMMAND_SIZE,
    FLAG_ACTIVE,
    FLAG_ALLOW_FAILURE,
    FLAG_BUDGET,
    FLAG_SLIDE,
    FOK_STEPS_EXPONENT,
    STEPS_MASK,
    TERMS_AT_OR_BELOW,
    TERMS_BY_MARK,
    Command,
    CommandKind,
    CreateSymbol,
)
from openspot.engine.core.reference import ReferenceCore

OPEN_ORDERS_MAX = 48
"""From this many open orders on, a stream only cancels."""

UNSIGNED_64 = 1 << 64
_SIGNED_64_LIMIT = 1 << 63
_SIGNED_128_LIMIT = 1 << 127
_CURRENCIES = (1, 2, 3, 4, 5, 6)
ACCOUNTS = (2, 3, 4, 5, 6, 3 << 32 | 7, 6 << 32 | 8)
"""The last two are margin accounts of 3 and of 6."""
_ACTIVATED = (EngineOrderType.GTC, EngineOrderType.IOC, EngineOrderType.FOK)
_UNKNOWN_ACCOUNT = 77
_UNKNOWN_SYMBOL = 99
_UNKNOWN_CURRENCY = 66


class Market(NamedTuple):
    """A symbol of the stream's world, and the prices and quantities that are usual on it (scaled)."""

    symbol: int
    base: int
    quote: int
    base_scale_k: int
    quote_scale_k: int
    tick: int
    lot: int
    taker_fee_bps: int
    maker_fee_bps: int
    middle_price: int
    lots_max: int


MARKETS = (
    Market(1, 1, 2, 100, 100, 1, 1, 25, 15, 10_000, 300),
    Market(2, 3, 2, 10**8, 100, 5, 1_000, 10, -2, 6_500_000, 10**5),
    Market(3, 1, 3, 1, 1, 1, 1, 0, 0, 12, 9),
    # The finest scales that a symbol may have, the largest fees, and notionals close to the largest amount.
    Market(4, 5, 6, 10**7, 10**7, 10**9, 10**15, 1_000, -1_000, 10**15, 60),
    Market(5, 4, 2, 1_000, 10, 7, 3, 0, 1_000, 700, 40),
)


def signed_64(value: int) -> int:
    """The signed 64-bit number with the bits of the unsigned `value`."""
    return value - UNSIGNED_64 if value >= _SIGNED_64_LIMIT else value


def unsigned_64(value: int) -> int:
    """The unsigned 64-bit number with the bits of the signed `value`."""
    return value % UNSIGNED_64


def with_reference(command: Command, reference: int) -> Command:
    """`command` under a 128-bit external reference, which lies in the fields of price and quantity."""
    low, high = reference % UNSIGNED_64, reference // UNSIGNED_64
    return command._replace(price=signed_64(low), quantity=signed_64(high))


# Values around every bound that a field of the record can have.
_EDGES_SIGNED_64 = (0, 1, -1, SCALED_MAX, SCALED_MAX + 1, _SIGNED_64_LIMIT - 1, -_SIGNED_64_LIMIT)
_EDGES_UNSIGNED_64 = (0, 1, _SIGNED_64_LIMIT, UNSIGNED_64 - 1)
_EDGES_AMOUNT = (
    *(0, 1, -1, AMOUNT_MAX - 1, AMOUNT_MAX, AMOUNT_MAX + 1, -AMOUNT_MAX, SCALED_MAX, SCALED_MAX + 1),
    *(_SIGNED_128_LIMIT - 1, -_SIGNED_128_LIMIT),
)
_EDGES: dict[str, tuple[int, ...]] = {
    "kind": (0, *CommandKind, max(CommandKind) + 1, 255),
    "side": (0, 1, 2, 3, 255),
    "order_type": (*range(7), 255),
    "flags": (0, 1, 2, 3, FLAG_BUDGET, FLAG_BUDGET + 1, FLAG_SLIDE, 255),
    "symbol": (0, 1, 2, 3, 4, 5, 6, _UNKNOWN_SYMBOL, 2**32 - 1),
    "timestamp": _EDGES_UNSIGNED_64,
    "order_id": _EDGES_UNSIGNED_64,
    "account": (*_EDGES_UNSIGNED_64, 2, 3, 4, _UNKNOWN_ACCOUNT),
    "price": _EDGES_SIGNED_64,
    "quantity": _EDGES_SIGNED_64,
    "amount": _EDGES_AMOUNT,
}
_FEE_EDGES = (0, 1, -1, 2, 10, 25, -10, 999, 1_000, 1_001, -1_000, -1_001, 2**40, -(2**40))


class CommandStream:
    """An endless stream of commands from one seed. First it builds a world: currencies, symbols, accounts."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._time_ns = 1_700_000_000_000_000_000 + seed % 1_000_000
        self._order_id = 0
        self._references = [self._random.getrandbits(128) for _ in range(6)]
        self._reservation_reference = self._random.getrandbits(128)
        self._opening = self._world()
        self._kinds: Sequence[Callable[[MatchingCore], Command | CreateSymbol]] = (
            self._place,
            self._cancel,
            self._move,
            self._reduce,
            self._money,
            self._reservation,
            self._account,
            self._symbol_change,
            self._symbol_life,
            self._currency,
            self._transfer,
            self._owner_link,
            self._amend,
            self._terms,
            self._expire,
            self._mark_price,
            self._activate,
            self._set_phase,
            self._advance_phase,
            self._replace,
        )
        # Some streams know no terms, as the journals of before.
        self._weights = (66, 4, 7, 3, 6, 4, 4, 2, 3, 1, 3, 2, 8, *((0, 0, 0, 0) if seed % 4 == 0 else (30, 2, 6, 2)))
        # A quarter of the streams knows phases, so that the others trade all the time.
        self._weights += (6, 6) if seed % 4 == 3 else (0, 0)
        self._weights += (0,) if seed % 4 == 0 else (6,)
        self._rest_of_run: list[Command] = []

    def next(self, core: MatchingCore) -> bytes:
        """The next record. `core` has applied all the earlier ones and is only asked, never changed."""
        self._time_ns += self._random.randrange(1, 1_000_000)
        if self._opening:
            return self._opening.pop(0)._replace(timestamp=self._time_ns).encode()
        if self._random.random() < 0.01:
            return self._noise()
        if self._rest_of_run and self._random.random() < 0.98:
            command = self._rest_of_run.pop(0)
            return (self._bent(command) if self._random.random() < 0.02 else command).encode()
        if len(core.open_orders()) >= OPEN_ORDERS_MAX:
            cancel = self._cancel(core)
            return cancel._replace(account=0, symbol=0).encode()
        command: Command | CreateSymbol = self._random.choices(self._kinds, self._weights)[0](core)
        if isinstance(command, Command) and self._random.random() < 0.06:
            command = self._bent(command)
        return command.encode()

    def _world(self) -> list[Command | CreateSymbol]:
        commands: list[Command | CreateSymbol] = [
            Command(CommandKind.CREATE_CURRENCY, symbol=currency) for currency in _CURRENCIES
        ]
        commands += [CreateSymbol(market.symbol, 0, *market[1:9]) for market in MARKETS]
        for account in ACCOUNTS:
            mode = account % len(StpMode)
            commands.append(Command(CommandKind.CREATE_ACCOUNT, flags=FLAG_ACTIVE, order_type=mode, account=account))
            commands += [self._deposit(account, currency) for currency in _CURRENCIES]
        return commands

    def _deposit(self, account: int, currency: int) -> Command:
        # Currencies 5 and 6 are those of the market whose notionals come close to the largest amount.
        largest = AMOUNT_MAX // 12 if currency >= 5 else 10**6 * AMOUNT_SCALE
        amount = self._random.randrange(largest // 100, largest)
        return self._command(CommandKind.DEPOSIT, symbol=currency, account=account, amount=amount)

    def _command(self, kind: CommandKind, **fields: int) -> Command:
        return Command(kind, timestamp=self._time_ns)._replace(**fields)

    def _market(self) -> Market:
        return self._random.choice(MARKETS)

    def _price(self, market: Market) -> int:
        return market.middle_price // market.tick * market.tick + self._random.randint(-6, 6) * market.tick

    def _quantity(self, market: Market) -> int:
        lots = self._random.choice((1, 2, 5, self._random.randint(1, market.lots_max)))
        return lots * market.lot

    def _place(self, core: MatchingCore) -> Command:
        market = self._market()
        side = self._random.choice((Side.BUY, Side.SELL))
        order_type = self._random.choices(list(EngineOrderType), (55, 12, 12, 9, 12))[0]
        price, quantity = self._price(market), self._quantity(market)
        if order_type in (EngineOrderType.FOK, EngineOrderType.FOK_BUDGET):
            # Mostly small and at a good price, so that many of them find enough to fill. The others look further.
            quantity = self._random.choice((1, 2, 3, market.lots_max)) * market.lot
            price += (6 if side == Side.BUY else -6) * market.tick
        amount = 0
        # Small bounds, which a small book reaches; the engine's own; and none, as in journals of before.
        flags = self._random.choice((0, 1, 1, 2, 2, 3, FOK_STEPS_EXPONENT))
        if order_type == EngineOrderType.FOK_BUDGET:
            unit = AMOUNT_SCALE // (market.base_scale_k * market.quote_scale_k)
            amount = price * quantity * unit + self._random.choice((0, 0, 1, -1))
            price = self._random.choice((0, price))
        elif order_type == EngineOrderType.IOC and self._random.random() < 0.5:
            flags |= FLAG_BUDGET
            amount = self._budget_of_a_sizing(market, price)
            quantity = market.lots_max * market.lot
            price += (4 if side == Side.BUY else -4) * market.tick
        elif side == Side.BUY:
            amount = price + self._random.choice((0, 0, 0, 0, 0, market.tick, 3 * market.tick, 1, -1))
        if order_type == EngineOrderType.POST_ONLY and self._random.random() < 0.5:
            flags |= FLAG_SLIDE
        self._order_id += 1
        order_id = self._order_id
        if self._random.random() < 0.02:
            order_id = self._live_order(core).order_id
        return self._command(
            CommandKind.PLACE,
            side=side,
            order_type=order_type,
            flags=flags,
            symbol=market.symbol,
            order_id=order_id,
            account=self._random.choice(ACCOUNTS),
            price=price,
            quantity=quantity,
            amount=amount,
        )

    def _budget_of_a_sizing(self, market: Market, price: int) -> int:
        """Mostly a few orders' worth, often with a part that buys no whole lot; sometimes more than there is."""
        lot = price * market.lot * AMOUNT_SCALE // (market.base_scale_k * market.quote_scale_k)
        lots = self._random.choice((1, 3, market.lots_max // 2, market.lots_max, 10 * market.lots_max))
        return max(1, lots * lot + self._random.choice((0, 1, -1, -lot // 2)))

    def _live_order(self, core: MatchingCore) -> RestingOrder:
        orders = core.open_orders()
        if orders:
            return self._random.choice(orders)
        return RestingOrder(self._order_id + 1_000, 2, 1, Side.BUY, EngineOrderType.GTC, 1, 1, 1, 1, 0)

    def _owner(self, order: RestingOrder) -> int:
        return order.account if self._random.random() < 0.94 else self._random.choice(ACCOUNTS)

    def _cancel(self, core: MatchingCore) -> Command:
        order = self._live_order(core)
        return self._command(
            CommandKind.CANCEL,
            order_id=order.order_id,
            account=self._random.choice((self._owner(order), self._owner(order), 0)),
            symbol=self._random.choice((0, 0, order.symbol, order.symbol, order.symbol, 2)),
        )

    def _move(self, core: MatchingCore) -> Command:
        order = self._live_order(core)
        market = next((market for market in MARKETS if market.symbol == order.symbol), MARKETS[0])
        price = self._random.choice((order.price, self._price(market), self._price(market)))
        return self._command(CommandKind.MOVE, order_id=order.order_id, account=self._owner(order), price=price)

    def _reduce(self, core: MatchingCore) -> Command:
        order = self._live_order(core)
        market = next((market for market in MARKETS if market.symbol == order.symbol), MARKETS[0])
        quantity = self._random.choice((order.remaining, order.remaining // 2, market.lot, 2 * market.lot, 1))
        return self._command(CommandKind.REDUCE, order_id=order.order_id, account=self._owner(order), quantity=quantity)

    def _amend(self, core: MatchingCore) -> Command:
        order = self._live_order(core)
        market = next((market for market in MARKETS if market.symbol == order.symbol), MARKETS[0])
        gone = order.quantity - order.remaining
        # Less, the same and more; a little more than is gone, which is the least that is taken; and all bounds of both.
        quantity = self._random.choice(
            (
                *(0, order.quantity, order.quantity + market.lot, order.quantity - market.lot),
                *(gone, gone + market.lot, 2 * order.quantity, self._quantity(market), order.quantity + 1),
            )
        )
        price = self._random.choice((0, 0, order.price, self._price(market), self._price(market) + 1))
        owner = self._owner(order)
        waits = core.waiting_order(order.order_id) is not None
        trigger = self._random.choice((0, self._price(market), self._price(market))) if waits else 0
        if self._random.random() < 0.02:
            trigger = self._random.choice((-1, 1, SCALED_MAX, SCALED_MAX + 1, AMOUNT_MAX))
        command = self._command(CommandKind.AMEND, order_id=order.order_id, account=owner)
        return command._replace(price=price, quantity=quantity, amount=trigger)

    def _reference(self) -> int:
        """Mostly a new one; often one of the last few, so that repeats and conflicts happen."""
        chance = self._random.random()
        if chance < 0.15:
            return 0
        if chance < 0.75:
            return self._random.choice(self._references)
        self._references = [*self._references[1:], self._random.getrandbits(128)]
        return self._references[-1]

    def _money(self, core: MatchingCore) -> Command:
        kind = self._random.choice((CommandKind.DEPOSIT, CommandKind.WITHDRAW, CommandKind.ADJUST))
        account, currency = self._random.choice((FEE_ACCOUNT, *ACCOUNTS)), self._random.choice(_CURRENCIES)
        amount = self._random.choice(
            (
                self._deposit(account, currency).amount // 10,
                self._total(core, account, currency),
                self._total(core, account, currency) + 1,
                # A few fixed amounts, so that a repeated reference also meets the amount it came with.
                *(10**17, 10**18),
            )
        )
        if kind == CommandKind.ADJUST and self._random.random() < 0.5:
            amount = -amount
        command = self._command(kind, symbol=currency, account=account, amount=amount)
        return with_reference(command, self._reference())

    def _total(self, core: MatchingCore, account: int, currency: int) -> int:
        return next((row.total for row in core.balances(account) if row.currency == currency), 0)

    def _reservation(self, core: MatchingCore) -> Command:
        kind = self._random.choice((CommandKind.RESERVE, CommandKind.RESERVE, CommandKind.RELEASE, CommandKind.COMMIT))
        command = self._command(kind)
        if kind == CommandKind.RESERVE:
            # Always the same, so that a repeated reference is a true repeat.
            command = command._replace(symbol=1, account=ACCOUNTS[0], amount=10**18)
        elif self._random.random() < 0.5:
            # Nearly always what is held.
            account = self._random.choice((*(ACCOUNTS[0],) * 9, ACCOUNTS[1]))
            amount = self._random.choice((*(10**18,) * 9, 10**18 + 1))
            command = command._replace(symbol=1, account=account, amount=amount)
        chance = self._random.random()
        if chance < 0.1:
            return with_reference(command, self._reference())
        if chance < 0.3 and kind == CommandKind.RESERVE:
            self._reservation_reference = self._random.getrandbits(128)
        return with_reference(command, self._reservation_reference)

    def _transfer(self, core: MatchingCore) -> Command:
        """Begin a run of movements, which ends with its TRANSFER. Most can be paid; some only by a movement before."""
        count = self._random.choice((1, 2, 3, 5, MOVEMENTS_MAX, MOVEMENTS_MAX + 1))
        accounts = (FEE_ACCOUNT, *ACCOUNTS, 30, 31)
        movements = []
        for _ in range(count):
            source, destination = self._random.sample(accounts, 2)
            currency = self._random.choice(_CURRENCIES)
            total = self._total(core, source, currency)
            amount = self._random.choice((1, 10**15, max(total // 40, 1), max(total // 40, 1), total))
            movements.append(
                self._command(
                    CommandKind.MOVEMENT, symbol=currency, order_id=source, account=destination, amount=amount
                )
            )
        shown = count if self._random.random() < 0.95 else count + self._random.choice((-1, 1))
        # Few digests, so that a repeated reference is often a true repeat.
        digest = self._random.choice((1, 1, 2, AMOUNT_MAX, 0, AMOUNT_MAX + 1))
        transfer = with_reference(self._command(CommandKind.TRANSFER, order_id=shown, amount=digest), self._reference())
        self._rest_of_run = [*movements[1:], transfer]
        return movements[0]

    def _account(self, core: MatchingCore) -> Command:
        kind = self._random.choice((CommandKind.CREATE_ACCOUNT, CommandKind.SET_ACCOUNT, CommandKind.SET_ACCOUNT_FEES))
        account = self._random.choice((FEE_ACCOUNT, *ACCOUNTS, *ACCOUNTS, 20, 21, _UNKNOWN_ACCOUNT))
        inactive = [number for number in ACCOUNTS if not _is_active(core, number)]
        if inactive and self._random.random() < 0.7:
            kind, account = CommandKind.SET_ACCOUNT, inactive[0]
        active = FLAG_ACTIVE if self._random.random() < 0.8 else 0
        if kind == CommandKind.SET_ACCOUNT_FEES:
            taker, maker = self._fees()
            return self._command(kind, account=account, flags=active, order_id=unsigned_64(taker), price=maker)
        mode = self._random.choice((*StpMode, *StpMode, 5))
        return self._command(kind, account=account, flags=active, order_type=mode)

    def _owner_link(self, core: MatchingCore) -> Command:
        account, owner = (self._random.choice((*ACCOUNTS, *ACCOUNTS, FEE_ACCOUNT, _UNKNOWN_ACCOUNT)) for _ in range(2))
        return self._command(
            CommandKind.SET_OWNER, account=account, order_id=owner if self._random.random() < 0.7 else 0
        )

    def _terms(self, core: MatchingCore) -> Command:
        """Begin an order with terms: a trigger near the usual prices, an STP mode of its own, an expiry soon."""
        kind = self._random.choices(list(TriggerKind), (4, 5, 2, 2))[0]
        place = self._place(core)
        while kind and not _may_wait(place) and self._random.random() < 0.97:
            place = self._place(core)
        market = next(market for market in MARKETS if market.symbol == place.symbol)
        flags = self._random.randrange(4) if kind else 0
        if kind not in (TriggerKind.NONE, TriggerKind.FIXED) and self._random.random() < 0.95:
            # A trailing trigger follows falling prices for a buy, and rising ones for a sell.
            flags = flags & TERMS_BY_MARK | (TERMS_AT_OR_BELOW if place.side == Side.SELL else 0)
        price = {
            TriggerKind.NONE: 0,
            TriggerKind.FIXED: self._price(market),
            TriggerKind.TRAILING_DISTANCE: self._random.randint(1, 6) * market.tick,
            TriggerKind.TRAILING_BASIS_POINTS: self._random.choice((1, 5, 100, 9_999)),
        }[kind]
        expiry = self._random.choice((0, 0, 0, self._time_ns, self._time_ns + self._random.randrange(1, 30_000_000)))
        self._rest_of_run = [place]
        return self._command(
            CommandKind.TERMS,
            side=kind,
            order_type=self._random.choice((0, 0, 0, *range(1, 6))),
            flags=flags,
            order_id=place.order_id,
            price=price,
            quantity=self._display(place) if kind == TriggerKind.NONE else self._random.choice((*[0] * 30, 1)),
            amount=expiry,
        )

    def _display(self, place: Command) -> int:
        """Of many resting orders a part, often so small that it is shown several times."""
        if place.order_type not in RESTING_TYPES or self._random.random() < 0.4:
            return 0
        lot = next(market.lot for market in MARKETS if market.symbol == place.symbol)
        parts = self._random.choice((2, 3, 5, 100, 101))
        return max(lot, place.quantity // parts // lot * lot) + self._random.choice((0, 0, 0, 0, 0, 1))

    def _replace(self, core: MatchingCore) -> Command:
        """Begin a replacement, of an order with terms or without. Some orders are gone already, or another's."""
        cancel = self._cancel(core)
        follow = self._terms(core) if self._random.random() < 0.5 else self._place(core)
        self._rest_of_run = [follow, *(self._rest_of_run if follow.kind == CommandKind.TERMS else [])]
        if self._random.random() < 0.2:
            cancel = cancel._replace(order_id=self._order_id + 1_000)
        return cancel._replace(kind=CommandKind.REPLACE, flags=self._random.choice((0, 0, FLAG_ALLOW_FAILURE)))

    def _expire(self, core: MatchingCore) -> Command:
        expiries = core.expiries()
        order_id = self._live_order(core).order_id
        if expiries and self._random.random() < 0.9:
            order_id = min(expiries, key=lambda expiry: expiry.time_ns).order_id
        return self._command(CommandKind.EXPIRE, order_id=order_id)

    def _mark_price(self, core: MatchingCore) -> Command:
        market = self._market()
        # Not always a multiple of the tick.
        price = max(self._price(market) + self._random.choice((0, 0, 1)), 1)
        return self._command(CommandKind.SET_MARK_PRICE, symbol=market.symbol, price=price)

    def _activate(self, core: MatchingCore) -> Command:
        due = core.activations_due()
        return self._command(CommandKind.ACTIVATE, symbol=self._random.choice(due or [self._market().symbol]))

    def _set_phase(self, core: MatchingCore) -> Command:
        """Mostly an auction or its end, so that much is uncrossed."""
        phases = (*MarketPhase, MarketPhase.CONTINUOUS, MarketPhase.CONTINUOUS, MarketPhase.CONTINUOUS)
        phase = self._random.choice((*phases, MarketPhase.AUCTION, MarketPhase.AUCTION, MarketPhase.AUCTION))
        ends = self._random.choice((0, 0, self._time_ns, self._time_ns + self._random.randrange(1, 5_000_000)))
        symbol = self._random.choice([row.symbol for row in core.phases()] or [self._market().symbol])
        if self._random.random() < 0.4:
            symbol = self._market().symbol
        return self._command(CommandKind.SET_PHASE, symbol=symbol, order_type=phase, amount=ends)

    def _advance_phase(self, core: MatchingCore) -> Command:
        symbol = self._random.choice([row.symbol for row in core.phases()] or [self._market().symbol])
        return self._command(CommandKind.ADVANCE_PHASE, symbol=symbol)

    def _fees(self) -> tuple[int, int]:
        if self._random.random() < 0.5:
            taker = self._random.randint(0, 1_000)
            return taker, self._random.randint(-taker, 1_000)
        return self._random.choice(_FEE_EDGES), self._random.choice(_FEE_EDGES)

    def _symbol_change(self, core: MatchingCore) -> Command:
        taker, maker = self._fees()
        inactive = [symbol.symbol for symbol in core.symbols() if not symbol.active]
        any_symbol = (*(market.symbol for market in MARKETS), _UNKNOWN_SYMBOL)
        return self._command(
            CommandKind.UPDATE_SYMBOL,
            symbol=self._random.choice(inactive or any_symbol),
            flags=FLAG_ACTIVE if self._random.random() < 0.8 else 0,
            order_id=unsigned_64(taker),
            account=unsigned_64(maker),
        )

    def _symbol_life(self, core: MatchingCore) -> Command | CreateSymbol:
        known = {symbol.symbol for symbol in core.symbols()}
        missing = [market for market in MARKETS if market.symbol not in known]
        market = missing[0] if missing else self._market()
        create = CreateSymbol(market.symbol, self._time_ns, *market[1:9])
        if missing and self._random.random() < 0.8:
            return create
        if self._random.random() < 0.3:
            busy = {order.symbol for order in core.open_orders()}
            idle = [symbol for symbol in known if symbol not in busy]
            return self._command(CommandKind.DELETE_SYMBOL, symbol=self._random.choice(sorted(idle) or [market.symbol]))
        bent_field = self._random.choice(create._fields[2:])
        edges = {
            "base": (0, market.quote, _UNKNOWN_CURRENCY),
            "quote": (0, market.base, _UNKNOWN_CURRENCY),
            "taker_fee_bps": (-1, 1_001, 0, 2**31 - 1),
            "maker_fee_bps": (-1_001, 1_001, -market.taker_fee_bps - 1, -(2**31)),
        }.get(bent_field, (0, -1, 3, 10**9, 10**14, 10**15, SCALED_MAX, SCALED_MAX + 1, -(2**63)))
        number = self._random.choice((market.symbol, 0, 8, 8, 8))
        return create._replace(symbol=number, **{bent_field: self._random.choice(edges)})

    def _currency(self, core: MatchingCore) -> Command:
        kind = self._random.choice((CommandKind.CREATE_CURRENCY, CommandKind.DELETE_CURRENCY))
        return self._command(kind, symbol=self._random.choice((0, 1, 6, 7, 8, 8, _UNKNOWN_CURRENCY)))

    def _bent(self, command: Command) -> Command:
        """`command` with one field at an edge of its range."""
        field = self._random.choice(command._fields)
        return command._replace(**{field: self._random.choice(_EDGES[field])})

    def _noise(self) -> bytes:
        """Random bytes under a kind that may exist."""
        return bytes([self._random.randrange(max(CommandKind) + 3)]) + self._random.randbytes(COMMAND_SIZE - 1)


def _may_wait(place: Command) -> bool:
    """Whether a PLACE may have a trigger: it neither slides nor has a budget."""
    return place.order_type in _ACTIVATED and place.flags <= STEPS_MASK


def _is_active(core: MatchingCore, account: int) -> bool:
    state = core.account(account)
    return state is not None and state.active


def generate(seed: int, count: int) -> bytes:
    """The first `count` records of the stream of `seed`, as it runs over the reference core."""
    core, stream = ReferenceCore(), CommandStream(seed)
    records = []
    for _ in range(count):
        record = stream.next(core)
        core.apply(record)
        records.append(record)
    return b"".join(records)
