"""Helpers of the tests of imports: rows of a file, and what becomes of each."""

from collections.abc import Iterable, Iterator

from openspot.domain.money import AMOUNT_SCALE
from openspot.positions.fifo_transaction import FifoTransaction
from openspot.positions.import_layouts import Layout
from openspot.positions.import_records import (
    Refused,
    Row,
    read_csv,
)
from openspot.positions.import_rules import (
    ImportDefaults,
    Parsed,
    parse_rows,
)

UNIT = AMOUNT_SCALE
DEFAULTS = ImportDefaults("main", "USD")
HEADER = "externalId,timestamp,type,account,asset,quantity,value,price,fee,feeAsset,feeQuantity,destination,currency"
NOON = 1_704_196_800_000
"""2024-01-02 12:00 UTC."""


def parse(source: tuple[Layout, Iterator[Row | Refused]]) -> list[Parsed | Refused]:
    layout, rows = source
    return list(parse_rows(rows, layout, DEFAULTS))


def from_csv(*lines: str) -> list[Parsed | Refused]:
    return parse(read_csv([f"{line}\n" for line in lines]))


def transactions(results: Iterable[Parsed | Refused]) -> list[FifoTransaction]:
    """The transactions of results of which none is refused."""
    found = []
    for result in results:
        assert isinstance(result, Parsed), result
        found.append(result.transaction)
    return found


def refusals(results: Iterable[Parsed | Refused]) -> list[tuple[int, str]]:
    """Line and "field reason; field reason" of what is refused."""
    return [
        (result.line, "; ".join(f"{reason.field} {reason.text}".strip() for reason in result.reasons))
        for result in results
        if isinstance(result, Refused)
    ]
