"""What entries of the ledger that no trade made do to the lots of their owner. Pure.

| Entry | in | out |
|---|---|---|
| conversion | acquired at the price of the deal | disposed of at the price of the deal |
| staking, unstaking | lots come back from the account `staking` | lots move to the account `staking` |
| reward | acquired at its price: income | disposed of at its price |
| payment, subscription, refund | acquired at its price, an estimate | disposed of at its price |
| deposit, withdrawal, margin account, adjustment | acquired at its price, an estimate | lots move to `elsewhere` |

A move between accounts of one owner keeps cost and date of its lots, and gains nothing. What comes from elsewhere was
acquired there: nobody has told when and for what, so its cost is estimated at the price of the moment. What has no
price has no transaction, and its cost stays unknown. The accounting currency has no lots.

A deal of two assets is worth the amount of the accounting currency in it, or else what the asset that left was worth.

The ledger writes an entry after the engine has moved the money, minutes later if it was down, and its owner may have
sold by then what came in. So what comes in counts from the minute in which it was asked for, if that is known, and what
goes out from its entry: nothing is taken before it is there. A stake does both, so it counts when it was asked for.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.transfer import TransferKind
from openspot.positions.fifo_transaction import FifoTransaction, TransactionKind

EXCHANGE = "exchange"
"""The account of FIFO transactions that come from the exchange."""
STAKING = "staking"
ELSEWHERE = "elsewhere"
ENTRY_PREFIX = "ledger:"
"""Begins the external ids of transactions that are made from entries."""
ESTIMATE_PREFIX = "ledger:estimate:"
"""Begins the external ids of acquisitions whose cost is estimated."""
ENTRY_ID_LENGTH_MAX = 180
"""The digest stands for a longer id, which would have no room beside the prefix."""
MINUTE_MS = 60_000

_AT_ITS_PRICE = {TransferKind.REWARD, TransferKind.PAYMENT, TransferKind.SUBSCRIPTION, TransferKind.REFUND}
_STAKES = {TransferKind.STAKING, TransferKind.UNSTAKING}
_WITH_COST = {TransferKind.CONVERSION, TransferKind.REWARD, *_STAKES}
"""Entry types of what comes in with a cost that is known: that of a deal, an income, or of lots that come back."""


class AccountMovement(NamedTuple):
    """An entry of a user's account. Its signed amount is an integer at 18 places, its times are in milliseconds.

    `asked_at` is when its transfer was begun or its deposit confirmed, None if nobody knows. The engine has moved the
    money since.
    """

    entry_id: str
    timestamp: int
    entry_type: str
    asset: str
    amount: int
    asked_at: int | None = None

    @property
    def valued_at(self) -> int:
        """The moment whose price it has."""
        return self.timestamp if self.asked_at is None else min(self.timestamp, self.asked_at)

    @property
    def counts_from(self) -> int:
        """When it changes the lots."""
        if self.entry_type in _STAKES:
            return self.valued_at
        return self.timestamp if self.amount < 0 else self.valued_at - self.valued_at % MINUTE_MS


def transaction_id(entry_id: str, entry_type: str, *, is_in: bool) -> str:
    """The external id of an entry's transaction: always the same, and with ESTIMATE_PREFIX if its cost is a guess."""
    has_cost = not is_in or entry_type in _WITH_COST
    prefix = ENTRY_PREFIX if has_cost else ESTIMATE_PREFIX
    if len(entry_id) > ENTRY_ID_LENGTH_MAX:
        entry_id = sha256(entry_id.encode()).hexdigest()
    return prefix + entry_id


def transactions_of_movement(
    movements: Sequence[AccountMovement], prices: Mapping[str, int | None], currency: str
) -> list[FifoTransaction]:
    """The FIFO transactions of the entries of one transfer, deposit or withdrawal of one user.

    `prices` has the price of each asset in `currency` at the time, at 18 places, or None if it has none.
    """
    known = {**prices, currency: AMOUNT_SCALE}
    deal = _value_of_deal(movements, known, currency)
    found = []
    for movement in movements:
        if movement.asset != currency and movement.amount:
            price = known.get(movement.asset)
            value = abs(movement.amount) * price // AMOUNT_SCALE if price is not None else None
            transaction = _transaction(movement, deal if movement.entry_type == TransferKind.CONVERSION else value)
            if transaction is not None:
                found.append(transaction)
    return found


def _value_of_deal(movements: Sequence[AccountMovement], prices: Mapping[str, int | None], currency: str) -> int | None:
    """What a deal is worth. None if neither of its assets has a price."""
    in_order = sorted(movements, key=lambda movement: (movement.asset != currency, movement.amount > 0))
    for movement in in_order:
        price = prices.get(movement.asset)
        if price is not None:
            return abs(movement.amount) * price // AMOUNT_SCALE
    return None


def _transaction(movement: AccountMovement, value: int | None) -> FifoTransaction | None:
    kind, entry_type = TransactionKind.TRANSFER, movement.entry_type
    if entry_type in _STAKES:
        source, destination = (STAKING, EXCHANGE) if movement.amount > 0 else (EXCHANGE, STAKING)
        return _made(movement, kind, source, destination=destination)
    if movement.amount > 0:
        if value is None:
            return None
        return _made(movement, TransactionKind.ACQUISITION, EXCHANGE, value=value)
    if value is not None and (entry_type == TransferKind.CONVERSION or entry_type in _AT_ITS_PRICE):
        return _made(movement, TransactionKind.DISPOSAL, EXCHANGE, value=value)
    return _made(movement, kind, EXCHANGE, destination=ELSEWHERE)


def _made(
    movement: AccountMovement, kind: TransactionKind, account: str, *, value: int = 0, destination: str | None = None
) -> FifoTransaction:
    return FifoTransaction(
        external_id=transaction_id(movement.entry_id, movement.entry_type, is_in=movement.amount > 0),
        timestamp=movement.counts_from,
        kind=kind,
        account=account,
        asset=movement.asset,
        quantity=abs(movement.amount),
        value=value,
        destination=destination,
    )
