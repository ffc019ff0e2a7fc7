"""FIFO cost basis: lots, disposals and realised gains of one owner.

Theory of operation. For each asset an account has a queue of lots, sorted by the date of their acquisition. A disposal
takes the oldest lots first (Treas. Reg. §1.1012-1(j): first in, first out within one wallet). A transfer takes lots in
the same way, and puts them into the queue of the destination with their cost and their date, so it realises no gain. A
part of a lot takes ⌊cost · quantity / remaining⌋ of the cost, and the last part takes the rest. So the sum is exact:
cost in = cost out + cost left.

The book is incremental: it keeps only open lots and returns each disposal once, so it can process a history of any
length. `state` and `from_state` save and restore it after any transaction.
"""

import json
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from openspot.domain.money import amount_to_text
from openspot.positions.fifo_transaction import FifoTransaction, OrderKey, TransactionKind, order_key

STATE_VERSION = 2
_BEFORE_EVERYTHING: OrderKey = (-1, 0, "")


class DisposalReason(StrEnum):
    """Why a quantity left the book."""

    SALE = "sale"
    FEE = "fee"


class Lot(NamedTuple):
    """A quantity from one acquisition, and its total cost with fees. Lots have the order of their acquisitions."""

    acquired_at: int
    acquisition_id: str
    quantity: int
    cost: int


class Disposal(NamedTuple):
    """One lot's share of a disposal: `quantity` was acquired for `cost` and brought `proceeds` after sale costs."""

    disposal_id: str
    disposed_at: int
    account: str
    asset: str
    reason: DisposalReason
    quantity: int
    proceeds: int
    cost: int
    acquired_at: int
    acquisition_id: str

    @property
    def gain(self) -> int:
        """Realised gain; negative is a loss."""
        return self.proceeds - self.cost


class FifoHolding(NamedTuple):
    """An account's lots of one asset, oldest first, with their sums."""

    account: str
    asset: str
    quantity: int
    cost: int
    lots: tuple[Lot, ...]


class FifoError(ValueError):
    """A transaction cannot be applied to the book. The book has not changed."""


class ShortfallError(FifoError):
    """A transaction takes more than its account holds. It is refused, because the cost of a missing lot is unknown."""

    def __init__(self, transaction: FifoTransaction, asset: str, needed: int, held: int) -> None:
        super().__init__(
            f"transaction {transaction.external_id} takes {amount_to_text(needed)} {asset} from account "
            f"{transaction.account}, which holds {amount_to_text(held)}"
        )


class OutOfOrderError(FifoError):
    """A transaction does not come after the last applied one. The caller replays from an earlier checkpoint."""

    def __init__(self, key: OrderKey, last_key: OrderKey) -> None:
        super().__init__(f"transaction {key[2]} at {key[0]} does not follow {last_key[2]} at {last_key[0]}")


class FifoStateError(ValueError):
    """A saved state cannot be read. The message gives the reason."""


class LotQueue:
    """The lots that one account holds of one asset, oldest first."""

    __slots__ = ("_lots", "quantity")

    def __init__(self, lots: Iterable[Lot] = ()) -> None:
        self._lots = deque(lots)
        self.quantity = sum(lot.quantity for lot in self._lots)

    def __iter__(self) -> Iterator[Lot]:
        return iter(self._lots)

    def __len__(self) -> int:
        return len(self._lots)

    def add(self, lot: Lot) -> None:
        """Insert a lot by its acquisition date. A part that comes back joins the rest of its lot."""
        lots = self._lots
        self.quantity += lot.quantity
        if not lots or lots[-1].acquired_at < lot.acquired_at or _place_of(lots[-1]) < _place_of(lot):
            lots.append(lot)
            return
        place = bisect_left(lots, _place_of(lot), key=_place_of)
        if lots[place][:2] == lot[:2]:
            held = lots[place]
            lots[place] = held._replace(quantity=held.quantity + lot.quantity, cost=held.cost + lot.cost)
        else:
            lots.insert(place, lot)

    def take(self, quantity: int) -> list[Lot]:
        """Remove `quantity`, oldest lots first, and return the parts. The queue must hold at least `quantity`."""
        lots = self._lots
        self.quantity -= quantity
        parts = []
        while quantity:
            acquired_at, acquisition_id, held, cost = oldest = lots[0]
            if held <= quantity:
                lots.popleft()
                parts.append(oldest)
                quantity -= held
            else:
                cost_of_part = cost * quantity // held
                parts.append(Lot(acquired_at, acquisition_id, quantity, cost_of_part))
                lots[0] = Lot(acquired_at, acquisition_id, held - quantity, cost - cost_of_part)
                quantity = 0
        return parts


def _place_of(lot: Lot) -> OrderKey:
    return order_key(lot.acquired_at, lot.acquisition_id)


