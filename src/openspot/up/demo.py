"""What `openspot up --demo` sets, beside the bots: the rules that a market needs which strangers try to move."""

from decimal import Decimal
from typing import Any

from openspot.demo.market import demo_markets
from openspot.demo.past import invented_past
from openspot.demo.prices import usual_prices
from openspot.demo.valuation import dollar_prices
from openspot.domain.market import load_markets
from openspot.kit.clock import utc_now
from openspot.kit.settings import AnySettings
from openspot.market_data.candle_import import import_candles

DEMO_RULES: dict[str, Any] = {
    "rules": "complete",
    "markets": "live",
    "price_band": "fair_price",
    # The prices at which the bots begin: until somebody has traded, bands are centred on them.
    "custody_reference_prices": "BRL=0.18,BTC=60000,ETH=3000,SOL=150,USDC=1,USDT=1",
    "follow_fills": True,
    # Far beyond what the bots do by themselves.
    "volatility_move_bps": 1000,
    # A stranger looks for minutes, not for an hour: twelve minutes of trades make a price good, and the takers need
    # about four of them for the volume.
    "fair_price_part_s": 60,
    "fair_price_volume_dollars": Decimal(5000),
    "opening_cancel_only_s": 2.0,
    "opening_post_only_s": 60.0,
}
"""Settings that the demo turns on unless they are set."""


def demo_settings(settings: AnySettings) -> AnySettings:
    """`settings` with the demo market. A setting that was given stays as it is."""
    rules = {name: value for name, value in DEMO_RULES.items() if name not in settings.model_fields_set}
    return settings.model_copy(update={"demo": True} | rules)


async def give_the_demo_a_past(database_url: str) -> int:
    """At the first start, import invented candles that end at the bots' first prices. Returns how many.

    Raises CandleImportError.
    """
    configuration = load_markets()
    markets = demo_markets(configuration)
    prices = dollar_prices(markets, usual_prices(configuration.seeds))
    done = await import_candles(database_url, invented_past(markets, prices, utc_now()), only_first=True)
    return done.written
