"""Starts freqtrade with the exchange `openspot`: `python start.py trade --config config.json …`.

freqtrade finds exchanges in ccxt, so they have to be there before it looks.
"""

import sys

import openspot_ccxt

openspot_ccxt.register()

from freqtrade.main import main  # noqa: E402

if __name__ == "__main__":
    main(sys.argv[1:])
