"""Subjects, queue groups and buckets of the bus. Subjects carry no version (fact A9-06)."""

# Requests
ORDERS_SUBMIT = "orders.submit"
ORDERS_CANCEL = "orders.cancel"
ORDERS_CANCEL_OPEN = "orders.cancel_open"
ORDERS_AMEND = "orders.amend"
ORDERS_SUBMIT_LIST = "orders.submit_list"
ORDERS_CANCEL_LIST = "orders.cancel_list"
ORDERS_REPLACE = "orders.replace"
ORDERS_GET = "orders.get"
ORDERS_GET_TRIGGERS = "orders.get_triggers"
LEDGER_BALANCES_GET = "ledger.balances.get"
LEDGER_CREDIT = "ledger.credit"
LEDGER_DEBIT = "ledger.debit"
LEDGER_LOCK = "ledger.lock"
LEDGER_UNLOCK = "ledger.unlock"
LEDGER_HISTORY_GET = "ledger.history.get"
CUSTODY_USER_ADDRESSES_ASSIGN = "custody.user.addresses.assign"
CUSTODY_USER_ADDRESSES_GET = "custody.user.addresses.get"
CUSTODY_ADDRESS_GET = "custody.address.get"
CUSTODY_WITHDRAWALS_CREATE = "custody.withdrawals.create"
CUSTODY_WITHDRAWALS_CANCEL = "custody.withdrawals.cancel"
CUSTODY_RESERVES_GET = "custody.reserves.get"
MARKETDATA_BOOKS_GET = "marketdata.books.get"
MARKETDATA_TICKERS_GET = "marketdata.tickers.get"
MARKETDATA_TRADES_GET = "marketdata.trades.get"
MARKETDATA_CANDLES_GET = "marketdata.candles.get"
MARKETDATA_AGGREGATES_GET = "marketdata.aggtrades.get"
MARKETDATA_FAIR_PRICES_GET = "marketdata.fairprices.get"
ENTITLEMENTS_GET = "entitlements.get"
SUBSCRIPTIONS_PLANS_GET = "subscriptions.plans.get"
SUBSCRIPTIONS_LIST = "subscriptions.list"
SUBSCRIPTIONS_PAYMENTS_LIST = "subscriptions.payments.list"
SUBSCRIPTIONS_CANCEL = "subscriptions.cancel"
RISK_MARGIN_CHECK = "risk.margin.check"
RISK_BALANCE_CHECK = "risk.balance.check"
RISK_MARGIN_LEVEL = "risk.margin.level"
RISK_MARGIN_ACCOUNT = "risk.margin.account"
RISK_MARGIN_TRANSFER = "risk.margin.transfer"
RISK_MARGIN_OPEN = "risk.margin.open"
RISK_MARGIN_BORROW = "risk.margin.borrow"
RISK_MARGIN_REPAY = "risk.margin.repay"
RISK_MARGIN_CLOSE = "risk.margin.close"
RISK_MARGIN_REDUCE = "risk.margin.reduce"
RISK_MARGIN_NEEDS = "risk.margin.needs"

# Events
ORDERS_CREATED = "orders.created"
ORDERS_UPDATED = "orders.updated"
ORDERS_REJECTED = "orders.rejected"
ORDERS_CANCELLED = "orders.cancelled"
ORDERS_FILLED = "orders.filled"
ORDERS_INCOMPLETE = "orders.incomplete"
TRADES_EXECUTED = "trades.executed"
TRADES_SETTLED = "trades.settled"
TRANSFERS_EXECUTED = "transfers.executed"
BALANCES_UPDATED = "balances.updated"
RISK_CHECK_FAILED = "risk.check.failed"
CUSTODY_DEPOSIT_CONFIRMED = "custody.deposit.confirmed"
CUSTODY_WITHDRAWAL_REQUESTED = "custody.withdrawal.requested"
CUSTODY_WITHDRAWAL_RESERVED = "custody.withdrawal.reserved"
CUSTODY_WITHDRAWAL_COMPLETED = "custody.withdrawal.completed"
CUSTODY_WITHDRAWAL_FAILED = "custody.withdrawal.failed"
MARKETDATA_TICKER = "marketdata.ticker"
MARKETDATA_ORDERBOOK = "marketdata.orderbook"
MARKETDATA_TRADE = "marketdata.trade"
MARKETDATA_CANDLE = "marketdata.candle"
MARKETDATA_AGGREGATE = "marketdata.aggtrade"
MARKETDATA_FAIR_PRICE = "marketdata.fairprice"
MARGIN_LIQUIDATION_WARNING = "margin.liquidation.warning"
MARGIN_POSITION_CLOSED = "margin.position.closed"
MARGIN_POSITION_UPDATED = "margin.position.updated"
ORDERS_LIQUIDATION = "orders.liquidation"
COMMANDS_ORDER_CANCEL = "commands.order.cancel"
NOTIFICATIONS_SEND = "notifications.send"
NOTIFICATIONS_USER = "notifications.user"

# Kinds of tick of an external venue, see `of_venue`
VENUE_BOOK_TICKER = "bookTicker"
VENUE_TRADE = "trade"

# Buckets
SESSIONS_REVOKED_BUCKET = "sessions-revoked"
"""Keys are the ids of ended sessions. An entry lives as long as an access token of its session can be valid."""
API_KEYS_CHANGED_BUCKET = "api-keys-changed"
"""Keys are the ids of rotated or revoked API keys. The value is the lowest version of the key that still works."""
API_KEYS_CHANGED_LIFE_S = 3600.0
"""The bucket keeps an entry this long, for processes that lose the bus for a while."""
USERS_DELETED_BUCKET = "users-deleted"
"""Keys are the ids of users who deleted their accounts. Entries stay forever: an id is never given again."""

# Queue groups
ORDER_ROUTER_QUEUE = "order-router"
LEDGER_QUEUE = "ledger-service"
CUSTODY_QUEUE = "custody"
MARKET_DATA_QUEUE = "market-data"
MARGIN_QUEUE = "margin"
SUBSCRIPTIONS_QUEUE = "subscriptions"


INBOXES = "_INBOX."
"""The subjects of replies begin with this."""


def inbox_of(user: str) -> str:
    """Prefix of the reply subjects of one user of the bus. Permissions keep other users from reading below it."""
    return f"{INBOXES}{user}"


def of_user(subject: str, user_id: str) -> str:
    """`subject` for one user, for example `orders.created.<userId>`."""
    return f"{subject}.{user_id}"


def of_symbol(subject: str, symbol: str) -> str:
    """`subject` for one symbol, for example `trades.executed.<SYMBOL>`."""
    return f"{subject}.{symbol}"


def of_venue(venue: str, kind: str, symbol: str) -> str:
    """The subject of one kind of tick of a venue and a symbol, for example `venue.binance.trade.BTC-USDT`."""
    return f"venue.{venue}.{kind}.{symbol}"
