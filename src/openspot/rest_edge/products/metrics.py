"""Metrics of products."""

from openspot.engine_transfers.metrics import TransferMetrics

TRANSFERS = TransferMetrics("edge", "the REST edge")
