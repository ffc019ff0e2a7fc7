"""Starts freqtrade with the exchange `openspot`: `python start.py trade --config config.json …`.

freqtrade finds exchanges in ccxt, and what it needs to know of them in its own package, so both have to be there
before it looks.
"""

import sys

import openspot_ccxt

openspot_ccxt.register()

import openspot_exchange  # noqa: E402
from freqtrade.main import main  # noqa: E402

openspot_exchange.register()

if __name__ == "__main__":
    main(sys.argv[1:])
