"""The columns of `orders`: one for each field of TrackedOrder, in the order of the fields.

What writes rows, reads them or compares them takes the columns from here, so that none of them can lack a field.
"""

from collections.abc import Sequence
from decimal import Decimal
from operator import attrgetter
from typing import Any, NamedTuple, get_args

import msgspec

from openspot.domain.order import OrderStatus
from openspot.kit.clock import datetime_from_ms
from openspot.router.tracked_order import TrackedOrder

_UTC_DATETIME = "timestamptz 'epoch' + {} * interval '1 millisecond'"
_ARRAYS = {bool: "boolean[]", int: "bigint[]", str: "text[]", OrderStatus: "text[]", Decimal: "text[]"}
"""The type of the array in which the values of a field go to the database."""


class _Column(NamedTuple):
    """A column. `given` is its value made of the field's array, `selected` the field made of the column."""

    name: str
    field: str
    array: str
    given: str
    selected: str
    is_number: bool


def _column(field: msgspec.structs.FieldInfo) -> _Column:
    name = field.name
    (kind,) = {*(get_args(field.type) or (field.type,))} - {type(None)}
    if name.endswith("_ms"):
        column = name.removesuffix("_ms") + "_at"
        selected = f"(extract(epoch FROM ({column})) * 1000)::bigint AS {name}"
        return _Column(column, name, _ARRAYS[kind], _UTC_DATETIME.format(name), selected, is_number=False)
    is_number = kind is Decimal
    return _Column(name, name, _ARRAYS[kind], f"{name}::numeric" if is_number else name, name, is_number)


_COLUMNS = [_column(field) for field in msgspec.structs.fields(TrackedOrder)]

ORDER_COLUMNS = tuple(column.name for column in _COLUMNS)
"""The names of all columns."""
ORDER_NAMES = ", ".join(ORDER_COLUMNS)
"""They as text, for SQL."""
ORDER_FIELDS = ", ".join(column.selected for column in _COLUMNS)
"""What a SELECT reads to get the fields of a TrackedOrder."""
ORDER_UPDATES = ", ".join(f"{name} = EXCLUDED.{name}" for name in ORDER_COLUMNS if name != "order_id")
"""Gives a row all values of the one that could not be inserted."""


def order_rows(first: int = 1) -> str:
    """SQL that selects the rows of the orders in `order_arrays`, whose first array is the parameter `first`."""
    arrays = ", ".join(f"${number}::{column.array}" for number, column in enumerate(_COLUMNS, first))
    return f"""
        SELECT {", ".join(column.given for column in _COLUMNS)}
        FROM unnest({arrays}) AS given ({", ".join(column.field for column in _COLUMNS)})
    """  # noqa: S608  (constant text)


def tracked_order_of(row: Any) -> TrackedOrder:
    """The order of a row with ORDER_FIELDS."""
    values = dict(row)
    return TrackedOrder(**values | {"status": OrderStatus(values["status"])})


def order_arrays(orders: Sequence[TrackedOrder]) -> list[list[Any]]:
    """The values of the orders, an array for each column."""
    return [
        [None if value is None else str(value) for value in map(attrgetter(column.field), orders)]
        if column.is_number
        else list(map(attrgetter(column.field), orders))
        for column in _COLUMNS
    ]


def order_values(order: TrackedOrder) -> tuple[object, ...]:
    """The values of the order's row, one for each column."""
    return tuple(
        datetime_from_ms(value) if column.name != column.field and value is not None else value
        for column, value in zip(_COLUMNS, msgspec.structs.astuple(order), strict=True)
    )
