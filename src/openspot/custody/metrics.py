"""Metrics of the custody simulator."""

from prometheus_client import Counter, Gauge

STEPS = Counter("openspot_custody_steps_total", "Steps of withdrawals", ["step", "outcome"])
OPEN_WITHDRAWALS = Gauge("openspot_custody_open_withdrawals", "Withdrawals that are not settled")
DEPOSITS = Counter("openspot_custody_deposits_total", "Deposits that custody confirmed")
