"""The balances of a user's accounts at the engine and in the ledger, side by side. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from openspot.domain.money import amount_to_text, parse_decimal, to_amount


class SideBySide(NamedTuple):
    """One asset of an account. `difference` is the ledger's total less the engine's; None if one could not be read."""

    account: str
    asset: str
    engine_total: str | None
    engine_available: str | None
    ledger_total: str | None
    ledger_available: str | None
    difference: str | None


class Held(NamedTuple):
    """What one side says of an asset, as texts."""

    asset: str
    total: str
    available: str


def side_by_side(account: str, engine: Iterable[Held] | None, ledger: Iterable[Held] | None) -> list[SideBySide]:
    """The balances of an account by asset. None for a side that could not be read; what a side lacks is 0 there."""
    of_engine = None if engine is None else {row.asset: row for row in engine}
    of_ledger = None if ledger is None else {row.asset: row for row in ledger}
    rows = []
    for asset in sorted({*(of_engine or ()), *(of_ledger or ())}):
        nothing = Held(asset, "0", "0")
        first = None if of_engine is None else of_engine.get(asset, nothing)
        second = None if of_ledger is None else of_ledger.get(asset, nothing)
        difference = None if first is None or second is None else _less(second.total, first.total)
        rows.append(
            SideBySide(
                account,
                asset,
                first and first.total,
                first and first.available,
                second and second.total,
                second and second.available,
                difference,
            )
        )
    return rows


def _less(first: str, second: str) -> str:
    return amount_to_text(to_amount(parse_decimal(first)) - to_amount(parse_decimal(second)))
