"""Metrics of the custody simulator."""

from prometheus_client import Counter, Gauge

STEPS = Counter("openspot_custody_steps_total", "Steps of withdrawals", ["step", "outcome"])
OPEN_WITHDRAWALS = Gauge("openspot_custody_open_withdrawals", "Withdrawals that are not settled")
DEPOSITS = Counter("openspot_custody_deposits_total", "Deposits that custody confirmed")
LARGE_WITHDRAWALS = Gauge(
    "openspot_custody_large_withdrawal_usd",
    "Worth of a withdrawal of the last 24 hours that is large, by its id",
    ["withdrawal"],
)
