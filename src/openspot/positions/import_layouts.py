"""Layouts of import files: which column holds which field of a FIFO transaction.

The client sends a mapping of fields to columns, or the layout is recognised from the headers of the file. Four layouts
are known: the platform's own, and three exports of other exchanges, with the headers that those exchanges write:

| Layout | Headers that identify it |
|---|---|
| openspot | externalId, timestamp, type, asset, quantity |
| coinbase | ID, Timestamp, Transaction Type, Asset, Quantity Transacted, Price Currency, Subtotal, Fees and/or Spread |
| kraken | txid, pair, time, type, cost, fee, vol, margin |
| bitstamp | ID, Type, Subtype, Datetime, Amount, Amount currency, Value, Value currency, Fee, Fee currency |

Rows without a known cost (a deposit, a withdrawal, a conversion) are refused, not guessed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from openspot.positions.fifo_transaction import TransactionError, TransactionKind


class Field(StrEnum):
    """Fields of an imported transaction, by their names in the platform's own layout.

    `currency` is the currency of value, price and fee. `price` is used where `value` is missing.
    """

    EXTERNAL_ID = "externalId"
    TIMESTAMP = "timestamp"
    TYPE = "type"
    ACCOUNT = "account"
    ASSET = "asset"
    QUANTITY = "quantity"
    VALUE = "value"
    PRICE = "price"
    FEE = "fee"
    FEE_ASSET = "feeAsset"
    FEE_QUANTITY = "feeQuantity"
    DESTINATION = "destination"
    CURRENCY = "currency"


REQUIRED = (Field.EXTERNAL_ID, Field.TIMESTAMP, Field.TYPE, Field.ASSET, Field.QUANTITY)

Record = Mapping[str, str]
"""A row of the file: normalised header → text."""


class LayoutError(ValueError):
    """The columns of a file do not match the fields. The message gives the reason."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How to read the rows of a file. `read` returns the text of each field that the row has."""

    name: str
    headers: frozenset[str]
    kinds: Mapping[str, TransactionKind]
    read: Callable[[Record], dict[Field, str]]


PLAIN_KINDS = {
    "acquisition": TransactionKind.ACQUISITION,
    "buy": TransactionKind.ACQUISITION,
    "disposal": TransactionKind.DISPOSAL,
    "sell": TransactionKind.DISPOSAL,
    "transfer": TransactionKind.TRANSFER,
}


_CURRENCY_SIGNS = str.maketrans("", "", "$€£")


def normalise(header: str) -> str:
    """A header for comparison: in lower case, without byte order mark and surrounding space."""
    return header.removeprefix("\ufeff").strip().casefold()


def layout_from_mapping(mapping: Mapping[str, str]) -> Layout:
    """The layout of a mapping from field to header.

    Raises LayoutError if the mapping has an unknown field, uses a header twice or lacks a required field.
    """
    columns: dict[Field, str] = {}
    for name, header in mapping.items():
        if name not in {str(field) for field in Field}:
            raise LayoutError(f"mapping names the unknown field {name}")
        column = normalise(header)
        if not column:
            raise LayoutError(f"mapping of {name} names no column")
        if column in columns.values():
            raise LayoutError(f"mapping uses the column {header} twice")
        columns[Field(name)] = column
    missing = [str(field) for field in REQUIRED if field not in columns]
    if missing:
        raise LayoutError(f"mapping lacks {', '.join(missing)}")
    return Layout("mapping", frozenset(columns.values()), PLAIN_KINDS, _reader(columns))


def recognise(headers: Iterable[str]) -> Layout | None:
    """The known layout whose identifying headers are all in `headers`; None if there is none."""
    found = frozenset(normalise(header) for header in headers)
    return next((layout for layout in LAYOUTS if layout.headers <= found), None)


def _reader(columns: Mapping[Field, str]) -> Callable[[Record], dict[Field, str]]:
    """A reader that copies columns to fields."""

    def read(record: Record) -> dict[Field, str]:
        return {field: text for field, column in columns.items() if (text := record.get(column, "").strip())}

    return read


def _coinbase(record: Record) -> dict[Field, str]:
    fields = _COINBASE(record)
    for field in (Field.QUANTITY, Field.VALUE, Field.FEE):
        if field in fields:
            # Amounts have a currency sign, and a minus if they leave the account. Only a fee's minus has a meaning.
            digits = fields[field].replace(",", "").translate(_CURRENCY_SIGNS)
            fields[field] = digits if field is Field.FEE else digits.removeprefix("-")
    return fields


def _kraken(record: Record) -> dict[Field, str]:
    fields = _KRAKEN(record)
    if record.get("margin", "").strip("0. "):
        raise TransactionError("margin", "is not zero: a leveraged trade moves no lots")
    fields[Field.ASSET], fields[Field.CURRENCY] = _split_kraken_pair(record.get("pair", "").strip())
    return fields


