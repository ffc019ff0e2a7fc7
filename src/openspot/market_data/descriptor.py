"""The market data service describes itself."""

from openspot.contracts import subjects
from openspot.kit.description import Address, Bucket, BusAccess, Descriptor, Listener, Process, Tables
from openspot.market_data.settings import MarketDataSettings

LEASE_BUCKET = "market-data-lease"

DESCRIPTOR = Descriptor(
    name="market-data",
    title="Market data",
    settings=MarketDataSettings,
    processes=(
        Process(
            name="market-data",
            title="Market data",
            module="openspot.market_data.service",
            host="market_data_host",
            listeners=(Listener("market_data_port", "health and metrics"),),
            after=("engine",),
            uses=("engine",),
            bus=BusAccess(
                serves=(
                    subjects.MARKETDATA_BOOKS_GET,
                    subjects.MARKETDATA_TICKERS_GET,
                    subjects.MARKETDATA_TRADES_GET,
                    subjects.MARKETDATA_CANDLES_GET,
                    subjects.MARKETDATA_AGGREGATES_GET,
                    subjects.MARKETDATA_FAIR_PRICES_GET,
                ),
                publishes=(
                    f"{subjects.MARKETDATA_TICKER}.*",
                    f"{subjects.MARKETDATA_ORDERBOOK}.*",
                    f"{subjects.MARKETDATA_TRADE}.*",
                    f"{subjects.MARKETDATA_AGGREGATE}.*",
                    f"{subjects.MARKETDATA_CANDLE}.*",
                    f"{subjects.MARKETDATA_FAIR_PRICE}.*",
                ),
                subscribes=(subjects.of_venue("*", subjects.VENUE_BOOK_TICKER, "*"),),
                writes_buckets=(Bucket(LEASE_BUCKET, lambda settings: settings.market_data_lease_s),),
            ),
        ),
    ),
    tables=Tables(
        owns=(
            "market_trades",
            "market_candles",
            "market_data_checkpoints",
            "fair_prices",
            "fair_price_samples",
            "operator_prices",
            "owner_links",
        ),
        reads=("trades", "engine_cursors", "archive_floors", "users"),
    ),
    addresses=(Address("Market data health", lambda settings: f"{settings.market_data_url}/health"),),
)
