"""One transaction of an owner's FIFO history, and its rules.

All money is in the owner's accounting currency. Quantities and money are integers at 18 decimal places.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from openspot.domain.ids import REFERENCE_TEXT
from openspot.domain.money import AMOUNT_MAX
from openspot.domain.symbol import CURRENCY_TEXT

TIMESTAMP_MAX = 253_402_300_799_999
"""The last millisecond of the year 9999, the last year of a Python date."""

ACCOUNT_TEXT = re.compile(r"[!-~]([ -~]{0,62}[!-~])?")
"""The owner's name for a wallet or account: visible ASCII, with spaces only inside."""

FILL_PATTERN = "[^:]*-([0-9]{1,18}):(?:buy|sell):(?:from|to)"
"""A regular expression, for Python and for PostgreSQL.

It is that of the external id of a fill's transaction: the trade's id, which ends with the engine's sequence, side and
leg.
"""
_FILL_TEXT = re.compile(FILL_PATTERN)

OrderKey = tuple[int, int, str]
"""(timestamp, engine's sequence, external id). Transactions are computed in this order, in whatever order they arrive.

The sequence is that of a fill's trade: within a millisecond the engine knows which was first. It is 0 for all others,
so what arrived in the same millisecond counts before what was traded.
"""


class TransactionKind(StrEnum):
    """Effect of a transaction on the lots of its account."""

    ACQUISITION = "acquisition"
    DISPOSAL = "disposal"
    TRANSFER = "transfer"


class TransactionError(ValueError):
    """A transaction breaks a rule. `field` and `reason` say which."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field} {reason}")
        self.field = field
        self.reason = reason


@dataclass(frozen=True, slots=True)
class FifoTransaction:
    """An acquisition, a disposal, or a transfer between two accounts of the same owner.

    `timestamp` is in milliseconds since 1970, UTC. `value` is the money that was paid or received for `quantity`,
    without the fee. `fee` is the value of the fee. It adds to the cost of an acquisition and reduces the proceeds of a
    disposal (Treas. Reg. §1.1001-7(b)); a negative fee is a rebate. A fee that was paid in an asset also has
    `fee_asset` and `fee_quantity`, and disposes of that quantity for `fee`.

    A transfer has no value. It moves lots to the account `destination`, where `quantity` arrives. Its fee adds to no
    cost, because a transfer neither acquires nor disposes of the moved lots.

    Raises TransactionError if a field breaks a rule.
    """

    external_id: str
    timestamp: int
    kind: TransactionKind
    account: str
    asset: str
    quantity: int
    value: int = 0
    fee: int = 0
    fee_asset: str | None = None
    fee_quantity: int = 0
    destination: str | None = None

    def __post_init__(self) -> None:
        if not REFERENCE_TEXT.fullmatch(self.external_id):
            reason = "must be 1 to 200 visible ASCII characters without quotes or backslashes"
            raise TransactionError("externalId", reason)
        if not ACCOUNT_TEXT.fullmatch(self.account):
            raise TransactionError("account", "must be 1 to 64 visible ASCII characters, with spaces inside only")
        if not CURRENCY_TEXT.fullmatch(self.asset):
            raise TransactionError("asset", "must be 2 to 10 capital letters or digits")
        if not 0 <= self.timestamp <= TIMESTAMP_MAX:
            raise TransactionError("timestamp", "must lie between the years 1970 and 9999")
        if not 0 < self.quantity <= AMOUNT_MAX:
            raise TransactionError("quantity", "must be positive" if self.quantity <= 0 else "is too large")
        if not 0 <= self.value <= AMOUNT_MAX:
            raise TransactionError("value", "must not be negative" if self.value < 0 else "is too large")
        if abs(self.fee) > AMOUNT_MAX:
            raise TransactionError("fee", "is too large")
        self._check_fee_asset()
        if self.kind is TransactionKind.TRANSFER:
            self._check_transfer()
            return
        if self.destination is not None:
            raise TransactionError("destination", "belongs to transfers only")
        if self.kind is TransactionKind.ACQUISITION and self.value + self.fee < 0:
            raise TransactionError("fee", "is a rebate larger than the value")

    def _check_fee_asset(self) -> None:
        if self.fee_asset is None:
            if self.fee_quantity:
                raise TransactionError("feeAsset", "is missing for the given feeQuantity")
            return
        if not CURRENCY_TEXT.fullmatch(self.fee_asset):
            raise TransactionError("feeAsset", "must be 2 to 10 capital letters or digits")
        if not 0 < self.fee_quantity <= AMOUNT_MAX:
            reason = "must be positive" if self.fee_quantity <= 0 else "is too large"
            raise TransactionError("feeQuantity", reason)
        if self.fee < 0:
            raise TransactionError("fee", "must not be negative if it is paid in an asset")

    def _check_transfer(self) -> None:
        if self.value:
            raise TransactionError("value", "must be zero for a transfer, which earns nothing")
        if self.fee < 0:
            raise TransactionError("fee", "must not be negative for a transfer")
        if self.destination is None or not ACCOUNT_TEXT.fullmatch(self.destination):
            raise TransactionError("destination", "must name the account that receives the transfer")
        if self.destination == self.account:
            raise TransactionError("destination", "must differ from account")

    @property
    def order_key(self) -> OrderKey:
        """Place of the transaction in its owner's history."""
        return order_key(self.timestamp, self.external_id)


def order_key(timestamp: int, external_id: str) -> OrderKey:
    """Place of the transaction with this time and id in its owner's history."""
    fill = _FILL_TEXT.fullmatch(external_id)
    return timestamp, 0 if fill is None else int(fill[1]), external_id


def sequence_in_sql(column: str) -> str:
    """SQL that gives the engine's sequence of the id in a column: the second part of its `order_key`."""
    return f"coalesce(substring({column} FROM '^{FILL_PATTERN}$')::bigint, 0)"
