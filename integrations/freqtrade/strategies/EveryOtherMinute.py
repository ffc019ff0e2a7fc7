"""A strategy that shows that everything works, and earns nothing: buy after even minutes, sell after odd ones.

It stops buying after as many trades as `trades_max` of the configuration says, if that is there.
"""

from typing import Any, ClassVar

from freqtrade.persistence import Trade
from freqtrade.strategy import IStrategy
from pandas import DataFrame


class EveryOtherMinute(IStrategy):
    """In for a minute, out for a minute."""

    INTERFACE_VERSION = 3
    timeframe = "1m"
    can_short = False
    process_only_new_candles = True
    startup_candle_count = 1
    minimal_roi: ClassVar[dict[str, float]] = {"0": 10}
    stoploss = -0.99
    use_exit_signal = True

    def populate_indicators(self, dataframe: DataFrame, metadata: dict) -> DataFrame:
        """Whether the candle's minute is even."""
        dataframe["even"] = dataframe["date"].dt.minute % 2 == 0
        return dataframe

    def populate_entry_trend(self, dataframe: DataFrame, metadata: dict) -> DataFrame:
        """Buy after an even minute."""
        dataframe.loc[dataframe["even"], "enter_long"] = 1
        return dataframe

    def populate_exit_trend(self, dataframe: DataFrame, metadata: dict) -> DataFrame:
        """Sell after an odd minute."""
        dataframe.loc[~dataframe["even"], "exit_long"] = 1
        return dataframe

    def confirm_trade_entry(self, *_: Any, **__: Any) -> bool:
        """Whether the configuration allows one more trade."""
        trades_max = self.config.get("trades_max")
        return trades_max is None or len(Trade.get_trades_proxy(is_open=False)) < trades_max
