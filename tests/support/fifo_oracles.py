"""Two independent implementations of FIFO, from packages that others wrote: rp2 and beancount.

rp2 computes gains with fees, one asset at a time, without regard to accounts. beancount books lots per account.
Both work with decimals of limited precision.
"""

import contextlib
import decimal
import importlib
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from openspot.domain.money import AMOUNT_PLACES
from openspot.positions.fifo_transaction import FifoTransaction, TransactionKind

RP2_PRECISION = 31

RP2_CONFIGURATION = """
[general]
assets = {assets}
exchanges = main
holders = owner
[in_header]
timestamp = 0
[out_header]
timestamp = 0
[intra_header]
timestamp = 0
"""


class OracleGain(NamedTuple):
    """A lot's share of a disposal as an oracle sees it, in whole units of asset and money.

    `disposal_id` of a fee is the transaction's id and ":fee".
    """

    disposal_id: str
    acquisition_id: str
    quantity: Decimal
    cost: Decimal
    proceeds: Decimal


class OracleLot(NamedTuple):
    """An open lot as an oracle sees it."""

    account: str
    asset: str
    acquired_on: date
    quantity: Decimal
    cost: Decimal


def decimal_of(amount: int) -> Decimal:
    """An amount at 18 places as a decimal of whole units, exact."""
    return Decimal(amount).scaleb(-AMOUNT_PLACES, context=decimal.Context(prec=60))


class Rp2Oracle:
    """rp2's FIFO. Its import changes the decimal context, writes a log folder and logs to the console; none of it
    may reach the caller."""

    def __init__(self, assets: Iterable[str]) -> None:
        with decimal.localcontext(), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            self._rp2 = _import_rp2()
            path = Path(folder) / "rp2.ini"
            path.write_text(RP2_CONFIGURATION.format(assets=", ".join(sorted(assets))), "utf-8")
            country = self._rp2.US()
            self.configuration = self._rp2.Configuration(str(path), country)

    def inputs(self, history: list[FifoTransaction]) -> list[Any]:
        """rp2's own records of a history on one account, one input for each asset that is disposed of."""
        rp2 = self._rp2
        with self._context():
            acquired: dict[str, list[Any]] = defaultdict(list)
            disposed: dict[str, list[Any]] = defaultdict(list)
            for row, item in enumerate(history, start=1):
                if item.kind is TransactionKind.ACQUISITION:
                    acquired[item.asset].append(self._acquisition(item, row))
                else:
                    disposed[item.asset].append(self._sale(item, row))
                if item.fee_asset is not None:
                    disposed[item.fee_asset].append(self._fee(item, row + len(history)))
            inputs = []
            for asset, taxable in disposed.items():
                sets = []
                for kind, entries in (("IN", acquired[asset]), ("OUT", taxable), ("INTRA", [])):
                    entry_set = rp2.TransactionSet(self.configuration, kind, asset)
                    for entry in entries:
                        entry_set.add_entry(entry)
                    sets.append(entry_set)
                inputs.append(rp2.InputData(asset, *sets))
            return inputs

    def compute(self, inputs: list[Any]) -> list[Any]:
        """rp2's gains and losses from its own records; benchmarks time this."""
        rp2 = self._rp2
        with self._context():
            methods = rp2.AVLTree()
            methods.insert_node(1970, rp2.AccountingMethod())
            engine = rp2.AccountingEngine(methods)
            return [
                entry for data in inputs for entry in rp2.compute_tax(self.configuration, engine, data).gain_loss_set
            ]

    def gains(self, history: list[FifoTransaction]) -> list[OracleGain]:
        """Gains of a history on one account."""
        entries = self.compute(self.inputs(history))
        with self._context():
            return [
                OracleGain(
                    entry.taxable_event.unique_id,
                    entry.acquired_lot.unique_id,
                    Decimal(entry.crypto_amount),
                    Decimal(entry.fiat_cost_basis),
                    Decimal(entry.taxable_event_fiat_amount_with_fee_fraction),
                )
                for entry in entries
            ]

    @contextlib.contextmanager
    def _context(self) -> Iterator[None]:
        with decimal.localcontext(prec=RP2_PRECISION):
            yield

    def _number(self, amount: int) -> Any:
        return self._rp2.RP2Decimal(decimal_of(amount))

    def _acquisition(self, item: FifoTransaction, row: int) -> Any:
        value, quantity = self._number(item.value), self._number(item.quantity)
        return self._rp2.InTransaction(
            self.configuration,
            _moment(item).isoformat(),
            item.asset,
            "main",
            "owner",
            "BUY",
            value / quantity,
            quantity,
            fiat_in_no_fee=value,
            fiat_fee=self._number(item.fee),
            row=row,
            unique_id=item.external_id,
        )

    def _sale(self, item: FifoTransaction, row: int) -> Any:
        # Only fees in the asset reduce rp2's proceeds, so a sale is given what it brought in after its fee.
        proceeds, quantity = self._number(item.value - item.fee), self._number(item.quantity)
        return self._rp2.OutTransaction(
            self.configuration,
            _moment(item).isoformat(),
            item.asset,
            "main",
            "owner",
            "SELL",
            proceeds / quantity,
            quantity,
            self._number(0),
            fiat_out_no_fee=proceeds,
            fiat_fee=self._number(0),
            row=row,
            unique_id=item.external_id,
        )

    def _fee(self, item: FifoTransaction, row: int) -> Any:
        value, quantity = self._number(item.fee), self._number(item.fee_quantity)
        return self._rp2.OutTransaction(
            self.configuration,
            _moment(item).isoformat(),
            item.fee_asset,
            "main",
            "owner",
            "FEE",
            value / quantity,
            self._number(0),
            quantity,
            fiat_fee=value,
            row=row,
            unique_id=f"{item.external_id}:fee",
        )


