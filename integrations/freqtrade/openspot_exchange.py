"""OpenSpot as an exchange of freqtrade: what freqtrade cannot learn from ccxt.

freqtrade looks for the class by the exchange's name, so `register` puts it beside freqtrade's own.
"""

from typing import ClassVar

import freqtrade.exchange
from freqtrade.exceptions import ConfigurationError
from freqtrade.exchange import Exchange
from freqtrade.exchange.exchange_types import FtHas


class Openspot(Exchange):
    """OpenSpot. Stop losses wait in the matching engine, and fire also while freqtrade or its machine is away."""

    _ft_has: ClassVar[FtHas] = {
        "stoploss_on_exchange": True,
        "stop_price_param": "stopLossPrice",
        "stop_price_prop": "stopLossPrice",
        # ccxt makes a stop_limit or stop_market order of these.
        "stoploss_order_types": {"limit": "limit", "market": "market"},
        "order_time_in_force": ["GTC", "IOC", "FOK", "PO"],
        "ohlcv_candle_limit": 1000,
        # With `since`, the newest thousand trades that are not older.
        "trades_has_history": False,
    }

    def validate_ordertypes(self, order_types: dict) -> None:
        """Raise ConfigurationError for stops at the exchange if the platform's rules of orders have none."""
        super().validate_ordertypes(order_types)
        if order_types.get("stoploss_on_exchange") and not self.exchange_has("createStopLossOrder"):
            raise ConfigurationError(
                "stoploss_on_exchange needs a platform with OPENSPOT_RULES=complete: "
                "set it there, or set stoploss_on_exchange to false here"
            )


def register() -> None:
    """Make freqtrade know the class. A second call changes nothing."""
    freqtrade.exchange.Openspot = Openspot  # type: ignore[attr-defined]
