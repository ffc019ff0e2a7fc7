"""A strategy that shows a stop loss at the exchange: buy after each even minute, and leave the sale to the stop.

It stops buying after as many trades as `trades_max` of the configuration says, if that is there.
"""

from typing import Any, ClassVar

from freqtrade.persistence import Trade
from freqtrade.strategy import IStrategy
from pandas import DataFrame


class OneStop(IStrategy):
    """In at an even minute, out when the price has fallen by two percent."""

    INTERFACE_VERSION = 3
    timeframe = "1m"
    can_short = False
    process_only_new_candles = True
    startup_candle_count = 1
    minimal_roi: ClassVar[dict[str, float]] = {"0": 10}
    stoploss = -0.02
    use_exit_signal = False

    def populate_indicators(self, dataframe: DataFrame, metadata: dict) -> DataFrame:
        """Whether the candle's minute is even."""
        dataframe["even"] = dataframe["date"].dt.minute % 2 == 0
        return dataframe

    def populate_entry_trend(self, dataframe: DataFrame, metadata: dict) -> DataFrame:
        """Buy after an even minute."""
        dataframe.loc[dataframe["even"], "enter_long"] = 1
        return dataframe

    def populate_exit_trend(self, dataframe: DataFrame, metadata: dict) -> DataFrame:
        """Never sell: the stop does."""
        return dataframe

    def confirm_trade_entry(self, *_: Any, **__: Any) -> bool:
        """Whether the configuration allows one more trade."""
        trades_max = self.config.get("trades_max")
        return trades_max is None or len(Trade.get_trades_proxy()) < trades_max