def beancount_lots(history: list[FifoTransaction]) -> tuple[dict[str, list[OracleLot]], list[OracleLot]]:
    """beancount's FIFO booking per account: the lots that each disposal took, and the lots that are left.

    A transfer puts what beancount took from one account into the other at the same cost and date. Every
    transaction must have a day of its own, since beancount knows dates only.
    """
    from beancount.core.amount import Amount
    from beancount.core.data import EMPTY_SET, Posting, Transaction
    from beancount.core.inventory import Inventory
    from beancount.core.position import Cost
    from beancount.parser.booking_method import booking_method_FIFO

    accounts: dict[str, Inventory] = defaultdict(Inventory)
    taken: dict[str, list[OracleLot]] = {}
    for item in history:
        day = _moment(item).date()
        quantity = decimal_of(item.quantity)
        if item.kind is TransactionKind.ACQUISITION:
            price = decimal_of(item.value) / quantity
            accounts[item.account].add_amount(Amount(quantity, item.asset), Cost(price, "USD", day, None))
            continue
        entry = Transaction({}, day, "*", None, "", EMPTY_SET, EMPTY_SET, [])
        posting = Posting(item.account, Amount(-quantity, item.asset), None, None, None, None)
        matches = [position for position in accounts[item.account] if position.units.currency == item.asset]
        booked, _, errors, insufficient = booking_method_FIFO(entry, posting, matches)
        assert not errors, errors
        assert not insufficient, f"beancount finds too little for {item.external_id}"
        lots = []
        for reduction in booked:
            accounts[item.account].add_amount(reduction.units, reduction.cost)
            units = -reduction.units.number
            lots.append(OracleLot(item.account, item.asset, reduction.cost.date, units, units * reduction.cost.number))
            if item.destination is not None:
                accounts[item.destination].add_amount(Amount(units, item.asset), reduction.cost)
        if item.kind is TransactionKind.DISPOSAL:
            taken[item.external_id] = lots
    left = [
        OracleLot(name, held.units.currency, held.cost.date, held.units.number, held.units.number * held.cost.number)
        for name, inventory in accounts.items()
        for held in inventory
    ]
    return taken, sorted(left)


def _moment(item: FifoTransaction) -> datetime:
    return datetime.fromtimestamp(item.timestamp / 1000, UTC)


def _import_rp2() -> SimpleNamespace:
    names = {
        "prezzemolo.avl_tree": "AVLTree",
        "rp2.accounting_engine": "AccountingEngine",
        "rp2.configuration": "Configuration",
        "rp2.in_transaction": "InTransaction",
        "rp2.input_data": "InputData",
        "rp2.logger": "LOGGER",
        "rp2.out_transaction": "OutTransaction",
        "rp2.plugin.accounting_method.fifo": "AccountingMethod",
        "rp2.plugin.country.us": "US",
        "rp2.rp2_decimal": "RP2Decimal",
        "rp2.tax_engine": "compute_tax",
        "rp2.transaction_set": "TransactionSet",
    }
    rp2 = SimpleNamespace(**{name: getattr(importlib.import_module(module), name) for module, name in names.items()})
    rp2.LOGGER.handlers.clear()
    rp2.LOGGER.setLevel("CRITICAL")
    return rp2
