"""Health, readiness and metrics, at the root of the port and under the prefix (design section 10)."""
