"""The result of a replay, and how it is shown."""

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal

from openspot.domain.money import decimal_to_text
from openspot.reconcile.records import Difference
from openspot.replay.source import VenueTotals
from openspot.replay.statistics import Statistics

DIFFERENCES_SHOWN_MAX = 1_000
_LABEL = 22


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """The outcome of one replay. `seconds` is the time of the order flow alone; `volume` in the base asset."""

    source: str
    symbol: str
    users: int
    events: int
    statistics: Statistics
    seconds: float
    trades: int
    volume: Decimal
    venue: VenueTotals | None
    caught_up: bool
    accounts_compared: int
    orders_compared: int
    trades_compared: int
    differences: list[Difference]

    @property
    def agrees(self) -> bool:
        """Whether all sides agree. The exit code is 0 if so, else 1."""
        return self.caught_up and not self.differences

    @property
    def orders_per_second(self) -> float:
        """Orders sent, by the time of the flow."""
        return self.statistics.orders_sent / self.seconds if self.seconds > 0 else 0.0


def format_report(report: ReplayReport) -> str:
    """The report as text, without colours."""
    counts = report.statistics
    base = report.symbol.partition("-")[0]
    lines = [
        f"Replay of {report.source} on {report.symbol}, {report.users} users",
        "",
        _line("events", f"{report.events:,}"),
        _line("orders sent", f"{counts.orders_sent:,}"),
        _line("  accepted", f"{counts.orders_accepted:,}"),
        *_by_reason("  rejected", counts.orders_rejected),
        *_by_reason("  without a decision", counts.orders_unclear),
        _line("cancels sent", f"{counts.cancels_sent:,}"),
        _line("  done", f"{counts.cancels_done:,}"),
        _line("  too late", f"{counts.cancels_too_late:,}"),
        *_by_reason("  failed", counts.cancels_failed),
        _line("cancels not sent", f"{counts.cancels_without_order:,} (no order of this replay)"),
        _line("time", f"{report.seconds:.1f} s, {report.orders_per_second:,.0f} orders/s"),
        _line("placement latency", _latency(counts)),
    ]
    if counts.throttle_waits:
        waited = f"{counts.throttle_waits:,} waits, {counts.throttle_wait_s:,.0f} s over all users"
        lines.append(_line("throttled", waited))
    lines += ["", _line("trades, ours", f"{report.trades:,}, {decimal_to_text(report.volume)} {base}")]
    if report.venue is not None:
        venue = f"{report.venue.trades:,}, {decimal_to_text(report.venue.volume)} {base}"
        lines.append(_line("trades, the venue's", venue))
    lines += ["", *_agreement(report)]
    return "\n".join(lines)


def _agreement(report: ReplayReport) -> list[str]:
    compared = (
        f"engine, ledger and rows: {report.accounts_compared:,} balances, {report.orders_compared:,} orders, "
        f"{report.trades_compared:,} trades compared"
    )
    lines = [compared]
    if not report.caught_up:
        lines.append("the mirrors did not catch up with the engine in time")
    lines.append(f"{len(report.differences):,} differences")
    lines += [f"  {difference}" for difference in report.differences[:DIFFERENCES_SHOWN_MAX]]
    hidden = len(report.differences) - DIFFERENCES_SHOWN_MAX
    if hidden > 0:
        lines.append(f"  … and {hidden:,} more")
    return lines


def _line(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}{text}"


def _by_reason(label: str, reasons: Counter[str]) -> list[str]:
    total = sum(reasons.values())
    return [
        _line(label, f"{total:,}"),
        *(_line("", f"{count:,} × {reason}") for reason, count in sorted(reasons.items(), key=_most_first)),
    ]


def _most_first(entry: tuple[str, int]) -> tuple[int, str]:
    return -entry[1], entry[0]


def _latency(statistics: Statistics) -> str:
    p50, p99 = statistics.latency_ms(50), statistics.latency_ms(99)
    return "none" if p50 is None or p99 is None else f"p50 {p50:.2f} ms, p99 {p99:.2f} ms"
