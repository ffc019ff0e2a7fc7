"""Metrics of the market data service."""

from prometheus_client import Counter, Gauge

LEADS = Gauge("openspot_market_data_leads", "1 while this process publishes market data")
LAG = Gauge("openspot_market_data_lag_events", "Events received and not yet applied")
SEQUENCE = Gauge("openspot_market_data_sequence", "Newest engine event applied")
RECORDED_SEQUENCE = Gauge("openspot_market_data_recorded_sequence", "Newest engine event that the candles include")
EVENTS = Counter("openspot_market_data_events_total", "Engine events applied")
PUBLISHED = Counter("openspot_market_data_published_total", "Messages published", ["kind"])
REBASED = Counter("openspot_market_data_rebased_total", "Books that were read anew from the engine", ["reason"])
RECORD_FAILURES = Counter("openspot_market_data_record_failures_total", "Transactions of trades that failed")
QUEUE = Gauge("openspot_market_data_queue_trades", "Trades waiting to be recorded")
FAIR_PRICE_STATE = Gauge(
    "openspot_market_data_fair_price_state", "1 for the state that a market's fair price has", ["symbol", "state"]
)
FAIR_PRICE_MOVE_COST = Gauge(
    "openspot_market_data_fair_price_move_cost",
    "Least cost, in the quote asset, of moving the fair price by 10 % for a minute; +Inf: no trade here can",
    ["symbol"],
)
MARK_PRICES = Counter(
    "openspot_market_data_mark_prices_total", "Mark prices for the engine: told, refused, failed", ["outcome"]
)
