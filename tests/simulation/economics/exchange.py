"""The matching core with names: accounts, orders, transfers, and the trades that it told."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from openspot.contracts.engine_events import TradeEvent
from openspot.domain.accounts import user_of_account
from openspot.domain.money import AMOUNT_SCALE, amount_to_text
from openspot.domain.order import EngineOrderType, Side, StpMode
from openspot.domain.symbol import SymbolSpec
from openspot.engine.core.protocol import FEE_ACCOUNT, OWNER_SHIFT
from openspot.engine.core.records import (
    FLAG_ACTIVE,
    Command,
    CommandKind,
    CreateSymbol,
    EventType,
    Result,
    ResultStatus,
    decode_events,
    decode_results,
)
from openspot.engine.core.selection import make_core
from openspot.market_data.book import BookBase

_FIRST_ACCOUNT = FEE_ACCOUNT + 1
OPEN_ORDERS_EXPECTED = 1024
"""A core of the platform's size takes longer to make."""
_UNSAID: dict[str, Any] = dict.fromkeys(TradeEvent.__struct_fields__, "") | {"seq": 0, "taker_fee_bps": 0}


class Traded(NamedTuple):
    """A trade. Price and quantity are amounts of 18 places."""

    symbol: str
    taker: str
    maker: str
    price: int
    quantity: int

    def event(self, now_ms: int) -> TradeEvent:
        """The trade as the engine tells it."""
        fields = {
            "timestamp": now_ms,
            "symbol": self.symbol,
            "price": amount_to_text(self.price),
            "quantity": amount_to_text(self.quantity),
            "taker_participant_id": self.taker,
            "maker_participant_id": self.maker,
        }
        return TradeEvent(**_UNSAID | fields)


