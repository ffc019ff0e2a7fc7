"""The scripts of `tools/` import each other as neighbours, so their folder must be on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
