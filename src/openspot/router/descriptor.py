"""The order router describes itself."""

from openspot.contracts import subjects
from openspot.contracts.streams import CUSTODY, StreamConsumer
from openspot.kit.description import Address, Bucket, BusAccess, Descriptor, Listener, Process, Tables
from openspot.router.settings import RouterSettings

ORDER_EVENTS = (
    subjects.ORDERS_CREATED,
    subjects.ORDERS_UPDATED,
    subjects.ORDERS_REJECTED,
    subjects.ORDERS_CANCELLED,
    subjects.ORDERS_FILLED,
    subjects.ORDERS_INCOMPLETE,
)

BATCH_MAX = 100
ACKNOWLEDGE_WAIT_S = 10.0
"""After this time without an acknowledgement the bus gives the event to another router, in case this one died."""
DEPOSIT = StreamConsumer(CUSTODY, subjects.CUSTODY_DEPOSIT_CONFIRMED, "router-deposit", BATCH_MAX, ACKNOWLEDGE_WAIT_S)
RESERVE = StreamConsumer(
    CUSTODY, subjects.CUSTODY_WITHDRAWAL_REQUESTED, "router-reserve", BATCH_MAX, ACKNOWLEDGE_WAIT_S
)
COMPLETE = StreamConsumer(
    CUSTODY, subjects.CUSTODY_WITHDRAWAL_COMPLETED, "router-complete", BATCH_MAX, ACKNOWLEDGE_WAIT_S
)
RELEASE = StreamConsumer(CUSTODY, subjects.CUSTODY_WITHDRAWAL_FAILED, "router-release", BATCH_MAX, ACKNOWLEDGE_WAIT_S)

DESCRIPTOR = Descriptor(
    name="router",
    title="Order router",
    settings=RouterSettings,
    processes=(
        Process(
            name="router",
            title="Order router",
            module="openspot.router.service",
            host="router_host",
            listeners=(Listener("router_port", "health and metrics"),),
            after=("engine",),
            uses=("engine", "ledger", "ledger-worker"),
            bus=BusAccess(
                serves=(
                    subjects.ORDERS_SUBMIT,
                    subjects.ORDERS_CANCEL,
                    subjects.ORDERS_CANCEL_OPEN,
                    subjects.ORDERS_AMEND,
                    subjects.ORDERS_SUBMIT_LIST,
                    subjects.ORDERS_CANCEL_LIST,
                    subjects.ORDERS_REPLACE,
                    subjects.ORDERS_GET,
                    subjects.ORDERS_GET_TRIGGERS,
                ),
                requests=(
                    subjects.LEDGER_BALANCES_GET,
                    subjects.LEDGER_CREDIT,
                    subjects.LEDGER_DEBIT,
                    subjects.MARKETDATA_FAIR_PRICES_GET,
                ),
                publishes=(
                    *(f"{subject}.*" for subject in ORDER_EVENTS),
                    subjects.TRADES_EXECUTED,
                    f"{subjects.TRADES_EXECUTED}.*",
                    subjects.TRANSFERS_EXECUTED,
                    subjects.RISK_CHECK_FAILED,
                    subjects.NOTIFICATIONS_SEND,
                    subjects.CUSTODY_WITHDRAWAL_RESERVED,
                    subjects.CUSTODY_WITHDRAWAL_FAILED,
                ),
                subscribes=(
                    subjects.TRADES_EXECUTED,
                    f"{subjects.MARKETDATA_FAIR_PRICE}.*",
                    f"{subjects.BALANCES_UPDATED}.*",
                ),
                consumes=(DEPOSIT, RESERVE, COMPLETE, RELEASE),
                writes_buckets=(
                    Bucket("router-lease", lambda settings: settings.translator_lease_s),
                    Bucket("router-position"),
                    Bucket("router-withdrawals", lambda _: CUSTODY.age_s_max),
                ),
            ),
        ),
    ),
    tables=Tables(owns=("orders", "trades", "engine_cursors", "engine_order_ids", "router_held_events")),
    addresses=(Address("Order router health", lambda settings: f"{settings.router_url}/health"),),
)
