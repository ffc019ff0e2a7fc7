"""The kinds of rows that leave: their columns, the SQL that finds, compares, removes and brings back, their totals.

Values are texts, as they stand in the files: numbers without trailing zeros, times in UTC, None for NULL.
"""

# ruff: noqa: S608  (the texts are made of constants only)

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from openspot.domain.money import EXACT
from openspot.ledger.postings import TRADE_REFERENCE

Row = Sequence[str | None]
Totals = dict[str, dict[str, Decimal]]
"""Sums of money by what they are and by asset."""
_NUMBER = "numeric"


class Kind(NamedTuple):
    """A kind of row. `columns` has the SQL type of each column; `key` is the column that identifies a row.

    `find` takes a range of pages ($1, $2), the newest event ($3) and the time ($4) before which a row leaves. `present`
    reads the rows with the keys $1 and locks them, `remove` removes them, `restore` takes each column as an array.
    `floor` finds the newest event of rows that are older than $1; it is empty for rows that follow from no events.
    """

    name: str
    title: str
    columns: Mapping[str, str]
    key: str
    time: str
    users: tuple[str, ...]
    table: str
    floor: str
    find: str
    present: str
    remove: str
    restore: str
    totals: Callable[[Iterable[Mapping[str, str | None]]], Totals]

    def key_of(self, row: Row) -> str:
        """The key of a row."""
        value = row[list(self.columns).index(self.key)]
        assert value is not None, "a key is not null"
        return value

    def month_of(self, row: Row) -> str:
        """The month of a row, for example 2026-03."""
        value = row[list(self.columns).index(self.time)]
        assert value is not None, "a time is not null"
        return value[:7]

    def named(self, rows: Iterable[Row]) -> list[dict[str, str | None]]:
        """The rows with the names of their columns."""
        names = list(self.columns)
        return [dict(zip(names, row, strict=True)) for row in rows]


def _selected(columns: Mapping[str, str]) -> str:
    return ", ".join(
        f"trim_scale({name})::text AS {name}" if kind == _NUMBER else f"{name}::text AS {name}"
        for name, kind in columns.items()
    )


def _given(columns: Mapping[str, str]) -> str:
    arrays = ", ".join(f"${number}::text[]" for number in range(1, len(columns) + 1))
    values = ", ".join(f"{name}::{kind}" for name, kind in columns.items())
    return f"SELECT {values} FROM unnest({arrays}) AS given ({', '.join(columns)})"


