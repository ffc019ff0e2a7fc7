"""What a step of an order costs in processor time: not traced at all, not chosen, and traced into a file.

.venv/bin/python -m benchmarks.tracing [--steps 20000]
"""

import argparse
import tempfile
import time
from pathlib import Path

from openspot.kit import tracing
from openspot.kit.settings import Settings
from openspot.kit.tracing import Step

AT_ONCE = 100
PAUSE_S = 0.02
"""Between so many steps the thread that writes gets its turn, as on a platform that is not full."""


def microseconds_a_step(endpoint: str, share: float, steps: int) -> float:
    """The processor time of the whole process for one step, in µs, the writing included."""
    with tempfile.TemporaryDirectory() as folder:
        tracing.start(
            Settings(data_dir=Path(folder), tracing_endpoint=endpoint, tracing_share=share), "tracing-benchmark"
        )
        tracing.end("warm-up", Step.ORDER, tracing.begin())
        began = time.process_time()
        for first in range(0, steps, AT_ONCE):
            for number in range(first, first + AT_ONCE):
                tracing.end(f"order-{number}", Step.ORDER, tracing.begin())
            if endpoint and share:
                time.sleep(PAUSE_S)
        tracing.stop()
        return (time.process_time() - began) / steps * 1e6


def main() -> None:
    """Print the three figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000)
    steps = parser.parse_args().steps
    for name, endpoint, share in (("off", "", 1.0), ("order not chosen", "file", 0.0), ("traced", "file", 1.0)):
        print(f"{name:18} {microseconds_a_step(endpoint, share, steps):6.2f} µs a step")


if __name__ == "__main__":
    main()
