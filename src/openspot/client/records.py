"""The base of the records of the platform's replies, and what they hold beside fields. `gen.records` has the records.

Decimals are exact; times are aware datetimes or milliseconds since 1970.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Generic, NamedTuple, Protocol, TypeVar

import msgspec

from openspot.domain.order import OrderStatus
from openspot.domain.order_naming import OrderName, order_name

Entry = TypeVar("Entry")


class Record(msgspec.Struct, rename="camel", frozen=True):
    """Base of all records. Fields that a newer platform adds are ignored."""


class _HasState(Protocol):
    @property
    def status(self) -> str: ...

    @property
    def type(self) -> str: ...


class RecordWithState(Record, frozen=True):
    """Base of the record of an order."""

    @property
    def state_name(self: _HasState) -> OrderName:
        """Its state under the alternative naming (fact A3.2-01), for example PartiallyFilled."""
        return order_name(OrderStatus(self.status), may_rest=self.type != "market")


class Level(NamedTuple):
    """One price level of an order book."""

    price: Decimal
    quantity: Decimal


@dataclass(frozen=True, slots=True)
class Page(Generic[Entry]):
    """A part of a list. Pass `next_cursor` to get the next part; it is None on the last one."""

    entries: list[Entry]
    next_cursor: str | None

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)
