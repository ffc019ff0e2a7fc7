"""Metrics of logins."""

from prometheus_client import Counter

FAILED_LOGINS = Counter(
    "openspot_edge_failed_logins_total", "Logins of users that failed: password, code, or too many guesses", ["reason"]
)
