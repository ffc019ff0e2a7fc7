"""Plays real order flow through the whole platform: `openspot replay FILE`, or `--sample` for a generated flow.

A level-3 file lists every order that was created, changed or deleted on a venue. Several users play it through the REST
edge, in file order. Afterwards engine, ledger, order rows and trade rows must agree to the last digit.
"""

from openspot.replay.report import Report, format_report
from openspot.replay.run import ReplayError, ReplayOptions, replay

__all__ = ["ReplayError", "ReplayOptions", "Report", "format_report", "replay"]
