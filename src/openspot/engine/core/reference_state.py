"""The reference core's state: currencies, symbols, accounts, open orders and remembered references.

What an account may spend is kept as two sums a currency: `totals`, what it owns, and `held`, what its open
orders and open reservations claim of that. `held` is derived (a snapshot does not store it) but kept up to
date, so that a check costs no walk over orders. The locked part of a balance is derived from the orders at
each query (Document A 1.4).
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple, TypeVar

from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS
from openspot.domain.order import Side, StpMode
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import FEE_ACCOUNT, AccountState, Balance, Symbol
from openspot.engine.core.records import ResultStatus
from openspot.engine.core.reference_book import Book, Order

Found = TypeVar("Found")


class Refused(Exception):  # noqa: N818 - a refusal is an ordinary outcome, not an error
    """A command breaks a rule. Raised before anything has changed."""

    def __init__(self, code: ResultCode) -> None:
        super().__init__(code.name)
        self.code = code


def require(condition: bool, code: ResultCode) -> None:
    """Refuse the command with `code` unless `condition` holds."""
    if not condition:
        raise Refused(code)


def found(value: Found | None, code: ResultCode) -> Found:
    """`value`, or a refusal with `code` if there is none."""
    if value is None:
        raise Refused(code)
    return value


class Outcome(NamedTuple):
    """A result without its count of events."""

    code: ResultCode = ResultCode.SUCCESS
    status: ResultStatus = ResultStatus.ACCEPTED
    filled: int = 0
    remaining: int = 0
    notional: int = 0


Emit = Callable[..., None]
"""Emits one event: emit(event_type, field=value, …); a field not named is 0."""


class ReferenceStatus(IntEnum):
    """What became of the money under a reference; the numbers are those of the snapshot."""

    DONE = 0
    HELD = 1
    RELEASED = 2
    COMPLETED = 3


@dataclass(slots=True)
class Reference:
    """A money command that was taken under an external reference. `kind` is its CommandKind."""

    kind: int
    status: ReferenceStatus
    account: int
    currency: int
    amount: int


@dataclass(slots=True)
class Account:
    """An account. `fees` is its own (taker, maker) in basis points, or None where the symbol's hold."""

    active: bool = True
    stp_mode: int = StpMode.NONE
    fees: tuple[int, int] | None = None
    totals: dict[int, int] = field(default_factory=dict)
    held: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    orders: dict[int, Order] = field(default_factory=dict)

    def total(self, currency: int) -> int:
        """What the account owns, in amount units."""
        return self.totals.get(currency, 0)

    def free(self, currency: int) -> int:
        """What no open order and no open reservation claims, in amount units."""
        return self.total(currency) - self.held.get(currency, 0)


class Market:
    """A symbol with its book, and the exact arithmetic of its scales (amounts at 18 places)."""

    def __init__(self, symbol: Symbol) -> None:
        self.symbol = symbol
        self.book = Book()
        self._base_unit = AMOUNT_SCALE // symbol.base_scale_k
        self._quote_unit = AMOUNT_SCALE // (symbol.base_scale_k * symbol.quote_scale_k)

    def base_amount(self, quantity: int) -> int:
        """Amount of the base asset in a scaled quantity."""
        return quantity * self._base_unit

    def notional(self, price: int, quantity: int) -> int:
        """Amount of the quote asset that `quantity` costs at `price`."""
        return price * quantity * self._quote_unit

    def fee(self, price: int, quantity: int, fee_bps: int) -> int:
        """Fee on a trade, in the quote asset; negative is a rebate. Exact: a symbol leaves room for it."""
        return price * quantity * (self._quote_unit // BASIS_POINTS) * fee_bps

    def held_currency(self, order: Order) -> int:
        """The currency that an order claims."""
        return self.symbol.quote if order.side == Side.BUY else self.symbol.base

    def hold(self, order: Order) -> int:
        """What an order with a limit claims: the cost of a BUY at its worst price and fee, a SELL's base."""
        if order.side == Side.SELL:
            return self.base_amount(order.remaining)
        worst_fee_bps = max(order.taker_fee_bps, order.maker_fee_bps, 0)
        return self.notional(order.reserve_price, order.remaining) + self.fee(
            order.reserve_price, order.remaining, worst_fee_bps
        )

    def locked(self, order: Order) -> int:
        """What a balance shows as locked: remaining × price of a BUY, the remaining of a SELL."""
        if order.side == Side.SELL:
            return self.base_amount(order.remaining)
        return self.notional(order.price, order.remaining)


class State:
    """Everything that a snapshot holds, and the changes that keep its parts in step with each other."""

    def __init__(self) -> None:
        self.command_sequence = 0
        self.event_sequence = 0
        self.currencies: dict[int, int] = {}
        """Currency → sum of the totals of all accounts."""
        self.markets: dict[int, Market] = {}
        self.accounts: dict[int, Account] = {FEE_ACCOUNT: Account(active=False)}
        self.orders: dict[int, Order] = {}
        self.references: dict[int, Reference] = {}

    def transfer_in(self, account_number: int, currency: int, amount: int) -> None:
        """Add a signed `amount` to an account's total; money enters or leaves the exchange."""
        self.currencies[currency] += amount
        self.add(account_number, currency, amount)

    def add(self, account_number: int, currency: int, amount: int) -> None:
        """Add a signed `amount` to an account's total, as one leg of a trade that sums to zero."""
        totals = self.accounts[account_number].totals
        totals[currency] = totals.get(currency, 0) + amount
        if totals[currency] == 0:
            del totals[currency]

    def rest(self, order: Order) -> None:
        """Put an order behind its level's queue and hold what it claims."""
        market, account = self.markets[order.symbol], self.accounts[order.account]
        market.book.own(order).add(order)
        self.orders[order.order_id] = account.orders[order.order_id] = order
        account.held[market.held_currency(order)] += market.hold(order)

    def unrest(self, order: Order) -> None:
        """Take an order out of the book, and set free what it claims."""
        market, account = self.markets[order.symbol], self.accounts[order.account]
        account.held[market.held_currency(order)] -= market.hold(order)
        market.book.own(order).remove(order)
        del self.orders[order.order_id], account.orders[order.order_id]

    def shrink(self, order: Order, quantity: int) -> None:
        """Take `quantity` off a resting order, which keeps its place, or leaves if nothing remains."""
        if quantity == order.remaining:
            self.unrest(order)
            order.remaining = 0
            return
        market, account = self.markets[order.symbol], self.accounts[order.account]
        account.held[market.held_currency(order)] -= market.hold(order)
        order.remaining -= quantity
        account.held[market.held_currency(order)] += market.hold(order)

    def account_state(self, account_number: int) -> AccountState:
        """The flags of an account that exists."""
        account = self.accounts[account_number]
        taker, maker = account.fees or (None, None)
        return AccountState(account_number, account.active, account.stp_mode, taker, maker)

    def balances(self, account_number: int) -> list[Balance]:
        """The balances of an account that exists, by currency."""
        account = self.accounts[account_number]
        locked: defaultdict[int, int] = defaultdict(int)
        for order in account.orders.values():
            market = self.markets[order.symbol]
            locked[market.held_currency(order)] += market.locked(order)
        return [
            Balance(account_number, currency, total, locked[currency], account.held[currency] - locked[currency])
            for currency, total in sorted(account.totals.items())
        ]
