"""The custody simulator describes itself."""

from openspot.contracts import subjects
from openspot.contracts.streams import CUSTODY, StreamConsumer
from openspot.custody.settings import CustodySettings
from openspot.kit.description import Address, BusAccess, Descriptor, Listener, Process, Tables

BATCH_MAX = 100
RESERVED = StreamConsumer(CUSTODY, subjects.CUSTODY_WITHDRAWAL_RESERVED, "custody-reserved", BATCH_MAX)
REFUSED = StreamConsumer(CUSTODY, subjects.CUSTODY_WITHDRAWAL_FAILED, "custody-refused", BATCH_MAX)

DESCRIPTOR = Descriptor(
    name="custody",
    title="Custody simulator",
    settings=CustodySettings,
    processes=(
        Process(
            name="custody",
            title="Custody simulator",
            module="openspot.custody.service",
            host="custody_host",
            listeners=(Listener("custody_port", "operators' routes"),),
            secrets_checked=("jwt_secret",),
            bus=BusAccess(
                serves=(
                    subjects.CUSTODY_USER_ADDRESSES_ASSIGN,
                    subjects.CUSTODY_USER_ADDRESSES_GET,
                    subjects.CUSTODY_ADDRESS_GET,
                    subjects.CUSTODY_WITHDRAWALS_CREATE,
                    subjects.CUSTODY_WITHDRAWALS_CANCEL,
                    subjects.CUSTODY_RESERVES_GET,
                ),
                requests=(subjects.MARKETDATA_FAIR_PRICES_GET,),
                subscribes=(f"{subjects.MARKETDATA_FAIR_PRICE}.*",),
                publishes=(
                    subjects.CUSTODY_DEPOSIT_CONFIRMED,
                    subjects.CUSTODY_WITHDRAWAL_REQUESTED,
                    subjects.CUSTODY_WITHDRAWAL_COMPLETED,
                    subjects.CUSTODY_WITHDRAWAL_FAILED,
                ),
                consumes=(RESERVED, REFUSED),
            ),
        ),
    ),
    tables=Tables(
        owns=(
            "custody_addresses",
            "custody_deposits",
            "custody_withdrawals",
            "custody_approvals",
            "custody_signatures",
            "custody_chain_transactions",
            "custody_audit",
            "custody_audit_origins",
        ),
        reads=("users", "user_locks", "withdrawal_assignments", "custody_trail_position"),
    ),
    addresses=(Address("Custody health", lambda settings: f"{settings.custody_url}/health"),),
    http="openspot.custody.app:documented",
)
