"""The command `openspot reserves` describes itself."""

from openspot.contracts import subjects
from openspot.kit.description import BusAccess, Descriptor, Tables
from openspot.ledger.descriptor import SETTLEMENT, TRANSFER_POSTING
from openspot.reserves.settings import ReservesSettings
from openspot.router.descriptor import COMPLETE, DEPOSIT

DESCRIPTOR = Descriptor(
    name="reserves",
    title="Proof of reserves",
    settings=ReservesSettings,
    tables=Tables(
        owns=("reserve_proofs", "reserve_leaves", "reserve_nodes"),
        reads=(
            "ledger_accounts",
            "ledger_entries",
            "staking_balances",
            "staking_unstakes",
            "edge_transfers",
        ),
    ),
    bus=BusAccess(
        requests=(subjects.CUSTODY_RESERVES_GET,),
        inspects=(SETTLEMENT, TRANSFER_POSTING, DEPOSIT, COMPLETE),
    ),
)
