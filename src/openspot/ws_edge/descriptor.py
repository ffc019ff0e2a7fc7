"""The WebSocket edge describes itself."""

from openspot.contracts import subjects
from openspot.kit.description import Address, BusAccess, Descriptor, Listener, Process
from openspot.ws_edge.settings import WsEdgeSettings

DESCRIPTOR = Descriptor(
    name="ws-edge",
    title="WebSocket edge",
    settings=WsEdgeSettings,
    processes=(
        Process(
            name="ws-edge",
            title="WebSocket edge",
            module="openspot.ws_edge.service",
            host="ws_host",
            listeners=(Listener("ws_port", "WebSocket"),),
            secrets_checked=("jwt_secret", "sealing_secret"),
            bus=BusAccess(
                requests=(
                    subjects.MARKETDATA_BOOKS_GET,
                    subjects.MARKETDATA_TICKERS_GET,
                    subjects.MARKETDATA_CANDLES_GET,
                ),
                subscribes=(
                    f"{subjects.MARKETDATA_TICKER}.*",
                    f"{subjects.MARKETDATA_ORDERBOOK}.*",
                    f"{subjects.MARKETDATA_TRADE}.*",
                    f"{subjects.MARKETDATA_AGGREGATE}.*",
                    f"{subjects.MARKETDATA_CANDLE}.*",
                    "orders.*.>",
                    subjects.ORDERS_CREATED,
                    f"{subjects.BALANCES_UPDATED}.*",
                    f"{subjects.NOTIFICATIONS_USER}.*",
                ),
                reads_buckets=(subjects.SESSIONS_REVOKED_BUCKET, subjects.API_KEYS_CHANGED_BUCKET),
            ),
        ),
    ),
    addresses=(Address("WebSocket edge", lambda settings: settings.ws_url, is_for_users=True),),
)
