"""The command `openspot deposit` describes itself."""

from openspot.contracts import subjects
from openspot.kit.description import BusAccess, Descriptor, Tables

DESCRIPTOR = Descriptor(
    name="deposit",
    title="Deposits of the operator",
    tables=Tables(reads=("users", "ledger_entries", "house_flows", "operator_requests")),
    bus=BusAccess(publishes=(subjects.CUSTODY_DEPOSIT_CONFIRMED,)),
)
