"""The synchronous exchange class of ccxt is made from the asynchronous one."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_synchronous_class_is_the_one_that_would_be_made() -> None:
    subprocess.run([sys.executable, str(ROOT / "tools/ccxt_sync.py"), "--check"], check=True)
