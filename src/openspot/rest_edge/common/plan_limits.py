"""The limits of users' plans, which the subscription service knows.

What a user has already stays when a plan ends: a limit holds for what is added. If the service does not answer, or
there is none, the platform's own bound holds.
"""

from openspot.contracts import subjects
from openspot.contracts.messages import GetEntitlements, GetEntitlementsReply
from openspot.kit.bus import Bus, RequestFailedError
from openspot.kit.log import get_logger

log = get_logger("plans")

API_KEYS = "api_keys"
SAVED_ADDRESSES = "saved_addresses"


class PlanLimits:
    """Asks for limits by their names in plans.toml."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def of_user(self, user_id: str, name: str, default: int) -> int:
        """How many the user may have; `default` if the subscription service does not say."""
        try:
            reply = await self._bus.request(
                subjects.ENTITLEMENTS_GET, GetEntitlements(user_id), GetEntitlementsReply, self._bus.read_timeout_s
            )
        except RequestFailedError as error:
            log.warning("the platform's own bound holds: the plan is not known", limit=name, error=str(error))
            return default
        return reply.limits.get(name, default)
