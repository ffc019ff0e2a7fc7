"""The name of each kind of difference, and its likely cause: rules without IO.

| Difference | Likely cause |
|---|---|
| balance, by the sum of adjustments | an operator adjusted it, which changes the engine alone (fact A1.5-12) |
| balance, by a movement without reference | money was moved in the engine directly, not by custody |
| entries of a trade or deposit are missing, the ledger has not caught up | settlement is pending |
| the same, and the ledger has caught up | refused by the ledger, or lost |
| entries without a counterpart in the engine | posted in the ledger alone |
| an account is not the sum of its entries | something other than the ledger wrote to its tables |
| anything else | altered afterwards, or lost |
"""

from decimal import Decimal

from openspot.domain.ids import HOUSE_ACCOUNT_PURPOSES
from openspot.domain.money import EXACT, decimal_to_text
from openspot.reconcile.records import Difference
from openspot.reconcile.tables import BalanceGap, EntryGap, Imbalance

ADJUSTED = "operator adjustment"
UNREFERENCED = "moved in the engine alone, without a reference"
PENDING = "settlement pending"
LOST = "lost: the ledger has processed everything up to here"
PENDING_OR_LOST = "settlement pending or lost: the bus could not be asked"
LEDGER_ONLY = "posted in the ledger alone"
UNKNOWN_TRADE = "the engine knows no such trade"
UNKNOWN_TRANSFER = "the engine knows no such transfer"
ALTERED = "not what the engine did"
RELABELLED = "its type or reference is not what the engine did"
PAST_THE_LEDGER = "written past the ledger"
ENGINE_FAULT = "a fault of the engine: `openspot engine verify` checks its journal"
ROWS_PENDING = "the order router has not caught up"
MISSING = "missing"


def cause_of_missing(settled: bool | None) -> str:
    """Why an entry is missing. `settled` says whether the ledger has caught up, None if the bus could not be asked."""
    return PENDING_OR_LOST if settled is None else LOST if settled else PENDING


def entry_difference(gap: EntryGap, settled: bool | None) -> Difference:
    """The difference for a gap in the ledger's entries."""
    if gap.state == "missing":
        cause = f"refused by the ledger: {gap.refusal}" if gap.refusal else cause_of_missing(settled)
    elif gap.state == "extra":
        cause = {"trade": UNKNOWN_TRADE, "transfer": UNKNOWN_TRANSFER}.get(gap.source, LEDGER_ONLY)
    elif gap.engine == gap.mirror:
        cause = RELABELLED
    else:
        cause = ALTERED
    if gap.entries == 1:
        return Difference("entry", gap.transaction_id, "posting", gap.engine or MISSING, gap.mirror or MISSING, cause)
    whole = f"{gap.entries} entries"
    engine, mirror = (MISSING, whole) if gap.state == "extra" else (whole, MISSING)
    if gap.state == "altered":
        mirror = f"{gap.entries} others, the first {gap.mirror} where {gap.engine} is right"
    return Difference("settlement", gap.name, "postings", engine, mirror, cause)


def balance_difference(gap: BalanceGap, settled: bool | None, complete: bool) -> Difference:
    """The difference of an account's balances, split by cause. `complete` says that the engine has all its events."""
    difference = EXACT.subtract(gap.engine, gap.ledger)
    parts = [
        (ADJUSTED, gap.adjusted),
        (UNREFERENCED, gap.unreferenced),
        ("on its way", gap.in_flight),
        (cause_of_missing(settled), gap.missing),
        ("in the ledger otherwise than in the engine", gap.other),
    ]
    rest = difference
    for _, amount in parts:
        rest = EXACT.subtract(rest, amount)
    unexplained = "unexplained" if complete else "unexplained, or older than the events that the engine keeps"
    named = [f"{cause} {_signed(amount)}" for cause, amount in [*parts, (unexplained, rest)] if amount]
    return Difference(
        "balance",
        _account_name(gap.user_id, gap.asset),
        "total",
        decimal_to_text(gap.engine),
        decimal_to_text(gap.ledger),
        "; ".join(named),
    )


def account_difference(account: Imbalance) -> Difference:
    """A ledger account that contradicts its entries or locks: something other than the ledger wrote to the tables."""
    name = _account_name(account.user_id, account.asset)
    by_entries = decimal_to_text(account.entries)
    if account.total == account.entries and account.locked != account.by_locks:
        by_locks, locked = decimal_to_text(account.by_locks), decimal_to_text(account.locked)
        return Difference("lock", name, "locked", by_locks, locked, PAST_THE_LEDGER)
    if account.newest != account.entries:
        by_entries += f" (the newest says {decimal_to_text(account.newest)})"
    elif account.off:
        by_entries += f" ({account.off} of their running balances say otherwise)"
    total = MISSING if account.total is None else decimal_to_text(account.total)
    return Difference("account", name, "total", by_entries, total, PAST_THE_LEDGER)


def asset_difference(asset: str, total: Decimal) -> Difference:
    """An asset whose debits and credits are not equal."""
    return Difference("asset", asset, "sum of all accounts", "0", decimal_to_text(total), PAST_THE_LEDGER)


def engine_difference(user_id: str, asset: str, rest: Decimal) -> Difference:
    """An account of the engine that is not the sum of the engine's events. `rest` is the excess."""
    return Difference(
        "engine", _account_name(user_id, asset), "total beyond its events", decimal_to_text(rest), "0", ENGINE_FAULT
    )


def rows_difference(sequence: int, rows_sequence: int) -> Difference:
    """Order and trade rows that have not reached the event `sequence`."""
    return Difference("rows", "orders and trades", "position", str(sequence), str(rows_sequence), ROWS_PENDING)


def _account_name(user_id: str, asset: str) -> str:
    """The name of an account. That of a house account says its purpose."""
    purpose = HOUSE_ACCOUNT_PURPOSES.get(user_id)
    return f"{user_id} {asset}" if purpose is None else f"{user_id} ({purpose}) {asset}"


def _signed(amount: Decimal) -> str:
    return f"{'+' if amount > 0 else ''}{decimal_to_text(amount)}"