def _bitstamp(record: Record) -> dict[Field, str]:
    fields = _BITSTAMP(record)
    fields[Field.TYPE] = f"{record.get('type', '').strip()} {record.get('subtype', '').strip()}".strip()
    fee_currency = record.get("fee currency", "").strip()
    if Field.FEE in fields and fee_currency != fields.get(Field.CURRENCY):
        raise TransactionError("fee", f"is in {fee_currency or 'no currency'}, whose value the row does not give")
    return fields


_KRAKEN_OLD_NAMES = {
    **{f"X{name}": name for name in ("ETC", "ETH", "LTC", "MLN", "REP", "XLM", "XMR", "XRP", "ZEC")},
    **{f"Z{name}": name for name in ("AUD", "CAD", "EUR", "GBP", "JPY", "USD")},
    "XXBT": "BTC",
    "XXDG": "DOGE",
}
_KRAKEN_NAMES = {**_KRAKEN_OLD_NAMES, "XBT": "BTC", "XDG": "DOGE"}
_KRAKEN_QUOTES = ("USDT", "USDC", "DAI", "AUD", "CAD", "CHF", "EUR", "GBP", "JPY", "USD", "ETH", "XBT")


def _split_kraken_pair(pair: str) -> tuple[str, str]:
    """Base and quote of a pair such as XXBTZUSD, XBTUSD or XBT/USD, under their usual names.

    In an old pair both names have four letters, except in USDTZUSD. So XTZUSD is XTZ in USD, not XT in ZUSD.
    """
    if "/" in pair:
        base, _, quote = pair.partition("/")
    elif pair[-4:] in _KRAKEN_OLD_NAMES and (pair[:-4] in _KRAKEN_OLD_NAMES or pair[:-4] == "USDT"):
        base, quote = pair[:-4], pair[-4:]
    else:
        quote = next((name for name in _KRAKEN_QUOTES if pair.endswith(name)), "")
        base = pair.removesuffix(quote)
    if not base or not quote:
        raise TransactionError("pair", f"{pair or 'is empty and'} cannot be split into two assets")
    return _KRAKEN_NAMES.get(base, base), _KRAKEN_NAMES.get(quote, quote)


_OWN = {field: normalise(field) for field in Field}
_COINBASE = _reader(
    {
        Field.EXTERNAL_ID: "id",
        Field.TIMESTAMP: "timestamp",
        Field.TYPE: "transaction type",
        Field.ASSET: "asset",
        Field.QUANTITY: "quantity transacted",
        Field.CURRENCY: "price currency",
        Field.VALUE: "subtotal",
        Field.FEE: "fees and/or spread",
    }
)
_KRAKEN = _reader(
    {
        Field.EXTERNAL_ID: "txid",
        Field.TIMESTAMP: "time",
        Field.TYPE: "type",
        Field.QUANTITY: "vol",
        Field.VALUE: "cost",
        Field.FEE: "fee",
    }
)
_BITSTAMP = _reader(
    {
        Field.EXTERNAL_ID: "id",
        Field.TIMESTAMP: "datetime",
        Field.ACCOUNT: "account",
        Field.ASSET: "amount currency",
        Field.QUANTITY: "amount",
        Field.CURRENCY: "value currency",
        Field.VALUE: "value",
        Field.FEE: "fee",
    }
)

LAYOUTS = (
    Layout("openspot", frozenset(_OWN[field] for field in REQUIRED), PLAIN_KINDS, _reader(_OWN)),
    Layout(
        "coinbase",
        frozenset(
            {
                "id",
                "timestamp",
                "transaction type",
                "asset",
                "quantity transacted",
                "price currency",
                "subtotal",
                "fees and/or spread",
            }
        ),
        {
            "buy": TransactionKind.ACQUISITION,
            "advanced trade buy": TransactionKind.ACQUISITION,
            "advance trade buy": TransactionKind.ACQUISITION,
            "reward income": TransactionKind.ACQUISITION,
            "staking income": TransactionKind.ACQUISITION,
            "learning reward": TransactionKind.ACQUISITION,
            "sell": TransactionKind.DISPOSAL,
            "advanced trade sell": TransactionKind.DISPOSAL,
            "advance trade sell": TransactionKind.DISPOSAL,
        },
        _coinbase,
    ),
    Layout(
        "kraken",
        frozenset({"txid", "pair", "time", "type", "cost", "fee", "vol", "margin"}),
        {"buy": TransactionKind.ACQUISITION, "sell": TransactionKind.DISPOSAL},
        _kraken,
    ),
    Layout(
        "bitstamp",
        frozenset(
            {
                "id",
                "type",
                "subtype",
                "datetime",
                "amount",
                "amount currency",
                "value",
                "value currency",
                "fee",
                "fee currency",
            }
        ),
        {"market buy": TransactionKind.ACQUISITION, "market sell": TransactionKind.DISPOSAL},
        _bitstamp,
    ),
)
