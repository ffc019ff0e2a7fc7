"""The replay describes itself: it places orders through the edge, and funds its users as custody does."""

from openspot.contracts import subjects
from openspot.kit.description import BusAccess, Descriptor
from openspot.replay.settings import ReplaySettings

DESCRIPTOR = Descriptor(
    name="replay",
    title="Replay",
    settings=ReplaySettings,
    bus=BusAccess(publishes=(subjects.CUSTODY_DEPOSIT_CONFIRMED,)),
)
