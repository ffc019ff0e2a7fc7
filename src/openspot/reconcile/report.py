"""The result of a reconciliation, and how it is shown."""

import msgspec

from openspot.reconcile.records import Difference, HouseAccount

_encode = msgspec.json.Encoder().encode
_LABEL = 22


class ReconcileReport(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """The outcome of one reconciliation, at the engine's event `engine_sequence`.

    Order and trade rows have reached the event `rows_sequence`. `settled_sequence` is the event of the newest trade in
    the ledger, `first_sequence` the oldest event that the engine keeps. `caught_up` says that the mirrors had reached
    the event that was the engine's newest at the start. `unnamed` counts the differences that are not listed.
    Of the engine's `adjustments`, the ledger lacks `unbooked_adjustments`.
    `house_accounts` are all accounts of the house, whether or not they differ.
    """

    epoch: str
    first_sequence: int
    engine_sequence: int
    rows_sequence: int
    settled_sequence: int
    caught_up: bool
    accounts: int
    orders: int
    trades: int
    entries: int
    adjustments: int
    seconds: float
    differences: list[Difference]
    unnamed: int = 0
    unbooked_adjustments: int = 0
    house_accounts: list[HouseAccount] = []

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return not self.differences and not self.unnamed

    @property
    def exit_code(self) -> int:
        """0 if nothing differs, else 1."""
        return 0 if self.agrees else 1


def report_json(report: ReconcileReport) -> str:
    """The report as one line of JSON."""
    return _encode(report).decode()


def format_report(report: ReconcileReport) -> str:
    """The report as text, without colours."""
    positions = f"event {report.engine_sequence:,}; rows at {report.rows_sequence:,}"
    if report.settled_sequence:
        positions += f", newest settled trade {report.settled_sequence:,}"
    compared = (
        f"{report.accounts:,} accounts, {report.orders:,} orders, {report.trades:,} trades, "
        f"{report.entries:,} ledger entries, in {report.seconds:.1f} s"
    )
    lines = [_line("engine", positions), _line("compared", compared)]
    if report.first_sequence > 1:
        lines.append(_line("", f"the engine keeps its events from {report.first_sequence:,} on only"))
    if report.adjustments:
        lines.append(_line("operator adjustments", _adjustments(report)))
    for place, account in enumerate(report.house_accounts):
        lines.append(_line("" if place else "house accounts", str(account)))
    if report.agrees:
        lines.append(_line("differences", "none"))
    else:
        lines.append(_line("differences", f"{len(report.differences) + report.unnamed:,}"))
        lines += [f"  {difference}" for difference in report.differences]
        if report.unnamed:
            lines.append(f"  and {report.unnamed:,} more")
    return "\n".join(lines)


def format_line(report: ReconcileReport) -> str:
    """The report as one line, for watching."""
    found = len(report.differences) + report.unnamed
    told = f"{found:,} differences, the first: {report.differences[0]}" if report.differences else "no differences"
    return (
        f"event {report.engine_sequence:,}, rows {report.engine_sequence - report.rows_sequence:,} behind, "
        f"{report.accounts:,} accounts, {report.orders:,} orders, {report.trades:,} trades: {told}"
    )


def _adjustments(report: ReconcileReport) -> str:
    if not report.unbooked_adjustments:
        return f"{report.adjustments:,}, all booked in the ledger"
    return (
        f"{report.adjustments:,}, of which the ledger lacks {report.unbooked_adjustments:,}; "
        "`openspot ledger book-adjustments --plan` shows them"
    )


def _line(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}{text}"