class FifoBook:
    """The open lots of one owner. Transactions are applied in the order of their keys."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.last_key: OrderKey = _BEFORE_EVERYTHING
        """Key of the last applied transaction."""
        self._queues: dict[tuple[str, str], LotQueue] = {}

    def apply(self, transaction: FifoTransaction) -> list[Disposal]:
        """Apply the next transaction. Returns its disposals, one for each lot.

        Raises OutOfOrderError if the transaction does not follow the last one, ShortfallError if its account holds
        too little. Neither changes the book.
        """
        key = transaction.order_key
        if key <= self.last_key:
            raise OutOfOrderError(key, self.last_key)
        self._check_cover(transaction)
        account, asset, quantity = transaction.account, transaction.asset, transaction.quantity
        disposals: list[Disposal] = []
        if transaction.kind is TransactionKind.ACQUISITION:
            lot = Lot(transaction.timestamp, transaction.external_id, quantity, transaction.value + transaction.fee)
            self._queue(account, asset).add(lot)
        elif transaction.kind is TransactionKind.DISPOSAL:
            proceeds = transaction.value - transaction.fee
            disposals = self._dispose(transaction, asset, quantity, proceeds, DisposalReason.SALE)
        else:
            assert transaction.destination is not None
            destination = self._queue(transaction.destination, asset)
            for part in self._take(account, asset, quantity):
                destination.add(part)
        if transaction.fee_asset is not None:
            disposals += self._dispose(
                transaction, transaction.fee_asset, transaction.fee_quantity, transaction.fee, DisposalReason.FEE
            )
        self.last_key = key
        return disposals

    def holdings(self) -> list[FifoHolding]:
        """All holdings of the owner, by account and asset."""
        return [
            FifoHolding(account, asset, queue.quantity, sum(lot.cost for lot in queue), tuple(queue))
            for (account, asset), queue in sorted(self._queues.items())
        ]

    @property
    def open_lots(self) -> int:
        """How many lots are open."""
        return sum(map(len, self._queues.values()))

    def held(self, account: str, asset: str) -> int:
        """The quantity that an account holds of an asset."""
        queue = self._queues.get((account, asset))
        return queue.quantity if queue else 0

    def state(self) -> str:
        """The whole book as JSON text, from which `from_state` continues."""
        holdings = [
            [
                account,
                asset,
                [[lot.acquired_at, lot.acquisition_id, str(lot.quantity), str(lot.cost)] for lot in queue],
            ]
            for (account, asset), queue in sorted(self._queues.items())
        ]
        document = {"version": STATE_VERSION, "owner": self.owner, "lastKey": self.last_key, "holdings": holdings}
        return json.dumps(document, separators=(",", ":"))

    @classmethod
    def from_state(cls, text: str) -> "FifoBook":
        """The book that `state` wrote. Raises FifoStateError if `text` is not such a state."""
        try:
            document: dict[str, Any] = json.loads(text)
            if document["version"] != STATE_VERSION:
                raise FifoStateError(f"state has version {document['version']}, not {STATE_VERSION}")
            book = cls(document["owner"])
            timestamp, sequence, external_id = document["lastKey"]
            book.last_key = (timestamp, sequence, external_id)
            for account, asset, rows in document["holdings"]:
                lots = [Lot(acquired_at, name, int(quantity), int(cost)) for acquired_at, name, quantity, cost in rows]
                book._queues[account, asset] = LotQueue(lots)
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, FifoStateError):
                raise
            raise FifoStateError(f"state cannot be read: {error!r}") from error
        return book

    def _check_cover(self, transaction: FifoTransaction) -> None:
        """Raise ShortfallError if the account does not cover the transaction and its fee."""
        account, asset, fee_asset = transaction.account, transaction.asset, transaction.fee_asset
        acquires = transaction.kind is TransactionKind.ACQUISITION
        needed = 0 if acquires else transaction.quantity
        if fee_asset is not None:
            fee_needed, fee_held = transaction.fee_quantity, self.held(account, fee_asset)
            if fee_asset == asset:
                fee_needed += needed
                fee_held += transaction.quantity if acquires else 0
            if fee_needed > fee_held:
                raise ShortfallError(transaction, fee_asset, fee_needed, fee_held)
        if needed and needed > (held := self.held(account, asset)):
            raise ShortfallError(transaction, asset, needed, held)

    def _queue(self, account: str, asset: str) -> LotQueue:
        queue = self._queues.get((account, asset))
        if queue is None:
            queue = self._queues[account, asset] = LotQueue()
        return queue

    def _take(self, account: str, asset: str, quantity: int) -> list[Lot]:
        queue = self._queues[account, asset]
        parts = queue.take(quantity)
        if not queue.quantity:
            del self._queues[account, asset]
        return parts

    def _dispose(
        self, transaction: FifoTransaction, asset: str, quantity: int, proceeds: int, reason: DisposalReason
    ) -> list[Disposal]:
        disposals = []
        for part in self._take(transaction.account, asset, quantity):
            # Divided as the cost of a lot: a part takes its share rounded down, the last part takes the rest.
            share = proceeds * part.quantity // quantity
            disposals.append(
                Disposal(
                    disposal_id=transaction.external_id,
                    disposed_at=transaction.timestamp,
                    account=transaction.account,
                    asset=asset,
                    reason=reason,
                    quantity=part.quantity,
                    proceeds=share,
                    cost=part.cost,
                    acquired_at=part.acquired_at,
                    acquisition_id=part.acquisition_id,
                )
            )
            proceeds -= share
            quantity -= part.quantity
        return disposals