def _sums(parts: Iterable[tuple[str, str, Decimal]]) -> Totals:
    totals: defaultdict[str, defaultdict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for name, asset, amount in parts:
        totals[name][asset] = EXACT.add(totals[name][asset], amount)
    return {name: dict(sorted(sums.items())) for name, sums in sorted(totals.items())}


def _number(value: str | None) -> Decimal:
    return Decimal(value or 0)


def _totals_of_orders(rows: Iterable[Mapping[str, str | None]]) -> Totals:
    def parts() -> Iterable[tuple[str, str, Decimal]]:
        for row in rows:
            base, _, quote = str(row["symbol"]).partition("-")
            yield "filled", base, _number(row["filled_quantity"])
            yield "notional", quote, _number(row["filled_notional"])
            yield "fee", str(row["fee_currency"]), _number(row["fee"])

    return _sums(parts())


def _totals_of_trades(rows: Iterable[Mapping[str, str | None]]) -> Totals:
    def parts() -> Iterable[tuple[str, str, Decimal]]:
        for row in rows:
            base, _, quote = str(row["symbol"]).partition("-")
            yield "quantity", base, _number(row["quantity"])
            yield "notional", quote, EXACT.multiply(_number(row["price"]), _number(row["quantity"]))
            fees = EXACT.add(_number(row["taker_fee"]), _number(row["maker_fee"]))
            yield "fees", str(row["fee_currency"]), fees

    return _sums(parts())


def _totals_of_entries(rows: Iterable[Mapping[str, str | None]]) -> Totals:
    amounts = ((str(row["asset"]), _number(row["amount"])) for row in rows)
    return _sums(("credits" if amount > 0 else "debits", asset, amount) for asset, amount in amounts)


def _no_totals(rows: Iterable[Mapping[str, str | None]]) -> Totals:
    return {}


_ORDER = {
    "order_id": "text", "engine_order_id": "bigint", "client_order_id": "text", "user_id": "text", "symbol": "text",
    "side": "text", "type": "text", "time_in_force": "text", "margin_mode": "text", "price": _NUMBER,
    "quantity": _NUMBER, "filled_quantity": _NUMBER, "filled_notional": _NUMBER, "remaining_quantity": _NUMBER,
    "fee": _NUMBER, "fee_currency": "text", "status": "text", "reject_reason": "text", "last_sequence": "bigint",
    "created_at": "timestamptz", "updated_at": "timestamptz", "post_only": "boolean",
    "stop_price": _NUMBER, "trigger_by": "text", "trailing_amount": _NUMBER, "trailing_bps": "bigint",
    "triggered_at": "timestamptz", "expires_at": "timestamptz", "self_trade_prevention": "text",
    "list_id": "text", "client_list_id": "text", "list_type": "text", "list_role": "text", "list_state": "text",
    "display_quantity": _NUMBER, "max_slippage_bps": _NUMBER,
}  # fmt: skip
_TRADE = {
    "trade_id": "text", "sequence": "bigint", "symbol": "text", "price": _NUMBER, "quantity": _NUMBER,
    "taker_side": "text", "taker_order_id": "text", "maker_order_id": "text", "buyer_id": "text", "seller_id": "text",
    "taker_fee": _NUMBER, "maker_fee": _NUMBER, "fee_currency": "text", "executed_at": "timestamptz",
}  # fmt: skip
_ENTRY = {
    "entry_id": "bigint", "transaction_id": "text", "user_id": "text", "asset": "text", "amount": _NUMBER,
    "balance": _NUMBER, "entry_type": "text", "reference_type": "text", "reference_id": "text",
    "created_at": "timestamptz",
}  # fmt: skip
_AUDIT = {
    "audit_id": "bigint", "request_id": "text", "user_id": "text", "method": "text", "path": "text",
    "status": "integer", "address": "text", "duration_ms": "double precision", "created_at": "timestamptz",
}  # fmt: skip
_PAGES = "ctid >= $1::tid AND ctid < $2::tid"
_ENDED = "status IN ('filled', 'cancelled', 'rejected')"
_SEQUENCE_OF_ENTRY = "substring(reference_id FROM '-([0-9]{1,18})$')::bigint"

# The sums of an account's entries in the archive change with the entries themselves.
_REMOVE_ENTRIES = """
    WITH gone AS (
        DELETE FROM ledger_entries WHERE transaction_id = ANY ($1::text[])
        RETURNING user_id, asset, amount, entry_id
    )
    INSERT INTO ledger_carried AS carried (user_id, asset, amount, entries, entry_id)
    SELECT user_id, asset, sum(amount), count(*), max(entry_id) FROM gone GROUP BY user_id, asset
    ON CONFLICT (user_id, asset) DO UPDATE SET amount = carried.amount + excluded.amount,
        entries = carried.entries + excluded.entries, entry_id = greatest(carried.entry_id, excluded.entry_id)
"""
_RESTORE_ENTRIES = f"""
    WITH back AS (
        INSERT INTO ledger_entries ({", ".join(_ENTRY)}) OVERRIDING SYSTEM VALUE {_given(_ENTRY)}
        RETURNING user_id, asset, amount
    ), summed AS (
        SELECT user_id, asset, sum(amount) AS amount, count(*) AS entries FROM back GROUP BY user_id, asset
    ), emptied AS (
        DELETE FROM ledger_carried AS carried USING summed
        WHERE carried.user_id = summed.user_id AND carried.asset = summed.asset AND carried.entries = summed.entries
    )
    UPDATE ledger_carried AS carried
    SET amount = carried.amount - summed.amount, entries = carried.entries - summed.entries
    FROM summed
    WHERE carried.user_id = summed.user_id AND carried.asset = summed.asset AND carried.entries > summed.entries
"""

ORDERS = Kind(
    name="orders",
    title="orders that have ended",
    columns=_ORDER,
    key="order_id",
    time="updated_at",
    users=("user_id",),
    table="orders",
    floor=f"SELECT max(last_sequence) FROM orders WHERE {_ENDED} AND updated_at < $1",
    find=f"SELECT {_selected(_ORDER)} FROM orders"
    f" WHERE {_PAGES} AND {_ENDED} AND last_sequence <= $3::bigint AND updated_at < $4::timestamptz",
    present=f"SELECT {_selected(_ORDER)} FROM orders WHERE order_id = ANY ($1::text[]) FOR UPDATE",
    remove="DELETE FROM orders WHERE order_id = ANY ($1::text[])",
    restore=f"INSERT INTO orders ({', '.join(_ORDER)}) {_given(_ORDER)} ON CONFLICT DO NOTHING",
    totals=_totals_of_orders,
)
# The newest trade of each market before the time stays: the value of a portfolio at that time depends on its price.
TRADES = Kind(
    name="trades",
    title="trades",
    columns=_TRADE,
    key="trade_id",
    time="executed_at",
    users=("buyer_id", "seller_id"),
    table="trades",
    floor="SELECT max(sequence) FROM trades WHERE executed_at < $1",
    find=f"SELECT {_selected(_TRADE)} FROM trades WHERE {_PAGES} AND sequence <= $3::bigint"
    " AND executed_at < $4::timestamptz AND NOT sequence = ANY ($5::bigint[])",
    present=f"SELECT {_selected(_TRADE)} FROM trades WHERE trade_id = ANY ($1::text[]) FOR UPDATE",
    remove="DELETE FROM trades WHERE trade_id = ANY ($1::text[])",
    restore=f"INSERT INTO trades ({', '.join(_TRADE)}) {_given(_TRADE)} ON CONFLICT DO NOTHING",
    totals=_totals_of_trades,
)
# The newest entry of each account before the time stays, for its balance at that time.
ENTRIES = Kind(
    name="entries",
    title="ledger entries of trades",
    columns=_ENTRY,
    key="transaction_id",
    time="created_at",
    users=("user_id",),
    table="ledger_entries",
    floor=f"SELECT max({_SEQUENCE_OF_ENTRY}) FROM ledger_entries"
    f" WHERE reference_type = '{TRADE_REFERENCE}' AND created_at < $1",
    find=f"SELECT {_selected(_ENTRY)} FROM ledger_entries AS entry WHERE {_PAGES}"
    f" AND reference_type = '{TRADE_REFERENCE}' AND {_SEQUENCE_OF_ENTRY} <= $3::bigint"
    f" AND created_at < $4::timestamptz"
    f" AND NOT EXISTS (SELECT FROM archive_kept_entries AS kept WHERE kept.entry_id = entry.entry_id)",
    present=f"SELECT {_selected(_ENTRY)} FROM ledger_entries WHERE transaction_id = ANY ($1::text[]) FOR UPDATE",
    remove=_REMOVE_ENTRIES,
    restore=_RESTORE_ENTRIES,
    totals=_totals_of_entries,
)
AUDIT = Kind(
    name="audit",
    title="audit records",
    columns=_AUDIT,
    key="audit_id",
    time="created_at",
    users=("user_id",),
    table="audit_records",
    floor="",
    find=f"SELECT {_selected(_AUDIT)} FROM audit_records"
    f" WHERE {_PAGES} AND created_at < $4::timestamptz AND $3::bigint IS NULL",
    present=f"SELECT {_selected(_AUDIT)} FROM audit_records WHERE audit_id = ANY ($1::text[]::bigint[]) FOR UPDATE",
    remove="DELETE FROM audit_records WHERE audit_id = ANY ($1::text[]::bigint[])",
    restore=f"INSERT INTO audit_records ({', '.join(_AUDIT)}) OVERRIDING SYSTEM VALUE {_given(_AUDIT)}",
    totals=_no_totals,
)
KINDS = {kind.name: kind for kind in (ENTRIES, TRADES, ORDERS, AUDIT)}
"""By name, in the order in which they leave."""
