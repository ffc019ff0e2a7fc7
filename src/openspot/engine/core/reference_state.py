"""The reference core's state: currencies, order books, accounts, open orders and transfers.

An account has two sums for each currency: `totals` is what it owns, `held` is what its open orders and reservations
hold. It may spend the difference. `held` can be computed from the orders and reservations, so snapshots omit it; it
is kept up to date so that a check need not add them up. Each query calculates the locked part of a balance from the
orders (fact A1.4-12).
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple, TypeVar

from openspot.domain.order import StpMode
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import FEE_ACCOUNT, OWNER_SHIFT, AccountSettings, CoreBalance, spot_account_of
from openspot.engine.core.records import Command, ResultStatus
from openspot.engine.core.reference_book import SymbolBook
from openspot.engine.core.reference_order import BookOrder
from openspot.engine.core.reference_order_list import ListPart, OrderList
from openspot.engine.core.reference_triggers import Waiter

Value = TypeVar("Value")


class Rejected(Exception):  # noqa: N818 - a rejection is an ordinary result, not an error
    """A command breaks a rule. Raised before anything has changed."""

    def __init__(self, code: ResultCode) -> None:
        super().__init__(code.name)
        self.code = code


def require(condition: bool, code: ResultCode) -> None:
    """Reject the command with `code` unless `condition` holds."""
    if not condition:
        raise Rejected(code)


def require_found(value: Value | None, code: ResultCode) -> Value:
    """Return `value`; reject the command with `code` if it is None."""
    if value is None:
        raise Rejected(code)
    return value


class CommandResult(NamedTuple):
    """The result of one command, without its number of events."""

    code: ResultCode = ResultCode.SUCCESS
    status: ResultStatus = ResultStatus.ACCEPTED
    filled: int = 0
    remaining: int = 0
    notional: int = 0


Emit = Callable[..., None]
"""Emits one event: emit(event_type, field=value, …). Fields that are not named are 0."""


class BrokenInvariantError(RuntimeError):
    """The state contradicts itself, so the core is unusable. Only a fault of the code or the machine causes that."""


def _require_rule(condition: bool, rule: str) -> None:
    if not condition:
        raise BrokenInvariantError(f"broken invariant of the matching core: {rule}")


class CoreTransferStatus(IntEnum):
    """The state of a transfer. Snapshots contain these numbers."""

    DONE = 0
    HELD = 1
    RELEASED = 2
    COMPLETED = 3


@dataclass(slots=True)
class RememberedTransfer:
    """Money that entered, left or was held for an account. `kind` is the CommandKind, `amount` is signed."""

    kind: int
    status: CoreTransferStatus
    account: int
    currency: int
    amount: int


class PendingMovement(NamedTuple):
    """A payment of `amount` from one account to another, by account number."""

    source: int
    destination: int
    currency: int
    amount: int


class FeeRates(NamedTuple):
    """Taker and maker fee in basis points; a negative maker fee is a rebate."""

    taker_bps: int
    maker_bps: int


@dataclass(slots=True)
class Account:
    """An account. `fees` is None if it has no fees of its own."""

    active: bool = True
    stp_mode: int = StpMode.NONE
    fees: FeeRates | None = None
    totals: dict[int, int] = field(default_factory=dict)
    held: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    orders: dict[int, BookOrder] = field(default_factory=dict)

    def total(self, currency: int) -> int:
        """What the account owns, in amount units."""
        return self.totals.get(currency, 0)

    def free(self, currency: int) -> int:
        """What no open order and no reservation holds, in amount units."""
        return self.total(currency) - self.held.get(currency, 0)

    def release(self, currency: int, amount: int) -> None:
        """Hold `amount` less."""
        self.held[currency] -= amount
        _require_rule(self.held[currency] >= 0, "more is released than is held")


class CoreState:
    """The whole state of a core. The methods keep its parts consistent."""

    def __init__(self) -> None:
        self.command_sequence = 0
        self.event_sequence = 0
        self.supplies: dict[int, int] = {}
        """Currency → sum of the totals of all accounts."""
        self.books: dict[int, SymbolBook] = {}
        self.accounts: dict[int, Account] = {FEE_ACCOUNT: Account(active=False)}
        self.orders: dict[int, BookOrder] = {}
        """Open orders: those that rest and those that wait."""
        self.waiting: dict[int, Waiter] = {}
        """The orders that wait for their trigger, by placement."""
        self.tracks_prices = False
        """Whether the core remembers prices. Without TERMS it never does, so states of before stay as they were."""
        self.transfers: dict[int, RememberedTransfer] = {}
        """External reference → its transfer."""
        self.owners: dict[int, int] = {}
        """Account → the account whose user owns it, too."""
        self._movements: list[PendingMovement] = []
        self._movements_end = 0
        self._terms: Command | None = None
        self._terms_end = 0
        self._stopped_end = 0
        self.lists: dict[int, OrderList] = {}
        """The lists whose orders depend on each other, by id."""
        self.listed: dict[int, OrderList] = {}
        """Their orders, open or planned → their list."""
        self._list_parts: list[ListPart] = []
        self._list_parts_end = 0

    def change_total(self, account_number: int, currency: int, amount: int) -> None:
        """Add a signed `amount` to an account's total and to the supply of the currency."""
        self.supplies[currency] += amount
        _require_rule(self.supplies[currency] >= 0, "the supply of a currency is below zero")
        self.credit(account_number, currency, amount)

    def credit(self, account_number: int, currency: int, amount: int) -> None:
        """Add a signed `amount` to an account's total, as one part of a trade whose parts sum to zero."""
        totals = self.accounts[account_number].totals
        totals[currency] = totals.get(currency, 0) + amount
        _require_rule(totals[currency] >= 0, "a balance is below zero")
        if totals[currency] == 0:
            del totals[currency]

    def owner_of(self, account_number: int) -> int:
        """The account whose user owns an account. Orders of one owner are prevented from trading with each other."""
        spot_account = spot_account_of(account_number)
        return self.owners.get(spot_account, spot_account)

    def may_be_linked(self, account_number: int) -> bool:
        """Whether an account may belong to another owner, or be one. A margin account's number says whose it is."""
        return account_number in self.accounts and account_number != FEE_ACCOUNT and not account_number >> OWNER_SHIFT

    def movements_until(self, command_sequence: int) -> list[PendingMovement]:
        """The unbroken run of accepted MOVEMENTs that ends with this command. Any other command ends the run."""
        return self._movements if self._movements_end == command_sequence else []

    def keep_movements(self, movements: list[PendingMovement]) -> None:
        """Let `movements`, of which the present command is the last, wait for their TRANSFER."""
        self._movements, self._movements_end = movements, self.command_sequence

    def terms_until(self, command_sequence: int) -> Command | None:
        """The TERMS that was this command. Any other command ends it."""
        return self._terms if self._terms_end == command_sequence else None

    def keep_terms(self, terms: Command) -> None:
        """Let `terms`, which are the present command, wait for their PLACE. A PLACE that is stopped stays so."""
        self._terms, self._terms_end = terms, self.command_sequence
        if self.is_stopped_after(self.command_sequence - 1):
            self.stop_placement()

    def stop_placement(self) -> None:
        """Let the PLACE directly after the present command not be attempted."""
        self._stopped_end = self.command_sequence

    def is_stopped_after(self, command_sequence: int) -> bool:
        """Whether a PLACE directly after this command is not attempted. Any other command ends that."""
        return 0 < self._stopped_end == command_sequence

    def list_parts_until(self, command_sequence: int) -> list[ListPart]:
        """The unbroken run of pairs of TERMS and LIST_ORDER that ends with this command. Any other ends the run."""
        return self._list_parts if self._list_parts_end == command_sequence else []

    def keep_list_parts(self, parts: list[ListPart], *, before_terms: bool = False) -> None:
        """Let `parts`, of which the present command is the last, or the TERMS behind it, wait for their PLACE_LIST."""
        self._list_parts, self._list_parts_end = parts, self.command_sequence - before_terms

    def waiting_list_parts(self) -> list[ListPart]:
        """The run that waits now: TERMS may have come for one more."""
        ends_now = self.list_parts_until(self.command_sequence)
        if not ends_now and self.terms_until(self.command_sequence) is not None:
            return self.list_parts_until(self.command_sequence - 1)
        return ends_now

    def stp_mode_of(self, order: BookOrder) -> StpMode:
        """The self-trade prevention mode of an incoming order: its own, or else the present one of its account."""
        return StpMode(order.own_stp - 1 if order.own_stp else self.accounts[order.account].stp_mode)

    def add_waiter(self, waiter: Waiter) -> None:
        """Let an order wait for its trigger, and hold its funds."""
        order = waiter.order
        book, account = self.books[order.symbol], self.accounts[order.account]
        self.waiting[order.order_id] = waiter
        self.orders[order.order_id] = account.orders[order.order_id] = order
        account.held[book.held_currency(order)] += book.hold(order)

    def add_order(self, order: BookOrder) -> None:
        """Put an order at the end of its level's queue and hold its funds."""
        book, account = self.books[order.symbol], self.accounts[order.account]
        order.visible = min(order.display, order.remaining)
        book.own_side(order).add(order)
        self.orders[order.order_id] = account.orders[order.order_id] = order
        account.held[book.held_currency(order)] += book.hold(order)

    def remove_order(self, order: BookOrder) -> None:
        """Take an order out of the book, or out of those that wait, and release its funds."""
        book, account = self.books[order.symbol], self.accounts[order.account]
        account.release(book.held_currency(order), book.hold(order))
        if self.waiting.pop(order.order_id, None):
            book.fired.pop(order.order_id, None)
        else:
            book.own_side(order).remove(order)
        del self.orders[order.order_id], account.orders[order.order_id]

    def reduce_order(self, order: BookOrder, quantity: int) -> None:
        """Reduce an open order by `quantity`. It keeps its place, or leaves the book if nothing remains."""
        if quantity == order.remaining:
            self.remove_order(order)
            order.remaining = order.visible = 0
            return
        book, account = self.books[order.symbol], self.accounts[order.account]
        account.release(book.held_currency(order), book.hold(order))
        order.remaining -= quantity
        order.visible = min(order.visible, order.remaining)
        account.held[book.held_currency(order)] += book.hold(order)

    def fill_order(self, order: BookOrder, quantity: int) -> bool:
        """Reduce a resting order by a trade of what it shows. Returns whether it shows more, now last in its queue."""
        visible = order.visible - quantity
        self.reduce_order(order, quantity)
        if not order.display or not order.remaining:
            return False
        order.visible = visible
        if visible:
            return False
        side = self.books[order.symbol].own_side(order)
        side.remove(order)
        order.visible = min(order.display, order.remaining)
        side.add(order)
        return True

    def account_state(self, account_number: int) -> AccountSettings:
        """The settings of an existing account."""
        account = self.accounts[account_number]
        taker, maker = account.fees or (None, None)
        return AccountSettings(account_number, account.active, account.stp_mode, taker, maker)

    def balances(self, account_number: int) -> list[CoreBalance]:
        """The balances of an existing account, by currency."""
        account = self.accounts[account_number]
        locked: defaultdict[int, int] = defaultdict(int)
        for order in account.orders.values():
            book = self.books[order.symbol]
            locked[book.held_currency(order)] += book.locked(order)
        return [
            CoreBalance(account_number, currency, total, locked[currency], account.held[currency] - locked[currency])
            for currency, total in sorted(account.totals.items())
        ]
