"""The position service describes itself."""

from openspot.contracts import subjects
from openspot.contracts.streams import TRADES, StreamConsumer
from openspot.kit.description import Address, BusAccess, Descriptor, Listener, Process, Tables
from openspot.positions.settings import PositionSettings

FILLS = StreamConsumer(TRADES, subjects.TRADES_EXECUTED, "positions", 500, enabled_by="may_follow_fills")

DESCRIPTOR = Descriptor(
    name="positions",
    title="Position service",
    settings=PositionSettings,
    processes=(
        Process(
            name="positions",
            title="Position service",
            module="openspot.positions.service",
            host="positions_host",
            listeners=(Listener("positions_port", "REST below `/api/pms`"),),
            uses=("market-data", "engine"),
            secrets_checked=("jwt_secret", "engine_api_secret"),
            bus=BusAccess(
                requests=(
                    subjects.MARKETDATA_TICKERS_GET,
                    subjects.MARKETDATA_CANDLES_GET,
                    subjects.MARKETDATA_FAIR_PRICES_GET,
                ),
                consumes=(FILLS,),
                reads_buckets=(subjects.SESSIONS_REVOKED_BUCKET,),
            ),
        ),
    ),
    tables=Tables(
        owns=(
            "positions",
            "position_trades",
            "position_balances",
            "position_transfers",
            "position_marks",
            "position_snapshots",
            "position_checkpoints",
            "position_refused_trades",
            "fifo_owners",
            "fifo_transactions",
            "fifo_disposals",
            "fifo_lots",
            "fifo_checkpoints",
            "fifo_pending_fills",
            "broker_reports",
            "broker_exceptions",
        ),
        reads=(
            "users",
            "orders",
            "trades",
            "ledger_entries",
            "edge_transfers",
            "margin_transfers",
            "custody_deposits",
            "archive_floors",
        ),
    ),
    addresses=(Address("Position service", lambda settings: f"{settings.positions_url}/api/pms", is_for_users=True),),
    http="openspot.positions.app:documented",
)
