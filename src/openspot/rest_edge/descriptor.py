"""The REST edge describes itself."""

from openspot.contracts import subjects
from openspot.kit.description import Address, Bucket, BusAccess, Descriptor, Listener, Process, Tables
from openspot.rest_edge.notifications.sources import SOURCES
from openspot.rest_edge.settings import RestEdgeSettings

SESSIONS_REVOKED = Bucket(subjects.SESSIONS_REVOKED_BUCKET, lambda settings: settings.ended_session_life_s)

DESCRIPTOR = Descriptor(
    name="rest-edge",
    title="REST edge",
    settings=RestEdgeSettings,
    processes=(
        Process(
            name="rest-edge",
            title="REST edge",
            module="openspot.rest_edge.service",
            host="rest_host",
            listeners=(Listener("rest_port", "REST"),),
            uses=("custody", "engine", "ledger", "ledger-worker", "market-data", "router"),
            secrets_checked=(
                "jwt_secret",
                "sealing_secret",
                "payment_callback_secret",
                "kyc_webhook_secret",
                "demo_password",
            ),
            bus=BusAccess(
                requests=(
                    subjects.ORDERS_SUBMIT,
                    subjects.ORDERS_CANCEL,
                    subjects.ORDERS_CANCEL_OPEN,
                    subjects.ORDERS_AMEND,
                    subjects.ORDERS_GET,
                    subjects.LEDGER_BALANCES_GET,
                    subjects.LEDGER_HISTORY_GET,
                    subjects.CUSTODY_USER_ADDRESSES_ASSIGN,
                    subjects.CUSTODY_ADDRESS_GET,
                    subjects.CUSTODY_WITHDRAWALS_CREATE,
                    subjects.CUSTODY_WITHDRAWALS_CANCEL,
                    subjects.MARKETDATA_BOOKS_GET,
                    subjects.MARKETDATA_TICKERS_GET,
                    subjects.MARKETDATA_FAIR_PRICES_GET,
                    subjects.MARKETDATA_TRADES_GET,
                    subjects.MARKETDATA_CANDLES_GET,
                    subjects.ENTITLEMENTS_GET,
                    subjects.RISK_MARGIN_ACCOUNT,
                    subjects.RISK_MARGIN_TRANSFER,
                    subjects.RISK_MARGIN_OPEN,
                    subjects.RISK_MARGIN_BORROW,
                    subjects.RISK_MARGIN_REPAY,
                    subjects.RISK_MARGIN_CLOSE,
                ),
                # The money of a paid payment enters the platform as a deposit into house:payments.
                publishes=(subjects.CUSTODY_DEPOSIT_CONFIRMED, f"{subjects.NOTIFICATIONS_USER}.*"),
                subscribes=(f"{subjects.MARKETDATA_FAIR_PRICE}.*",),
                consumes=SOURCES,
                writes_buckets=(
                    SESSIONS_REVOKED,
                    Bucket(subjects.API_KEYS_CHANGED_BUCKET, lambda _: subjects.API_KEYS_CHANGED_LIFE_S),
                    Bucket(subjects.USERS_DELETED_BUCKET),
                ),
            ),
        ),
    ),
    tables=Tables(
        owns=(
            "users",
            "refresh_tokens",
            "login_attempts",
            "user_networks",
            "user_sessions",
            "user_activity",
            "user_mfa",
            "user_recovery_codes",
            "mfa_challenges",
            "mail_tokens",
            "mail_outbox",
            "check_ins",
            "deleted_users",
            "edge_transfers",
            "conversion_quotes",
            "conversions",
            "staking_balances",
            "staking_accruals",
            "staking_unstakes",
            "staking_events",
            "payments",
            "payment_events",
            "fee_quotes",
            "notification_settings",
            "notifications",
            "withdrawal_addresses",
            "kyc_profiles",
            "kyc_events",
            "cancel_timers",
            "price_alerts",
            "price_alert_markets",
        ),
        reads=(
            "orders",
            "trades",
            "ledger_entries",
            "custody_deposits",
            "custody_withdrawals",
            "margin_accounts",
            "owner_links",
            "market_trades",
        ),
    ),
    addresses=(
        Address("REST edge", lambda settings: f"{settings.rest_url}/api/v1", is_for_users=True),
        Address("API documentation", lambda settings: f"{settings.rest_url}/docs", is_for_users=True),
    ),
    http="openspot.rest_edge.app:documented",
    # `openspot users demote` tells which sessions have ended.
    bus=BusAccess(writes_buckets=(SESSIONS_REVOKED,)),
)
