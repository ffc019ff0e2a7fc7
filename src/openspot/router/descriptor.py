"""The order router describes itself."""

from openspot.contracts import subjects
from openspot.contracts.streams import CUSTODY
from openspot.kit.description import Address, BusAccess, Descriptor, Listener, Process, StreamConsumer, Tables
from openspot.router.settings import RouterSettings

ORDER_EVENTS = (
    subjects.ORDERS_CREATED,
    subjects.ORDERS_UPDATED,
    subjects.ORDERS_REJECTED,
    subjects.ORDERS_CANCELLED,
    subjects.ORDERS_FILLED,
)

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
                serves=(subjects.ORDERS_SUBMIT, subjects.ORDERS_CANCEL, subjects.ORDERS_GET),
                requests=(subjects.LEDGER_BALANCES_GET, subjects.LEDGER_CREDIT, subjects.LEDGER_DEBIT),
                publishes=(
                    *(f"{subject}.*" for subject in ORDER_EVENTS),
                    subjects.TRADES_EXECUTED,
                    f"{subjects.TRADES_EXECUTED}.*",
                    subjects.TRANSFERS_EXECUTED,
                    subjects.RISK_CHECK_FAILED,
                    subjects.CUSTODY_WITHDRAWAL_RESERVED,
                    subjects.CUSTODY_WITHDRAWAL_FAILED,
                ),
                subscribes=(subjects.TRADES_EXECUTED,),
                consumes=(
                    StreamConsumer(CUSTODY, "router-deposit"),
                    StreamConsumer(CUSTODY, "router-reserve"),
                    StreamConsumer(CUSTODY, "router-complete"),
                    StreamConsumer(CUSTODY, "router-release"),
                ),
                writes_buckets=("router-lease", "router-position", "router-withdrawals"),
                makes_streams=True,
            ),
        ),
    ),
    tables=Tables(owns=("orders", "trades", "engine_cursors", "engine_order_ids", "router_held_events")),
    addresses=(Address("Order router health", lambda settings: f"{settings.router_url}/health"),),
)