class Exchange:
    """One matching core. Amounts, prices and quantities are integers of 18 places.

    With `knows_owners`, a user's margin accounts belong to the user for self-trade prevention.
    """

    def __init__(self, specs: Sequence[SymbolSpec], *, knows_owners: bool = True) -> None:
        self._core = make_core("auto", OPEN_ORDERS_EXPECTED)
        self._knows_owners = knows_owners
        self._accounts: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._held: dict[str, dict[str, int]] = {}
        """Totals by account, as far as they were asked for since they changed."""
        self._order_ids = itertools.count(1)
        self.specs = {spec.symbol: spec for spec in specs}
        self.assets = sorted({asset for spec in specs for asset in (spec.base, spec.quote)})
        self._currencies = {asset: number for number, asset in enumerate(self.assets, 1)}
        self.new_trades: list[Traded] = []
        self.last_trades: dict[str, int] = {}
        self.volumes: dict[str, int] = {}
        """What each account traded with other users, in the quote asset."""
        for number in self._currencies.values():
            self._apply(Command(CommandKind.CREATE_CURRENCY, symbol=number))
        for spec in specs:
            currencies = self._currencies[spec.base], self._currencies[spec.quote]
            scales = spec.base_scale_k, spec.quote_scale_k, spec.tick, spec.lot
            fees = spec.taker_fee_bps, spec.maker_fee_bps
            self._apply(CreateSymbol(spec.symbol_id, 0, *currencies, *scales, *fees))

    def pay_in(self, account: str, asset: str, amount: int) -> None:
        """Credit an account, which may be new."""
        self._apply(self._money(CommandKind.DEPOSIT, account, asset, amount))

    def pay_out(self, account: str, asset: str, amount: int) -> bool:
        """Debit an account; False if it does not have the free amount."""
        result = self._apply(self._money(CommandKind.WITHDRAW, account, asset, amount))
        return result.status == ResultStatus.ACCEPTED

    def pay(self, source: str, destination: str, asset: str, amount: int) -> bool:
        """Move an amount; False if the source does not have it free."""
        if amount <= 0 or not self.pay_out(source, asset, amount):
            return False
        self.pay_in(destination, asset, amount)
        return True

    def place(
        self, account: str, symbol: str, side: Side, quantity: int, price: int, *, is_immediate: bool = False
    ) -> int:
        """Place a limit order, cut to a lot and a tick. Returns its id."""
        spec = self.specs[symbol]
        scaled_quantity = quantity // (spec.base_unit * spec.lot) * spec.lot
        scaled_price = max(price * spec.quote_scale_k // (AMOUNT_SCALE * spec.tick), 1) * spec.tick
        order_id = next(self._order_ids)
        command = Command(
            CommandKind.PLACE,
            side,
            EngineOrderType.IOC if is_immediate else EngineOrderType.GTC,
            symbol=spec.symbol_id,
            order_id=order_id,
            account=self._account(account),
            price=scaled_price,
            quantity=scaled_quantity,
            amount=scaled_price if side is Side.BUY else 0,
        )
        self._apply(command)
        return order_id

    def cancel_all(self, account: str, symbol: str = "") -> None:
        """Cancel an account's orders, of one market or of all."""
        number = self._account(account)
        orders = self._core.open_orders(number, self.specs[symbol].symbol_id if symbol else 0)
        # A cancel trades nothing, so nobody looks at its events.
        cancels = [Command(CommandKind.CANCEL, order_id=order.order_id, account=number) for order in orders]
        self._core.apply(b"".join(cancel.encode() for cancel in cancels))

    def own_levels(self, user: str, symbol: str, side: Side) -> dict[int, int]:
        """Quantities by price of the orders of a user's accounts."""
        spec, found = self.specs[symbol], dict[int, int]()
        for name, number in self._accounts.items():
            if user_of_account(name) != user:
                continue
            for order in self._core.open_orders(number, spec.symbol_id):
                if order.side == side:
                    price = order.price * AMOUNT_SCALE // spec.quote_scale_k
                    found[price] = found.get(price, 0) + order.remaining * spec.base_unit
        return found

    def held(self, account: str) -> Mapping[str, int]:
        """An account's totals by asset."""
        held = self._held.get(account)
        if held is None:
            balances = self._core.balances(self._account(account))
            held = self._held[account] = {self.assets[balance.currency - 1]: balance.total for balance in balances}
        return held

    def free(self, account: str, asset: str) -> int:
        """What an account can spend of an asset."""
        for balance in self._core.balances(self._account(account)):
            if self.assets[balance.currency - 1] == asset:
                return balance.total - balance.locked - balance.reserved
        return 0

    def book(self, symbol: str) -> BookBase:
        """The whole book, best levels first."""
        spec = self.specs[symbol]
        bids, asks = (
            [
                (
                    amount_to_text(level.price * AMOUNT_SCALE // spec.quote_scale_k),
                    amount_to_text(level.quantity * spec.base_unit),
                )
                for level in side
            ]
            for side in self._core.depth(spec.symbol_id, 0)
        )
        return BookBase(1, 0, bids, asks)

    def depth(self, symbol: str, side: Side, price: int) -> int:
        """The quantity that an order of the other side at `price` would trade with."""
        spec = self.specs[symbol]
        bids, asks = self._core.depth(spec.symbol_id, 0)
        limit = price * spec.quote_scale_k
        found = (
            level.quantity
            for level in (bids if side is Side.BUY else asks)
            if (level.price * AMOUNT_SCALE >= limit if side is Side.BUY else level.price * AMOUNT_SCALE <= limit)
        )
        return sum(found) * spec.base_unit

    def _account(self, name: str) -> int:
        number = self._accounts.get(name)
        if number is None:
            user = user_of_account(name)
            # The user comes first, who may be new, too.
            owner = self._account(user) << OWNER_SHIFT if user != name and self._knows_owners else 0
            number = owner | _FIRST_ACCOUNT + len(self._accounts)
            self._accounts[name], self._names[number] = number, name
            kind, mode = CommandKind.CREATE_ACCOUNT, StpMode.CANCEL_RESTING
            self._apply(Command(kind, order_type=mode, flags=FLAG_ACTIVE, account=number))
        return number

    def _money(self, kind: CommandKind, account: str, asset: str, amount: int) -> Command:
        self._held.pop(account, None)
        return Command(kind, symbol=self._currencies[asset], account=self._account(account), amount=amount)

    def _apply(self, command: Command | CreateSymbol) -> Result:
        results, events = self._core.apply(command.encode())
        for event in decode_events(events):
            if event.type == EventType.TRADE:
                self._note(event)
        return next(decode_results(results))

    def _note(self, event: Any) -> None:
        spec = next(spec for spec in self.specs.values() if spec.symbol_id == event.symbol)
        price, quantity = event.price * AMOUNT_SCALE // spec.quote_scale_k, event.quantity * spec.base_unit
        traded = Traded(spec.symbol, self._names[event.account], self._names[event.maker_account], price, quantity)
        self._held.pop(traded.taker, None)
        self._held.pop(traded.maker, None)
        self.new_trades.append(traded)
        self.last_trades[spec.symbol] = price
        if self._owner(traded.taker) != self._owner(traded.maker):
            for account in (traded.taker, traded.maker):
                self.volumes[account] = self.volumes.get(account, 0) + price * quantity // AMOUNT_SCALE

    def _owner(self, account: str) -> str:
        return user_of_account(account) if self._knows_owners else account


def total(balances: Mapping[str, int], prices: Mapping[str, int]) -> int:
    """The value of amounts at prices, all of 18 places."""
    return sum(amount * prices[asset] // AMOUNT_SCALE for asset, amount in balances.items())
