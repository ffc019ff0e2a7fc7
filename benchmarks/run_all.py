"""Run every benchmark that docs/performance.md quotes, one after the other.

    .venv/bin/python benchmarks/run_all.py

Takes about half an hour on two quiet cores. Each can be run alone: `.venv/bin/python -m benchmarks.NAME`.
"""

import subprocess
import sys
from pathlib import Path

NAMES = (
    "core_shallow",
    "core_deep",
    "core_exchange_core_workload",
    "core_journal",
    "core_growth",
    "core_cascade",
    "core_auction",
    "engine_grpc",
    "engine_recovery",
    "translator",
    "tracing",
    "ledger_settlement",
    "history",
    "portfolio",
    "backup",
    "batch_sizes",
    "bus_batches",
    "margin_scan",
    "rest_orders",
    "beside_orders",
    "pool_use",
    "local_requests",
    "order_path",
    "rest_signed_orders",
    "rest_order_batch",
    "ws_orders",
    "rest_reads",
    "capacity",
    "idle",
    "storage",
    "venue_ticks",
    "fifo",
    "ws_fan_out",
    "ws_idle",
    "ws_latency",
    "ws_hostile",
    "trading_screen",
    "set_up",
)


def main() -> int:
    """Run them all; answers how many ended with a fault."""
    faults = 0
    for name in NAMES:
        print(f"\n== {name}", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        faults += subprocess.run(command, cwd=Path(__file__).resolve().parent.parent, check=False).returncode != 0
    return faults


if __name__ == "__main__":
    sys.exit(main())
