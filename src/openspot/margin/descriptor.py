"""The margin risk service describes itself."""

from openspot.contracts import subjects
from openspot.kit.description import Address, Bucket, BusAccess, Descriptor, Listener, Process, Tables
from openspot.margin.settings import MarginSettings

LEASE_BUCKET = "margin-lease"

DESCRIPTOR = Descriptor(
    name="margin",
    title="Margin risk service",
    settings=MarginSettings,
    processes=(
        Process(
            name="margin",
            title="Margin risk service",
            module="openspot.margin.service",
            host="margin_host",
            listeners=(Listener("margin_port", "health and metrics"),),
            after=("engine", "market-data"),
            uses=("engine", "router", "market-data"),
            bus=BusAccess(
                serves=(
                    subjects.RISK_MARGIN_CHECK,
                    subjects.RISK_BALANCE_CHECK,
                    subjects.RISK_MARGIN_LEVEL,
                    subjects.RISK_MARGIN_ACCOUNT,
                    subjects.RISK_MARGIN_TRANSFER,
                    subjects.RISK_MARGIN_OPEN,
                    subjects.RISK_MARGIN_BORROW,
                    subjects.RISK_MARGIN_REPAY,
                    subjects.RISK_MARGIN_CLOSE,
                    subjects.RISK_MARGIN_REDUCE,
                    subjects.RISK_MARGIN_NEEDS,
                ),
                requests=(
                    subjects.ORDERS_SUBMIT,
                    subjects.ORDERS_CANCEL,
                    subjects.ORDERS_GET,
                    subjects.MARKETDATA_FAIR_PRICES_GET,
                ),
                publishes=(
                    subjects.MARGIN_LIQUIDATION_WARNING,
                    subjects.MARGIN_POSITION_CLOSED,
                    subjects.MARGIN_POSITION_UPDATED,
                    subjects.NOTIFICATIONS_SEND,
                    subjects.ORDERS_LIQUIDATION,
                    subjects.COMMANDS_ORDER_CANCEL,
                ),
                subscribes=(
                    subjects.TRADES_EXECUTED,
                    subjects.MARGIN_POSITION_UPDATED,
                    f"{subjects.MARKETDATA_FAIR_PRICE}.*",
                ),
                writes_buckets=(Bucket(LEASE_BUCKET, lambda settings: settings.margin_lease_s),),
            ),
        ),
    ),
    tables=Tables(
        owns=(
            "margin_accounts",
            "margin_changes",
            "margin_loans",
            "margin_interest",
            "margin_positions",
            "margin_reductions",
            "margin_transfers",
            "margin_liquidations",
        ),
        reads=("orders", "owner_links"),
    ),
    addresses=(Address("Margin risk health", lambda settings: f"{settings.margin_url}/health"),),
)
