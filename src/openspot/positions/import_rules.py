"""Rules of an import: the fields of a valid row, and rows that were imported before.

An import is idempotent by external id: a row that was imported before changes nothing, and a row that uses a known
id for a different transaction is refused. Known ids are looked up for a batch of rows at a time, so a file of any
length needs the memory of one batch.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple

from openspot.domain.money import AMOUNT_SCALE, MoneyError, parse_decimal, to_amount
from openspot.positions.fifo_transaction import FifoTransaction, TransactionError, TransactionKind
from openspot.positions.import_layouts import Field, Layout
from openspot.positions.import_records import Reason, Refused, Row
from openspot.positions.times import milliseconds_of


@dataclass(frozen=True, slots=True)
class ImportDefaults:
    """The account of rows without one, and the accounting currency, in which all values must be."""

    account: str
    currency: str


class Parsed(NamedTuple):
    """A row that is a valid transaction."""

    line: int
    transaction: FifoTransaction


class AcceptedTransaction(NamedTuple):
    """A transaction to store, with the fingerprint by which it is recognised later."""

    line: int
    transaction: FifoTransaction
    fingerprint: str


class RepeatedTransaction(NamedTuple):
    """A transaction that was imported before."""

    line: int
    external_id: str


def parse_rows(rows: Iterable[Row | Refused], layout: Layout, defaults: ImportDefaults) -> Iterator[Parsed | Refused]:
    """Turn rows into transactions, one by one. A row that breaks rules is refused with all reasons."""
    for row in rows:
        yield row if isinstance(row, Refused) else _parse_row(row, layout, defaults)


def sort_out_known(
    parsed: Iterable[Parsed | Refused], known: Mapping[str, str]
) -> Iterator[AcceptedTransaction | RepeatedTransaction | Refused]:
    """Compare a batch with the fingerprints of known external ids.

    `known` must have every id of the batch that was ever imported for this owner. If several rows of the batch have
    the same id, the first one counts.
    """
    seen: dict[str, str] = {}
    for item in parsed:
        if isinstance(item, Refused):
            yield item
            continue
        external_id, mark = item.transaction.external_id, fingerprint(item.transaction)
        earlier = known.get(external_id) or seen.get(external_id)
        if earlier is None:
            seen[external_id] = mark
            yield AcceptedTransaction(item.line, item.transaction, mark)
        elif earlier == mark:
            yield RepeatedTransaction(item.line, external_id)
        else:
            reason = Reason(Field.EXTERNAL_ID, "was imported before with other content")
            yield Refused(item.line, external_id, (reason,))


def fingerprint(transaction: FifoTransaction) -> str:
    """A digest of the whole content. Only equal transactions have equal digests."""
    content = [getattr(transaction, name) for name in FifoTransaction.__slots__]
    return sha256(json.dumps(content).encode()).hexdigest()


def parse_timestamp(text: str) -> int:
    """Milliseconds since 1970, UTC, of a date and time.

    Accepts ISO 8601 (a time without zone is UTC; "UTC" may follow), or whole seconds (10 digits) or milliseconds
    (13 digits) since 1970. Raises ValueError for any other text. Digits below a millisecond are dropped.
    """
    if text.isascii() and text.isdecimal() and len(text) in (10, 13):
        return int(text) * (1000 if len(text) == 10 else 1)
    time = datetime.fromisoformat(text.removesuffix("UTC").rstrip())
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return milliseconds_of(time)


class _RowParser:
    """Parses the fields of one row, and collects the reasons to refuse it."""

    def __init__(self, fields: Mapping[Field, str]) -> None:
        self.fields = fields
        self.reasons: list[Reason] = []

    def refuse(self, field: str, reason: str) -> None:
        self.reasons.append(Reason(field, reason))

    def text(self, field: Field) -> str:
        if field not in self.fields:
            self.refuse(field, "is missing")
        return self.fields.get(field, "")

    def amount(self, field: Field) -> int | None:
        """The field as an amount at 18 places; None if it is missing or refused."""
        if field not in self.fields:
            return None
        try:
            return to_amount(parse_decimal(self.fields[field]))
        except MoneyError as error:
            self.refuse(field, str(error))
            return None

    def timestamp(self) -> int:
        if Field.TIMESTAMP in self.fields:
            try:
                return parse_timestamp(self.fields[Field.TIMESTAMP])
            except ValueError:
                self.refuse(Field.TIMESTAMP, "is not a date and time in ISO 8601, nor milliseconds since 1970")
        else:
            self.refuse(Field.TIMESTAMP, "is missing")
        return 0

    def kind(self, kinds: Mapping[str, TransactionKind]) -> TransactionKind | None:
        text = self.text(Field.TYPE)
        kind = kinds.get(text.casefold())
        if text and kind is None:
            self.refuse(Field.TYPE, f"{text[:40]!r} is none of {', '.join(kinds)}")
        return kind

    def value(self, kind: TransactionKind | None, quantity: int | None) -> int:
        """The value, or else price × quantity, rounded half-even at 18 places. A row with neither is refused."""
        if kind is TransactionKind.TRANSFER:
            return self.amount(Field.VALUE) or 0
        if Field.VALUE in self.fields:
            return self.amount(Field.VALUE) or 0
        if Field.PRICE not in self.fields:
            self.refuse(Field.VALUE, "is missing, and so is price")
            return 0
        price = self.amount(Field.PRICE)
        if price is None or quantity is None:
            return 0
        if price < 0:
            self.refuse(Field.PRICE, "must not be negative")
        whole, rest = divmod(price * quantity, AMOUNT_SCALE)
        return whole + (2 * rest + whole % 2 > AMOUNT_SCALE)


def _parse_row(row: Row, layout: Layout, defaults: ImportDefaults) -> Parsed | Refused:
    try:
        fields = layout.read(row.record)
    except TransactionError as error:
        return Refused(row.line, None, (Reason(error.field, error.reason),))
    parser = _RowParser(fields)
    external_id = parser.text(Field.EXTERNAL_ID)
    timestamp = parser.timestamp()
    kind = parser.kind(layout.kinds)
    asset = parser.text(Field.ASSET)
    quantity = parser.amount(Field.QUANTITY)
    if Field.QUANTITY not in fields:
        parser.refuse(Field.QUANTITY, "is missing")
    value = parser.value(kind, quantity)
    fee = parser.amount(Field.FEE) or 0
    fee_quantity = parser.amount(Field.FEE_QUANTITY) or 0
    currency = fields.get(Field.CURRENCY, defaults.currency)
    if currency != defaults.currency and kind is not TransactionKind.TRANSFER:
        parser.refuse(Field.CURRENCY, f"is {currency[:20]}, the books are kept in {defaults.currency}")
    if Field.FEE_ASSET in fields and Field.FEE not in fields:
        parser.refuse(Field.FEE, "is missing: the value of a fee that was paid in an asset")
    if parser.reasons or kind is None or quantity is None:
        return Refused(row.line, external_id or None, tuple(parser.reasons))
    try:
        transaction = FifoTransaction(
            external_id=external_id,
            timestamp=timestamp,
            kind=kind,
            account=fields.get(Field.ACCOUNT, defaults.account),
            asset=asset,
            quantity=quantity,
            value=value,
            fee=fee,
            fee_asset=fields.get(Field.FEE_ASSET),
            fee_quantity=fee_quantity,
            destination=fields.get(Field.DESTINATION),
        )
    except TransactionError as error:
        return Refused(row.line, external_id, (Reason(error.field, error.reason),))
    return Parsed(row.line, transaction)
