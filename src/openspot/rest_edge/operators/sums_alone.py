"""What a person has given, taken and recorded without another: one sum, so that no way around the bound leads past."""

from collections.abc import Collection
from datetime import datetime

from openspot.kit.database import Connection
from openspot.rest_edge.operators.adjustments.store import ADJUSTMENTS
from openspot.rest_edge.operators.booking.store import booked_alone
from openspot.rest_edge.operators.treasury.flow_store import FLOWS


async def cents_alone(connection: Connection, accounts: Collection[str], since: datetime) -> int:
    """US cents of adjustments, of booked adjustments of the engine, and of flows of the house from and to outside.

    Of a person with all of these accounts, since then. The caller holds the lock of `ActionKind.ADJUSTMENT`.
    """
    return (
        await ADJUSTMENTS.sum_alone(connection, accounts, since)
        + await booked_alone(connection, accounts, since)
        + await FLOWS.sum_alone(connection, accounts, since)
    )
