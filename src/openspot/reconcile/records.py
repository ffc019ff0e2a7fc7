"""What reconciliation compares: accounts, orders and trades as one side has them, and differences."""

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import msgspec

from openspot.domain.accounts import AccountKey

_SIDES = {
    "account": ("by its entries", "in the account"),
    "lock": ("by its locks", "in the account"),
    "asset": ("by rule", "in the ledger"),
    "engine": ("in its balances", "in its events"),
    "stake rows": ("by its parts", "in the stake"),
    "staked": ("in the engine", "by the stakes"),
    "positions": ("in the trades", "in the checkpoint"),
    "position": ("by its trades", "in the position"),
    "position balance": ("by trades and transfers", "in the balance"),
    "fill": ("in the position's trade", "among the FIFO transactions"),
    "FIFO": ("by the transactions", "in the results"),
}
"""The two sides of a difference, by kind. A kind that is not listed is a difference between engine and mirror."""


class TotalChange(NamedTuple):
    """The change that an event makes to an account's total."""

    account: AccountKey
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact on which two sides disagree, for example kind `order`, name `<orderId>`, field `filled`.

    `cause` is the likely cause, empty if it is not known.
    """

    kind: str
    name: str
    field: str
    engine: str
    mirror: str
    cause: str = ""

    def __str__(self) -> str:
        here, there = _SIDES.get(self.kind, ("in the engine", "in the mirror"))
        text = f"{self.kind} {self.name}: {self.field} is {self.engine} {here}, {self.mirror} {there}"
        return f"{text} ({self.cause})" if self.cause else text


@dataclass(slots=True)
class OrderFacts:
    """An order. `price` is None for an order without a limit of its own; `notional` and `fee` in the quote asset.

    `remaining` is the open quantity, 0 once the order has ended.
    """

    order_id: str
    user_id: str
    symbol: str
    side: str
    price: Decimal | None
    quantity: Decimal
    filled: Decimal
    notional: Decimal
    remaining: Decimal
    fee: Decimal
    status: str


@dataclass(frozen=True, slots=True)
class TradeFacts:
    """A trade. Order ids are the external ones; fees in `fee_currency`, negative for a rebate."""

    trade_id: str
    symbol: str
    price: Decimal
    quantity: Decimal
    taker_side: str
    taker_order_id: str
    maker_order_id: str
    buyer_id: str
    seller_id: str
    taker_fee: Decimal
    maker_fee: Decimal
    fee_currency: str


class HouseHolding(msgspec.Struct, frozen=True):
    """What a house account holds of an asset. None on a side without the account: the engine has no outside world."""

    asset: str
    engine: str | None
    ledger: str | None

    def __str__(self) -> str:
        here, there = self.engine, self.ledger
        if here is None or here == there:
            return f"{there} {self.asset}"
        return f"{here} {self.asset} ({there or 'nothing'} in the ledger)"


class HouseAccount(msgspec.Struct, frozen=True):
    """One of the house's own accounts: its id, what it is for, and what it holds."""

    account: str
    purpose: str
    holdings: list[HouseHolding]

    def __str__(self) -> str:
        held = ", ".join(map(str, self.holdings))
        return f"{self.account} ({self.purpose}): {held or 'nothing'}"
