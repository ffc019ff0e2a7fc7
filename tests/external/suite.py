"""Runs ccxt's own exchange test suite: `suite.py SYMBOL --sync --private`, in the environment of ccxt.

The folder of this run is in EXTERNAL_RUN. The suite finds its keys there, and the list of what it is to skip: nothing.
The first line says which of the suite's test files belong to methods that the class promises.
"""

import os
import re
import runpy
import sys
from pathlib import Path
from typing import Any

run = Path(os.environ["EXTERNAL_RUN"])
package = run / "packages/ccxt"
sys.path[:0] = [str(package.parent), str(package / "test")]

import ccxt  # noqa: E402
import ccxt.async_support  # noqa: E402
import ccxt.pro  # noqa: E402
import openspot_ccxt  # noqa: E402

openspot_ccxt.register()


def quick(exchange: Any) -> Any:
    """The class without its pause between requests: the platform under test does not throttle."""

    class Quick(exchange):
        def describe(self) -> Any:
            return self.deep_extend(super().describe(), {"rateLimit": 1})

    return Quick


for module in (ccxt, ccxt.async_support, ccxt.pro):
    module.openspot = quick(module.openspot)

folder = package / ("pro/test/Exchange" if "--ws" in sys.argv else "test/exchange/sync")
has = (ccxt.pro if "--ws" in sys.argv else ccxt).openspot().has
promised = [
    method
    for method, has_it in sorted(has.items())
    if has_it
    and (folder / f"test_{re.sub('(?<!^)(?=[A-Z])', '_', method).lower().replace('o_h_l_c_v', 'ohlcv')}.py").exists()
]
print("PROMISED", *promised, flush=True)

sys.argv[1:1] = ["openspot"]
runpy.run_path(str(package / "test/tests_init.py"), run_name="__main__")
