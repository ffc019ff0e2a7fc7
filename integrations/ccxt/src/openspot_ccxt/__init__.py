"""OpenSpot as an exchange of ccxt.

    import ccxt
    import openspot_ccxt

    openspot_ccxt.register()
    exchange = ccxt.openspot({"apiKey": "...", "secret": "..."})

After `register` the classes are `ccxt.openspot`, `ccxt.async_support.openspot` and `ccxt.pro.openspot`, as those of any
other exchange. ccxt.pro's has the `watch_*` methods beside those of REST.
"""

from types import ModuleType

import ccxt
import ccxt.async_support
import ccxt.pro

from openspot_ccxt import rest_async, rest_sync, stream

ID = "openspot"

_CLASSES: tuple[tuple[ModuleType, type], ...] = (
    (ccxt, rest_sync.OpenSpot),
    (ccxt.async_support, rest_async.OpenSpot),
    (ccxt.pro, stream.OpenSpot),
)


def register() -> None:
    """Make ccxt know the exchange `openspot`. A second call changes nothing."""
    for module, exchange in _CLASSES:
        setattr(module, ID, exchange)
        if ID not in module.exchanges:
            module.exchanges.append(ID)
