"""Seeded random commands for a matching core, many of them lists of orders that depend on each other."""

from openspot.domain.order import EngineOrderType, OrderListType, Side, TriggerKind
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import FLAG_LISTED, TERMS_AT_OR_BELOW, TERMS_BY_MARK, Command, CommandKind
from tests.support.core_commands import ACCOUNTS, MARKETS, CommandStream, Market

_UNKNOWN_LIST = 2**40


class ListStream(CommandStream):
    """As a CommandStream, with lists of each type: most of them fit, some are bent."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._kinds = (*self._kinds, self._list, self._cancel_list, self._drain, self._amend_listed)
        self._weights = (*self._weights, 60, 4, 6, 25)
        self._list_id = 0

    def _list(self, core: MatchingCore) -> Command:
        """Begin a list: its orders with their terms, then PLACE_LIST."""
        choice = self._random.choice
        market, account = choice((MARKETS[0], MARKETS[0], MARKETS[2], self._market())), choice(ACCOUNTS)
        list_type = choice(list(OrderListType))
        exit_side = choice((Side.BUY, Side.SELL))
        quantity = self._quantity(market)
        exits = 1 if list_type == OrderListType.OTO else 2
        orders = [] if list_type == OrderListType.OCO else [self._entry(market, exit_side)]
        kinds = choice(((0, 1), (1, 1), (1, 0))) if exits == 2 else (choice((0, 1)),)
        orders += [self._exit(market, exit_side, place, kind, list_type) for place, kind in enumerate(kinds)]
        run: list[Command] = []
        for terms, order in orders:
            self._order_id += 1
            order_id = self._order_id
            if self._random.random() < 0.02:
                order_id = self._live_order(core).order_id
            run.append(terms._replace(order_id=order_id))
            run.append(order._replace(order_id=order_id, account=account, quantity=quantity))
        self._list_id += 1
        list_id = self._list_id if self._random.random() < 0.97 else choice((0, 1, self._list_id - 1))
        run.append(self._command(CommandKind.PLACE_LIST, order_id=list_id, order_type=list_type))
        if self._random.random() < 0.1:
            del run[self._random.randrange(len(run))]
        elif self._random.random() < 0.05:
            place = self._random.randrange(len(run))
            run.insert(place, run[place])
        self._rest_of_run = run[1:]
        return run[0]

    def _entry(self, market: Market, exit_side: Side) -> tuple[Command, Command]:
        side = Side.SELL if exit_side == Side.BUY else Side.BUY
        kind = self._random.choices(list(TriggerKind), (8, 3, 0.2, 0.2))[0]
        types = (EngineOrderType.GTC,) * 6 + (EngineOrderType.IOC, EngineOrderType.POST_ONLY, EngineOrderType.FOK)
        flags = self._random.choice((TERMS_AT_OR_BELOW, 0, TERMS_BY_MARK)) if kind else 0
        price = self._price(market) if self._random.random() < 0.3 else market.middle_price // market.tick * market.tick
        return self._member(market, side, self._random.choice(types), price, (kind, flags))

    def _exit(
        self, market: Market, side: Side, place: int, kind: int, list_type: OrderListType
    ) -> tuple[Command, Command]:
        """A take profit first, then a stop loss. A sell wins above the usual prices."""
        wins_above = (side == Side.SELL) == (place == 0)
        away = (0 if self._random.random() < 0.05 else self._random.randint(1, 6)) * market.tick
        price = market.middle_price // market.tick * market.tick + (away if wins_above else -away)
        if kind and list_type == OrderListType.OCO and self._random.random() < 0.3:
            kind = self._random.choice((TriggerKind.TRAILING_DISTANCE, TriggerKind.TRAILING_BASIS_POINTS))
        flags = 0
        if kind:
            flags = (0 if wins_above else TERMS_AT_OR_BELOW) | self._random.choice((0, 0, TERMS_BY_MARK))
        types = [EngineOrderType.GTC, EngineOrderType.GTC, EngineOrderType.IOC if kind else EngineOrderType.GTC]
        if self._random.random() < 0.04:
            types = [EngineOrderType.POST_ONLY, EngineOrderType.FOK]
        return self._member(market, side, self._random.choice(types), price, (kind, flags))

    def _member(
        self, market: Market, side: Side, order_type: EngineOrderType, price: int, trigger: tuple[int, int]
    ) -> tuple[Command, Command]:
        kind, flags = trigger
        limit = price
        if kind:
            limit = price + (1 if side == Side.BUY else -1) * self._random.choice((0, 0, 2, 6)) * market.tick
        value = {
            TriggerKind.NONE: 0,
            TriggerKind.FIXED: price,
            TriggerKind.TRAILING_DISTANCE: self._random.randint(1, 6) * market.tick,
            TriggerKind.TRAILING_BASIS_POINTS: self._random.choice((1, 5, 100)),
        }[TriggerKind(kind)]
        expiry = self._random.choice((0, 0, 0, 0, self._time_ns + self._random.randrange(1, 40_000_000)))
        if order_type in (EngineOrderType.IOC, EngineOrderType.FOK) and not kind:
            expiry = 0
        terms = self._command(
            CommandKind.TERMS,
            side=kind,
            order_type=self._random.choice((0, 0, 0, *range(1, 6))),
            flags=flags,
            price=value,
            amount=expiry,
        )
        order = self._command(
            CommandKind.LIST_ORDER,
            side=side,
            order_type=order_type,
            flags=self._random.choice((0, 2, 12)),
            symbol=market.symbol,
            price=limit,
            amount=limit + self._random.choice((0, 0, market.tick)) if side == Side.BUY else 0,
        )
        return terms, order

    def _amend_listed(self, core: MatchingCore) -> Command:
        """Give an order of a list, open or planned, another limit or trigger. Most of them fit."""
        choice, lists = self._random.choice, core.order_lists()
        if not lists:
            return self._amend(core)._replace(flags=FLAG_LISTED)
        row = choice(lists)
        order_id = choice([row.entry or row.list_id, *row.armed_exits, *row.planned_exits])
        market = next((market for market in MARKETS if market.symbol == row.symbol), MARKETS[0])
        price, trigger = (
            choice((0, market.middle_price // market.tick * market.tick + self._random.randint(-6, 6) * market.tick))
            for _ in range(2)
        )
        order = core.order(order_id)
        has_trigger = order is None or core.waiting_order(order_id) is not None
        return self._command(
            CommandKind.AMEND,
            flags=FLAG_LISTED if self._random.random() < 0.95 else 0,
            order_id=order_id,
            account=row.account if self._random.random() < 0.95 else choice(ACCOUNTS),
            price=price,
            quantity=choice((0, 0, 0, order.quantity if order else 0, market.lot)),
            amount=trigger if has_trigger else 0,
        )

    def _drain(self, core: MatchingCore) -> Command:
        """Withdraw what an account with a list has free, so that its exits may not be armed."""
        lists = core.order_lists()
        account = self._random.choice(lists).account if lists else self._random.choice(ACCOUNTS)
        rows = core.balances(account)
        row = self._random.choice(rows) if rows else None
        free = row.total - row.locked - row.reserved if row else 1
        return self._command(
            CommandKind.WITHDRAW, symbol=row.currency if row else 1, account=account, amount=max(free, 1)
        )

    def _cancel_list(self, core: MatchingCore) -> Command:
        lists = core.order_lists()
        if not lists or self._random.random() < 0.05:
            return self._command(CommandKind.CANCEL_LIST, order_id=self._random.choice((_UNKNOWN_LIST, 0)))
        order_list = self._random.choice(lists)
        planned = order_list.planned_exits
        if planned and self._random.random() < 0.5:
            return self._command(
                CommandKind.CANCEL, order_id=planned[0], account=self._random.choice((0, order_list.account, 2))
            )
        return self._command(
            CommandKind.CANCEL_LIST,
            order_id=order_list.list_id,
            account=self._random.choice((0, order_list.account, order_list.account, 2)),
            symbol=self._random.choice((0, order_list.symbol, 3)),
        )
